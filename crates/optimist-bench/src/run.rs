//! Regret runs: every (task, optimizer, repetition) of an experiment, played and recorded.
//!
//! Given: an experiment and where results go. Gives: one line of results per cell of its grids.
//! Luck is fair: the points of Phase I, the noise of each round and the random numbers of the
//! asks depend on (seed, task, repetition), never on the optimizer, nor on what else is run.
//! Knows no optimizer by name (`optimizers` does) and prints nothing: `watch` hears of progress.

use std::any::Any;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use optimist::{Observation, Outcome, Rng, TellError};
use rand::RngExt;

use crate::answer::{Answer, checkpoints};
use crate::contestant::{Contestant, ContestantError};
use crate::optimizers::{self, Build, OptimizerError};
use crate::peer::PeerError;
use crate::results::{Appender, ResultsError, RunRecord};
use crate::task::{Task, TrialLuck};
use crate::trainer::{Train, TrainError};

/// What to run: every cell of some grids, each once however often it is named.
pub struct Experiment {
    /// Which tasks to play with which optimizers.
    pub grids: Vec<Grid>,
    /// Asks of a run, if not as many as its task has.
    pub horizon: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
    /// Cells played at the same time; 0 for as many as there are cores.
    pub jobs: usize,
}

/// Every task with every optimizer, `reps` times.
#[derive(Clone)]
pub struct Grid {
    /// Tasks that each optimizer plays.
    pub tasks: Vec<&'static Task>,
    /// The optimizers, by name.
    pub optimizers: Vec<String>,
    /// Repetitions of each pair.
    pub reps: usize,
}

/// One run of a grid.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    /// The task that is played.
    pub task: &'static Task,
    /// The optimizer's name.
    pub optimizer: &'a str,
    /// The repetition, counted from 0.
    pub rep: usize,
    /// How many points are asked for after Phase I.
    pub horizon: usize,
}

/// What [`run`] tells about its progress, from any thread.
pub enum Progress<'a> {
    /// Before the first cell.
    Started {
        /// How many cells the experiment has.
        cells: usize,
        /// Those of them that are going to be played.
        missing: &'a [Cell<'a>],
        /// Records of the other cells: the file has them already.
        kept: &'a [&'a RunRecord],
        /// What the file holds already, of this experiment or not.
        before: &'a [RunRecord],
        /// How many are played at the same time.
        jobs: usize,
    },
    /// A cell is played and its record written.
    Finished {
        /// Points, values and times of the run.
        record: &'a RunRecord,
        /// How long it took.
        elapsed: Duration,
    },
    /// A cell could not be played to its end; the others go on.
    Failed(&'a Failure),
}

/// A cell that could not be played to its end.
#[derive(Debug, thiserror::Error)]
#[error("{optimizer} on {task}, repetition {rep}: {reason}")]
pub struct Failure {
    /// Name of the task.
    pub task: &'static str,
    /// Name of the optimizer.
    pub optimizer: String,
    /// Number of the repetition, from 0.
    pub rep: usize,
    /// Why there is no record.
    pub reason: Reason,
}

/// Why a cell could not be played to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The optimizer could not be started.
    #[error(transparent)]
    NotBuilt(#[from] OptimizerError),
    /// The optimizer refused an outcome.
    #[error("it refused the outcome of round {round}: {error}")]
    Refused {
        /// The round, counted from 1.
        round: usize,
        /// What the optimizer said.
        error: TellError,
    },
    /// The optimizer proposed a point that is not feasible.
    #[error("its proposal in round {round} is not in the domain: {x:?}")]
    Infeasible {
        /// The round, counted from 1.
        round: usize,
        /// The point that was asked for, in the unit cube.
        x: Vec<f64>,
    },
    /// The value at a point could not be had.
    #[error("round {round} has no value: {error}")]
    NoValue {
        /// The round, counted from 1.
        round: usize,
        /// What the trainer said.
        error: TrainError,
    },
    /// The optimizer is a process of its own and could not go on.
    #[error(transparent)]
    Peer(PeerError),
    /// The optimizer panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
}

