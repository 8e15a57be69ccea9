//! Uniform random search, which every optimizer should beat.

use crate::history::History;
use crate::optimizer::Rng;
use crate::policy::{Policy, Suggestion};

/// Suggests points drawn uniformly from the domain and recommends the best value observed.
#[derive(Debug, Clone, Copy)]
pub struct Random;

impl Policy for Random {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        Suggestion::explore(history.fresh_uniform(rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Domain, Encoding};
    use crate::optimizer::{Observation, Optimizer, Outcome, Recommendation, rng};
    use crate::space::{Kind, Parameter, Space};

    /// Two flags, the second of which depends on the first: three points in all.
    fn three_points() -> Domain {
        let flags = vec![Parameter::new("a", Kind::Bool), Parameter::new("b", Kind::Bool).when("a", true)];
        Encoding::new(Space::new(flags).unwrap()).domain().clone()
    }

    #[test]
    fn nothing_is_proposed_twice_while_there_is_anything_else() {
        for seed in 0..20 {
            let mut random = Optimizer::new(three_points(), Random);
            let mut rng = rng(seed, 0);
            let first = random.ask(&mut rng);
            random.tell(Observation { x: first.clone(), outcome: Outcome::Failed }).unwrap();
            let [second, third] = [random.ask(&mut rng), random.ask(&mut rng)];
            assert!(first != second && second != third && third != first);

            let again = random.ask(&mut rng);
            assert!([&first, &second, &third].contains(&&again));
        }
    }

    #[test]
    fn a_withdrawn_point_may_be_proposed_again() {
        let mut random = Optimizer::new(three_points(), Random);
        let mut rng = rng(0, 0);
        let points = random.ask_batch(3, &mut rng);
        random.withdraw(&points[1]);
        assert_eq!(random.ask(&mut rng), points[1]);
    }

    #[test]
    fn the_best_value_observed_is_recommended() {
        let mut random = Optimizer::new(Domain::cube(2), Random);
        assert_eq!(random.recommend(), None);
        for (x, y) in [(0.1, 1.0), (0.2, 3.0), (0.3, 2.0)] {
            let outcome = Outcome::Value { y, noise_std: None };
            random.tell(Observation { x: vec![x, x], outcome }).unwrap();
        }
        assert_eq!(random.recommend(), Some(Recommendation { x: vec![0.2, 0.2], mean: 3.0, std: None }));
    }

    #[test]
    fn the_same_seed_proposes_the_same_points() {
        let ask = |seed| Optimizer::new(Domain::cube(3), Random).ask_batch(4, &mut rng(seed, 0));
        assert_eq!(ask(1), ask(1));
        assert_ne!(ask(1), ask(2));
    }
}
