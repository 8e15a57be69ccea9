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
    /// The point where the climb ended.
    pub x: Vec<f64>,
    /// The value there.
    pub value: f64,
}

/// How a climb starts, and when it ends before it is at the top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClimbLimits {
    /// The climb ends after this many steps.
    pub max_steps: usize,
    /// The climb ends with a step that gains less.
    pub min_gain: f64,
    /// The first step moves no coordinate by more than this share of its range.
    pub first_step: f64,
}

impl ClimbLimits {
    /// A climb to the top in at most `max_steps` steps. The first step is the gradient, whatever its length, and may end in a
    /// corner of the box: a waste if there is one hill, but it finds others.
    pub const fn steps(max_steps: usize) -> Self {
        Self { max_steps, min_gain: 0.0, first_step: f64::INFINITY }
    }
}

/// Climbs from `start`, which is first put into the box. `f` writes its gradient and returns its value; where it
/// returns something that is not finite the climb turns back.
pub fn maximize_in_box(
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: &[f64],
    lower: &[f64],
    upper: &[f64],
    limits: ClimbLimits,
) -> Maximum {
    let x: Vec<f64> = (0..start.len()).map(|i| start[i].clamp(lower[i], upper[i])).collect();
    let mut grad = vec![0.0; x.len()];
    let value = f(&x, &mut grad);
    let unit = unit(limits.first_step, &grad, lower, upper);
    let in_units = |x: &[f64]| x.iter().map(|x| x / unit).collect::<Vec<f64>>();
    let best = RefCell::new(Maximum { x: x.clone(), value: f64::NEG_INFINITY });
    let problem = Negated {
        f: RefCell::new(f),
        at_start: RefCell::new(Some((value, grad))),
        best: &best,
        unit,
        lower: in_units(lower),
        upper: in_units(upper),
    };
    let solver = Lbfgsb::new()
        .with_absolute_projected_gradient_tolerance(1e-5 * unit)
        .with_relative_cost_reduction_tolerance(AT_THE_TOP)
        .with_absolute_cost_change_tolerance(limits.min_gain);
    let state = FirstOrderState::new(in_units(&x));
    // A line search that fails next to the optimum ends the climb with an error; the best point that
    // was evaluated is kept by the problem itself, so there is nothing to do about it.
    let _ = Executor::new(problem, solver, state).max_iter(limits.max_steps as u64).run();
    best.into_inner()
}

/// The unit of length in which the gradient, which the solver takes for its first step, is short enough. Later steps do
/// not depend on it. A power of two, so that nothing is rounded.
fn unit(first_step: f64, grad: &[f64], lower: &[f64], upper: &[f64]) -> f64 {
    let slopes = grad.iter().zip(lower.iter().zip(upper));
    let longest = slopes.filter(|(_, (lower, upper))| lower < upper);
    let longest = longest.map(|(slope, (lower, upper))| slope.abs() / (upper - lower)).fold(0.0, f64::max);
    // In units u the gradient is u times, and the same step in x hence u² times, as long.
    let unit = (first_step / longest).sqrt().log2().floor();
    if unit.is_finite() { unit.clamp(-64.0, 0.0).exp2() } else { 1.0 }
}

/// A step that gains less than this share of the value, or less than this where the value is below 1, ends at the top.
const AT_THE_TOP: f64 = 1e-7;

/// Cost of a point where the function is not finite: so high that any line search backs off.
const WALL: f64 = 1e30;

