//! Out of one storage and into another: a study's log as lines of text, and trials that were made elsewhere.

use std::ops::ControlFlow;

use super::commit::Decision;
use super::{Import, Imported, Study, record};
use crate::error::StudyError;
use crate::event::{Event, Source};
use crate::import;
use crate::log::{self, Appended, LeaseChange, Log, Storage, StudyId};
use crate::outcomes::{Unusable, VALUE};
use crate::state::{State, check_event};
use crate::suggest::Sampler;
use crate::trial::Trial;

impl Study {
    /// Gives every record, as it is stored, to `each`, until that says stop.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn export(&mut self, mut each: impl FnMut(&str) -> ControlFlow<()>) -> Result<(), StudyError> {
        self.log.read(self.id, 0, &mut |_, body| each(body))?;
        Ok(())
    }

    /// The study that was exported as these lines, in another storage or, if `name` is given, under another name. Nothing is
    /// stored unless every record is sound. Leases stay behind. A trial that ran gets a new one if the study has an objective, so
    /// that workers take it up again unless it is told before; a trial of a person runs until it is told.
    ///
    /// # Errors
    /// If the lines are not a log, there is a study of that name, or storage cannot be written.
    pub fn restore<'l>(
        storage: &Storage,
        lines: impl IntoIterator<Item = &'l str>,
        name: Option<&str>,
    ) -> Result<Self, StudyError> {
        let (state, bodies) = fold(lines, name)?;
        let name = state.definition().name.clone();
        if log::is_hidden(&name) {
            return Err(StudyError::ReservedName { name });
        }
        let mut log = storage.connect()?;
        let (first, rest) = bodies.split_first().ok_or_else(|| StudyError::broken(1, "the log is empty"))?;
        let Some(id) = log.create(&name, first)? else {
            return Err(StudyError::Exists { name, storage: storage.to_string() });
        };
        match append(&mut *log, id, rest, &leases(&state)) {
            Ok(()) => Ok(Self::with(storage, log, id, state, None)),
            Err(error) => {
                log.delete(id)?;
                Err(error)
            }
        }
    }

    /// Adds trials that were made elsewhere, all or none. Those that were imported before, with the same parameters and
    /// the same outcome, are not added again: a file may be imported twice, or once more after it has grown.
    ///
    /// # Errors
    /// If a point is not in the space, a value is not finite, or storage cannot be written.
    pub fn import(&mut self, imports: &[Import]) -> Result<Imported, StudyError> {
        for (trial, import) in imports.iter().enumerate() {
            self.state.encoding().space().check(&import.params)?;
            let of_one = import.outcome.as_ref().ok().filter(|_| self.state.outcomes().is_one());
            if let Some(value) = of_one.and_then(|measured| measured.value(VALUE)).filter(|y| !y.is_finite())
            {
                return Err(StudyError::NotFinite { trial, value });
            }
            if let Ok(measured) = &import.outcome {
                let checked = self.state.outcomes().check(measured.clone());
                checked
                    .map_err(|Unusable { reason, .. }| StudyError::BadOutcome { trial, problem: reason })?;
            }
        }
        self.refresh()?;
        self.commit(|study| {
            let first = study.state.trials().len();
            let added = |(trial, import): (usize, &Import)| {
                let params = import.params.clone();
                let outcomes = study.state.outcomes();
                let (measured, reason) = match &import.outcome {
                    Ok(measured) => (outcomes.check(measured.clone()).ok(), None),
                    Err(reason) => {
                        (import.known.clone().and_then(|known| outcomes.known(known)), Some(reason.clone()))
                    }
                };
                Event::Added { trial, params, measured, reason }
            };
            let events: Vec<Event> = (first..).zip(study.not_yet_there(imports)).map(added).collect();
            let result = Imported { first, n_added: events.len() };
            Ok(Decision::append_all(events, result))
        })
    }

    /// Of these, the ones that [`Study::import`] would add.
    pub fn not_yet_there<'a>(&self, imports: &'a [Import]) -> Vec<&'a Import> {
        let known = self.state.trials().iter().filter(|trial| trial.source == Source::Imported);
        let known = known.map(|trial| Import {
            params: trial.params.clone(),
            outcome: match (trial.measurements.first(), &trial.failure) {
                (Some(measured), _) => Ok(measured.clone()),
                (None, failure) => Err(failure.as_ref().map(|f| f.reason.clone()).unwrap_or_default()),
            },
            known: trial.known().cloned(),
        });
        import::new_ones(imports, known)
    }
}

/// What the lines say, and the records to store.
fn fold<'l>(
    lines: impl IntoIterator<Item = &'l str>,
    name: Option<&str>,
) -> Result<(State, Vec<String>), StudyError> {
    let mut state: Option<State> = None;
    let mut bodies = Vec::new();
    for (seq, line) in (1..).zip(lines.into_iter().filter(|line| !line.trim().is_empty())) {
        let mut record = record(seq, line)?;
        if let (Some(name), Event::Created { definition, .. }) = (name, &mut record.event) {
            definition.name = name.to_owned();
            bodies.push(record.to_json()?);
        } else {
            bodies.push(line.to_owned());
        }
        check_event(state.as_ref(), &record.event).map_err(|problem| StudyError::broken(seq, problem))?;
        match &mut state {
            None => state = Some(State::new(record)?),
            Some(state) => state.apply(record)?,
        }
    }
    let state = state.ok_or_else(|| StudyError::broken(1, "the log is empty"))?;
    Sampler::new(&state)?;
    Ok((state, bodies))
}