/// An experiment that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The result file cannot be used.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// Results of a task that has changed since.
    #[error(
        "the results hold task `{task}` with n = {n}, horizon = {horizon}, which are now {} and {}; \
         write to another file", now.0, now.1
    )]
    TaskChanged {
        /// Name of the task.
        task: String,
        /// Points of Phase I in the file.
        n: usize,
        /// Asks in the file.
        horizon: usize,
        /// Both as the task has them.
        now: (usize, usize),
    },
    /// The threads could not be started.
    #[error("cannot start {jobs} threads: {source}; ask for fewer jobs")]
    Threads {
        /// How many were asked for.
        jobs: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Plays every cell of the experiment that the file `out` does not hold yet, and appends its record. Optimizers come
/// from `build`, accuracies of classifiers from `train` ([`trainer::nobody`](crate::trainer::nobody) if there are none).
/// Gives the cells that failed; they have no record and are tried again by the next run.
///
/// # Errors
/// If the results cannot be read or written, or belong to other tasks.
pub fn run(
    experiment: &Experiment,
    out: &Path,
    build: &Build<'_>,
    train: &Train<'_>,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<Failure>, RunError> {
    let (appender, finished) = Appender::open(out)?;
    let cells = experiment.cells();
    let (kept, missing) = kept_and_missing(&cells, experiment.seed, &finished)?;
    let jobs = experiment.n_jobs();
    watch(Progress::Started { cells: cells.len(), missing: &missing, kept: &kept, before: &finished, jobs });

    let appender = Mutex::new(appender);
    let play_and_record = |cell: &Cell| -> Result<Option<Failure>, ResultsError> {
        let start = Instant::now();
        match play_safely(cell, experiment.seed, build, train) {
            Ok(record) => {
                appender.lock().expect("appending does not panic").append(&record)?;
                watch(Progress::Finished { record: &record, elapsed: start.elapsed() });
                Ok(None)
            }
            Err(reason) => {
                let optimizer = cell.optimizer.to_owned();
                let failure = Failure { task: cell.task.name, optimizer, rep: cell.rep, reason };
                watch(Progress::Failed(&failure));
                Ok(Some(failure))
            }
        }
    };
    let outcomes = side_by_side(&missing, jobs, &play_and_record)
        .map_err(|source| RunError::Threads { jobs, source })?;
    let outcomes: Result<Vec<Option<Failure>>, _> = outcomes.into_iter().collect();
    Ok(outcomes?.into_iter().flatten().collect())
}

/// What becomes of a cell, in no particular order. Cells are played by `jobs` threads, each taking the next when it is
/// free, until one has an error.
///
/// Asks use all threads of the pool that they run in. Several jobs at once have a pool of one thread each: so there are
/// no more threads than jobs, and the time of an ask is its own. One job alone has all cores.
fn side_by_side<R: Send, E: Send>(
    cells: &[Cell],
    jobs: usize,
    play: &(dyn Fn(&Cell) -> Result<R, E> + Sync),
) -> std::io::Result<Vec<Result<R, E>>> {
    let (next, outcomes) = (Mutex::new(cells.iter()), Mutex::new(Vec::new()));
    let stop = || *next.lock().expect("an iterator does not panic") = [].iter();
    let work = || {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let _pool = (jobs > 1).then(|| alone.build().expect("a new thread is in no pool yet"));
        loop {
            let cell = next.lock().expect("an iterator does not panic").next();
            let Some(cell) = cell else { break };
            let outcome = play(cell);
            if outcome.is_err() {
                stop();
            }
            outcomes.lock().expect("pushing does not panic").push(outcome);
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).map(drop);
        (0..jobs.min(cells.len())).try_for_each(start).inspect_err(|_| stop())
    })?;
    Ok(outcomes.into_inner().expect("pushing does not panic"))
}

