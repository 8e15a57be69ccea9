//! Measures one cell, in this process. Knows of Linux where the clock alone does not do: processor time, peak memory and
//! staying on one core; elsewhere these are left out.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use optimist::encode::Domain;
use optimist::{Outcome, Rng, rng};
use rand::RngExt;
use rand_distr::StandardNormal;
use rustix::process::{Signal, getpgrp, getpid, kill_process_group};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use super::{Cell, Cores, Outcomes, Times, Timing};
use crate::contestant::{Contestant, ContestantError};
use crate::optimizers;
use crate::peer::{self, PeerError};
use crate::process::ProcessError;
use crate::run::panic_message;

/// How long a cell may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Tells with their asks, at the most; fewer for small n.
    pub pairs: usize,
    /// For all of it. The first suggestion must come within it; then as many pairs are measured as fit.
    pub time: Duration,
}

impl Limits {
    /// From one checkpoint of GO-UCB to the next there are at most 64 observations: a multiple of it has
    /// dear asks and cheap ones in their true proportion.
    pub const PAIRS: usize = 64;

    /// When this much is spent, on the processor if that is known, and there are [`Limits::ENOUGH`] pairs, no more are measured.
    const SPENT: Duration = Duration::from_secs(10);

    /// Pairs that do for an optimizer that takes seconds for each.
    const ENOUGH: usize = 5;

    /// Times that our own optimizers go through the same pairs, if the time is enough.
    const PASSES: usize = 5;

    /// While an optimizer is measured it is told more: by an eighth of n at the most, unless that were too few.
    fn for_n(self, n: usize) -> Limits {
        Limits { pairs: self.pairs.min((n / 8).max(Self::ENOUGH)), ..self }
    }

    fn allow(&self, n_pairs: usize, spent: Duration, longest: Duration, since_start: Duration) -> bool {
        let tired = n_pairs >= Self::ENOUGH && spent > Self::SPENT;
        n_pairs < self.pairs && !tired && (n_pairs == 0 || since_start + longest < self.time)
    }
}

/// Tells an optimizer n noisy values of a fixed function at uniform points, then measures tells with the asks after them.
/// Pins this process to one core if the cell says so: call it in a process that does nothing else.
pub fn measure(cell: &Cell, limits: Limits) -> Timing {
    let limits = limits.for_n(cell.n);
    match catch_unwind(AssertUnwindSafe(|| measure_passes(cell, limits))) {
        Ok(Ok(times)) => Timing::Measured(times),
        Ok(Err(outcome)) => outcome,
        Err(panic) => failed(format!("it panicked: {}", panic_message(&*panic))),
    }
}

fn failed(reason: impl ToString) -> Timing {
    Timing::Failed { reason: reason.to_string() }
}

/// A peer is only silent when its time is over.
fn gave_up(error: ContestantError) -> Timing {
    match error {
        ContestantError::Peer(PeerError::Process(ProcessError::Silent { after })) => {
            Timing::OverLimit { seconds: after.as_secs_f64() }
        }
        error => failed(error),
    }
}

/// Other programs only ever add to the time by the clock. So our own optimizers go through the same pairs again, and each pair
/// counts with its fastest pass. What is compared with peers, time on the processor, is that of the first pass, as theirs is.
fn measure_passes(cell: &Cell, limits: Limits) -> Result<Times, Timing> {
    let start = Instant::now();
    let mut times = Subject::start(cell, limits)?.measure(cell, limits)?;
    let is_peer = peer::NAMES.contains(&cell.optimizer.as_str());
    for n_passes in 1..Limits::PASSES {
        if is_peer || start.elapsed().mul_f64(1.0 + 1.0 / n_passes as f64) > limits.time {
            break;
        }
        let again = Subject::start(cell, limits)?.measure(cell, limits)?;
        times.wall_ms.iter_mut().zip(again.wall_ms).for_each(|(least, ms)| *least = least.min(ms));
    }
    Ok(times)
}

/// From now on this process ends, with what it has started, when its standard input does: when whoever asked for
/// the measurement is gone, however that came about.
pub fn end_with_input() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new()); // what cannot be read has ended, too
        if getpgrp() == getpid() {
            let _ = kill_process_group(getpgrp(), Signal::KILL);
        }
        std::process::exit(1);
    });
}

