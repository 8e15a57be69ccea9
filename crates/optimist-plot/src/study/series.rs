//! What is drawn of trials: their outcomes, and how each trial stands among them.

use optimist_study::{Direction, NamedOutcome, State, Trial};

use crate::canvas::colour;

/// An outcome, as it is drawn.
pub struct Series<'s> {
    /// Its number, in the order of declaration.
    pub number: usize,
    outcome: &'s NamedOutcome,
    /// Whether it is the only one, and needs no name.
    pub is_one: bool,
}

/// How a trial stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It breaks a constraint, or something of it is not known.
    Infeasible,
    /// It is feasible, and others are better.
    Beaten,
    /// It is the best, or on the front of several goals.
    Best,
}

impl<'s> Series<'s> {
    /// A series for each outcome, in the order of declaration.
    pub fn all(state: &'s State) -> Vec<Self> {
        let is_one = state.outcomes().is_one();
        let outcomes = state.outcomes().all().iter().enumerate();
        outcomes.map(|(number, outcome)| Self { number, outcome, is_one }).collect()
    }

    /// What it is called.
    pub fn name(&self) -> &'s str {
        &self.outcome.name
    }

    /// `title` with the name of the outcome, if it has one.
    pub fn titled(&self, title: &str) -> String {
        if self.is_one { title.to_owned() } else { format!("{}: {title}", self.outcome.name) }
    }

    /// The same as a heading: a capital letter stands in front.
    pub fn heading(&self, title: &str) -> String {
        let titled = self.titled(title);
        let mut letters = titled.chars();
        match letters.next().filter(|_| self.is_one) {
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => titled,
        }
    }

    /// The value of this outcome in `trial`, if it was measured.
    pub fn value(&self, trial: &Trial) -> Option<f64> {
        trial.value_of(&self.outcome.name)
    }

    /// Which way is better.
    pub fn direction(&self) -> Direction {
        self.outcome.aim.direction()
    }

    /// What it must keep to, if it is a constraint.
    pub fn bound(&self) -> Option<f64> {
        self.outcome.aim.bound()
    }

    /// The trials that have a value of it, with that, by number.
    pub fn valued(&self, state: &'s State) -> Vec<(f64, &'s Trial)> {
        state.trials().iter().filter_map(|trial| Some((self.value(trial)?, trial))).collect()
    }
}

impl Standing {
    /// The standing of each trial, by number.
    pub fn of_all(state: &State) -> Vec<Self> {
        let front = state.observed_front().map(|front| front.trials).unwrap_or_default();
        let best: Vec<usize> =
            state.best_observed().map(|best| best.number).into_iter().chain(front).collect();
        let of = |trial: &Trial| match () {
            () if best.contains(&trial.number) => Self::Best,
            () if !trial.measurements.is_empty() && state.is_feasible(trial) == Some(true) => Self::Beaten,
            () => Self::Infeasible,
        };
        state.trials().iter().map(of).collect()
    }

    pub fn colour(self) -> &'static str {
        match self {
            Self::Best => colour::BEST,
            Self::Beaten => colour::POINT,
            Self::Infeasible => colour::FAINT,
        }
    }
}