impl Experiment {
    /// Names of tasks and optimizers that do not fit each other: they are left out.
    pub fn unfit(&self) -> BTreeSet<(&'static str, &str)> {
        let pairs = self.grids.iter().flat_map(|grid| {
            let names = || grid.optimizers.iter().map(String::as_str);
            grid.tasks.iter().flat_map(move |task| names().map(move |name| (task, name)))
        });
        let unfit = pairs.filter(|(task, name)| !optimizers::fits(name, &task.domain));
        unfit.map(|(task, name)| (task.name, name)).collect()
    }

    fn n_jobs(&self) -> usize {
        match self.jobs {
            0 => thread::available_parallelism().map_or(1, |cores| cores.get()),
            jobs => jobs,
        }
    }

    /// The cells, repetitions outermost, so that an unfinished run is balanced.
    fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        let mut seen = HashSet::new();
        for rep in 0..self.grids.iter().map(|grid| grid.reps).max().unwrap_or(0) {
            for grid in self.grids.iter().filter(|grid| rep < grid.reps) {
                for task in &grid.tasks {
                    let names = grid.optimizers.iter().map(String::as_str);
                    let fitting = names.filter(|name| optimizers::fits(name, &task.domain));
                    let new = fitting.filter(|name| seen.insert((task.name, *name, rep)));
                    let horizon = self.horizon.unwrap_or(task.horizon);
                    cells.extend(new.map(|optimizer| Cell { task, optimizer, rep, horizon }));
                }
            }
        }
        cells
    }
}