/// What the solver sees: costs, in lengths of its own.
struct Negated<'a, F> {
    f: RefCell<F>,
    /// Value and gradient where the climb starts, until they are asked for.
    at_start: RefCell<Option<(f64, Vec<f64>)>>,
    best: &'a RefCell<Maximum>,
    unit: f64,
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
        let x: Vec<f64> = x.iter().map(|x| x * self.unit).collect();
        let (value, mut gradient) = self.at_start.take().unwrap_or_else(|| {
            let mut gradient = vec![0.0; x.len()];
            let value = (self.f.borrow_mut())(&x, &mut gradient);
            (value, gradient)
        });
        if !value.is_finite() || gradient.iter().any(|slope| !slope.is_finite()) {
            return Ok((WALL, vec![0.0; x.len()]));
        }
        let mut best = self.best.borrow_mut();
        if value > best.value {
            best.x = x;
            best.value = value;
        }
        gradient.iter_mut().for_each(|slope| *slope *= -self.unit);
        Ok((-value, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: ClimbLimits = ClimbLimits::steps(100);

    /// A concave quadratic with its peak at (0.3, 2), steeper in the second coordinate.
    fn hill(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.copy_from_slice(&[-2.0 * (x[0] - 0.3), -20.0 * (x[1] - 2.0)]);
        -(x[0] - 0.3).powi(2) - 10.0 * (x[1] - 2.0).powi(2)
    }

    #[test]
    fn the_peak_is_found_inside_the_box_and_on_its_edge() {
        let inside = maximize_in_box(hill, &[-1.0, 0.0], &[-1.0, 0.0], &[1.0, 5.0], PACE);
        assert!((inside.x[0] - 0.3).abs() < 1e-3 && (inside.x[1] - 2.0).abs() < 1e-3, "{inside:?}");
        let edge = maximize_in_box(hill, &[0.0, 0.0], &[-1.0, 0.0], &[1.0, 1.0], PACE);
        assert!((edge.x[0] - 0.3).abs() < 1e-3 && edge.x[1] == 1.0, "{edge:?}");
    }

    #[test]
    fn a_coordinate_without_room_stays_where_it_is() {
        let fixed = maximize_in_box(hill, &[0.9, 0.0], &[0.7, 0.0], &[0.7, 5.0], PACE);
        assert!(fixed.x[0] == 0.7 && (fixed.x[1] - 2.0).abs() < 1e-3, "{fixed:?}");
    }

    #[test]
    fn values_that_are_not_finite_are_never_returned() {
        let half = |x: &[f64], gradient: &mut [f64]| {
            let value = hill(x, gradient);
            if x[1] > 1.5 { f64::NAN } else { value }
        };
        let maximum = maximize_in_box(half, &[0.0, 0.0], &[-1.0, 0.0], &[1.0, 5.0], PACE);
        assert!(maximum.value.is_finite() && maximum.x[1] <= 1.5, "{maximum:?}");
    }

    #[test]
    fn a_first_step_with_a_limit_does_not_end_in_a_corner() {
        let mut farthest: f64 = 0.0;
        let steep = |x: &[f64], gradient: &mut [f64]| {
            farthest = farthest.max(x[0].abs());
            gradient[0] = -2e6 * (x[0] - 0.5);
            -1e6 * (x[0] - 0.5).powi(2)
        };
        let pace = ClimbLimits { first_step: 0.1, ..PACE };
        let maximum = maximize_in_box(steep, &[0.0], &[-10.0], &[10.0], pace);
        assert!((maximum.x[0] - 0.5).abs() < 1e-3, "{maximum:?}");
        assert!(farthest <= 2.5, "it went as far as {farthest}");
    }

    #[test]
    fn a_climb_that_wants_more_gain_ends_earlier() {
        let evaluations = |min_gain: f64| {
            let mut n = 0;
            let ridge = |x: &[f64], gradient: &mut [f64]| {
                n += 1;
                gradient.copy_from_slice(&[-4.0 * x[0].powi(3), -400.0 * x[1].powi(3)]);
                -x[0].powi(4) - 100.0 * x[1].powi(4)
            };
            maximize_in_box(ridge, &[1.0, 1.0], &[-2.0; 2], &[2.0; 2], ClimbLimits { min_gain, ..PACE });
            n
        };
        assert!(evaluations(1e-2) < evaluations(1e-9));
    }
}
