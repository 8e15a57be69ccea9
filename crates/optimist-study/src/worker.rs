//! Workers: claim a trial, measure it, tell; again and again.
//!
//! Given: a study, its objective, and how many trials to measure at the same time. Gives: why it ended. Whatever happens
//! in between (a crash, a worker elsewhere, a full disk, Ctrl-C), each trial is in the log as what it is.
//!
//! The workers of one process share one connection and one optimizer and take turns in asking; they measure at the same
//! time. Another thread renews the leases of what they measure.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StudyError;
use crate::identity::Identity;
use crate::interrupt::Interrupt;
use crate::log::StorageError;
use crate::objective::{Answer, Evaluator, Objective, StartError};
use crate::state::Over;
use crate::study::{Job, Kept, Study};
use crate::trial::{Trial, TrialState};

/// How often to look whether others have left something to do.
const POLL: Duration = Duration::from_millis(200);

/// How long to wait before storing is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What workers are to do.
#[derive(Debug, Clone)]
pub struct Orders {
    /// How a trial is measured.
    pub objective: Objective,
    /// How many trials at the same time.
    pub workers: usize,
}

/// Something to be shown.
#[derive(Debug)]
pub enum Notice {
    /// A trial has ended, or was put back.
    Trial(Box<Trial>),
    /// There is nothing to do here until others have ended this many trials.
    Waiting(usize),
    /// Something went wrong and is being dealt with, in a sentence.
    Trouble(String),
}

/// Why workers have ended.
#[derive(Debug)]
pub enum Ending {
    /// The study is over.
    Over(Over),
    /// Somebody wanted them to stop.
    Interrupted,
    /// The time of the plan is up.
    TimeUp,
    /// Too many trials failed in a row.
    Failures {
        /// How many.
        n: usize,
        /// Why the last one did.
        last: String,
    },
    /// The command cannot be started.
    CannotStart(StartError),
}

