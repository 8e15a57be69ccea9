//! What changes about the past: trials whose record was wrong, and a space that became wider.
//!
//! The log keeps what it said before, and so does the trial. The optimizer's updates are what they would have been had the
//! truth been told in the first place.

use std::fmt::Display;

use optimist::encode::Encoding;
use optimist::space::{Assignment, Kind, Parameter, Space};

use super::{State, Update, Widening};
use crate::evaluation::{Measurement, Values};
use crate::event::{Amendment, FailureKind};
use crate::trial::{Amended, Failure, Trial, TrialState};

impl State {
    pub(super) fn amend(
        &mut self,
        trial: usize,
        params: Option<Assignment>,
        outcome: Option<Amendment>,
        reason: Option<String>,
        at: u64,
    ) -> Result<(), String> {
        if let Some(params) = &params {
            self.encoding.space().check(params).map_err(|error| error.to_string())?;
        }
        let known = self.known(trial)?;
        let one = |measured: &Measurement| match measured.values {
            Values::One(one) => Some(one.value),
            Values::Named(_) => None,
        };
        let before = Amended {
            at,
            reason,
            state: known.state,
            failure: known
                .failure
                .as_ref()
                .filter(|_| known.state == TrialState::Failed)
                .map(|failure| failure.reason.clone()),
            values: known.measurements.iter().filter_map(one).collect(),
            measurements: known
                .measurements
                .iter()
                .chain(known.known())
                .filter(|measured| one(measured).is_none())
                .cloned()
                .collect(),
            params: params.map(|params| std::mem::replace(&mut known.params, params)),
        };
        known.amendments.push(before);
        if let Some(outcome) = outcome {
            self.amend_outcome(trial, outcome, at);
        }
        self.revision += 1;
        Ok(())
    }

    fn amend_outcome(&mut self, trial: usize, outcome: Amendment, at: u64) {
        let Some(known) = self.trials.get_mut(trial) else { return };
        known.measurements.clear();
        known.failure = None;
        let (state, update) = match outcome {
            Amendment::Measured(measured) => {
                known.measurements.push(measured.clone());
                (TrialState::Complete, Some(self.told_measured(trial, &measured)))
            }
            Amendment::Failed { reason, known: measured } => {
                let kind = Some(FailureKind::Infeasible);
                known.failure = Some(Failure { kind, reason, stderr: None, known: measured.clone() });
                (TrialState::Failed, Some(self.told_failed(trial, measured.as_deref())))
            }
            Amendment::Cancelled => (TrialState::Cancelled, Some(Update::Withdrawn { trial })),
            Amendment::Waiting => {
                known.attempts = 0;
                (TrialState::Waiting, None)
            }
        };
        self.set_state(trial, state, at);
        self.replace_updates(trial, update);
    }

    /// Puts `update` in the place of all that was told of the trial. One that was never proposed, because it was made elsewhere,
    /// is if it is to be run.
    fn replace_updates(&mut self, trial: usize, update: Option<Update>) {
        let is_proposal = |update: &Update| *update == Update::Proposed { trial };
        let was_proposed = self.updates.iter().any(is_proposal);
        let update = update.or((!was_proposed).then_some(Update::Proposed { trial }));
        let is_end = |update: &Update| matches!(*update, Update::Told { trial: of, .. } | Update::Withdrawn { trial: of } if of == trial);
        let place = self.updates.iter().position(is_end).unwrap_or(self.updates.len());
        self.updates.retain(|update| !is_end(update));
        if let Some(update) = update {
            self.updates.insert(place, update);
        }
    }

    pub(super) fn widen(&mut self, space: Space, at: u64) -> Result<(), String> {
        let changes = self.widening(&space)?;
        self.widenings.push(Widening { at, trials: self.trials.len(), changes });
        self.encoding = Encoding::new(space.clone());
        self.definition.space = space;
        self.revision += 1;
        Ok(())
    }

    /// How `wider` differs from the space as it is, in words.
    ///
    /// # Errors
    /// Why it is not a wider one in which every trial so far, and every point of the queue, has its place.
    pub(crate) fn widening(&self, wider: &Space) -> Result<Vec<String>, String> {
        let space = self.encoding.space();
        if space.parameters().len() != wider.parameters().len() {
            return Err("parameters cannot be added or dropped".to_owned());
        }
        if space.constraints() != wider.constraints() {
            return Err("constraints cannot change".to_owned());
        }
        let mut changes = Vec::new();
        for (old, new) in space.parameters().iter().zip(wider.parameters()) {
            changes.extend(parameter_widening(old, new)?);
        }
        let tried = self.trials().iter().map(|Trial { params, .. }| params);
        for params in tried.chain(&self.queue) {
            wider.check(params).map_err(|error| format!("a trial would be outside it: {error}"))?;
        }
        Ok(changes)
    }
}

