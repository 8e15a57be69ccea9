//! Which points belong to Phase I, and how they are drawn.
//!
//! Given: the history. Gives: the phase of the next point and of every earlier one. Does not know: models.

use super::{GoUcb, PhaseTwo};
use crate::history::{History, Proposal};
use crate::optimizer::Rng;
use crate::settings::Aim;

impl GoUcb {
    /// Whether the next point belongs to Phase I.
    pub(super) fn is_exploring(&self, history: &History) -> bool {
        let (n_told, n_pending) = (history.observations().len(), history.pending().len());
        self.belongs_to_phase_one(n_told, n_pending, first_value(history))
    }

    /// A point of Phase I: of a Sobol sequence for the aim `answer`, uniform as in the paper otherwise.
    pub(super) fn explore(&self, history: &History, rng: &mut Rng) -> Vec<f64> {
        match &self.phase_two {
            PhaseTwo::Refitted { aim: Aim::Answer, design, .. } => design.next(history, rng),
            PhaseTwo::Refitted { .. } | PhaseTwo::Scheduled(_) => history.fresh_uniform(rng),
        }
    }

    /// The points proposed in Phase II so far.
    pub(super) fn rounds<'a>(&'a self, history: &'a History) -> impl Iterator<Item = &'a Proposal> {
        let first_value = first_value(history);
        let is_round = move |at: &&Proposal| !self.belongs_to_phase_one(at.n_told, at.n_pending, first_value);
        history.proposals().iter().filter(is_round)
    }

    /// Whether a point belongs to Phase I that was proposed after `n_told` observations, with `n_pending` points pending. Phase I
    /// lasts until there is a value to fit, however many trials fail.
    fn belongs_to_phase_one(&self, n_told: usize, n_pending: usize, first_value: Option<usize>) -> bool {
        let n_explored = match self.phase_two {
            PhaseTwo::Refitted { .. } => n_told + n_pending,
            PhaseTwo::Scheduled(_) => n_told, // ŵ_0 is fitted once, on all of Phase I
        };
        n_explored < self.n || first_value.is_none_or(|first| first >= n_told)
    }
}

/// The index of the first observation that has a value.
fn first_value(history: &History) -> Option<usize> {
    history.observations().iter().position(|told| told.value().is_some())
}
