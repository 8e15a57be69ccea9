//! How fast GO-UCB and our baselines are meant to be, as ratios within one run on one machine.

use super::{Cell, Cores, SpeedRecord, Times, Timing, mean};

/// What is meant to hold, and what does.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// What is meant to hold, as a sentence without its full stop.
    pub text: String,
    /// The bound, as the text has it, such as "≥ 100".
    pub bound: String,
    /// What was measured, on the scale of the bound; `None` if it was not.
    pub measured: Option<f64>,
    /// Whether it holds; `None` if it was not measured.
    pub met: Option<bool>,
}

/// All goals.
pub fn goals(records: &[SpeedRecord]) -> Vec<Goal> {
    let one = |optimizer: &str, n, d| cost(records, optimizer, n, d, Cores::One);
    let times_as_fast = |ours: &str, other: &str, n, d, factor: f64| {
        let relation = match factor {
            1.0 => "not slower than".to_owned(),
            _ => format!("at least {factor} times as fast as"),
        };
        let text = format!("{ours} is {relation} {other} at n = {n}, d = {d}");
        at_least(text, factor, ratio(one(other, n, d), one(ours, n, d)))
    };
    let four_times = |several: &str| {
        let text = format!("{several} takes at most four times as long as go-ucb at n = 72, d = 20");
        below(text, 4.0, ratio(one(several, 72, 20), one("go-ucb", 72, 20)))
    };
    let flat = |several: &str| {
        let text = format!("{several} grows by less than 1.5 from n = 1,000 to n = 100,000 at d = 20");
        below(text, 1.5, ratio(one(several, 100_000, 20), one(several, 1_000, 20)))
    };
    let on = |cores| times(records, "go-ucb", 1_000, 20, cores).map(|times| mean(&times.wall_ms));
    let largest = times(records, "go-ucb", 72, 500, Cores::One);
    vec![
        times_as_fast("go-ucb", "botorch:gp-ei", 72, 20, 100.0),
        times_as_fast("go-ucb", "botorch:turbo", 72, 20, 100.0),
        below("go-ucb at n = 72, d = 20 takes less than 60 ms".into(), 60.0, one("go-ucb", 72, 20)),
        times_as_fast("go-ucb", "optuna:tpe", 1_000, 20, 1.0),
        times_as_fast("go-ucb", "optuna:tpe", 1_000, 100, 1.0),
        times_as_fast("go-ucb", "optuna:tpe", 1_000, 500, 1.0),
        at_least(
            "go-ucb is at least 5 times as fast as optuna:gp wherever both were measured".into(),
            5.0,
            least_ratio(records, "optuna:gp", "go-ucb"),
        ),
        flat("go-ucb"),
        four_times("go-ucb, 3 goals"),
        four_times("go-ucb, 1 goal and 2 bounds"),
        flat("go-ucb, 3 goals"),
        flat("go-ucb, 1 goal and 2 bounds"),
        below(
            "go-ucb at n = 72, d = 500 takes less than a second (here in ms)".into(),
            1_000.0,
            one("go-ucb", 72, 500),
        ),
        below(
            "go-ucb at n = 72, d = 500 has less than 1 GB of memory (here in MB)".into(),
            1_000.0,
            largest.and_then(|times| times.peak_mb),
        ),
        times_as_fast("gp-ei", "botorch:gp-ei", 500, 20, 20.0),
        times_as_fast("turbo", "botorch:turbo", 500, 20, 20.0),
        at_least(
            "two cores give go-ucb at least 1.6 times the speed of one at n = 1,000, d = 20, by the clock"
                .into(),
            1.6,
            ratio(on(Cores::One), on(Cores::All)),
        ),
    ]
}

/// Milliseconds of a tell with its ask, as they are compared. `optimizer` is a [`Cell::subject`].
pub(super) fn cost(
    records: &[SpeedRecord],
    optimizer: &str,
    n: usize,
    d: usize,
    cores: Cores,
) -> Option<f64> {
    times(records, optimizer, n, d, cores).map(|times| mean(times.pairs_ms(cores)))
}