/// How a parameter became wider, in words; `None` if it is the same.
fn parameter_widening(old: &Parameter, new: &Parameter) -> Result<Option<String>, String> {
    let name = &old.name;
    if (name, &old.when) != (&new.name, &new.when) {
        return Err(format!("parameter `{name}` must keep its place and its conditions"));
    }
    let words = match (&old.kind, &new.kind) {
        (old, new) if old == new => return Ok(None),
        (
            Kind::Float { low, high, log, step },
            Kind::Float { low: new_low, high: new_high, log: new_log, step: new_step },
        ) if (log, step) == (new_log, new_step) => wider_range(name, (low, high), (new_low, new_high))?,
        (
            Kind::Int { low, high, log, step },
            Kind::Int { low: new_low, high: new_high, log: new_log, step: new_step },
        ) if (log, step) == (new_log, new_step) => wider_range(name, (low, high), (new_low, new_high))?,
        (Kind::Categorical { choices }, Kind::Categorical { choices: new })
            if choices.iter().all(|choice| new.contains(choice)) =>
        {
            let added: Vec<String> =
                new.iter().filter(|choice| !choices.contains(choice)).map(ToString::to_string).collect();
            match &added[..] {
                [] => return Err(format!("the choices of `{name}` must keep their order")),
                added => format!("also {}", added.join(", ")),
            }
        }
        _ => return Err(format!("`{name}` can only get wider bounds or further choices")),
    };
    Ok(Some(format!("{name}: {words}")))
}

fn wider_range<T: PartialOrd + Display>(
    name: &str,
    (low, high): (T, T),
    (new_low, new_high): (T, T),
) -> Result<String, String> {
    match new_low <= low && new_high >= high {
        true => Ok(format!("from {new_low} to {new_high} (was {low} to {high})")),
        false => Err(format!(
            "`{name}` ranges from {low} to {high}, and would only range from {new_low} to {new_high}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Told;
    use super::super::tests::{after, asked};
    use super::*;
    use crate::event::{Event, Record};
    use optimist::Outcome;

    fn told(trial: usize, value: f64) -> Event {
        Event::Told { trial, measured: Measurement::new(value), seconds: None }
    }

    fn amended(trial: usize, outcome: Amendment) -> Event {
        Event::Amended { trial, params: None, outcome: Some(outcome), reason: None }
    }

    fn value(trial: usize, y: f64) -> Update {
        Update::Told { trial, outcome: Told::One(Outcome::Value { y, noise_std: None }) }
    }

    const PROPOSED: [Update; 3] =
        [Update::Planned { trials: 50 }, Update::Proposed { trial: 0 }, Update::Proposed { trial: 1 }];

    #[test]
    fn the_optimizer_is_told_what_it_would_have_been_told_in_the_first_place() {
        let mistyped = [asked(0, None), asked(1, None), told(0, 715.0), told(1, 2.0), told(0, 71.5)];
        let cases = [
            (Amendment::Measured(Measurement::new(71.5)), TrialState::Complete, vec![value(0, 71.5)]),
            (Amendment::Cancelled, TrialState::Cancelled, vec![Update::Withdrawn { trial: 0 }]),
            (Amendment::Waiting, TrialState::Waiting, vec![]),
            (
                Amendment::Failed { reason: "it peeled off".to_owned(), known: None },
                TrialState::Failed,
                vec![Update::Told { trial: 0, outcome: Told::One(Outcome::Failed) }],
            ),
        ];
        for (outcome, word, updates) in cases {
            let state = after("", mistyped.iter().cloned().chain([amended(0, outcome)]));
            let expected: Vec<Update> = PROPOSED.into_iter().chain(updates).chain([value(1, 2.0)]).collect();
            assert_eq!(state.updates(), expected);
            assert_eq!((state.trials()[0].state, state.revision()), (word, 1));
            assert_eq!(state.trials()[0].amendments[0].values, [715.0, 71.5]);
        }
    }

    #[test]
    fn a_cancelled_trial_does_not_count_and_counts_again_when_it_is_put_back() {
        let state = after("", [asked(0, None), told(0, 1.0), amended(0, Amendment::Cancelled)]);
        assert_eq!((state.n_counted(), state.best_observed()), (0, None));
        let mut state = state;
        state.apply(Record::new(5, amended(0, Amendment::Waiting))).unwrap();
        assert_eq!((state.n_counted(), state.n_done(), state.waiting().count()), (1, 0, 1));
    }

    #[test]
    fn a_trial_from_elsewhere_that_is_to_be_run_again_is_proposed() {
        let params = Assignment::from_iter([("x", true)]);
        let added = Event::Added { trial: 0, params, measured: None, reason: None };
        let state = after("", [added, amended(0, Amendment::Waiting)]);
        assert_eq!(state.updates()[1..], [Update::Proposed { trial: 0 }]);
    }
}
