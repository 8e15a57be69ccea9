//! GO-UCB as a caller sees it: what it proposes, learns and recommends, through ask and tell alone.

use std::ops::Range;

use optimist::encode::{Domain, Encoding};
use optimist::internal::baselines::Random;
use optimist::internal::frame::Frame;
use optimist::settings::{Aim, DefaultSettings, FamilyKind, PaperSettings, TheorySettings};
use optimist::space::{Kind, Parameter, Space, Value};
use optimist::{GoUcb, Observation, Optimizer, Outcome, Policy, Settings, TellError, Why, rng};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

mod proposals {
    use super::*;

    /// Of 60 seeds, one came within 5e-3 only, the others within 1e-3, half of them within 3e-5.
    #[test]
    fn the_optimum_of_a_quadratic_is_found() {
        let regret = |seed: u64| {
            let mut optimizer = go_ucb(&Domain::cube(3), 16);
            run(&mut optimizer, 0..16, seed, |x| measured(hill(x)));
            -hill(&optimizer.recommend().unwrap().x)
        };
        let mut regrets: Vec<f64> = (0..7).map(regret).collect();
        regrets.sort_by(f64::total_cmp);
        assert!(regrets[3] < 3e-4 && regrets[5] < 1e-3 && regrets[6] < 1e-2, "{regrets:?}");
    }

    #[test]
    fn with_noise_the_regret_is_a_fraction_of_that_of_random_search() {
        fn regret<P: Policy>(mut optimizer: Optimizer<P>, seed: u64) -> f64 {
            let mut noise = rng(seed, u64::MAX);
            run(&mut optimizer, 0..24, seed, |x| {
                let z: f64 = StandardNormal.sample(&mut noise);
                measured(hill(x) + 0.02 * z)
            });
            -hill(&optimizer.recommend().unwrap().x)
        }
        let domain = Domain::cube(3);
        let ours = median((0..9).map(|seed| regret(go_ucb(&domain, 24), seed)));
        let random = median((0..9).map(|seed| regret(Optimizer::new(domain.clone(), Random), seed)));
        assert!(ours < 0.015 && ours < 0.5 * random, "{ours}, and {random} at random");
    }

    #[test]
    fn the_same_seed_and_calls_give_the_same_points_bit_for_bit() {
        for domain in [Domain::cube(2), mixed().domain().clone()] {
            let points = |seed| {
                let mut optimizer = go_ucb(&domain, 12);
                bits(&run(&mut optimizer, 0..12, seed, |x| measured(hill(x))))
            };
            assert_eq!(points(3), points(3));
            assert_ne!(points(3), points(4));
        }
    }

    #[test]
    fn a_run_taken_up_from_its_record_goes_on_as_it_would_have() {
        for domain in [Domain::cube(2), mixed().domain().clone()] {
            let mut whole = go_ucb(&domain, 12);
            let tried = run(&mut whole, 0..9, 5, |x| measured(hill(x)));
            let mut resumed = go_ucb(&domain, 12);
            for x in &tried {
                resumed.propose(x.clone());
                resumed.tell(value(x, hill(x))).unwrap();
            }
            let next = |optimizer: &mut Optimizer<GoUcb>| bits(&optimizer.ask_batch(3, &mut rng(5, 9)));
            assert_eq!(next(&mut whole), next(&mut resumed));
        }
    }

    #[test]
    fn the_unit_of_the_values_does_not_matter() {
        let points = |factor: f64| {
            let mut optimizer = go_ucb(&Domain::cube(2), 10);
            let points = run(&mut optimizer, 0..10, 0, |x| measured(factor * hill(x)));
            (bits(&points), optimizer.recommend().unwrap())
        };
        // A power of two rounds nothing.
        let ((plain, best), (scaled, scaled_best)) = (points(1.0), points(1024.0));
        assert_eq!(plain, scaled);
        assert_eq!(scaled_best.x, best.x);
        assert_eq!(scaled_best.mean, 1024.0 * best.mean);
        assert_eq!(scaled_best.std, best.std.map(|std| 1024.0 * std));
    }

