//! Functions of `small` some of whose trials fail: 10, 20 or 40 % of them at random, or everywhere in 20 to 90 % of the space.
//!
//! Regions spare the optimum, which lies near their border: in most real problems what is best is next to what breaks.

use super::small::{self, Function, rounded, small};
use super::{Failures, Group, Noise, Region, Task};

const FUNCTIONS: [Function; 6] =
    [small::branin, small::hartmann3, small::levy, small::rosenbrock, small::ackley, small::hartmann6];

pub(super) fn tasks() -> Vec<Task> {
    FUNCTIONS.iter().flat_map(|function| regions(function).into_iter().chain(at_random(function))).collect()
}

fn regions(function: &Function) -> Vec<Task> {
    let failing = |percent: u32| {
        let task = small(function());
        let formula = task.formula().expect("it is one");
        let (share, seed) = (f64::from(percent) / 100.0, u64::from(percent));
        let (region, summary) = if percent <= 50 {
            let summary = format!("trials fail beyond a plane, in {percent} % of the space");
            (Region::half_space(&formula.maximiser, share, seed), summary)
        } else {
            let summary = format!("trials fail outside an island of {} % of the space", 100 - percent);
            (Region::island(&formula.maximiser, 1.0 - share, seed), summary)
        };
        let failures = Failures::outside(formula, region);
        renamed(task, &format!("region{percent}"), &summary, failures)
    };
    [20, 50, 70, 90].map(failing).into()
}

/// With noise of 5 %: what fails at random is seldom exact.
fn at_random(function: &Function) -> Vec<Task> {
    let failing = |percent: u32| {
        let task = small(function());
        let formula = task.formula().expect("it is one");
        let noise = Noise::Gaussian { std: rounded(0.05 * formula.std()) };
        let failures = Failures::at_random(formula, f64::from(percent) / 100.0);
        let summary = format!("noise of 5 % of its spread, and {percent} % of the trials fail at random");
        Task { noise, ..renamed(task, &format!("fails{percent}"), &summary, failures) }
    };
    [10, 20, 40].map(failing).into()
}

fn renamed(task: Task, suffix: &str, summary: &str, failures: Failures) -> Task {
    Task {
        name: format!("{}-{suffix}", task.name).leak(),
        summary: format!("{}; {summary}", task.summary).leak(),
        failures: Some(failures),
        ..task
    }
    .in_group(Group::Failing)
}
