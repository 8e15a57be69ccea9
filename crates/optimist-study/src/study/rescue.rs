//! Copies of whole storages, and what can be saved of a damaged study.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use optimist::space::Assignment;
use serde::Serialize;

use super::Study;
use crate::error::StudyError;
use crate::event::{Event, Record};
use crate::log::{self, Log, Storage, StudyId};
use crate::state::State;

/// Copies every study of one storage to another, while others use it, and reads the copies again. A trial that ran is taken up
/// again by whoever resumes the copy, as after [`Study::restore`]. Gives the studies that were copied, each with its number
/// of records.
///
/// # Errors
/// If a study is damaged, is there already, or storage cannot be used; studies before it are copied then.
pub fn backup(from: &Storage, to: &Storage) -> Result<Vec<(String, usize)>, StudyError> {
    let mut copied = Vec::new();
    for entry in log::listed(&mut *from.connect()?)? {
        let lines = lines(&mut Study::open(from, &entry.name)?)?;
        Study::restore(to, lines.iter().map(String::as_str), None)?;
        if self::lines(&mut Study::open(to, &entry.name)?)? != lines {
            return Err(StudyError::BadCopy { name: entry.name });
        }
        copied.push((entry.name, lines.len()));
    }
    Ok(copied)
}

fn lines(study: &mut Study) -> Result<Vec<String>, StudyError> {
    let mut lines = Vec::new();
    study.export(|line| {
        lines.push(line.to_owned());
        ControlFlow::Continue(())
    })?;
    Ok(lines)
}

/// What became of a damaged study.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Salvaged {
    /// Records before the first that is damaged or missing: these are as they were.
    pub kept: u64,
    /// Sound records after it that could be used.
    pub used: usize,
    /// Sound records after it that could not: what they go with is lost.
    pub left_out: usize,
    /// Trials from after it, by the number that they had, with the number that they have now.
    pub renumbered: BTreeMap<usize, usize>,
}

impl Study {
    /// Makes a new study of what is sound in a damaged one: everything up to the first record that is damaged or missing, and
    /// what can be told of the trials after it. Those count as imported ones, and have new numbers. The damaged study is left
    /// as it is.
    ///
    /// # Errors
    /// If there is no such study, its first record is damaged, or the new one cannot be stored.
    pub fn salvage(
        from: &Storage,
        name: &str,
        to: &Storage,
        new_name: &str,
    ) -> Result<(Self, Salvaged), StudyError> {
        if !from.exists()? {
            let (name, storage) = (name.to_owned(), from.to_string());
            return Err(StudyError::NotFound { name, storage, others: Vec::new() });
        }
        let mut log = from.connect_to_salvage()?;
        let records = sound_records(from, &mut *log, name)?;
        let mut records = records.into_iter();
        let first = records.next().and_then(|first| Some((first.clone(), State::new(first).ok()?)));
        let (first, state) = first.ok_or_else(|| StudyError::Lost { name: name.to_owned() })?;
        let mut rescue = Rescue::new(first, state);
        for record in records {
            rescue.take(record);
        }
        rescue.salvaged.left_out += rescue.asked.len();
        let lines = rescue.records.iter().map(Record::to_json).collect::<Result<Vec<String>, _>>()?;
        let study = Self::restore(to, lines.iter().map(String::as_str), Some(new_name))?;
        Ok((study, rescue.salvaged))
    }
}

/// What is sound of the study of this name, as its first record has it: the list of studies may be damaged, too.
fn sound_records(from: &Storage, log: &mut dyn Log, name: &str) -> Result<Vec<Record>, StudyError> {
    let listed = log::listed(log);
    let entries = listed.as_deref().unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.name == name);
    let records = entry.map_or(Ok(Vec::new()), |entry| sound(log, entry.id))?;
    if is_of(name, &records) {
        return Ok(records);
    }
    for id in log.traces()? {
        let others = sound(log, id)?;
        if is_of(name, &others) {
            return Ok(others);
        }
    }
    if entry.is_some() {
        return Ok(records);
    }
    let (name, storage) = (name.to_owned(), from.to_string());
    let others = listed?.into_iter().map(|entry| entry.name).collect();
    Err(StudyError::NotFound { name, storage, others })
}

fn is_of(name: &str, records: &[Record]) -> bool {
    let created = records.first().map(|record| &record.event);
    matches!(created, Some(Event::Created { definition, .. }) if definition.name == name && !log::is_hidden(name))
}

fn sound(log: &mut dyn Log, id: StudyId) -> Result<Vec<Record>, StudyError> {
    let mut records = Vec::new();
    log.salvage(id, &mut |seq, body| {
        records.extend(Record::from_json(body).ok().filter(|record| record.seq == seq));
    })?;
    Ok(records)
}

/// A log in the making, from sound records of which some are missing.
struct Rescue {
    state: State,
    records: Vec<Record>,
    /// Trials that were asked for after the damage, by the number that they had.
    asked: BTreeMap<usize, Assignment>,
    /// How many trials there were before it.
    n_known: usize,
    is_damaged: bool,
    salvaged: Salvaged,
}

impl Rescue {
    fn new(first: Record, state: State) -> Self {
        let salvaged = Salvaged { kept: 1, ..Salvaged::default() };
        Self { state, records: vec![first], asked: BTreeMap::new(), n_known: 0, is_damaged: false, salvaged }
    }