    #[test]
    fn points_of_a_batch_differ_before_and_after_the_first_values() {
        for domain in [Domain::cube(2), mixed().domain().clone()] {
            let mut optimizer = go_ucb(&domain, 30);
            let first = optimizer.ask_batch(8, &mut rng(0, 0));
            assert_all_differ(&first);
            for x in &first {
                optimizer.tell(value(x, hill(x))).unwrap();
            }
            let mut all = optimizer.ask_batch(8, &mut rng(0, 1));
            assert_eq!(all.len(), 8);
            all.extend(first);
            assert_all_differ(&all);
        }
    }

    #[test]
    fn points_of_a_batch_are_spread_and_not_neighbours_of_one_another() {
        let mut optimizer = go_ucb(&Domain::cube(2), 30);
        run(&mut optimizer, 0..8, 0, |x| measured(hill(x)));
        let batch = optimizer.ask_batch(4, &mut rng(0, 8));
        for (i, a) in batch.iter().enumerate() {
            for b in &batch[..i] {
                let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart > 1e-3, "{a:?} beside {b:?}");
            }
        }
    }

    #[test]
    fn every_point_of_a_small_domain_is_proposed_before_any_is_repeated() {
        for tell in [false, true] {
            let domain = twelve_points();
            let mut optimizer = go_ucb(&domain, 20);
            let mut proposed = Vec::new();
            for trial in 0..12 {
                let x = optimizer.ask(&mut rng(1, trial));
                assert!(!proposed.contains(&x), "{x:?} again, as number {trial} (told: {tell})");
                if tell {
                    optimizer.tell(value(&x, hill(&x))).unwrap();
                }
                proposed.push(x);
            }
            for trial in 12..20 {
                let x = optimizer.ask(&mut rng(1, trial));
                assert!(proposed.contains(&x), "{x:?} is not in the domain");
                optimizer.tell(value(&x, hill(&x))).unwrap();
            }
        }
    }

    #[test]
    fn a_withdrawn_point_may_be_proposed_again() {
        let mut optimizer = go_ucb(&twelve_points(), 20);
        let points = optimizer.ask_batch(12, &mut rng(2, 0));
        assert_all_differ(&points);
        optimizer.withdraw(&points[7]);
        assert_eq!(optimizer.ask(&mut rng(2, 1)), points[7]);
    }

    #[test]
    fn every_proposal_for_a_mixed_and_conditional_space_is_feasible_and_most_runs_find_the_best_choice() {
        let encoding = mixed();
        let finds_adam = |seed: &u64| {
            let mut optimizer = go_ucb(encoding.domain(), 24);
            for x in run(&mut optimizer, 0..24, *seed, |x| measured(recipe(&encoding, x))) {
                assert!(encoding.domain().contains(&x), "{x:?}");
                assert_eq!(encoding.space().check(&encoding.decode(&x)), Ok(()));
            }
            let best = encoding.decode(&optimizer.recommend().unwrap().x);
            best.get("solver") == Some(&"adam".into())
        };
        let found: Vec<u64> = (0..6).filter(finds_adam).collect();
        assert!(found.len() >= 4, "only with the seeds {found:?}");
    }

    #[test]
    fn the_search_does_not_stay_with_a_lucky_measurement() {
        let mut optimizer = go_ucb(&Domain::cube(2), 40);
        for x in lattice(5) {
            optimizer.tell(value(&x, hill(&x))).unwrap();
        }
        let outcome = Outcome::Value { y: 1.0, noise_std: Some(2.0) };
        optimizer.tell(Observation { x: vec![0.95, 0.95], outcome }).unwrap();
        // Failures narrow the trust region; it must not close around the lucky point.
        let points = run(&mut optimizer, 0..12, 1, |x| measured(hill(x)));
        let last = points.last().unwrap();
        assert!(hill(last) > -0.02, "{last:?}");
    }

    #[test]
    fn what_is_left_of_a_run_for_regret_that_finds_nothing_is_spent_next_to_the_best_point() {
        let domain = Domain::cube(2);
        let settings = DefaultSettings { aim: Aim::Regret, ..DefaultSettings::default() };
        let mut optimizer = preset(&domain, 12, &Settings::Default(settings));
        lattice(4).iter().for_each(|x| optimizer.tell(value(x, -1.0)).unwrap());
        optimizer.tell(value(&[0.5, 0.5], 0.0)).unwrap();
        let horizon = 12 - optimizer.policy().explore_trials();
        let far_from_best = |trial_idx: usize| {
            let best = most_expected(&optimizer);
            let x = run(&mut optimizer, trial_idx..trial_idx + 1, 3, |_| measured(-1.0)).remove(0);
            x.iter().zip(&best).any(|(x, best)| (x - best).abs() > 0.01 + 1e-9)
        };
        let far: Vec<bool> = (0..horizon + 3).map(far_from_best).collect();
        let end = 2 * horizon / 3;
        assert!(far[..end].iter().filter(|is_far| **is_far).count() > end / 2, "{far:?}");
        assert_eq!(far[end..horizon], vec![false; horizon - end]);
        assert!(far[horizon..].contains(&true), "beyond the plan it searches on");
    }
}