/// What is measured, and where its work is done.
struct Subject {
    contestant: Box<dyn Contestant>,
    /// The process of a peer; our own work in this one.
    process: Option<u32>,
}

impl Subject {
    fn start(cell: &Cell, limits: Limits) -> Result<Subject, Timing> {
        let Cell { optimizer, n, d, outcomes, cores } = cell;
        if *cores == Cores::One {
            stay_here().map_err(failed)?;
        }
        let (domain, trials) = (Domain::cube(*d), n + limits.pairs);
        if peer::NAMES.contains(&optimizer.as_str()) {
            let threads = (*cores == Cores::One).then_some(1);
            let peer =
                peer::start_with(optimizer, &domain, trials, 0, threads, limits.time).map_err(failed)?;
            return Ok(Subject { process: Some(peer.process_id()), contestant: Box::new(peer) });
        }
        let contestant =
            optimizers::build_for(optimizer, &domain, &outcomes.goals(), trials, 0).map_err(failed)?;
        Ok(Subject { contestant, process: None })
    }

    fn measure(mut self, cell: &Cell, limits: Limits) -> Result<Times, Timing> {
        let mut objective = Objective::new(cell.d, cell.outcomes);
        let told: Vec<Trial> = (0..cell.n).map(|_| objective.draw()).collect();
        let mut luck = rng(0, 1);

        let start = Instant::now();
        for Trial { x, outcomes } in told {
            self.contestant.tell_outcomes(x, &outcomes).map_err(gave_up)?;
        }
        let mut x = self.contestant.ask(&mut luck).map_err(gave_up)?;
        let ready = start.elapsed();

        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        let (mut spent, mut longest) = (Duration::ZERO, Duration::ZERO);
        while limits.allow(wall.len(), spent, longest, start.elapsed()) {
            let Trial { x: told, outcomes } = objective.observe(x);
            let (clock, processor) = (Instant::now(), self.processor_ms());
            self.contestant.tell_outcomes(told, &outcomes).map_err(gave_up)?;
            x = self.contestant.ask(&mut luck).map_err(gave_up)?;
            let took = clock.elapsed();
            let on_processor =
                processor.zip(self.processor_ms()).map(|(before, after)| rounded(after - before));
            cpu.extend(on_processor);
            wall.push(milliseconds(took));
            longest = longest.max(took);
            spent += on_processor.map_or(took, |ms| Duration::from_secs_f64(ms.max(0.0) / 1e3));
        }
        if cpu.len() < wall.len() {
            cpu.clear();
        }
        Ok(Times { wall_ms: wall, cpu_ms: cpu, ready_ms: milliseconds(ready), peak_mb: self.peak_mb() })
    }

    /// Time of all its threads on the processor.
    fn processor_ms(&self) -> Option<f64> {
        match self.process {
            None => {
                let time = clock_gettime(ClockId::ProcessCPUTime);
                Some(time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6)
            }
            Some(process) => {
                let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
                let nanoseconds = threads.map(|thread| {
                    let statistics = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
                    statistics.split(' ').next()?.parse::<f64>().ok()
                });
                nanoseconds.sum::<Option<f64>>().map(|nanoseconds| nanoseconds / 1e6)
            }
        }
    }

    fn peak_mb(&self) -> Option<f64> {
        let process = self.process.unwrap_or_else(std::process::id);
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(rounded(peak.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0))
    }
}

/// Keeps this process, and those that it starts, on the core where it is.
fn stay_here() -> Result<(), String> {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).map_err(|error| format!("cannot stay on one core: {error}"))
}

/// A trend in each coordinate, products of neighbours, and noise; of about the same spread in every dimension. Each further
/// outcome is the same, shifted.
struct Objective {
    domain: Domain,
    n_outcomes: u8,
    luck: Rng,
}

struct Trial {
    x: Vec<f64>,
    outcomes: Vec<Outcome>,
}

impl Objective {
    const NOISE_STD: f64 = 0.1;

    fn new(d: usize, outcomes: Outcomes) -> Objective {
        let n_outcomes = if outcomes == Outcomes::One { 1 } else { 3 };
        Objective { domain: Domain::cube(d), n_outcomes, luck: rng(0, 0) }
    }