/// The records of these cells, and the cells without one.
fn kept_and_missing<'a, 'r>(
    cells: &[Cell<'a>],
    seed: u64,
    finished: &'r [RunRecord],
) -> Result<(Vec<&'r RunRecord>, Vec<Cell<'a>>), RunError> {
    let lengths: HashMap<_, _> =
        cells.iter().map(|cell| (cell.task.name, (cell.task.n, cell.horizon))).collect();
    for RunRecord { task, n, horizon, .. } in finished {
        if let Some(&now) = lengths.get(task.as_str()).filter(|now| **now != (*n, *horizon)) {
            return Err(RunError::TaskChanged { task: task.clone(), n: *n, horizon: *horizon, now });
        }
    }
    let key = |cell: &Cell<'a>| (cell.task.name, cell.optimizer, cell.rep, seed);
    let wanted: HashSet<_> = cells.iter().map(key).collect();
    let kept: Vec<&RunRecord> = finished.iter().filter(|record| wanted.contains(&record.key())).collect();
    let finished: HashSet<_> = kept.iter().map(|record| record.key()).collect();
    Ok((kept, cells.iter().filter(|cell| !finished.contains(&key(cell))).copied().collect()))
}

fn play_safely(cell: &Cell, seed: u64, build: &Build<'_>, train: &Train<'_>) -> Result<RunRecord, Reason> {
    catch_unwind(AssertUnwindSafe(|| play(cell, seed, build, train)))
        .unwrap_or_else(|panic| Err(Reason::Panicked(panic_message(&*panic))))
}

/// One run: `n` points that every optimizer is given, then `horizon` that it asks for. It is told each outcome when as many trials
/// are under way as its name says, the oldest first, as if all took equally long.
fn play(cell: &Cell, seed: u64, build: &Build<'_>, train: &Train<'_>) -> Result<RunRecord, Reason> {
    let (task, rounds) = (cell.task, cell.task.n + cell.horizon);
    let (_, at_once) = optimizers::at_once(cell.optimizer)?;
    let Luck { phase_one, trials, mut rng } = Luck::draw(task, rounds, cell.rep, seed);
    let mut contestant = build(cell.optimizer, &task.domain, rounds, rng.random())?;
    let mut record = RunRecord {
        task: task.name.to_owned(),
        optimizer: cell.optimizer.to_owned(),
        rep: cell.rep,
        n: task.n,
        horizon: cell.horizon,
        seed,
        engine: optimizers::engine(cell.optimizer),
        ..RunRecord::default()
    };
    let value_at = |round: usize, x: &[f64]| {
        task.value(x, cell.rep, train).map_err(|error| Reason::NoValue { round, error })
    };
    let mut best_observed = BestObserved::default();
    let mut under_way = VecDeque::new();
    for (index, luck) in trials.iter().enumerate() {
        let round = index + 1;
        let x = match phase_one.get(index) {
            Some(x) => x.clone(),
            None => timed(&mut record.ask_ms, || contestant.ask(&mut rng))
                .map_err(|error| gave_up(round, error))?,
        };
        if !task.domain.contains(&x) {
            return Err(Reason::Infeasible { round, x });
        }
        let value = value_at(round, &x)?;
        record.values.push(value);
        under_way.push_back((round, x, value, *luck));
        while under_way.len() >= at_once || round == rounds {
            let Some((round, x, value, luck)) = under_way.pop_front() else { break };
            let outcome = task.outcome(&x, value, luck);
            match outcome {
                Outcome::Value { y, .. } => best_observed.update(y, value),
                Outcome::Failed => record.failed.push(round),
            }
            contestant.tell(Observation { x, outcome }).map_err(|error| gave_up(round, error))?;
            for _ in checkpoints(rounds).iter().filter(|checkpoint| **checkpoint == round) {
                let value_at = |x: &[f64]| value_at(round, x);
                record.answers.push(answer(&*contestant, round, &best_observed, task, &value_at)?);
            }
        }
    }
    Ok(record)
}

/// The point with the best observation so far: what was observed, and its value.
#[derive(Default)]
struct BestObserved(Option<(f64, f64)>);

impl BestObserved {
    fn update(&mut self, y: f64, value: f64) {
        if self.0.is_none_or(|(best, _)| y > best) {
            self.0 = Some((y, value));
        }
    }
}

fn answer(
    contestant: &dyn Contestant,
    trials: usize,
    best_observed: &BestObserved,
    task: &Task,
    value_at: &dyn Fn(&[f64]) -> Result<f64, Reason>,
) -> Result<Answer, Reason> {
    let recommended = contestant.recommend();
    let value = recommended.as_ref().map_or(Ok(task.worst()), |recommended| value_at(&recommended.x))?;
    let finite = |number: f64| number.is_finite().then_some(number);
    Ok(Answer {
        trials,
        value,
        best_observed: best_observed.0.map_or(task.worst(), |(_, value)| value),
        mean: recommended.as_ref().and_then(|recommended| finite(recommended.mean)),
        std: recommended.and_then(|recommended| recommended.std).and_then(finite),
    })
}

fn gave_up(round: usize, error: ContestantError) -> Reason {
    match error {
        ContestantError::Refused(error) => Reason::Refused { round, error },
        ContestantError::Peer(error) => Reason::Peer(error),
    }
}

/// Everything random of a repetition, the same for every optimizer.
struct Luck {
    phase_one: Vec<Vec<f64>>,
    /// That of each round.
    trials: Vec<TrialLuck>,
    /// For the optimizer's seed and its asks.
    rng: Rng,
}

impl Luck {
    fn draw(task: &Task, rounds: usize, rep: usize, seed: u64) -> Luck {
        let rng = |purpose| optimist::rng(seed, stream(task.name, rep, purpose));
        let mut points = rng("phase one");
        let mut noise = rng("noise");
        let mut failure = rng("failure");
        let trial = |_| TrialLuck { noise: task.noise.draw(&mut noise), failure: failure.random() };
        Luck {
            phase_one: (0..task.n).map(|_| task.domain.sample(&mut points)).collect(),
            trials: (0..rounds).map(trial).collect(),
            rng: rng("optimizer"),
        }
    }
}

/// A number of its own for each (task, repetition, purpose), which never changes.
fn stream(task: &str, rep: usize, purpose: &str) -> u64 {
    fnv(&format!("{task}/{rep}/{purpose}"))
}

/// FNV-1a, a hash that is the same for ever.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn timed<T>(ms: &mut Vec<f64>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    ms.push((start.elapsed().as_secs_f64() * 1e6).round() / 1e3); // to the microsecond
    result
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
