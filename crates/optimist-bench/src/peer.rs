//! Optimizers of others, each a process of its own that speaks the optimizer protocol: JSON lines
//! `{"init": {"dim", "seed", "budget"}}`, `{"tell": {"x", "y"}}` and `{"ask": 1}`, of which the last is
//! answered by `{"x": [...]}`, or by `{"error": "why"}`. x is in the unit cube, y is maximised, and a
//! failed trial is told as y = null.
//!
//! With several outcomes `init` has their `"goals"`, such as `{"goal": "maximize", "reference": -1.1}` or
//! `{"goal": "at_least", "bound": 0}`, and a tell has `"values"`, one for each, null where that outcome failed.
//!
//! Peers know of real coordinates only. On a domain with levels, choices or conditions they search
//! its whole cube, one coordinate a column, and each proposal is snapped to the nearest feasible point;
//! what is told is the point that they proposed. They are not given tasks with constraints.
//!
//! A process that dies, is silent or talks nonsense fails the run it is part of, and no other.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use optimist::encode::Domain;
use optimist::{Goals, Observation, Outcome, Recommendation, Rng, TellError};
use serde::Deserialize;
use serde_json::json;

use crate::contestant::{Contestant, ContestantError};
use crate::process::{LineProcess, ProcessError};

/// The peers that `python/peers.py` has.
pub const NAMES: [&str; 13] = [
    "botorch:gp-ei",
    "botorch:gp-pi",
    "botorch:gp-ucb",
    "botorch:turbo",
    "hebo",
    "optuna:cma-es",
    "optuna:gp",
    "optuna:nsga-ii",
    "optuna:tpe",
    "pycma",
    "pymoo:nsga-ii",
    "skopt",
    "smac",
];

const SCRIPT: &str = include_str!("../python/peers.py");

/// Where `scripts/peers-env` makes Python's environment, below the root of the repository.
const PYTHON: &str = ".venv/bin/python";

/// How long an answer may take. Gaussian processes take minutes on large data.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running peer. With several outcomes it recommends nothing.
pub struct Peer {
    process: LineProcess,
    domain: Domain,
    goals: Goals,
    /// Proposals that are not told yet, feasible and as the peer had them.
    proposed: Vec<(Vec<f64>, Vec<f64>)>,
    /// The first of the points with the largest value told, and that value.
    best: Option<(Vec<f64>, f64)>,
}

/// Why a peer cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// Python's environment is missing.
    #[error("peers need Python: there is no {PYTHON} in {} or above it; run scripts/peers-env", folder.display())]
    NoEnvironment {
        /// Where it was looked for first.
        folder: PathBuf,
    },
    /// The peer said that something is wrong.
    #[error("the peer reported `{message}`{}", missing_package(message))]
    Reported {
        /// What the peer said.
        message: String,
    },
    /// The answer cannot be understood.
    #[error("the peer answered `{line}`; expected {{\"x\": [...]}} with {dimension} numbers from 0 to 1")]
    Garbage {
        /// The beginning of its answer.
        line: String,
        /// Coordinates of the cube.
        dimension: usize,
    },
    /// The process does not answer.
    #[error("the peer {error}{remedy}", error = .0, remedy = remedy(.0))]
    Process(#[from] ProcessError),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    X(Vec<f64>),
    Error(String),
}

/// Starts one of [`NAMES`] on a domain, for `budget` trials in all.
///
/// # Errors
/// If Python's environment is missing.
pub fn start(name: &str, domain: &Domain, budget: usize, seed: u64) -> Result<Peer, PeerError> {
    start_for(name, domain, &Goals::single(), budget, seed)
}

/// The same for several outcomes.
///
/// # Errors
/// If Python's environment is missing.
pub fn start_for(
    name: &str,
    domain: &Domain,
    goals: &Goals,
    budget: usize,
    seed: u64,
) -> Result<Peer, PeerError> {
    let mut command = command(name)?;
    command.env("OMP_NUM_THREADS", "1"); // several peers run side by side
    Peer::start_for(command, domain.clone(), goals.clone(), budget, seed, PATIENCE)
}

fn command(name: &str) -> Result<Command, PeerError> {
    let mut command = Command::new(python()?);
    command.args(["-c", SCRIPT, name]);
    Ok(command)
}

