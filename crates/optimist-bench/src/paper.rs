//! The experiments of the paper as grids of runs: which tasks, which optimizers, how often.

use crate::run::Grid;
use crate::task::{self, UnknownTask};

/// The optimizers of this project that are compared on every task.
pub const OPTIMIZERS: [&str; 9] =
    ["go-ucb", "go-ucb:paper", "gp-ei", "gp-pi", "gp-ucb", "turbo", "tpe", "cma-es", "random"];

/// Peers that ask in milliseconds: they play every task of the paper, as often as our own.
pub const FAST_PEERS: [&str; 2] = ["optuna:tpe", "pycma"];

/// Peers that take seconds for each point: they play [`SAMPLE`] only, [`SLOW_REPS`] times.
pub const SLOW_PEERS: [&str; 7] =
    ["botorch:gp-ei", "botorch:gp-pi", "botorch:gp-ucb", "botorch:turbo", "skopt", "optuna:gp", "hebo"];

/// What slow peers play: the synthetic functions, and each classifier and each data set once.
pub const SAMPLE: [&str; 6] = ["f1", "f2", "f3", "rf-breast", "mlp-australian", "gb-diabetes"];

/// How often slow peers play.
pub const SLOW_REPS: usize = 3;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Tasks or groups of them, the paper's twelve or some of them.
    pub tasks: Vec<String>,
    /// Repetitions of all but slow peers.
    pub reps: usize,
    /// Whether our own also play the real tasks with their true types.
    pub typed: bool,
    /// The peers to be compared with, of [`FAST_PEERS`] and [`SLOW_PEERS`].
    pub peers: Vec<String>,
}

impl Extent {
    /// The grids, quick ones first.
    ///
    /// # Errors
    /// If a task is not known.
    pub fn grids(&self) -> Result<Vec<Grid>, UnknownTask> {
        let tasks = task::select(&self.tasks)?;
        let ours = OPTIMIZERS.map(str::to_owned).to_vec();
        let peers =
            |of: &[&str]| self.peers.iter().filter(|peer| of.contains(&peer.as_str())).cloned().collect();
        let mut grids = vec![Grid { tasks: tasks.clone(), optimizers: ours.clone(), reps: self.reps }];
        if self.typed {
            grids.push(Grid { tasks: task::select(&["typed"])?, optimizers: ours, reps: self.reps });
        }
        let sample = tasks.iter().copied().filter(|task| SAMPLE.contains(&task.name)).collect();
        grids.push(Grid { tasks, optimizers: peers(&FAST_PEERS), reps: self.reps });
        grids.push(Grid { tasks: sample, optimizers: peers(&SLOW_PEERS), reps: self.reps.min(SLOW_REPS) });
        Ok(grids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer;

    fn cells(extent: &Extent) -> Vec<usize> {
        let size = |grid: &Grid| grid.tasks.len() * grid.optimizers.len() * grid.reps;
        extent.grids().unwrap().iter().map(size).collect()
    }

    #[test]
    fn the_whole_has_every_task_optimizer_and_peer() {
        let peers: Vec<String> = FAST_PEERS.into_iter().chain(SLOW_PEERS).map(str::to_owned).collect();
        let mut names: Vec<&str> = peers.iter().map(String::as_str).collect();
        names.push("optuna:cma-es"); // for speed only: `pycma` plays for CMA-ES
        names.push("smac"); // for answers only
        names.extend(["optuna:nsga-ii", "pymoo:nsga-ii"]); // for several outcomes only
        names.sort_unstable();
        assert_eq!(names, peer::NAMES, "every peer takes part");

        let alone = Extent { tasks: vec!["paper".into()], reps: 5, typed: false, peers: Vec::new() };
        assert_eq!(cells(&alone), [12 * 9 * 5, 0, 0]);
        let whole = Extent { typed: true, peers, ..alone };
        assert_eq!(cells(&whole), [12 * 9 * 5, 9 * 9 * 5, 12 * 2 * 5, 6 * 7 * 3]);
    }

    #[test]
    fn a_part_is_played_by_slow_peers_as_far_as_it_is_theirs() {
        let part = Extent {
            tasks: vec!["f1".into(), "gb-breast".into()],
            reps: 2,
            typed: false,
            peers: vec!["skopt".into()],
        };
        assert_eq!(cells(&part), [2 * 9 * 2, 0, 2]);
    }
}