mod observations {
    use super::*;

    #[test]
    fn points_that_were_never_proposed_teach_as_well() {
        let mut optimizer = go_ucb(&Domain::cube(2), 20);
        for x in lattice(5) {
            optimizer.tell(value(&x, hill(&x))).unwrap();
        }
        let x = optimizer.ask(&mut rng(0, 0));
        assert!(hill(&x) > -0.02, "{x:?}");
        assert!(hill(&optimizer.recommend().unwrap().x) > -0.02);
    }

    #[test]
    fn the_noisier_an_observation_the_less_it_moves_the_belief() {
        let odd = [0.9, 0.9];
        let mean_at_odd = |noise_std: Option<f64>| {
            let mut optimizer = go_ucb(&Domain::cube(2), 20);
            for x in lattice(4) {
                optimizer.tell(value(&x, hill(&x))).unwrap();
            }
            if let Some(noise_std) = noise_std {
                let outcome = Outcome::Value { y: 3.0, noise_std: Some(noise_std) };
                optimizer.tell(Observation { x: odd.to_vec(), outcome }).unwrap();
            }
            optimizer
                .policy()
                .belief(optimizer.history())
                .unwrap()
                .predict(&Frame::symmetric(2).apply(&odd))
                .0
        };
        let before = mean_at_odd(None);
        let moved = [1e-3, 0.3, 30.0].map(|noise_std| (mean_at_odd(Some(noise_std)) - before).abs());
        assert!(moved[0] > moved[1] && moved[1] > 2.0 * moved[2], "{moved:?}");
    }

    #[test]
    fn failures_steer_away_from_where_they_happened() {
        let promising = |x: &[f64]| x[0] > 0.6;
        let slope = |x: &[f64]| measured(x[0] - 0.3 * (x[1] - 0.5).powi(2));
        let n_promising = |outcome: &dyn Fn(&[f64]) -> Outcome| {
            let proposed = (0..4).flat_map(|seed| {
                let mut optimizer = go_ucb(&Domain::cube(2), 20);
                let n = optimizer.policy().explore_trials();
                run(&mut optimizer, 0..20, seed, outcome).split_off(n)
            });
            proposed.filter(|x| promising(x)).count()
        };
        let with_values = n_promising(&slope);
        let with_failures = n_promising(&|x| if promising(x) { Outcome::Failed } else { slope(x) });
        assert!(2 * with_failures < with_values, "{with_failures} of {with_values}");
    }

    #[test]
    fn while_every_trial_fails_proposals_stay_feasible_and_nothing_is_recommended() {
        for settings in presets() {
            for domain in [Domain::cube(2), mixed().domain().clone()] {
                let mut optimizer = preset(&domain, 12, &settings);
                let points = run(&mut optimizer, 0..8, 0, |_| Outcome::Failed);
                assert!(points.iter().all(|x| domain.contains(x)), "{points:?}");
                assert_all_differ(&points);
                assert_eq!(optimizer.recommend(), None);
                optimizer.tell(value(&points[0], 1.0)).unwrap();
                assert_eq!(optimizer.recommend().unwrap().x, points[0]);
            }
        }
    }

