//! 300 trials on a sample of the other groups: does an optimizer still gain when the budget is long?

use super::{Group, Task, failing, large, small, suite, synthetic};

/// Trials, none of them given.
const TRIALS: usize = 300;

const SAMPLE: [&str; 16] = [
    "f2",
    "hartmann6-in-20",
    "friedman",
    "ackley",
    "schwefel",
    "func3c",
    "decision-tree",
    "branin-noise20",
    "hartmann6-noise10",
    "rastrigin3-multiplicative",
    "shekel4",
    "rosenbrock4-heavy",
    "levy4-region70",
    "hartmann3-fails40",
    "bowl80",
    "one-max100",
];

pub(super) fn tasks() -> Vec<Task> {
    let others = [synthetic::tasks(), suite(), small::tasks(), failing::tasks(), large::tasks()];
    let sample = others.into_iter().flatten().filter(|task| SAMPLE.contains(&task.name));
    let long = |task: Task| Task {
        name: format!("{}-long", task.name).leak(),
        summary: format!("{}; {TRIALS} trials", task.summary).leak(),
        ..task.in_group(Group::Long).budget(0, TRIALS)
    };
    sample.map(long).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_task_of_the_sample_exists() {
        assert_eq!(super::tasks().len(), super::SAMPLE.len());
    }
}
