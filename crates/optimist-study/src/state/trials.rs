//! The trials of a study, by number: all of them, or, where a snapshot stands for those up to a number, all later ones and the few
//! earlier ones that were needed.

use std::collections::{BTreeMap, BTreeSet};

use crate::trial::Trial;

/// The trials that are held, and which of them have changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Trials {
    /// Trials below this number are in `fetched`, or nowhere.
    n_left_out: usize,
    fetched: BTreeMap<usize, Trial>,
    later: Vec<Trial>,
    /// Those that may have changed since [`Trials::forget_changes`].
    changed: BTreeSet<usize>,
}

impl Trials {
    /// None of the first `n`.
    pub fn without(n: usize) -> Self {
        Self { n_left_out: n, ..Self::default() }
    }

    /// How many there are, left out or not.
    pub fn len(&self) -> usize {
        self.n_left_out + self.later.len()
    }

    /// All of them.
    ///
    /// # Panics
    /// If some are left out: only what `AskTell` keeps to itself has such a state.
    pub fn all(&self) -> &[Trial] {
        assert!(self.n_left_out == 0, "the first {} trials are not loaded", self.n_left_out);
        &self.later
    }

    /// How many of the first trials were left out in the beginning.
    pub fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    /// Those that are here.
    pub fn loaded(&self) -> impl Iterator<Item = &Trial> {
        self.fetched.values().chain(&self.later)
    }

    /// Whether a trial is there and is not here.
    pub fn is_left_out(&self, number: usize) -> bool {
        number < self.n_left_out && !self.fetched.contains_key(&number)
    }

    pub fn get(&self, number: usize) -> Option<&Trial> {
        match number.checked_sub(self.n_left_out) {
            Some(place) => self.later.get(place),
            None => self.fetched.get(&number),
        }
    }

    /// To be changed.
    pub fn get_mut(&mut self, number: usize) -> Option<&mut Trial> {
        let known = match number.checked_sub(self.n_left_out) {
            Some(place) => self.later.get_mut(place),
            None => self.fetched.get_mut(&number),
        }?;
        self.changed.insert(number);
        Some(known)
    }

    pub fn push(&mut self, trial: Trial) {
        self.changed.insert(trial.number);
        self.later.push(trial);
    }

    /// Takes trials in that were left out; those that are here stay as they are.
    pub fn fetch(&mut self, trials: Vec<Trial>) {
        for trial in trials.into_iter().filter(|trial| trial.number < self.n_left_out) {
            self.fetched.entry(trial.number).or_insert(trial);
        }
    }

    /// What may have changed, by number.
    pub fn changed(&self) -> impl Iterator<Item = usize> {
        self.changed.iter().copied()
    }

    pub fn forget_changes(&mut self) {
        self.changed.clear();
    }
}