    #[test]
    fn what_is_refused_leaves_no_trace() {
        for settings in presets() {
            let domain = Domain::cube(2);
            let [mut poisoned, mut twin] = [(); 2].map(|()| preset(&domain, 10, &settings));
            for trial in 0..8 {
                let x = poisoned.ask(&mut rng(0, trial));
                assert_eq!(bits(std::slice::from_ref(&x)), bits(&[twin.ask(&mut rng(0, trial))]));
                for y in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    assert!(matches!(poisoned.tell(value(&x, y)), Err(TellError::NotFinite { .. })));
                }
                for noise_std in [f64::NAN, f64::INFINITY, -1.0] {
                    let outcome = Outcome::Value { y: 0.0, noise_std: Some(noise_std) };
                    let told = poisoned.tell(Observation { x: x.clone(), outcome });
                    assert!(matches!(told, Err(TellError::BadNoise { .. })));
                }
                let short = poisoned.tell(value(&[0.5], 0.0));
                assert_eq!(short, Err(TellError::WrongDimension { expected: 2, got: 1 }));
                let outside = poisoned.tell(value(&[0.5, 1.5], 0.0));
                assert_eq!(outside, Err(TellError::OutsideCube { index: 1, value: 1.5 }));
                for optimizer in [&mut poisoned, &mut twin] {
                    optimizer.tell(value(&x, hill(&x))).unwrap();
                }
            }
            assert_eq!(poisoned.recommend(), twin.recommend());
        }
    }

    #[test]
    fn values_that_are_all_the_same_are_believed() {
        for settings in presets() {
            for y in [0.0, -7.5] {
                let mut optimizer = preset(&Domain::cube(2), 12, &settings);
                let points = run(&mut optimizer, 0..12, 0, |_| measured(y));
                assert_all_differ(&points);
                let best = optimizer.recommend().unwrap();
                assert!((best.mean - y).abs() < 1e-3, "{best:?}");
            }
        }
    }

    #[test]
    fn the_same_point_may_be_told_many_times() {
        let mut optimizer = go_ucb(&Domain::cube(2), 20);
        for i in 0..12 {
            optimizer.tell(value(&[0.25, 0.75], f64::from(i % 3))).unwrap();
        }
        let best = optimizer.recommend().unwrap();
        assert_eq!(best.x, [0.25, 0.75]);
        assert!((best.mean - 1.0).abs() < 0.3, "{best:?}");
        let x = optimizer.ask(&mut rng(0, 0));
        assert!(Domain::cube(2).contains(&x) && x != best.x);
    }

    #[test]
    fn a_single_observation_is_enough_to_go_on() {
        let explore_trials = Some(1);
        let presets = [
            Settings::Default(DefaultSettings { explore_trials, ..Default::default() }),
            Settings::Paper(PaperSettings { explore_trials, ..Default::default() }),
            Settings::Theory(TheorySettings { explore_trials, ..Default::default() }),
        ];
        for settings in presets {
            let mut optimizer = preset(&Domain::cube(3), 5, &settings);
            assert_eq!(optimizer.recommend(), None);
            optimizer.tell(value(&[0.5; 3], 2.0)).unwrap();
            let x = optimizer.ask(&mut rng(0, 0));
            assert!(Domain::cube(3).contains(&x) && x != [0.5; 3]);
            let best = optimizer.recommend().unwrap();
            assert_eq!(best.x, [0.5; 3]);
            assert!((best.mean - 2.0).abs() < 0.5, "{best:?}");
        }
    }

    #[test]
    fn very_large_and_very_small_values_are_learnt_from() {
        for factor in [1e-100, 1e-9, 1e9, 1e100] {
            let mut optimizer = go_ucb(&Domain::cube(2), 16);
            run(&mut optimizer, 0..16, 0, |x| measured(factor * hill(x)));
            let best = optimizer.recommend().unwrap();
            assert!(best.mean.is_finite() && best.std.is_some_and(f64::is_finite), "{factor}: {best:?}");
            assert!(hill(&best.x) > -0.03, "{factor}: {best:?}");
        }
    }
}

mod answers {
    use super::*;

    #[test]
    fn a_tried_point_is_recommended_in_the_units_of_the_observations() {
        let mut optimizer = go_ucb(&Domain::cube(2), 16);
        let mut noise = rng(0, u64::MAX);
        let tried = run(&mut optimizer, 0..16, 0, |x| {
            let z: f64 = StandardNormal.sample(&mut noise);
            measured(1000.0 + 50.0 * hill(x) + z)
        });
        let best = optimizer.recommend().unwrap();
        assert!(tried.contains(&best.x));
        let truth = 1000.0 + 50.0 * hill(&best.x);
        assert!((best.mean - truth).abs() < 3.0, "{best:?} where the truth is {truth}");
        assert!(best.std.is_some_and(|std| std > 1e-3 && std < 10.0), "{best:?}");
    }

