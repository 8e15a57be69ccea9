//! The run itself: workers measure what the optimizer asks for, and it learns from each answer.
//!
//! Given: a study, its optimizer, and somebody who wants to see each trial. Gives: the trials, in the
//! order they ended. The sign of a minimised value is flipped here, once on the way in.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};
use std::time::Instant;

use optimist::encode::Encoding;
use optimist::space::Assignment;
use optimist::{Observation, Optimizer, Outcome, rng};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::interrupt::Interrupt;
use crate::objective::{Answer, Evaluator, Measurement, StartError};
use crate::study_file::StudyFile;

/// A trial that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Counted from 0, in the order of asking.
    pub number: usize,
    /// The active parameters.
    pub params: Assignment,
    /// The same, as the optimizer knows it.
    pub x: Vec<f64>,
    /// The measurement, in the user's direction, or why there is none.
    pub result: Result<Measurement, String>,
    /// How long the measurement took.
    pub seconds: f64,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    /// In the order they ended.
    pub trials: Vec<Trial>,
    /// Why the run was given up, if it was.
    pub start_error: Option<StartError>,
}

/// Runs the trials of `study`, showing each to `observe` as it ends.
///
/// # Errors
/// As soon as `observe` gives one.
pub fn run(
    study: &StudyFile,
    encoding: &Encoding,
    optimizer: &mut dyn Optimizer,
    interrupt: &Interrupt,
    mut observe: impl FnMut(&Trial) -> anyhow::Result<()>,
) -> anyhow::Result<Run> {
    let names: Vec<String> = encoding.space().parameters().iter().map(|p| p.name.clone()).collect();
    let mut run = Run { trials: Vec::new(), start_error: None };
    thread::scope(|scope| {
        let evaluator = || Evaluator::new(&study.objective, &names, interrupt);
        let mut pool = Pool::start(scope, study.workers.min(study.trials), evaluator);
        let mut jobs = 0..study.trials;
        loop {
            while pool.has_idle() && run.start_error.is_none() && !interrupt.is_requested() {
                let Some(number) = jobs.next() else { break };
                let x = optimizer.ask(&mut rng(study.seed, number as u64));
                pool.submit(Job { number, params: encoding.decode(&x), x });
            }
            let Some(Finished { job, answer, seconds, .. }) = pool.next_finished() else {
                return Ok(run);
            };
            let result = match answer {
                Ok(Answer::Measured(measurement)) => Ok(measurement),
                Ok(Answer::Failed(reason)) => Err(reason),
                Ok(Answer::Interrupted) => {
                    optimizer.withdraw(&job.x);
                    continue;
                }
                Err(error) => {
                    optimizer.withdraw(&job.x);
                    run.start_error.get_or_insert(error);
                    continue;
                }
            };
            let trial = Trial { number: job.number, params: job.params, x: job.x, result, seconds };
            optimizer.tell(observation(&trial, study))?;
            observe(&trial)?;
            run.trials.push(trial);
        }
    })
}

/// Threads that measure; each has at most one job. Dropping it lets them end after that job.
struct Pool {
    workers: Vec<Sender<Job>>,
    idle: Vec<usize>,
    finished: Receiver<Finished>,
}

struct Job {
    number: usize,
    params: Assignment,
    x: Vec<f64>,
}

struct Finished {
    worker: usize,
    job: Job,
    answer: Result<Answer, StartError>,
    seconds: f64,
}

impl Pool {
    fn start<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        n_workers: usize,
        evaluator: impl Fn() -> Evaluator<'a>,
    ) -> Self {
        let (done, finished) = mpsc::channel();
        let workers = (0..n_workers).map(|worker| {
            let (mut evaluator, done) = (evaluator(), done.clone());
            let (job, jobs) = mpsc::channel::<Job>();
            scope.spawn(move || {
                for job in jobs {
                    let start = Instant::now();
                    let answer = evaluator.evaluate(job.number, &job.params);
                    let seconds = start.elapsed().as_secs_f64();
                    // Nobody listens any more if the run was given up.
                    let _ = done.send(Finished { worker, job, answer, seconds });
                }
            });
            job
        });
        Self { workers: workers.collect(), idle: (0..n_workers).rev().collect(), finished }
    }

    fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Gives the job to an idle worker.
    fn submit(&mut self, job: Job) {
        let worker = self.idle.pop().expect("only called while a worker is idle");
        self.workers[worker].send(job).expect("workers listen until the pool is dropped");
    }

    /// Waits for a job to be done; `None` if all are.
    fn next_finished(&mut self) -> Option<Finished> {
        if self.idle.len() == self.workers.len() {
            return None;
        }
        let finished = self.finished.recv().ok()?;
        self.idle.push(finished.worker);
        Some(finished)
    }
}

fn observation(trial: &Trial, study: &StudyFile) -> Observation {
    let outcome = match &trial.result {
        Ok(Measurement { value, noise_std, .. }) => {
            Outcome::Value { y: study.direction.flip(*value), noise_std: *noise_std }
        }
        Err(_) => Outcome::Failed,
    };
    Observation { x: trial.x.clone(), outcome }
}

impl Trial {
    /// The value, in the user's direction.
    pub fn value(&self) -> Option<f64> {
        self.result.as_ref().ok().map(|measurement| measurement.value)
    }
}

/// As `--json` prints it.
impl Serialize for Trial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("trial", &self.number)?;
        map.serialize_entry("params", &self.params)?;
        match &self.result {
            Ok(measurement) => {
                map.serialize_entry("state", "complete")?;
                map.serialize_entry("value", &measurement.value)?;
                if let Some(noise_std) = measurement.noise_std {
                    map.serialize_entry("noise_std", &noise_std)?;
                }
                if let Some(note) = &measurement.note {
                    map.serialize_entry("note", note)?;
                }
                if let Some(metrics) = &measurement.metrics {
                    map.serialize_entry("metrics", metrics)?;
                }
            }
            Err(reason) => {
                map.serialize_entry("state", "failed")?;
                map.serialize_entry("reason", reason)?;
            }
        }
        map.serialize_entry("seconds", &self.seconds)?;
        map.end()
    }
}