    fn take(&mut self, record: Record) {
        if !self.is_damaged {
            if self.push(record.clone()) {
                self.salvaged.kept += 1;
                return;
            }
            self.is_damaged = true;
            self.n_known = self.state.trials().len();
        }
        let (at, old) = (record.at, record.event);
        if let Event::Asked { trial, params, .. } = old {
            self.asked.insert(trial, params);
            return;
        }
        let was = match &old {
            Event::Told { trial, .. } | Event::Failed { trial, .. } | Event::Added { trial, .. } => {
                Some(*trial)
            }
            _ => None,
        };
        let is_used = match self.translated(old) {
            Some(event) => {
                let new = self.state.trials().len();
                let is_new = matches!(event, Event::Added { .. });
                let is_used = self.push(Record { at, ..Record::new(self.state.head() + 1, event) });
                if let Some(was) = was.filter(|_| is_used && is_new) {
                    self.salvaged.renumbered.insert(was, new);
                }
                is_used
            }
            None => false,
        };
        match is_used {
            true => self.salvaged.used += 1,
            false => self.salvaged.left_out += 1,
        }
    }

    /// What an event after the damage says in terms of the trials that there are now.
    fn translated(&mut self, event: Event) -> Option<Event> {
        let new = self.state.trials().len();
        let now = |trial: usize| match trial < self.n_known {
            true => Some(trial),
            false => self.salvaged.renumbered.get(&trial).copied(),
        };
        Some(match event {
            Event::Changed { .. }
            | Event::Widened { .. }
            | Event::Steered { .. }
            | Event::Noted { trial: None, .. } => event,
            Event::Noted { trial: Some(trial), text } => Event::Noted { trial: Some(now(trial)?), text },
            Event::Added { params, measured, reason, .. } => {
                Event::Added { trial: new, params, measured, reason }
            }
            Event::Told { trial, measured, seconds } => match now(trial) {
                Some(trial) => Event::Told { trial, measured, seconds },
                None => {
                    let params = self.asked.remove(&trial)?;
                    Event::Added { trial: new, params, measured: Some(measured), reason: None }
                }
            },
            Event::Failed { trial, kind, reason, stderr, known, seconds } => match now(trial) {
                Some(trial) => Event::Failed { trial, kind, reason, stderr, known, seconds },
                None => {
                    let params = self.asked.remove(&trial)?;
                    let measured = known.map(|known| *known);
                    Event::Added { trial: new, params, measured, reason: Some(reason) }
                }
            },
            Event::Cancelled { trial } => Event::Cancelled { trial: now(trial)? },
            Event::Requeued { trial, cause, reason } => Event::Requeued { trial: now(trial)?, cause, reason },
            Event::Retried { trial, worker } => Event::Retried { trial: now(trial)?, worker },
            Event::Amended { trial, params, outcome, reason } => {
                Event::Amended { trial: now(trial)?, params, outcome, reason }
            }
            // It may have been tried by a trial that is lost.
            Event::Enqueued { .. } | Event::Created { .. } | Event::Asked { .. } => return None,
        })
    }

    /// Whether the record follows from those so far; it is kept then.
    fn push(&mut self, record: Record) -> bool {
        let follows = self.state.apply(record.clone()).is_ok();
        if follows {
            self.records.push(record);
        }
        follows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Source;
    use crate::{StudyFile, TrialState};

    #[test]
    fn trials_from_after_the_damage_are_added_and_those_from_before_go_on() {
        let text = "direction = 'minimize'\nparameters.x = { type = 'float', low = 0, high = 1 }";
        let mut study =
            Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap();
        for _ in 0..4 {
            study.ask(None).unwrap(); // records 2 to 5
        }
        for trial in 0..4 {
            study.tell(trial, trial as f64, None).unwrap(); // records 6 to 9
        }
        let records: Vec<Record> =
            lines(&mut study).unwrap().iter().map(|line| Record::from_json(line).unwrap()).collect();
        let saved = |lost: u64| {
            let state = State::new(records[0].clone()).unwrap();
            let mut rescue = Rescue::new(records[0].clone(), state);
            records[1..]
                .iter()
                .filter(|record| record.seq != lost)
                .for_each(|record| rescue.take(record.clone()));
            (rescue.state, rescue.salvaged)
        };
        let (state, salvaged) = saved(4); // trial 2 was asked for
        assert_eq!((salvaged.kept, salvaged.left_out), (3, 1), "its value has no point to go with");
        assert_eq!(salvaged.renumbered, BTreeMap::from([(3, 2)]));
        assert_eq!(
            state.trials().iter().filter_map(|trial| trial.value()).collect::<Vec<_>>(),
            [0.0, 1.0, 3.0]
        );
        assert_eq!(
            (state.trials()[2].source, &state.trials()[2].params),
            (Source::Imported, &study.state().trials()[3].params)
        );
        let (state, salvaged) = saved(7); // trial 1 was told
        assert_eq!((salvaged.kept, salvaged.used, salvaged.left_out), (6, 2, 0));
        assert_eq!((state.trials()[1].state, state.count(TrialState::Complete)), (TrialState::Running, 3));
    }
}