pub(super) fn times<'a>(
    records: &'a [SpeedRecord],
    optimizer: &str,
    n: usize,
    d: usize,
    cores: Cores,
) -> Option<&'a Times> {
    let is_it = |cell: &Cell| cell.subject() == optimizer && (cell.n, cell.d, cell.cores) == (n, d, cores);
    records.iter().find_map(|record| match &record.outcome {
        Timing::Measured(times) if is_it(&record.cell) => Some(times),
        _ => None,
    })
}

/// The least ratio of the costs of `other` to those of `ours`, over all cells on one core that both have.
fn least_ratio(records: &[SpeedRecord], other: &str, ours: &str) -> Option<f64> {
    let ratios = records.iter().filter_map(|SpeedRecord { cell, .. }| {
        let cost = |optimizer: &str| cost(records, optimizer, cell.n, cell.d, Cores::One);
        (cell.subject() == ours).then(|| ratio(cost(other), cost(ours)))?
    });
    ratios.reduce(f64::min)
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a / b)
}

fn at_least(text: String, bound: f64, measured: Option<f64>) -> Goal {
    Goal { text, bound: format!("≥ {bound}"), measured, met: measured.map(|measured| measured >= bound) }
}

fn below(text: String, bound: f64, measured: Option<f64>) -> Goal {
    Goal { text, bound: format!("< {bound}"), measured, met: measured.map(|measured| measured < bound) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::Outcomes;

    fn record(optimizer: &str, n: usize, d: usize, cores: Cores, ms: f64) -> SpeedRecord {
        let times = Times {
            wall_ms: vec![2.0 * ms],
            cpu_ms: vec![0.5 * ms, 1.5 * ms],
            ready_ms: 0.0,
            peak_mb: Some(900.0),
        };
        let cell = Cell { optimizer: optimizer.to_owned(), n, d, outcomes: Outcomes::One, cores };
        SpeedRecord { cell, outcome: Timing::Measured(times), engine: None }
    }

    fn met(records: &[SpeedRecord]) -> Vec<Option<bool>> {
        goals(records).into_iter().map(|goal| goal.met).collect()
    }

    #[test]
    fn without_measurements_nothing_is_met_or_missed() {
        assert!(met(&[]).iter().all(Option::is_none));
    }

    #[test]
    fn several_outcomes_are_compared_with_one() {
        let several = |outcomes, ms| {
            let SpeedRecord { cell, outcome, .. } = record("go-ucb", 72, 20, Cores::One, ms);
            SpeedRecord { cell: Cell { outcomes, ..cell }, outcome, engine: None }
        };
        let records = [
            record("go-ucb", 72, 20, Cores::One, 10.0),
            several(Outcomes::ThreeGoals, 39.0),
            several(Outcomes::GoalAndTwoBounds, 41.0),
        ];
        let four_times: Vec<_> =
            goals(&records).into_iter().filter(|goal| goal.text.contains("four times")).collect();
        assert_eq!(four_times.iter().map(|goal| goal.met).collect::<Vec<_>>(), [Some(true), Some(false)]);
        assert_eq!(four_times[0].measured, Some(3.9));
    }

    #[test]
    fn goals_compare_means_of_processor_time_on_one_core_and_the_clock_between_cores() {
        let records = [
            record("go-ucb", 72, 20, Cores::One, 10.0),
            record("botorch:gp-ei", 72, 20, Cores::One, 1000.0),
            record("botorch:turbo", 72, 20, Cores::One, 999.0),
            record("go-ucb", 1_000, 20, Cores::One, 16.0),
            record("optuna:tpe", 1_000, 20, Cores::One, 15.9),
            record("go-ucb", 100_000, 20, Cores::One, 23.9),
            record("go-ucb", 72, 500, Cores::One, 1_001.0),
            record("go-ucb", 1_000, 20, Cores::All, 10.0),
            record("optuna:gp", 72, 20, Cores::One, 49.0),
            record("optuna:gp", 1_000, 20, Cores::One, 200.0),
        ];
        let [yes, no] = [Some(true), Some(false)];
        let of_several = [None; 4];
        let expected =
            [&[yes, no, yes, no, None, None, no, yes][..], &of_several, &[no, yes, None, None, yes]];
        assert_eq!(met(&records), expected.concat());
    }
}
