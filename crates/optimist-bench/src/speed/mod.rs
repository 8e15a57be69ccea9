//! How long an ask with its tell takes, and how much memory, by optimizer, number of trials and dimension.
//!
//! A [`Cell`] is one optimizer that has been told n observations in d dimensions, on one core or on all. `measure` is
//! done in a process of its own for each, so that its peak of memory is its own and nothing is warm from another; `run`
//! starts those processes, one at a time, and keeps what they say in a file; `report` says what it means, and `goals`
//! whether that is what we want.

mod goals;
mod measure;
mod report;
mod run;
mod sweeps;

use optimist::{Goal as OutcomeGoal, Goals};
use serde::{Deserialize, Serialize};

pub use goals::{Goal, goals};
pub use measure::{Limits, end_with_input, measure};
pub use report::SpeedReport;
pub use run::{Progress, run};
pub use sweeps::{PEERS, QUICK, Sweeps};

use crate::results::Line;

/// What is measured at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the optimizer.
    pub optimizer: String,
    /// Observations it has been told before.
    pub n: usize,
    /// Coordinates of the unit cube.
    pub d: usize,
    /// What is measured of each point.
    #[serde(default, skip_serializing_if = "Outcomes::is_one")]
    pub outcomes: Outcomes,
    /// Where it may run.
    pub cores: Cores,
}

impl Cell {
    /// The optimizer, and its outcomes if there are several: what tables have a row for.
    pub fn subject(&self) -> String {
        match self.outcomes {
            Outcomes::One => self.optimizer.clone(),
            Outcomes::ThreeGoals => format!("{}, 3 goals", self.optimizer),
            Outcomes::GoalAndTwoBounds => format!("{}, 1 goal and 2 bounds", self.optimizer),
        }
    }
}

/// What is measured of each point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcomes {
    /// One value.
    #[default]
    One,
    /// Three values to trade off.
    ThreeGoals,
    /// A value, and two others that have bounds.
    GoalAndTwoBounds,
}

impl Outcomes {
    fn is_one(&self) -> bool {
        *self == Outcomes::One
    }

    /// What is wanted of them. Half of the points meet a bound.
    fn goals(self) -> Goals {
        let goal = OutcomeGoal::Maximize { reference: None };
        let bound = OutcomeGoal::AtLeast { bound: 0.0 };
        match self {
            Outcomes::One => Goals::single(),
            Outcomes::ThreeGoals => Goals::new(vec![goal; 3]).expect("three are few enough"),
            Outcomes::GoalAndTwoBounds => Goals::new(vec![goal, bound, bound]).expect("three are few enough"),
        }
    }
}

/// Where an optimizer may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// On one processor, and with one thread where it counts threads.
    One,
    /// On all processors, with as many threads as it likes.
    All,
}

/// A cell and what came of it: a line of the result file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeedRecord {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// What came of it.
    pub outcome: Timing,
    /// The engine that was measured; `None` for peers, and in records older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<u32>,
}

impl Line for SpeedRecord {}

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// It was measured.
    Measured(Times),
    /// There was no suggestion in time.
    OverLimit {
        /// How long it was waited for.
        seconds: f64,
    },
    /// Something went wrong.
    Failed {
        /// Why it was not measured, for people to read.
        reason: String,
    },
}

/// How long things took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Milliseconds of each tell with the ask after it, by the clock; of our own optimizers the least of several passes.
    pub wall_ms: Vec<f64>,
    /// The same on the processor, all threads together: what other programs do is not in it. Empty if not known.
    pub cpu_ms: Vec<f64>,
    /// Milliseconds by the clock from an empty optimizer to its first suggestion: n tells and an ask. A peer is started
    /// within it.
    pub ready_ms: f64,
    /// The most memory that its process had.
    pub peak_mb: Option<f64>,
}

impl Times {
    /// What tells with their asks took, as it is compared: on one core the time on the processor, which other programs
    /// do not change, and on all cores the time by the clock.
    pub fn pairs_ms(&self, cores: Cores) -> &[f64] {
        match cores {
            Cores::One if !self.cpu_ms.is_empty() => &self.cpu_ms,
            _ => &self.wall_ms,
        }
    }
}

/// The mean. Most asks of a long run are cheap and a few are dear: a median would hide those.
pub fn mean(ms: &[f64]) -> f64 {
    ms.iter().sum::<f64>() / ms.len() as f64
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cell { n, d, cores, .. } = self;
        write!(f, "{}, n = {n}, d = {d}, {cores}", self.subject())
    }
}

impl std::fmt::Display for Cores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Cores::One => "one core",
            Cores::All => "all cores",
        })
    }
}
