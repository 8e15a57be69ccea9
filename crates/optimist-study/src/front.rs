//! What was observed of several goals: the trials that no other beats in all of them, and how much they cover.
//!
//! Given: a state. Gives: its front, by the means of what was measured, and hypervolumes in the user's units. Does not know: what a
//! model expects, which is [`Study::front`](crate::Study::front).

use std::collections::BTreeMap;

use optimist::pareto;

use crate::outcomes::{NamedOutcome, Search};
use crate::state::State;
use crate::trial::Trial;

/// The most vectors that a hypervolume is computed for, by number of goals: many of both take long.
fn most_covered(n_goals: usize) -> usize {
    match n_goals {
        0..=3 => usize::MAX,
        4 | 5 => 200,
        _ => 40,
    }
}

/// The feasible trials that no other feasible trial beats in every goal.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedFront {
    /// Their numbers; of equals only the first.
    pub trials: Vec<usize>,
    /// For each goal, what is worth nothing, in the user's direction.
    pub reference: Vec<f64>,
    /// What they cover beyond the reference; `None` if there are too many goals and trials to compute it.
    pub hypervolume: Option<f64>,
}

/// How well the goals were covered after a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Covered {
    /// The number of the trial.
    pub trial: usize,
    /// The hypervolume then.
    pub hypervolume: f64,
}

impl State {
    /// The front of what was observed; `None` if there is at most one goal, or no feasible trial yet.
    pub fn observed_front(&self) -> Option<ObservedFront> {
        let (numbers, vectors) = self.all_traded()?;
        let reference = self.reference(&vectors)?;
        let front = pareto::front(&vectors);
        let on_front: Vec<Vec<f64>> = front.iter().map(|&i| vectors[i].clone()).collect();
        let is_quick = on_front.len() <= most_covered(reference.len());
        Some(ObservedFront {
            trials: front.into_iter().map(|i| numbers[i]).collect(),
            hypervolume: is_quick.then(|| pareto::hypervolume(&on_front, &reference)),
            reference: self.flipped(reference),
        })
    }

    /// With several goals, the rank of the front that each feasible trial is on, by its number: front 0 is the Pareto front, front 1 that
    /// of the remaining trials, and so on. Otherwise empty.
    pub fn layers(&self) -> BTreeMap<usize, usize> {
        let (numbers, vectors) = self.all_traded().unwrap_or_default();
        numbers.into_iter().zip(pareto::layers(&vectors)).collect()
    }

    /// The hypervolume after each trial that raised it, always over the same reference; empty if there is no front, or it would take
    /// too long.
    pub fn hypervolumes(&self) -> Vec<Covered> {
        let Some((numbers, vectors)) = self.all_traded() else { return Vec::new() };
        let Some(reference) = self.reference(&vectors) else { return Vec::new() };
        let mut front: Vec<Vec<f64>> = Vec::new();
        let mut covered: Vec<Covered> = Vec::new();
        for (trial, vector) in numbers.into_iter().zip(vectors) {
            front.push(vector);
            let on_front = pareto::front(&front);
            if !on_front.contains(&(front.len() - 1)) {
                front.pop();
                continue;
            }
            front = on_front.into_iter().map(|i| front[i].clone()).collect();
            if front.len() > most_covered(reference.len()) {
                return Vec::new();
            }
            let hypervolume = pareto::hypervolume(&front, &reference);
            if covered.last().is_none_or(|last| hypervolume > last.hypervolume) {
                covered.push(Covered { trial, hypervolume });
            }
        }
        covered
    }

    /// The feasible trials by number, and what was measured of each goal, larger is better; `None` if there is at most one goal.
    fn all_traded(&self) -> Option<(Vec<usize>, Vec<Vec<f64>>)> {
        if self.outcomes().search() != Search::Front {
            return None;
        }
        let vector = |trial: &Trial| Some((trial.number, self.traded(trial)?));
        Some(self.trials().iter().filter_map(vector).unzip())
    }

    /// What is worth nothing: as the study says, and inferred where it does not; larger is better.
    fn reference(&self, vectors: &[Vec<f64>]) -> Option<Vec<f64>> {
        let wanted = |goal: &NamedOutcome| goal.aim.reference().map(|at| goal.aim.direction().flip(at));
        let wanted: Vec<Option<f64>> = self.outcomes().goals().map(wanted).collect();
        pareto::reference(vectors, &wanted)
    }

    /// Values of the goals in the user's direction.
    fn flipped(&self, values: Vec<f64>) -> Vec<f64> {
        let goals = self.outcomes().goals();
        goals.zip(values).map(|(goal, value)| goal.aim.direction().flip_back(value)).collect()
    }
}