/// The same with as many threads, or as many as it likes, and answers within `patience`.
///
/// # Errors
/// If Python's environment is missing.
pub fn start_with(
    name: &str,
    domain: &Domain,
    budget: usize,
    seed: u64,
    threads: Option<usize>,
    patience: Duration,
) -> Result<Peer, PeerError> {
    let mut command = command(name)?;
    match threads {
        Some(threads) => command.env("OMP_NUM_THREADS", threads.to_string()),
        None => command.env_remove("OMP_NUM_THREADS"),
    };
    Peer::start(command, domain.clone(), budget, seed, patience)
}

/// Whether one of [`NAMES`] can be started and answers.
///
/// # Errors
/// If it does not.
pub fn check(name: &str) -> Result<(), PeerError> {
    start(name, &Domain::cube(2), 1, 0)?.propose().map(drop)
}

/// The environment of the repository that the current folder is in.
fn python() -> Result<PathBuf, PeerError> {
    let folder = env::current_dir().unwrap_or_default();
    let found = folder.ancestors().map(|above| above.join(PYTHON)).find(|python| python.exists());
    found.ok_or(PeerError::NoEnvironment { folder })
}

impl Peer {
    /// A command that speaks the protocol, searching the cube around `domain`.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn start(
        command: Command,
        domain: Domain,
        budget: usize,
        seed: u64,
        patience: Duration,
    ) -> Result<Peer, PeerError> {
        Peer::start_for(command, domain, Goals::single(), budget, seed, patience)
    }

    /// The same for several outcomes.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn start_for(
        command: Command,
        domain: Domain,
        goals: Goals,
        budget: usize,
        seed: u64,
        patience: Duration,
    ) -> Result<Peer, PeerError> {
        let process = LineProcess::start(command, patience)?;
        let mut init = json!({"dim": domain.dimension(), "seed": seed, "budget": budget});
        if !goals.is_single() {
            init["goals"] = json!(goals);
        }
        process.send(&json!({"init": init}));
        Ok(Peer { process, domain, goals, proposed: Vec::new(), best: None })
    }

    /// Its process, as the operating system counts them.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// The next proposal, as the peer has it.
    fn propose(&mut self) -> Result<Vec<f64>, PeerError> {
        let line = self.process.answer(&json!({"ask": 1}))?;
        let dimension = self.domain.dimension();
        match serde_json::from_str(&line) {
            Ok(Reply::X(x)) if self.domain.check(&x).is_ok() => Ok(x),
            Ok(Reply::Error(message)) => Err(PeerError::Reported { message }),
            _ => Err(PeerError::Garbage { line: line.chars().take(200).collect(), dimension }),
        }
    }
}

impl Contestant for Peer {
    fn ask(&mut self, _: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        let proposed = self.propose()?;
        let mut x = proposed.clone();
        self.domain.snap(&mut x);
        self.proposed.push((x.clone(), proposed));
        Ok(x)
    }

    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError> {
        self.tell_outcomes(observation.x, &[observation.outcome])
    }

    fn tell_outcomes(&mut self, x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), ContestantError> {
        self.domain.check(&x)?;
        if outcomes.len() != self.goals.len() {
            return Err(TellError::WrongOutcomes { expected: self.goals.len(), got: outcomes.len() }.into());
        }
        let value = |outcome: &Outcome| match *outcome {
            Outcome::Value { y, .. } if !y.is_finite() => Err(TellError::NotFinite { y }),
            Outcome::Value { y, .. } => Ok(Some(y)),
            Outcome::Failed => Ok(None),
        };
        let values = outcomes.iter().map(value).collect::<Result<Vec<Option<f64>>, TellError>>()?;
        let idx = self.proposed.iter().position(|(feasible, _)| *feasible == x);
        let proposed = idx.map_or_else(|| x.clone(), |idx| self.proposed.remove(idx).1);
        if !self.goals.is_single() {
            self.process.send(&json!({"tell": {"x": proposed, "values": values}}));
            return Ok(());
        }
        let y = values[0];
        if let Some(y) = y.filter(|y| self.best.as_ref().is_none_or(|(_, best)| y > best)) {
            self.best = Some((x, y));
        }
        self.process.send(&json!({"tell": {"x": proposed, "y": y}}));
        Ok(())
    }

    fn recommend(&self) -> Option<Recommendation> {
        self.best.as_ref().map(|(x, y)| Recommendation { x: x.clone(), mean: *y, std: None })
    }
}

fn remedy(error: &ProcessError) -> &'static str {
    match error {
        ProcessError::NotStarted { .. } => "; scripts/peers-env makes its environment anew",
        _ => "",
    }
}

fn missing_package(message: &str) -> &'static str {
    if message.contains("No module named") { "; scripts/peers-env installs what is missing" } else { "" }
}
