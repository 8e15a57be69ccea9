//! Runs on problems with several outcomes: every (problem, optimizer, repetition) that a file lacks, played and recorded.
//!
//! Luck is fair: the first points and the noise of each trial depend on seed, problem and repetition, never on the optimizer.

use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use optimist::Outcome;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use crate::contestant::ContestantError;
use crate::optimizers::{self, OptimizerError};
use crate::results::{Appender, Line, ResultsError};
use crate::run::fnv;

/// Uniform points that every optimizer is given first.
pub const N_GIVEN: usize = 8;

/// What one optimizer did on one problem in one repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SeveralRecord {
    /// Name of the problem.
    pub problem: String,
    /// Name of the optimizer.
    pub optimizer: String,
    /// Repetition, counted from 0.
    pub rep: usize,
    /// Seed of the whole plan.
    pub seed: u64,
    /// The hypervolume, or the best value that meets the bounds, of all points up to each trial, without noise.
    pub achieved: Vec<f64>,
    /// Milliseconds that each ask took.
    pub ask_ms: Vec<f64>,
    /// The engine that made the suggestions; `None` for peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<u32>,
}

impl Line for SeveralRecord {
    fn check(&self) -> Result<(), String> {
        let trials = self.achieved.len();
        match self.ask_ms.len() + N_GIVEN.min(trials) == trials {
            true => Ok(()),
            false => Err(format!("{trials} trials, of which {} were asked for", self.ask_ms.len())),
        }
    }
}

/// What to play.
pub struct Plan {
    /// The problems.
    pub problems: Vec<Problem>,
    /// The optimizers, by name.
    pub optimizers: Vec<String>,
    /// Trials of a run, the given points among them.
    pub trials: usize,
    /// Repetitions of each pair.
    pub reps: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Runs played at the same time.
    pub jobs: usize,
}

/// A run that could not be played to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The optimizer could not be started, or does not know these goals.
    #[error(transparent)]
    NotBuilt(#[from] OptimizerError),
    /// It could not go on.
    #[error(transparent)]
    GaveUp(#[from] ContestantError),
}

/// Plays what the file `out` lacks, and appends it; repetitions outermost, so that an unfinished run is balanced. `watch` hears of
/// every run. What cannot be played is left out.
///
/// # Errors
/// If the file cannot be read or written.
pub fn play_missing(
    plan: &Plan,
    out: &Path,
    watch: &(dyn Fn(&str, Result<&SeveralRecord, &PlayError>) + Sync),
) -> Result<(), ResultsError> {
    let (appender, finished) = Appender::open::<SeveralRecord>(out)?;
    let is_missing = |(problem, optimizer, rep): &(&Problem, &String, usize)| {
        !finished.iter().any(|record| {
            (record.problem.as_str(), &record.optimizer, record.rep, record.seed)
                == (problem.name, *optimizer, *rep, plan.seed)
                && record.achieved.len() == plan.trials
        })
    };
    let cells = (0..plan.reps).flat_map(|rep| {
        let by_problem = plan.problems.iter();
        by_problem.flat_map(move |problem| plan.optimizers.iter().map(move |name| (problem, name, rep)))
    });
    let cells: Vec<(&Problem, &String, usize)> = cells.filter(is_missing).collect();
    let (next, appender) = (Mutex::new(cells.iter()), Mutex::new(appender));
    let failed = Mutex::new(None);
    let work = || {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        let _pool = alone.build().expect("a new thread is in no pool yet");
        loop {
            let cell = next.lock().expect("an iterator does not panic").next();
            let Some(&(problem, optimizer, rep)) = cell else { break };
            let played = play(problem, optimizer, plan.trials, rep, plan.seed);
            if let Ok(record) = &played {
                let appended = appender.lock().expect("appending does not panic").append(record);
                if let Err(error) = appended {
                    *failed.lock().expect("nothing panics here") = Some(error);
                    break;
                }
            }
            watch(&format!("{optimizer} on {}, repetition {rep}", problem.name), played.as_ref());
        }
    };
    thread::scope(|scope| (0..plan.jobs.max(1)).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().expect("nothing panics here").map_or(Ok(()), Err)
}

/// One run.
///
/// # Errors
/// If the optimizer cannot be started or cannot go on.
pub fn play(
    problem: &Problem,
    optimizer: &str,
    trials: usize,
    rep: usize,
    seed: u64,
) -> Result<SeveralRecord, PlayError> {
    let stream = |purpose: &str| optimist::rng(seed, fnv(&format!("{}/{rep}/{purpose}", problem.name)));
    let (mut given, mut noise, mut rng) = (stream("given"), stream("noise"), stream("optimizer"));
    let mut contestant =
        optimizers::build_for(optimizer, &problem.domain, &problem.goals, trials, rng.random())?;
    let mut record = SeveralRecord {
        problem: problem.name.to_owned(),
        optimizer: optimizer.to_owned(),
        rep,
        seed,
        engine: optimizers::engine(optimizer),
        ..SeveralRecord::default()
    };
    let mut told: Vec<Vec<f64>> = Vec::new();
    for trial in 0..trials {
        let x = if trial < N_GIVEN {
            problem.domain.sample(&mut given)
        } else {
            let start = Instant::now();
            let x = contestant.ask(&mut rng)?;
            record.ask_ms.push((start.elapsed().as_secs_f64() * 1e6).round() / 1e3);
            x
        };
        let values = problem.outcomes(&x);
        let outcome = |(value, std): (&f64, &f64)| {
            let y = value + std * rand::RngExt::sample::<f64, _>(&mut noise, StandardNormal);
            Outcome::Value { y, noise_std: None }
        };
        let outcomes: Vec<Outcome> = values.iter().zip(&problem.noise).map(outcome).collect();
        contestant.tell_outcomes(x, &outcomes)?;
        told.push(values);
        record.achieved.push(problem.achieved(&told));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::several::select;

    /// Phase I has nothing above the reference in these runs, and a search that only follows the most optimistic vector stayed below
    /// it for all forty trials.
    #[test]
    fn go_ucb_finds_its_way_to_a_front_that_no_first_point_is_near() {
        for (name, rep) in [("branin-currin", 2), ("kursawe", 1)] {
            let problem = &select(&[name]).unwrap()[0];
            let achieved = play(problem, "go-ucb", 30, rep, 0).unwrap().achieved;
            assert_eq!(achieved[N_GIVEN - 1], 0.0, "{name}");
            assert!(achieved[29] > 0.15 * problem.best, "{name}: {achieved:?}");
        }
    }
}
