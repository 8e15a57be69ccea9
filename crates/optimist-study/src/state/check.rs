//! Whether events from outside may be appended: those of a restored log, and those sent to a server.

use super::State;
use crate::evaluation::Measurement;
use crate::event::{Amendment, Event, Source};
use crate::limits::TEXT_BYTES;
use crate::outcomes::Outcomes;

impl State {
    /// Whether these events, in order, can follow the state as it is: the log folds with them, and they say nothing that neither a study
    /// file nor a command could have said.
    ///
    /// # Errors
    /// What is wrong with the first that cannot.
    pub fn check(&self, events: &[Event]) -> Result<(), String> {
        let mut next = self.n_trials();
        let mut queue: Option<Vec<_>> = None; // only where it is needed
        for event in events {
            check_event(Some(self), event)?;
            match event {
                Event::Created { .. } => return Err("a study can only be created once".to_owned()),
                Event::Changed { .. }
                | Event::Enqueued { .. }
                | Event::Steered { .. }
                | Event::Noted { trial: None, .. } => {}
                Event::Widened { space } => drop(self.widening(space)?),
                Event::Asked { trial, params, source, .. } => {
                    is_next(*trial, &mut next)?;
                    match source {
                        Source::Enqueued => {
                            let queue = queue.get_or_insert_with(|| self.queue.iter().collect());
                            let place = queue.iter().position(|queued| *queued == params);
                            let place =
                                place.ok_or("the trial uses an enqueued point that isn't in the queue")?;
                            queue.remove(place);
                        }
                        Source::Replicate { of } => is_there(*of, next)?,
                        Source::Suggested { seen, .. } if *seen > self.head => {
                            return Err("a suggestion refers to records that don't exist".to_owned());
                        }
                        Source::Suggested { .. } | Source::Imported => {}
                    }
                }
                Event::Added { trial, .. } => is_next(*trial, &mut next)?,
                Event::Retried { trial, .. }
                | Event::Told { trial, .. }
                | Event::Failed { trial, .. }
                | Event::Requeued { trial, .. }
                | Event::Cancelled { trial }
                | Event::Amended { trial, .. }
                | Event::Noted { trial: Some(trial), .. } => is_there(*trial, next)?,
            }
        }
        Ok(())
    }
}

fn is_next(trial: usize, next: &mut usize) -> Result<(), String> {
    if trial != *next {
        return Err(format!("the next trial is {next}, not {trial}"));
    }
    *next += 1;
    Ok(())
}

fn is_there(trial: usize, next: usize) -> Result<(), String> {
    if trial < next { Ok(()) } else { Err(format!("there is no trial {trial}")) }
}

/// Whether an event of a log that comes from elsewhere says something that neither a study file nor a command could have
/// said.
pub(crate) fn check_event(state: Option<&State>, event: &Event) -> Result<(), String> {
    let definition = match event {
        Event::Created { definition, .. } if definition.name.is_empty() => {
            return Err("the study has no name".to_owned());
        }
        Event::Created { definition, .. } => definition.problem(),
        Event::Changed { plan } => {
            let misfit = state.and_then(|state| state.outcomes().misfits(plan).into_iter().next());
            plan.problem().or_else(|| Some(misfit?.1))
        }
        _ => None,
    };
    if let Event::Noted { text, .. } = event
        && text.len() > TEXT_BYTES
    {
        return Err(format!("a note has {} bytes, the limit is {TEXT_BYTES}", text.len()));
    }
    let params = match event {
        Event::Enqueued { params }
        | Event::Asked { params, .. }
        | Event::Added { params, .. }
        | Event::Amended { params: Some(params), .. } => Some(params),
        _ => None,
    };
    let wrong = || measurement_problem(state?.outcomes(), event);
    let outside = || {
        let (state, params) = state.zip(params)?;
        state.encoding().space().check(params).err().map(|error| error.to_string())
    };
    definition.or_else(outside).or_else(wrong).map_or(Ok(()), Err)
}

/// What is wrong with what an event says was measured.
fn measurement_problem(outcomes: &Outcomes, event: &Event) -> Option<String> {
    let (whole, part) = match event {
        Event::Added { measured: Some(measured), reason: Some(_), .. } if !outcomes.is_one() => {
            (None, Some(measured))
        }
        Event::Told { measured, .. }
        | Event::Added { measured: Some(measured), .. }
        | Event::Amended { outcome: Some(Amendment::Measured(measured)), .. } => (Some(measured), None),
        Event::Failed { known: Some(known), .. }
        | Event::Amended { outcome: Some(Amendment::Failed { known: Some(known), .. }), .. } => {
            (None, Some(&**known))
        }
        _ => (None, None),
    };
    let wrong = |measured: &Measurement| outcomes.problem(measured);
    let unusable = |known: &Measurement| {
        let unknown = known.values.iter().find(|(name, _)| !outcomes.names().any(|one| one == *name));
        let unknown = unknown.map(|(name, _)| outcomes.unknown(name));
        unknown.or_else(|| known.values.iter().find_map(|(name, one)| one.problem(name)))
    };
    whole.and_then(wrong).or_else(|| part.and_then(unusable))
}

#[cfg(test)]
mod tests {
    use optimist::space::Assignment;

    use super::super::tests::{after, asked};
    use super::*;
    use crate::event::Cause;
    use crate::{Plan, Record};

    /// `x` is a yes or no.
    fn at(x: bool) -> Assignment {
        Assignment::from_iter([("x", x)])
    }

    fn outside() -> Assignment {
        Assignment::from_iter([("x", 7.0)])
    }

    fn asked_as(trial: usize, source: Source) -> Event {
        Event::Asked { trial, params: at(true), source, worker: None, why: None }
    }

    #[test]
    fn what_is_checked_can_be_applied_and_what_cannot_be_applied_is_found() {
        let state = after("", [asked(0, None), Event::Enqueued { params: at(true) }]);
        let told = |trial| Event::Told { trial, measured: Measurement::new(1.0), seconds: None };
        let put_back = |trial| Event::Requeued { trial, cause: Cause::Lost, reason: String::new() };
        let sound = [
            vec![told(0)],
            vec![asked(1, None), told(1), put_back(1)],
            vec![asked_as(1, Source::Enqueued), asked_as(2, Source::Replicate { of: 1 })],
        ];
        for events in sound {
            assert_eq!(state.check(&events), Ok(()), "{events:?}");
            let mut state = state.clone();
            for event in events {
                state.apply(Record::new(state.head() + 1, event)).unwrap();
            }
        }
        let wrong = [
            vec![told(1)],
            vec![asked(2, None)],
            vec![asked(1, None), asked(1, None)],
            vec![put_back(7)],
            vec![asked_as(1, Source::Enqueued), asked_as(2, Source::Enqueued)],
            vec![asked_as(1, Source::Replicate { of: 5 })],
            vec![Event::Noted { trial: Some(1), text: "x".to_owned() }],
            vec![Event::Noted { trial: None, text: "x".repeat(TEXT_BYTES + 1) }],
            vec![asked_as(1, Source::Suggested { seen: 99, since: None, gain: None, engine: None })],
            vec![Event::Enqueued { params: outside() }],
            vec![Event::Told { trial: 0, measured: Measurement::new(f64::NAN), seconds: None }],
            vec![Event::Changed { plan: Box::new(Plan { trials: 0, ..Plan::default() }) }],
            vec![Event::Amended { trial: 0, params: Some(outside()), outcome: None, reason: None }],
        ];
        for events in wrong {
            assert!(state.check(&events).is_err(), "{events:?}");
        }
    }
}
