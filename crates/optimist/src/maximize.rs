//! The maximum of a smooth function in a box, by a quasi-Newton method (L-BFGS-B);
//! the only file that calls the optimisation crate.

use std::cell::RefCell;
use std::convert::Infallible;

use basin::{
    BoxBounds, ConstraintSet, Constraints, CostFunction, Executor, FirstOrderState, Gradient, Lbfgsb,
};

/// A point in the box and the value there.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// Where.
    pub x: Vec<f64>,
    /// How high.
    pub value: f64,
}

/// Climbs from `start`, which is first put into the box. `f` writes its gradient and returns its value; where it
/// returns something that is not finite the climb turns back.
pub fn maximize_in_box(
    f: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: &[f64],
    lower: &[f64],
    upper: &[f64],
    max_steps: usize,
) -> Maximum {
    let x: Vec<f64> = (0..start.len()).map(|i| start[i].clamp(lower[i], upper[i])).collect();
    let best = RefCell::new(Maximum { x: x.clone(), value: f64::NEG_INFINITY });
    let problem = Negated { f: RefCell::new(f), best: &best, lower: lower.to_vec(), upper: upper.to_vec() };
    let solver = Lbfgsb::new()
        .with_absolute_projected_gradient_tolerance(1e-5)
        .with_relative_cost_reduction_tolerance(1e-7);
    // A line search that fails next to the optimum ends the climb with an error; the best point that
    // was evaluated is kept by the problem itself, so there is nothing to do about it.
    let _ = Executor::new(problem, solver, FirstOrderState::new(x)).max_iter(max_steps as u64).run();
    best.into_inner()
}

/// Cost of a point where the function is not finite: so high that any line search backs off.
const WALL: f64 = 1e30;

struct Negated<'a, F> {
    f: RefCell<F>,
    best: &'a RefCell<Maximum>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Constraints for Negated<'_, F> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as basin::ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.lower), Some(&self.upper)))
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> CostFunction for Negated<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Infallible;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Infallible> {
        self.cost_and_gradient(x).map(|(cost, _)| cost)
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Gradient for Negated<'_, F> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        self.cost_and_gradient(x).map(|(_, gradient)| gradient)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Infallible> {
        let mut gradient = vec![0.0; x.len()];
        let value = (self.f.borrow_mut())(x, &mut gradient);
        if !value.is_finite() || gradient.iter().any(|slope| !slope.is_finite()) {
            return Ok((WALL, vec![0.0; x.len()]));
        }
        let mut best = self.best.borrow_mut();
        if value > best.value {
            best.x.clone_from(x);
            best.value = value;
        }
        gradient.iter_mut().for_each(|slope| *slope = -*slope);
        Ok((-value, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A concave quadratic with its peak at (0.3, 2), steeper in the second coordinate.
    fn hill(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.copy_from_slice(&[-2.0 * (x[0] - 0.3), -20.0 * (x[1] - 2.0)]);
        -(x[0] - 0.3).powi(2) - 10.0 * (x[1] - 2.0).powi(2)
    }

    #[test]
    fn the_peak_is_found_inside_the_box_and_on_its_edge() {
        let inside = maximize_in_box(hill, &[-1.0, 0.0], &[-1.0, 0.0], &[1.0, 5.0], 100);
        assert!((inside.x[0] - 0.3).abs() < 1e-3 && (inside.x[1] - 2.0).abs() < 1e-3, "{inside:?}");
        let edge = maximize_in_box(hill, &[0.0, 0.0], &[-1.0, 0.0], &[1.0, 1.0], 100);
        assert!((edge.x[0] - 0.3).abs() < 1e-3 && edge.x[1] == 1.0, "{edge:?}");
    }

    #[test]
    fn a_coordinate_without_room_stays_where_it_is() {
        let fixed = maximize_in_box(hill, &[0.9, 0.0], &[0.7, 0.0], &[0.7, 5.0], 100);
        assert!(fixed.x[0] == 0.7 && (fixed.x[1] - 2.0).abs() < 1e-3, "{fixed:?}");
    }

    #[test]
    fn values_that_are_not_finite_are_never_returned() {
        let half = |x: &[f64], gradient: &mut [f64]| {
            let value = hill(x, gradient);
            if x[1] > 1.5 { f64::NAN } else { value }
        };
        let maximum = maximize_in_box(half, &[0.0, 0.0], &[-1.0, 0.0], &[1.0, 5.0], 100);
        assert!(maximum.value.is_finite() && maximum.x[1] <= 1.5, "{maximum:?}");
    }
}