/// A last chance to be told for whoever ran a trial when the log was exported.
fn leases(state: &State) -> Vec<LeaseChange> {
    let plan = state.plan();
    let running = state.running().filter(|_| plan.objective.is_some());
    let lease = |trial: &Trial| LeaseChange::Claim {
        trial: trial.number,
        owner: "restored".to_owned(),
        lasts: plan.lease,
    };
    running.map(lease).collect()
}

fn append(
    log: &mut dyn Log,
    id: StudyId,
    bodies: &[String],
    leases: &[LeaseChange],
) -> Result<(), StudyError> {
    match log.append(id, 1, bodies, leases)? {
        Appended::Stored => Ok(()),
        Appended::Moved | Appended::Gone => {
            Err(StudyError::broken(2, "another process wrote to the study while it was being restored"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;
    use crate::{StudyFile, TrialState};

    fn studied(objective: &str) -> Study {
        let text =
            "direction = 'minimize'\nparameters.x = { type = 'float', low = 0, high = 1 }\nlease = 0.001\n";
        let file = StudyFile::parse(&format!("{text}{objective}")).unwrap();
        let mut study = Study::create(&Storage::memory(), file.definition).unwrap();
        for value in [0.1 + 0.2, 1e-300] {
            let job = study.ask(Some("anna")).unwrap();
            study.tell(job.trial, Measurement::new(value), None).unwrap();
        }
        study.ask(None).unwrap();
        study
    }

    fn lines(study: &mut Study) -> Vec<String> {
        let mut lines = Vec::new();
        study
            .export(|line| {
                lines.push(line.to_owned());
                ControlFlow::Continue(())
            })
            .unwrap();
        lines
    }

    #[test]
    fn a_log_comes_back_as_it_was_and_the_study_goes_on() {
        let mut study = studied("");
        let exported = lines(&mut study);
        let storage = Storage::memory();
        let mut restored = Study::restore(&storage, exported.iter().map(String::as_str), None).unwrap();
        assert_eq!(lines(&mut restored), exported);
        assert_eq!(restored.state().trials(), study.state().trials());
        assert_eq!(restored.state().count(TrialState::Running), 1);
        assert_eq!(restored.ask(None).unwrap(), study.ask(None).unwrap());
        assert_eq!(restored.verify(|_| ()).unwrap().mismatches, []);
        let again = Study::restore(&storage, exported.iter().map(String::as_str), None);
        assert!(matches!(again, Err(StudyError::Exists { .. })));
        let renamed = Study::restore(&storage, exported.iter().map(String::as_str), Some("copy")).unwrap();
        assert_eq!((renamed.name(), renamed.state().trials().len()), ("copy", 3));
        assert!(Study::open(&storage, "copy").is_ok());
    }

    #[test]
    fn what_ran_is_taken_up_again_by_workers_but_not_taken_from_a_person() {
        for (objective, n_waiting) in [("", 0), ("objective.command = ['true']", 1)] {
            let exported = lines(&mut studied(objective));
            let storage = Storage::memory();
            let mut study = Study::restore(&storage, exported.iter().map(String::as_str), None).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20)); // longer than the lease
            study.reclaim().unwrap();
            assert_eq!(study.state().count(TrialState::Waiting), n_waiting, "{objective}");
            assert_eq!(study.state().count(TrialState::Running), 1 - n_waiting, "{objective}");
        }
    }

    #[test]
    fn a_log_that_says_what_no_study_file_could_say_is_refused() {
        let exported = lines(&mut studied("objective.command = ['true']"));
        let cases = [
            (r#""command":["true"]"#, r#""command":[]"#, "the objective has an empty command"),
            (r#""trials":50"#, r#""trials":0"#, "`trials` must be 1 or more"),
            (r#""name":"study""#, r#""name":"""#, "the study has no name"),
            (r#""value":1e-300"#, r#""value":1e-300,"noise_std":-1.0"#, "must be a number, 0 or more"),
            (r#""params":{"x":"#, r#""params":{"x":7"#, "x"),
            (r#""params":{"x""#, r#""params":{"y""#, "y"),
            (r#""low":0.0"#, r#""low":2.0"#, "low"),
        ];
        for (from, to, words) in cases {
            let text = exported.join("\n");
            assert!(text.contains(from), "{from} in {text}");
            let storage = Storage::memory();
            let error = Study::restore(&storage, text.replace(from, to).lines(), None).err();
            let error = error.unwrap_or_else(|| panic!("{to} is taken")).to_string();
            assert!(error.contains(words), "{words}: {error}");
            assert!(storage.connect().unwrap().studies().unwrap().is_empty());
        }
    }

    #[test]
    fn of_a_broken_log_nothing_is_stored() {
        let exported = lines(&mut studied(""));
        let broken: [Vec<&str>; 4] = [
            Vec::new(),
            exported[1..].iter().map(String::as_str).collect(),
            exported.iter().enumerate().filter(|(i, _)| *i != 2).map(|(_, line)| line.as_str()).collect(),
            exported.iter().map(String::as_str).chain(["{\"v\":1"]).collect(),
        ];
        for lines in broken {
            let storage = Storage::memory();
            let error = Study::restore(&storage, lines, None).err().expect("it is broken");
            assert!(matches!(error, StudyError::Broken { .. }), "{error}");
            assert!(storage.connect().unwrap().studies().unwrap().is_empty());
        }
    }
}