    /// Too rough for any family.
    fn rough(x: &[f64]) -> f64 {
        hill(x) + 0.5 * (1e4 * x[0]).sin()
    }

    #[test]
    fn the_best_point_is_tried_once_more_to_tell_noise_from_roughness() {
        let mut noise = rng(1, u64::MAX);
        let mut noisy = |x: &[f64]| hill(x) + 0.5 * Distribution::<f64>::sample(&StandardNormal, &mut noise);
        for is_noisy in [false, true] {
            let mut optimizer = go_ucb(&Domain::cube(2), 40);
            let mut repeated = Vec::new();
            for trial in 0..40 {
                let suggestion = optimizer.suggest(&mut rng(7, trial));
                if suggestion.why == Why::Repeat {
                    assert_eq!(suggestion.x, optimizer.history().highest(1)[0].x, "the best so far");
                    repeated.push(trial);
                }
                optimizer.propose(suggestion.x.clone());
                let y = if is_noisy { noisy(&suggestion.x) } else { rough(&suggestion.x) };
                optimizer.tell(Observation { x: suggestion.x, outcome: measured(y) }).unwrap();
            }
            assert_eq!(repeated, [24]);
        }
    }

    #[test]
    fn without_noise_the_best_value_is_recommended_however_rough_the_objective() {
        for seed in 0..3 {
            let mut optimizer = go_ucb(&Domain::cube(2), 30);
            run(&mut optimizer, 0..30, seed, |x| measured(rough(x)));
            let (best, recommended) = (optimizer.history().best().unwrap(), optimizer.recommend().unwrap());
            assert_eq!(recommended.x, best.x);
            assert!((recommended.mean - best.mean).abs() < 1e-6, "{recommended:?}, {best:?}");
            assert!(recommended.std.is_some_and(|std| std < 1e-6));
        }
    }

    #[test]
    fn no_trial_is_spent_on_noise_that_is_known() {
        let mut optimizer = go_ucb(&Domain::cube(2), 30);
        let points = run(&mut optimizer, 0..30, 3, |x| Outcome::Value { y: rough(x), noise_std: Some(0.0) });
        let twice = |i: usize| points[..i].contains(&points[i]);
        assert!(!(0..points.len()).any(twice));
    }

    #[test]
    fn trials_that_fail_by_chance_do_not_spoil_the_answer() {
        let regret = |seed: u64| {
            let (mut optimizer, mut luck) = (go_ucb(&Domain::cube(2), 40), rng(seed, u64::MAX));
            run(&mut optimizer, 0..40, seed, |x| {
                if luck.random_bool(0.4) { Outcome::Failed } else { measured(hill(x)) }
            });
            let best = optimizer.recommend().unwrap();
            assert!((best.mean - hill(&best.x)).abs() < 0.01, "{best:?}");
            -hill(&best.x)
        };
        let regret = median((0..5).map(regret));
        assert!(regret < 1e-3, "{regret}");
    }

    #[test]
    fn a_trial_that_diverged_does_not_spoil_the_answer() {
        let regret = |seed: u64| {
            let (mut optimizer, mut n_tried) = (go_ucb(&Domain::cube(4), 24), 0);
            run(&mut optimizer, 0..24, seed, |x| {
                n_tried += 1;
                measured(if n_tried == 6 { -1e6 } else { hill(x) })
            });
            -hill(&optimizer.recommend().unwrap().x)
        };
        let regret = median((0..7).map(regret));
        assert!(regret < 0.01, "{regret}; it was 0.1 when the value counted in full");
    }

    #[test]
    fn one_lucky_measurement_is_not_recommended() {
        let mut optimizer = go_ucb(&Domain::cube(2), 40);
        for x in lattice(5) {
            optimizer.tell(value(&x, hill(&x))).unwrap();
        }
        let lucky = vec![0.95, 0.95];
        let outcome = Outcome::Value { y: 1.0, noise_std: Some(2.0) };
        optimizer.tell(Observation { x: lucky.clone(), outcome }).unwrap();
        assert_ne!(optimizer.recommend().unwrap().x, lucky);
    }

