//! Global and local search in turns.
//!
//! Given: the history. Gives: the scope of the next search. Does not know: models, trust regions.

use crate::history::History;
use crate::settings::Aim;

/// How far from the incumbent line 5 searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The whole domain, approaching its edges step by step, for the largest expected improvement.
    Global,
    /// The trust region around the incumbent, for the likeliest improvement.
    Local,
}

/// Trials before global and local searches take turns. Without local searches answers after 100 trials were far worse, and with
/// local ones from the start those after 20 (docs/results/log.md, "Wide and near in turns").
const GLOBAL_ONLY: usize = 24;

impl Scope {
    /// The scope of the next search. Local searches start as soon as a trial has failed, since distant points may fail too: in the
    /// group `failing` that raised the score after 20 trials from 28 to 38 and left the one after 50 as it was (docs/results/log.md,
    /// "Engine 13").
    pub(super) fn next(aim: Aim, history: &History) -> Self {
        let n = history.observations().len() + history.pending().len();
        let has_failures = history.observations().iter().any(|told| told.value().is_none());
        let is_global = n % 2 == 1 || (n <= GLOBAL_ONLY && !has_failures);
        if aim == Aim::Answer && is_global { Self::Global } else { Self::Local }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::optimizer::{Observation, Outcome};

    /// The scopes after 1 to `n` trials, the first of which has this outcome.
    fn scopes(aim: Aim, first: Outcome, n: usize) -> Vec<Scope> {
        let mut history = History::new(Domain::cube(1));
        let mut tell = |i: usize| {
            let outcome = if i == 0 { first } else { Outcome::Value { y: 0.0, noise_std: None } };
            history.tell(Observation { x: vec![i as f64 / n as f64], outcome }).unwrap();
            Scope::next(aim, &history)
        };
        (0..n).map(&mut tell).collect()
    }

    #[test]
    fn global_and_local_searches_take_turns_late_or_once_a_trial_has_failed() {
        let value = Outcome::Value { y: 0.0, noise_std: None };
        let turn = |n: usize| if n % 2 == 1 { Scope::Global } else { Scope::Local };
        let turns: Vec<Scope> = (1..=GLOBAL_ONLY + 4).map(turn).collect();
        let without_failures = scopes(Aim::Answer, value, GLOBAL_ONLY + 4);
        assert_eq!(without_failures[..GLOBAL_ONLY], [Scope::Global; GLOBAL_ONLY]);
        assert_eq!(without_failures[GLOBAL_ONLY..], turns[GLOBAL_ONLY..]);
        assert_eq!(scopes(Aim::Answer, Outcome::Failed, GLOBAL_ONLY + 4), turns);
        assert_eq!(scopes(Aim::Regret, value, 3), [Scope::Local; 3]);
    }
}
