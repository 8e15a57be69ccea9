//! Several outcomes: problems with goals to trade off and constraints on what is measured, runs on them, and what they say.
//!
//! Beside `task`, `run` and `report`, which are about one value: here a run is judged by the hypervolume of what it has tried, or by
//! the best value that meets the bounds.

mod constrained;
mod multi;
mod penicillin;
pub mod play;
pub mod problem;
pub mod report;

pub use play::{Plan, SeveralRecord, play_missing};
pub use problem::{Group, Problem, UnknownProblem, all, select};
pub use report::Standings;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_problem_is_described() {
        let problems = all();
        let names: std::collections::BTreeSet<_> = problems.iter().map(|problem| problem.name).collect();
        assert_eq!(names.len(), problems.len());
        for problem in &problems {
            assert!(!problem.summary.is_empty() && !problem.source.is_empty(), "{}", problem.name);
        }
    }

    #[test]
    fn every_point_has_finite_outcomes_and_none_is_better_than_the_best() {
        for problem in all() {
            let mut rng = optimist::rng(7, 0);
            let told: Vec<Vec<f64>> =
                (0..600).map(|_| problem.outcomes(&problem.domain.sample(&mut rng))).collect();
            assert!(told.iter().flatten().all(|value| value.is_finite()), "{}", problem.name);
            assert!(told.iter().all(|values| values.len() == problem.goals.len()), "{}", problem.name);
            let achieved = problem.achieved(&told);
            assert!((problem.worst..=problem.best).contains(&achieved), "{}: {achieved}", problem.name);
        }
    }

    /// A point on its natural scale, and what pymoo says of some outcomes there.
    #[derive(serde::Deserialize)]
    struct Reference {
        problem: String,
        x: Vec<f64>,
        outcomes: Vec<usize>,
        values: Vec<f64>,
    }

    #[test]
    fn formulas_say_what_pymoo_says() {
        let references: Vec<Reference> =
            serde_json::from_str(include_str!("../../tests/fixtures/outcomes.json")).unwrap();
        assert!(references.len() >= 60);
        for Reference { problem, x, outcomes, values } in references {
            let found = select(&[&problem]).unwrap();
            let ours = found[0].at(&x);
            for (k, theirs) in outcomes.into_iter().zip(values) {
                let tolerance = 1e-7 * (1.0 + theirs.abs());
                assert!((ours[k] - theirs).abs() < tolerance, "{problem} {k}: {} for {theirs}", ours[k]);
            }
        }
    }

    /// Points that the literature gives, on their natural scale.
    #[test]
    fn known_optima_are_feasible_and_as_good_as_they_are_said_to_be() {
        let optima: [(&str, &[f64]); 9] = [
            ("pressure-vessel", &[0.75, 0.375, 38.860_103_63, 221.365_471]),
            ("welded-beam", &[0.205_729_64, 3.470_488_67, 9.036_623_91, 0.205_729_64]),
            ("speed-reducer", &[3.5, 0.7, 17.0, 7.3, 7.8, 3.350_214_67, 5.286_683_23]),
            ("tension-spring", &[0.051_689_06, 0.356_717_74, 11.288_966_0]),
            ("gramacy", &[0.195_4, 0.404_4]),
            ("mystery", &[2.745_0, 2.352_3]),
            ("townsend", &[2.005_293_8, 1.194_450_9]),
            ("g01-measured", &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 1.0]),
            ("ackley-20", &[0.0; 20]),
        ];
        for (name, x) in optima {
            let problem = &select(&[name]).unwrap()[0];
            let values = problem.at(x);
            let size = problem.best.abs().max(1.0);
            assert!((values[0] + problem.best).abs() < 2e-4 * size, "{name}: {}", values[0]);
            let mut rng = optimist::rng(9, 0);
            let sample: Vec<Vec<f64>> =
                (0..200).map(|_| problem.outcomes(&problem.domain.sample(&mut rng))).collect();
            for (k, value) in values.iter().enumerate().skip(1) {
                let spread = sample.iter().map(|values| values[k].abs()).fold(0.0, f64::max);
                assert!(*value <= 2e-4 * spread, "{name}: constraint {k} is {value}");
            }
        }
    }

    #[test]
    fn a_feasible_part_is_called_tiny_if_it_is() {
        for problem in all() {
            let mut rng = optimist::rng(8, 0);
            let n = 4000;
            let is_feasible = |_: &i32| {
                let x = problem.domain.sample(&mut rng);
                problem.goals.are_met_by(&problem.outcomes(&x))
            };
            let share = (0..n).filter(is_feasible).count() as f64 / f64::from(n);
            assert_eq!(problem.tiny, share < 0.01, "{}: {share}", problem.name);
        }
    }

    #[test]
    fn an_unknown_problem_names_the_nearest() {
        let error = select(&["zdt9"]).err().unwrap().to_string();
        assert!(error.contains("`zdt"), "{error}");
        assert_eq!(
            select(&["constrained", "mystery"]).unwrap().len(),
            select(&["constrained"]).unwrap().len()
        );
    }
}