/// Works until there is nothing left to do. `observe` is shown what happens, and may say that it has seen enough.
///
/// # Errors
/// If storage cannot be used. A value that was measured and could not be stored is part of the message.
pub fn work(
    study: Study,
    orders: &Orders,
    interrupt: &Interrupt,
    mut observe: impl FnMut(&Notice) -> ControlFlow<()>,
) -> Result<(Study, Ending), StudyError> {
    let crew = Crew::new(study, orders, interrupt);
    let (report, notices) = mpsc::channel();
    let result: Result<(), StudyError> = thread::scope(|scope| {
        let crew = &crew;
        let workers: Vec<_> = (0..orders.workers)
            .map(|_| {
                let report = report.clone();
                scope.spawn(move || crew.work(&report))
            })
            .collect();
        scope.spawn(move || crew.renew_leases(&report));
        for notice in notices {
            if observe(&notice).is_break() {
                crew.end(Ending::Interrupted);
            }
        }
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    result?;
    let study = crew.study.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ending = crew.ending.into_inner().unwrap_or_else(PoisonError::into_inner);
    let over = Ending::Over(study.state().over().unwrap_or(Over::Trials));
    Ok((study, ending.unwrap_or(over)))
}

/// What the threads share.
struct Crew<'a> {
    orders: &'a Orders,
    interrupt: &'a Interrupt,
    names: Vec<String>,
    max_failures: Option<usize>,
    deadline: Option<Instant>,
    study: Mutex<Study>,
    /// Storage could be used so far.
    has_begun: AtomicBool,
    /// In a row.
    n_failures: AtomicUsize,
    held: Mutex<Held>,
    /// Somebody has left.
    left: Condvar,
    /// Why to stop, once there is a reason.
    ending: Mutex<Option<Ending>>,
}

/// What is being measured here.
struct Held {
    trials: BTreeSet<usize>,
    lease: Duration,
    n_workers: usize,
}

/// What a worker is to do next.
enum Todo {
    Measure(Job),
    /// Others run this many trials, and may leave them to be done here.
    Wait(usize),
    Nothing,
}

impl<'a> Crew<'a> {
    fn new(study: Study, orders: &'a Orders, interrupt: &'a Interrupt) -> Self {
        let plan = study.state().plan();
        let parameters = study.state().definition().space.parameters();
        let lease = plan.lease;
        Self {
            orders,
            interrupt,
            names: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            max_failures: plan.max_failures,
            deadline: plan.max_time.and_then(|time| Instant::now().checked_add(time)),
            study: Mutex::new(study),
            has_begun: AtomicBool::new(false),
            n_failures: AtomicUsize::new(0),
            held: Mutex::new(Held { trials: BTreeSet::new(), lease, n_workers: orders.workers }),
            left: Condvar::new(),
            ending: Mutex::new(None),
        }
    }

    /// One worker, from its first trial to its last.
    fn work(&self, report: &Sender<Notice>) -> Result<(), StudyError> {
        let _leave = Leave(self);
        let result = self.work_on(report);
        if result.is_err() {
            self.end(Ending::Interrupted);
        }
        result
    }

    fn work_on(&self, report: &Sender<Notice>) -> Result<(), StudyError> {
        let mut evaluator = Evaluator::new(&self.orders.objective, &self.names, self.interrupt);
        let mut is_waiting = false;
        while !self.is_over() {
            match self.next_job(report)? {
                Todo::Measure(job) => {
                    is_waiting = false;
                    let start = Instant::now();
                    let answer = evaluator.evaluate(job.trial, &job.params);
                    let trial = self.store(&job, answer, start.elapsed().as_secs_f64(), report)?;
                    // Nobody listens any more if the run was given up.
                    let _ = report.send(Notice::Trial(Box::new(trial)));
                }
                Todo::Wait(n_elsewhere) => {
                    if !is_waiting {
                        let _ = report.send(Notice::Waiting(n_elsewhere));
                    }
                    is_waiting = true;
                    self.pause(POLL);
                }
                Todo::Nothing => break,
            }
        }
        Ok(())
    }

    fn next_job(&self, report: &Sender<Notice>) -> Result<Todo, StudyError> {
        // A run that cannot even begin says so at once.
        let is_enough = || !self.has_begun.load(Ordering::Relaxed) || self.is_over();
        let todo = self.insist("the run waits and goes on when it can", is_enough, report, |study| {
            let running = study.reclaim()?;
            let job = study.claim()?;
            let mut held = lock(&self.held);
            Ok(match job {
                Some(job) => {
                    held.trials.insert(job.trial);
                    held.lease = study.state().plan().lease;
                    Todo::Measure(job)
                }
                // What workers here put back, they take up themselves.
                None => match running.iter().filter(|trial| !held.trials.contains(trial)).count() {
                    0 => Todo::Nothing,
                    n_elsewhere => Todo::Wait(n_elsewhere),
                },
            })
        });
        match todo {
            Err(_) if self.interrupt.is_requested() => Ok(Todo::Nothing),
            todo => {
                self.has_begun.store(todo.is_ok(), Ordering::Relaxed);
                todo
            }
        }
    }

    fn store(
        &self,
        job: &Job,
        answer: Result<Answer, StartError>,
        seconds: f64,
        report: &Sender<Notice>,
    ) -> Result<Trial, StudyError> {
        let trial = job.trial;
        let stored = match answer {
            Ok(Answer::Measured(measured)) => {
                let tell = |study: &mut Study| study.tell(trial, measured.clone(), Some(seconds));
                self.persist(trial, tell, report).map_err(|problem| StudyError::Unstored {
                    trial,
                    value: measured.value,
                    problem: Box::new(problem),
                })
            }
            Ok(Answer::Failed(failure)) => {
                self.persist(trial, |study| study.fail(trial, &failure, Some(seconds)), report)
            }
            Ok(Answer::Interrupted) => {
                self.persist(trial, |study| study.put_back(trial, "the run was stopped"), report)
            }
            Err(error) => {
                let reason = error.to_string();
                self.end(Ending::CannotStart(error));
                self.persist(trial, |study| study.put_back(trial, &reason), report)
            }
        };
        lock(&self.held).trials.remove(&trial);
        let stored = stored?;
        self.count(&stored);
        Ok(stored)
    }

    /// Stores something, however long it takes: what was measured is not to be lost because a disk is full for a while.
    fn persist(
        &self,
        trial: usize,
        mut store: impl FnMut(&mut Study) -> Result<Kept, StudyError>,
        report: &Sender<Notice>,
    ) -> Result<Trial, StudyError> {
        let meanwhile = format!("trial {trial} is kept and tried to be stored again");
        self.insist(
            &meanwhile,
            || self.interrupt.is_urgent(),
            report,
            |study| {
                store(study)?;
                Ok(study.state().trials()[trial].clone())
            },
        )
    }

    /// Does `work`, again and again while storage cannot be used for a reason that may pass, until it `is_enough`.
    fn insist<T>(
        &self,
        meanwhile: &str,
        is_enough: impl Fn() -> bool,
        report: &Sender<Notice>,
        mut work: impl FnMut(&mut Study) -> Result<T, StudyError>,
    ) -> Result<T, StudyError> {
        let mut known: Option<StorageError> = None;
        loop {
            let mut study = lock(&self.study);
            match work(&mut study) {
                Err(StudyError::Storage(error)) if error.may_pass() && !is_enough() => {
                    drop(study);
                    if known.as_ref() != Some(&error) {
                        let _ = report.send(Notice::Trouble(format!("{error}; {meanwhile}")));
                        known = Some(error);
                    }
                    self.wait_until(Instant::now() + RETRY, &is_enough);
                }
                result => return result,
            }
        }
    }

    /// Stops after too many failures in a row.
    fn count(&self, trial: &Trial) {
        match trial.state {
            TrialState::Complete => self.n_failures.store(0, Ordering::Relaxed),
            TrialState::Failed => {
                let n = self.n_failures.fetch_add(1, Ordering::Relaxed) + 1;
                if self.max_failures.is_some_and(|max| n >= max) {
                    let last =
                        trial.failure.as_ref().map_or_else(String::new, |failure| failure.explanation());
                    self.end(Ending::Failures { n, last });
                }
            }
            TrialState::Running | TrialState::Waiting | TrialState::Cancelled => {}
        }
    }

    /// Says why to stop, unless somebody has.
    fn end(&self, ending: Ending) {
        lock(&self.ending).get_or_insert(ending);
    }

    fn is_over(&self) -> bool {
        if self.interrupt.is_requested() {
            self.end(Ending::Interrupted);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.end(Ending::TimeUp);
        }
        lock(&self.ending).is_some()
    }

    fn pause(&self, pause: Duration) {
        self.wait_until(Instant::now() + pause, || self.is_over());
    }

    fn wait_until(&self, until: Instant, is_enough: impl Fn() -> bool) {
        const TICK: Duration = Duration::from_millis(50);
        while Instant::now() < until && !is_enough() {
            thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
    }

    /// Says of what is measured here that it is, three times as often as needed.
    fn renew_leases(&self, report: &Sender<Notice>) {
        let owner = Identity::current().owner;
        let (storage, id) = {
            let study = lock(&self.study);
            (study.storage().clone(), study.id())
        };
        let mut log = None;
        let mut held = lock(&self.held);
        while held.n_workers > 0 {
            let every = held.lease / 3;
            held = self.left.wait_timeout(held, every).unwrap_or_else(PoisonError::into_inner).0;
            let (trials, lease): (Vec<usize>, Duration) = (held.trials.iter().copied().collect(), held.lease);
            if trials.is_empty() || held.n_workers == 0 {
                continue;
            }
            drop(held);
            let renewed = match log.take().map_or_else(|| storage.connect(), Ok) {
                Ok(mut connection) => {
                    let renewed = connection.renew(id, &trials, &owner, lease);
                    log = Some(connection);
                    renewed
                }
                Err(error) => Err(error),
            };
            if let Err(error) = renewed {
                let _ = report.send(Notice::Trouble(format!("a lease could not be renewed: {error}")));
            }
            held = lock(&self.held);
        }
    }
}

/// Leaves when it is dropped, also in a panic.
struct Leave<'a, 'b>(&'a Crew<'b>);

impl Drop for Leave<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(Ending::Interrupted);
        }
        lock(&self.0.held).n_workers -= 1;
        self.0.left.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