    #[test]
    fn the_expected_gain_falls_as_the_hill_becomes_known_and_has_the_units_of_the_values() {
        let gain_after = |trials: usize, unit: f64| {
            let mut optimizer = go_ucb(&Domain::cube(2), 40);
            assert_eq!(optimizer.expected_gain(), None);
            run(&mut optimizer, 0..trials, 3, |x| measured(unit * hill(x)));
            optimizer.expected_gain().unwrap()
        };
        let (early, late) = (gain_after(6, 1.0), gain_after(40, 1.0));
        assert!(early > 1e-3 && (0.0..1e-3).contains(&late), "{early}, then {late}");
        let scaled = gain_after(6, 1000.0);
        assert!((scaled / early / 1000.0 - 1.0).abs() < 1e-3, "{scaled}, {early}");
    }

    #[test]
    fn a_failed_point_is_never_recommended() {
        let mut optimizer = go_ucb(&Domain::cube(2), 12);
        let failing = |x: &[f64]| x[0] > 0.4;
        run(&mut optimizer, 0..12, 1, |x| if failing(x) { Outcome::Failed } else { measured(x[0]) });
        let best = optimizer.recommend().unwrap();
        assert!(!failing(&best.x), "{best:?}");
    }
}

mod presets {
    use super::*;

    #[test]
    fn paper_and_theory_run_in_own_units_and_are_deterministic() {
        let domain = Domain::boxed(&[(-5.0, 5.0), (-5.0, 5.0)]);
        for settings in [Settings::paper(), Settings::theory()] {
            let go = |seed| {
                let mut optimizer = preset(&domain, 9, &settings);
                let points = run(&mut optimizer, 0..9, seed, |x| measured(hill(x)));
                let answer = optimizer.recommend().unwrap();
                assert!(points.iter().all(|x| domain.contains(x)));
                assert_all_differ(&points);
                assert!(points[optimizer.policy().explore_trials()..].contains(&answer.x));
                (bits(&points), answer)
            };
            assert_eq!(go(0), go(0));
            assert_ne!(go(0), go(1));
        }
    }

    #[test]
    fn they_propose_feasible_points_of_mixed_spaces_also_in_batches() {
        let domain = mixed().domain().clone();
        for settings in [Settings::paper(), Settings::theory()] {
            let mut optimizer = preset(&domain, 9, &settings);
            let mut points = run(&mut optimizer, 0..4, 0, |x| measured(hill(x)));
            points.extend(optimizer.ask_batch(3, &mut rng(0, 4)));
            assert!(points.iter().all(|x| domain.contains(x)));
            assert_all_differ(&points);
        }
    }
}

fn presets() -> [Settings; 3] {
    [Settings::default(), Settings::paper(), Settings::theory()]
}

fn go_ucb(domain: &Domain, trials: usize) -> Optimizer<GoUcb> {
    preset(domain, trials, &Settings::default())
}

fn preset(domain: &Domain, trials: usize, settings: &Settings) -> Optimizer<GoUcb> {
    Optimizer::new(domain.clone(), GoUcb::new(domain, trials, settings, 0).unwrap())
}

/// The point told with the highest posterior mean.
fn most_expected(optimizer: &Optimizer<GoUcb>) -> Vec<f64> {
    let belief = optimizer.policy().belief(optimizer.history()).unwrap();
    let mean = |told: &Observation| belief.mean(&Frame::symmetric(told.x.len()).apply(&told.x));
    let told = optimizer.history().observations().iter();
    told.max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap().x.clone()
}

/// Asks and tells, with a stream per trial. Returns the points in order.
fn run<P: Policy>(
    optimizer: &mut Optimizer<P>,
    trials: Range<usize>,
    seed: u64,
    mut outcome: impl FnMut(&[f64]) -> Outcome,
) -> Vec<Vec<f64>> {
    let trial = |trial_idx: usize| {
        let x = optimizer.ask(&mut rng(seed, trial_idx as u64));
        let outcome = outcome(&x);
        optimizer.tell(Observation { x: x.clone(), outcome }).unwrap();
        x
    };
    trials.map(trial).collect()
}

/// Highest, with 0, where each coordinate is a little further out than the last, from 0.3 on.
fn hill(x: &[f64]) -> f64 {
    -x.iter().enumerate().map(|(j, x)| (x - 0.3 - 0.1 * j as f64).powi(2)).sum::<f64>()
}

