//! Workers: claim a trial, measure it, tell; again and again.
//!
//! Given: a study, an [`Evaluator`], and how many trials to measure at the same time. Gives: why it ended. Whatever
//! happens in between (a crash, a worker elsewhere, a full disk, Ctrl-C), each trial is in the log as what it is. Does not
//! know: what measures a trial.
//!
//! The workers of one process share one connection and one optimizer; the first of those that wait for a trial asks for all
//! of them (`gathered`). They measure at the same time. Another thread renews the leases of what they measure (`leases`). Why they stop is what they share (`run`).
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use optimist::space::Value;
//! use optimist_study::{Interrupt, Job, Storage, Study, StudyFile, worker};
//!
//! let file = StudyFile::parse(
//!     r#"
//!     direction = "minimize"
//!     trials = 20
//!     parameters.x = { type = "float", low = -1.0, high = 1.0 }
//!     "#,
//! )?;
//! let study = Study::create(&Storage::memory(), file.definition)?;
//! let objective = |job: &Job| {
//!     let x = job.params.get("x").and_then(Value::as_f64).ok_or("there is no x")?;
//!     if x > 0.9 { Err("it is too hot there") } else { Ok((x - 0.3).powi(2)) }
//! };
//! let (mut study, _) =
//!     worker::work(study, objective, 4, &Interrupt::default(), |_| ControlFlow::Continue(()))?;
//! assert_eq!(study.state().n_done(), 20);
//! println!("{:?}", study.recommend()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod gathered;
mod leases;
mod run;

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StudyError;
use crate::evaluation::{Evaluation, Evaluator, StartError};
use crate::event::{Course, FailureKind};
use crate::interrupt::Interrupt;
use crate::log::StorageError;
use crate::state::Over;
use crate::study::{Job, Study};
use crate::trial::Trial;
use run::{Leaving, Run};

/// The most workers in one process: each has a thread and a process of its own, and more is a typing error.
pub const MAX_WORKERS: usize = 1000;

/// How often to look whether others have left something to do.
const POLL: Duration = Duration::from_millis(200);

/// How long to wait before storage is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Something to be shown.
#[derive(Debug)]
pub enum Notice {
    /// A trial has ended, or was put back.
    Trial(Box<Trial>),
    /// There is nothing to do here until others have ended this many trials.
    Waiting(usize),
    /// The study is paused; there is nothing to do until it is resumed.
    Paused,
    /// Something went wrong and is being dealt with, in a sentence.
    Trouble(String),
}

/// Why workers have ended.
#[derive(Debug)]
pub enum Ending {
    /// The study is over.
    Over(Over),
    /// They were asked to stop.
    Interrupted,
    /// The time of the plan is up.
    TimeUp,
    /// Too many trials failed in a row.
    Failures {
        /// Number of trials that failed in a row.
        n: usize,
        /// Why the last one did.
        last: String,
    },
    /// The first trials all failed in the same way, and the plan sets no `max_failures`.
    Hopeless {
        /// Number of trials that failed in a row.
        n: usize,
        /// Why the last one did.
        last: String,
    },
    /// No trial can be measured.
    CannotStart(StartError),
}

/// Measures trials, `workers` at the same time, until there is nothing left to do. Each worker has a clone of
/// `evaluator`. `observe` is shown what happens, and may say that it has seen enough.
///
/// # Errors
/// If storage cannot be used, or there cannot be that many workers. A value that was measured and could not be stored is
/// part of the message.
pub fn work(
    study: Study,
    evaluator: impl Evaluator + Clone + Send,
    workers: usize,
    interrupt: &Interrupt,
    mut observe: impl FnMut(&Notice) -> ControlFlow<()>,
) -> Result<(Study, Ending), StudyError> {
    let too_many = |reason: String| StudyError::TooManyWorkers { workers, reason };
    if workers > MAX_WORKERS {
        return Err(too_many(format!("a process can have at most {MAX_WORKERS}")));
    }
    let run = Run::new(study, workers, interrupt);
    let (notices, received) = mpsc::channel();
    let result: Result<(), StudyError> = thread::scope(|scope| {
        let (run, thread) = (&run, thread::Builder::new);
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let (worker, evaluator) = (Worker { run, notices: notices.clone() }, evaluator.clone());
                let leaving = Leaving { run, is_done: false }; // now, as the thread may never begin
                thread().spawn_scoped(scope, move || worker.work(evaluator, leaving))
            })
            .collect();
        let renewal = thread().spawn_scoped(scope, move || run.leases.renew(&notices));
        if renewal.is_err() {
            run.end(Ending::Interrupted);
        }
        for notice in received {
            if observe(&notice).is_break() {
                run.end(Ending::Interrupted);
            }
        }
        renewal.map_err(|error| too_many(error.to_string()))?;
        workers.into_iter().try_for_each(|worker| {
            let worker = worker.map_err(|error| too_many(error.to_string()))?;
            worker.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    });
    result?;
    let study = run.study.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ending = run.ending.into_inner().unwrap_or_else(PoisonError::into_inner);
    let over = Ending::Over(study.state().over().unwrap_or(Over::Trials));
    Ok((study, ending.unwrap_or(over)))
}

/// What one thread works with.
struct Worker<'a> {
    run: &'a Run<'a>,
    notices: Sender<Notice>,
}

