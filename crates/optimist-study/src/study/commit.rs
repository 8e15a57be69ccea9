//! How a change gets into the log: it is decided from the state, and appended if nobody came in between; otherwise the study
//! reads on and decides again.

use std::time::Duration;

use super::Study;
use crate::error::StudyError;
use crate::event::{Event, Record};
use crate::log::{Appended, LeaseChange};

impl Study {
    /// Appends what `decide` wants, and has it decide again whenever another process has appended in the meantime.
    pub(super) fn commit<T>(
        &mut self,
        mut decide: impl FnMut(&mut Self) -> Result<Decision<T>, StudyError>,
    ) -> Result<T, StudyError> {
        let mut is_stuck = false;
        loop {
            let Decision { events, leases, result } = decide(self)?;
            if events.is_empty() {
                return Ok(result);
            }
            let head = self.state.head();
            let record = |(seq, event)| Record { by: self.by.clone(), ..Record::new(seq, event) };
            let records: Vec<Record> = (head + 1..).zip(events).map(record).collect();
            let bodies = records.iter().map(Record::to_json).collect::<Result<Vec<String>, _>>()?;
            match self.log.append(self.id, head, &bodies, &leases)? {
                Appended::Stored => {
                    for record in records {
                        self.state.apply(record)?;
                    }
                    self.keep_snapshot();
                    return Ok(result);
                }
                Appended::Moved => {
                    self.refresh()?;
                    // Once, it may have been deleted in between; what was appended can be read otherwise.
                    let has_moved = self.state.head() > head;
                    if !has_moved && is_stuck {
                        return Err(StudyError::broken(head + 1, "it is there and cannot be read"));
                    }
                    is_stuck = !has_moved;
                }
                Appended::Gone => return Err(StudyError::Deleted { name: self.name().to_owned() }),
            }
        }
    }
}

/// What to append, and what to answer when that is done.
pub(super) struct Decision<T> {
    pub events: Vec<Event>,
    leases: Vec<LeaseChange>,
    pub result: T,
}

impl<T> Decision<T> {
    pub fn leave(result: T) -> Self {
        Self { events: Vec::new(), leases: Vec::new(), result }
    }

    pub fn append(event: Event, result: T) -> Self {
        Self::append_all(vec![event], result)
    }

    pub fn append_all(events: Vec<Event>, result: T) -> Self {
        Self { events, leases: Vec::new(), result }
    }

    pub fn claim(mut self, trial: usize, lease: Option<(&str, Duration)>) -> Self {
        let claimed =
            lease.map(|(owner, lasts)| LeaseChange::Claim { trial, owner: owner.to_owned(), lasts });
        self.leases.extend(claimed);
        self
    }

    pub fn release(mut self, trial: usize) -> Self {
        self.leases.push(LeaseChange::Release { trial });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    use optimist::space::Assignment;

    use crate::evaluation::Measurement;
    use crate::event::Source;
    use crate::log::{Entry, Lease, Log, Storage, StorageError, StudyId};
    use crate::{Kept, StudyFile};

    /// A log in which another process does something just before every append, as long as there is something to do.
    struct Meddled {
        log: Box<dyn Log>,
        meddling: Vec<Box<dyn FnOnce() + Send>>,
        /// There is always a record more than can be read.
        is_damaged: bool,
    }

    impl Log for Meddled {
        fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
            self.log.studies()
        }

        fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
            self.log.create(name, first)
        }

        fn append(
            &mut self,
            study: StudyId,
            head: u64,
            bodies: &[String],
            leases: &[LeaseChange],
        ) -> Result<Appended, StorageError> {
            if self.is_damaged {
                return Ok(Appended::Moved);
            }
            if let Some(meddle) = self.meddling.pop() {
                meddle();
            }
            self.log.append(study, head, bodies, leases)
        }

        fn read(
            &mut self,
            study: StudyId,
            after: u64,
            each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
        ) -> Result<(), StorageError> {
            self.log.read(study, after, each)
        }

        fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
            self.log.delete(study)
        }

        fn renew(
            &mut self,
            study: StudyId,
            trials: &[usize],
            owner: &str,
            lasts: Duration,
        ) -> Result<(), StorageError> {
            self.log.renew(study, trials, owner, lasts)
        }

        fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
            self.log.leases(study)
        }
    }

    /// Two handles on a study of which the first has two running trials; the second is meddled with by the first.
    fn meddled(meddle: impl Fn(&mut Study) + Send + Sync + Clone + 'static, times: usize) -> Study {
        let text = "direction = 'maximize'\nparameters.x = { type = 'float', low = 0, high = 1 }";
        let storage = Storage::memory();
        let mut study = Study::create(&storage, StudyFile::parse(text).unwrap().definition).unwrap();
        (0..2).for_each(|_| drop(study.ask(None).unwrap()));
        let meddling = (0..times).map(|_| {
            let (storage, meddle) = (storage.clone(), meddle.clone());
            Box::new(move || meddle(&mut Study::open(&storage, "study").unwrap())) as Box<dyn FnOnce() + Send>
        });
        study.log = Box::new(Meddled {
            log: storage.connect().unwrap(),
            meddling: meddling.collect(),
            is_damaged: false,
        });
        study
    }

    #[test]
    fn a_suggestion_survives_that_others_tell() {
        let mut study = meddled(|other| assert!(other.tell(0, Measurement::new(1.0), None).is_ok()), 1);
        let job = study.ask(None).unwrap();
        assert_eq!(
            (job.trial, job.source),
            (2, Source::Suggested { seen: 3, gain: None, engine: None, since: None })
        );
        assert_eq!(study.state().head(), 5);
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    }

    #[test]
    fn a_suggestion_is_made_again_when_others_have_asked() {
        let mut study = meddled(|other| drop(other.ask(None).unwrap()), 2);
        let job = study.ask(None).unwrap();
        assert_eq!(
            (job.trial, job.source),
            (4, Source::Suggested { seen: 5, gain: None, engine: None, since: None })
        );
        let points: Vec<&Assignment> = study.state().trials().iter().map(|trial| &trial.params).collect();
        assert!((0..points.len()).all(|i| !points[..i].contains(&points[i])), "{points:?}");
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    }

    #[test]
    fn a_batch_survives_that_others_tell_and_is_made_again_when_others_have_asked() {
        let tell = |other: &mut Study| assert!(other.tell(0, Measurement::new(1.0), None).is_ok());
        let ask = |other: &mut Study| drop(other.ask(None).unwrap());
        let since = |source| match source {
            Source::Suggested { seen, since, .. } => (seen, since),
            _ => unreachable!("nothing is queued"),
        };
        for (mut study, expected) in [
            (meddled(tell, 1), [(2, (3, None)), (3, (3, Some(2))), (4, (3, Some(2)))]),
            (meddled(ask, 1), [(3, (4, None)), (4, (4, Some(3))), (5, (4, Some(3)))]),
        ] {
            let jobs = study.ask_many(3, None, None).unwrap();
            let found: Vec<_> = jobs.iter().map(|job| (job.trial, since(job.source))).collect();
            assert_eq!(found, expected);
            assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
        }
    }

    #[test]
    fn a_suggestion_that_is_not_what_the_log_says_is_found() {
        let mut study = meddled(|_| (), 0);
        let params = Assignment::from_iter([("x", 0.25)]);
        let asked = Event::Asked {
            trial: 2,
            params,
            source: Source::Suggested { seen: 3, gain: None, engine: None, since: None },
            worker: None,
            why: None,
        };
        study.commit(|_| Ok(Decision::append(asked.clone(), ()))).unwrap();
        let verification = study.verify(|_| ()).unwrap();
        let wrong: Vec<usize> = verification.mismatches.iter().map(|mismatch| mismatch.trial).collect();
        assert_eq!((verification.n_suggestions, wrong), (3, vec![2]));
    }

    #[test]
    fn a_record_that_is_there_and_cannot_be_read_is_an_error_and_no_endless_loop() {
        let mut study = meddled(|_| (), 0);
        study.log = Box::new(Meddled {
            log: study.storage.connect().unwrap(),
            meddling: Vec::new(),
            is_damaged: true,
        });
        let error = study.tell(0, Measurement::new(1.0), None).unwrap_err().to_string();
        assert!(error.contains("record 4 of the study is broken: it is there and cannot be read"), "{error}");
    }

    #[test]
    fn what_was_told_in_the_meantime_is_not_told_twice() {
        let mut study = meddled(|other| assert!(other.tell(0, Measurement::new(1.0), None).is_ok()), 1);
        assert_eq!(study.tell(0, Measurement::new(1.0), None).unwrap(), Kept::Already);
        assert_eq!(study.state().trials()[0].measurements.len(), 1);
    }
}