fn measured(y: f64) -> Outcome {
    Outcome::Value { y, noise_std: None }
}

fn value(x: &[f64], y: f64) -> Observation {
    Observation { x: x.to_vec(), outcome: measured(y) }
}

/// The n × n points of a square lattice, a little off the edges.
fn lattice(n: usize) -> Vec<Vec<f64>> {
    let at = |i: usize| (i as f64 + 0.5) / n as f64;
    (0..n * n).map(|i| vec![at(i % n), at(i / n)]).collect()
}

/// Every kind of parameter; two of them depend on others.
fn mixed() -> Encoding {
    let text = |choices: &[&str]| Kind::Categorical { choices: choices.iter().map(|&c| c.into()).collect() };
    let float = |low, high, log, step| Kind::Float { low, high, log, step };
    let parameters = vec![
        Parameter::new("rate", float(1e-4, 1.0, true, None)),
        Parameter::new("depth", Kind::Int { low: 1, high: 5, log: false, step: None }),
        Parameter::new("width", Kind::Int { low: 8, high: 512, log: true, step: None }),
        Parameter::new("solver", text(&["sgd", "adam", "newton"])),
        Parameter::new("momentum", float(0.0, 1.0, false, Some(0.05))).when("solver", "sgd"),
        Parameter::new("warm", Kind::Bool),
        Parameter::new("schedule", text(&["linear", "cosine"])).when("warm", true),
    ];
    Encoding::new(Space::new(parameters).unwrap())
}

/// Best with adam, at a rate of 0.01 and depth 4; nothing else matters.
fn recipe(encoding: &Encoding, x: &[f64]) -> f64 {
    let recipe = encoding.decode(x);
    let number = |name: &str| recipe.get(name).and_then(Value::as_f64).unwrap();
    let solver = if recipe.get("solver") == Some(&"adam".into()) { 1.0 } else { 0.0 };
    solver - 0.2 * (number("rate").log10() + 2.0).powi(2) - 0.1 * (number("depth") - 4.0).powi(2)
}

/// An integer of four values and a choice of three.
fn twelve_points() -> Domain {
    let choices = ["a", "b", "c"].map(Value::from).to_vec();
    let parameters = vec![
        Parameter::new("n", Kind::Int { low: 1, high: 4, log: false, step: None }),
        Parameter::new("choice", Kind::Categorical { choices }),
    ];
    Encoding::new(Space::new(parameters).unwrap()).domain().clone()
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn bits(points: &[Vec<f64>]) -> Vec<Vec<u64>> {
    points.iter().map(|x| x.iter().map(|x| x.to_bits()).collect()).collect()
}

#[track_caller]
fn assert_all_differ(points: &[Vec<f64>]) {
    for (i, x) in points.iter().enumerate() {
        assert!(!points[..i].contains(x), "{x:?} is proposed twice");
    }
}

mod extremes {
    use super::*;

    #[test]
    fn an_ask_before_phase_one_is_told_does_not_spoil_the_oracle() {
        let asked = |early: bool| {
            let settings = Settings::Theory(TheorySettings {
                family: FamilyKind::Quadratic,
                explore_trials: Some(12),
                exploration: 0.0,
                ..TheorySettings::default()
            });
            let mut optimizer = preset(&Domain::cube(2), 40, &settings);
            let points = optimizer.ask_batch(12, &mut rng(0, 0));
            if early {
                let x = optimizer.ask(&mut rng(0, 1));
                optimizer.withdraw(&x);
            }
            for x in &points {
                optimizer.tell(value(x, hill(x))).unwrap();
            }
            optimizer.ask(&mut rng(0, 2))
        };
        assert_eq!(asked(true), asked(false));
    }

    #[test]
    fn enormous_values_and_enormous_noise_leave_a_finite_answer() {
        let mut optimizer = go_ucb(&Domain::cube(1), 20);
        for (x, y, noise_std) in
            [(0.1, -1e155, None), (0.5, 0.0, None), (0.9, 1e155, None), (0.2, 1.0, Some(1e160))]
        {
            let outcome = Outcome::Value { y, noise_std };
            optimizer.tell(Observation { x: vec![x], outcome }).unwrap();
        }
        let best = optimizer.recommend().unwrap();
        assert!(best.mean.is_finite() && best.std.is_some_and(f64::is_finite), "{best:?}");
    }
}