impl Worker<'_> {
    /// From its first trial to its last.
    fn work(&self, evaluator: impl Evaluator + Clone, mut leaving: Leaving<'_>) -> Result<(), StudyError> {
        let mut current = evaluator.clone();
        while let Some(job) = self.next_job()? {
            let start = Instant::now();
            let evaluation =
                catch_unwind(AssertUnwindSafe(|| current.evaluate(&job))).unwrap_or_else(|panic| {
                    current = evaluator.clone(); // nobody knows what the panic left of the other
                    Ok(panicked(&*panic))
                });
            let trial = self.store(&job, evaluation, start.elapsed())?;
            self.notify(Notice::Trial(Box::new(trial)));
        }
        leaving.is_done = true;
        Ok(())
    }

    /// The next trial, once there is one; `None` if there is nothing left to do here.
    fn next_job(&self) -> Result<Option<Job>, StudyError> {
        let run = self.run;
        // A run that cannot even begin says so at once.
        let is_enough = || !run.has_begun.load(Ordering::Relaxed) || run.is_over();
        let (mut is_waiting, mut is_held) = (false, false);
        while !run.is_over() {
            let waiting = run.gathered.wait();
            let claimed = self.retry("the run waits until it can be used again", is_enough, |study| {
                let mut running = Vec::new();
                let job = waiting.take(|n_waiting| {
                    running = study.reclaim()?;
                    let jobs = study.claim_many(n_waiting)?;
                    jobs.iter().for_each(|job| run.leases.hold(job.trial, study.state().plan().lease));
                    Ok::<_, StudyError>(jobs)
                })?;
                let is_paused = study.state().course() == Course::Paused;
                Ok((job, is_paused, run.leases.n_elsewhere(&running)))
            });
            drop(waiting);
            if claimed.is_err() && run.interrupt.is_requested() {
                return Ok(None);
            }
            run.has_begun.store(claimed.is_ok(), Ordering::Relaxed);
            match claimed? {
                (Some(job), ..) => return Ok(Some(job)),
                (None, true, _) => {
                    if !is_held {
                        self.notify(Notice::Paused);
                    }
                    is_held = true;
                    wait(POLL, || run.is_over());
                    continue;
                }
                (None, false, 0) => return Ok(None),
                (None, false, n_elsewhere) if !is_waiting => self.notify(Notice::Waiting(n_elsewhere)),
                (None, false, _) => {}
            }
            (is_waiting, is_held) = (true, false);
            wait(POLL, || run.is_over());
        }
        Ok(None)
    }

    /// Tells the study, however long that takes: what was measured is not to be lost because a disk is full for a while.
    fn store(
        &self,
        job: &Job,
        evaluation: Result<Evaluation, StartError>,
        took: Duration,
    ) -> Result<Trial, StudyError> {
        let evaluation = evaluation
            .map_or_else(|error| self.run.cannot_start(error), |ended| ended.usable(&self.run.outcomes));
        let (trial, seconds) = (job.trial, Some(took.as_secs_f64()));
        let meanwhile = format!("trial {trial} is kept in memory; retrying to store it");
        let is_enough = || self.run.interrupt.is_urgent();
        let stored = self.retry(&meanwhile, is_enough, |study| {
            study.tell(trial, evaluation.clone(), seconds)?;
            Ok(study.state().trials()[trial].clone())
        });
        self.run.leases.release(trial);
        match (stored, evaluation) {
            (Ok(stored), _) => {
                self.run.count(&stored);
                Ok(stored)
            }
            (Err(problem), Evaluation::Measured(measured)) => {
                let problem = Box::new(problem);
                let measured = measured.values.to_string();
                Err(StudyError::Unstored { trial, measured, problem })
            }
            (Err(problem), _) => Err(problem),
        }
    }

    /// Uses the study; again and again while its storage cannot be used for a reason that may pass, until it `is_enough`.
    fn retry<T>(
        &self,
        meanwhile: &str,
        is_enough: impl Fn() -> bool,
        mut using: impl FnMut(&mut Study) -> Result<T, StudyError>,
    ) -> Result<T, StudyError> {
        let mut known: Option<StorageError> = None;
        loop {
            let mut study = lock(&self.run.study);
            match using(&mut study) {
                Err(StudyError::Storage(error)) if error.may_pass() && !is_enough() => {
                    drop(study);
                    if known.as_ref() != Some(&error) {
                        self.notify(Notice::Trouble(format!("{error}; {meanwhile}")));
                        known = Some(error);
                    }
                    wait(RETRY, &is_enough);
                }
                result => return result,
            }
        }
    }

    fn notify(&self, notice: Notice) {
        // Nobody listens any more if the run was given up.
        let _ = self.notices.send(notice);
    }
}

/// A trial whose evaluator panicked.
fn panicked(panic: &(dyn Any + Send)) -> Evaluation {
    let text = panic.downcast_ref::<&str>().copied();
    let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let reason = format!("the objective panicked: {}", message.unwrap_or("without a message"));
    Evaluation::failed(FailureKind::Crashed, reason)
}

fn wait(pause: Duration, is_enough: impl Fn() -> bool) {
    const TICK: Duration = Duration::from_millis(50);
    let until = Instant::now() + pause;
    while Instant::now() < until && !is_enough() {
        thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