    /// An observation at a uniform point.
    fn draw(&mut self) -> Trial {
        let x = self.domain.sample(&mut self.luck);
        self.observe(x)
    }

    fn observe(&mut self, x: Vec<f64>) -> Trial {
        let products: f64 = x.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum();
        let mut outcome = |k: u8| {
            let trend: f64 = (1..).zip(&x).map(|(j, x)| (3.0 * x + f64::from(j) + f64::from(k)).sin()).sum();
            let noise: f64 = self.luck.sample(StandardNormal);
            let y = (trend + products) / (x.len() as f64).sqrt() + Self::NOISE_STD * noise;
            Outcome::Value { y, noise_std: None }
        };
        let outcomes = (0..self.n_outcomes).map(&mut outcome).collect();
        Trial { x, outcomes }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64() * 1e3)
}

/// To the microsecond.
fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(optimizer: &str) -> Cell {
        // All cores: a test must not pin the others to one.
        Cell { optimizer: optimizer.to_owned(), n: 12, d: 3, outcomes: Outcomes::One, cores: Cores::All }
    }

    const LIMITS: Limits = Limits { pairs: 4, time: Duration::from_secs(60) };

    #[test]
    fn every_pair_is_measured_by_the_clock_and_on_the_processor() {
        let Timing::Measured(times) = measure(&cell("go-ucb"), LIMITS) else { panic!("not measured") };
        assert_eq!((times.wall_ms.len(), times.cpu_ms.len()), (4, 4));
        assert!(times.wall_ms.iter().chain(&times.cpu_ms).all(|&ms| ms > 0.0), "{times:?}");
        assert!(times.peak_mb.is_some_and(|mb| mb > 1.0), "{times:?}");
    }

    #[test]
    fn several_outcomes_are_measured_as_one_is() {
        for outcomes in [Outcomes::ThreeGoals, Outcomes::GoalAndTwoBounds] {
            let timing = measure(&Cell { outcomes, ..cell("go-ucb") }, LIMITS);
            let Timing::Measured(times) = timing else { panic!("{outcomes:?}: {timing:?}") };
            assert_eq!(times.wall_ms.len(), 4);
        }
    }

    #[test]
    fn an_optimizer_that_does_not_exist_is_a_failure_with_its_name() {
        let Timing::Failed { reason } = measure(&cell("simplex"), LIMITS) else { panic!("not a failure") };
        assert!(reason.contains("there is no optimizer `simplex`"), "{reason}");
    }

    #[test]
    fn a_peer_that_is_silent_is_over_the_limit_and_any_other_trouble_is_a_failure() {
        let silent = ProcessError::Silent { after: Duration::from_secs(60) };
        assert_eq!(gave_up(PeerError::from(silent).into()), Timing::OverLimit { seconds: 60.0 });
        let ended = ProcessError::Ended { last_words: "no memory".into() };
        let Timing::Failed { reason } = gave_up(PeerError::from(ended).into()) else { panic!("no failure") };
        assert_eq!(reason, "the peer ended without an answer; last output: no memory");
    }

    #[test]
    fn n_does_not_grow_much_while_it_is_measured() {
        let pairs = |n| Limits { pairs: 64, time: Duration::from_secs(60) }.for_n(n).pairs;
        assert_eq!([10, 72, 100, 500, 1_000, 100_000].map(pairs), [5, 9, 12, 62, 64, 64]);
    }

    #[test]
    fn slow_optimizers_are_measured_less_often_and_never_beyond_the_limit() {
        let limits = Limits { pairs: 64, time: Duration::from_secs(60) };
        let seconds = Duration::from_secs;
        assert!(limits.allow(0, seconds(0), seconds(50), seconds(59)), "one pair is always measured");
        assert!(limits.allow(3, seconds(12), seconds(4), seconds(20)));
        assert!(!limits.allow(5, seconds(20), seconds(4), seconds(28)), "enough");
        assert!(!limits.allow(3, seconds(45), seconds(15), seconds(46)), "the next would end too late");
        assert!(!limits.allow(64, seconds(1), seconds(1), seconds(2)));
    }
}
