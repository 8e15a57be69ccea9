//! The box around the best point so far in which the next one is looked for.
//!
//! A family that is wrong far away from the data is often right nearby. After a few gains in a row the box
//! doubles, after more failures it halves, and when it has become tiny it starts over at full size, which is the whole
//! cube (after TuRBO, Eriksson et al. 2019). Starting at half the cube's side was as good in cumulative
//! regret and worse in simple regret; without a trust region it is the other way round (docs/results/log.md).
//!
//! The edges of the cube are approached step by step. A bound that a person wrote down is often where things break (a
//! learning rate of nothing, a sample of no one), a model that saw no point there knows nothing of it, and yet a
//! trend is always highest at an edge.

use crate::encode::AxisKind;
use crate::history::History;

/// Half-width of a box that holds the cube from anywhere in it.
const WHOLE: f64 = 1.0;

/// When the box grows, shrinks and starts over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustRegion {
    /// Gains in a row after which the box doubles.
    pub gains: usize,
    /// Failures in a row after which it halves.
    pub failures: usize,
    /// Half-width below which it starts over at full size, in units of the cube's side.
    pub smallest: f64,
    /// How much of the way from the outermost point told to the edge of the cube one step may go.
    pub approach: f64,
}

impl Default for TrustRegion {
    fn default() -> Self {
        Self { gains: 3, failures: 4, smallest: 0.01, approach: 0.5 }
    }
}

/// How wide the box is, and what that follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// Half-width, in units of the cube's side.
    pub half: f64,
    gains: usize,
    failures: usize,
    best: f64,
    n_told: usize,
}

impl Default for Width {
    fn default() -> Self {
        Self { half: WHOLE, gains: 0, failures: 0, best: f64::NEG_INFINITY, n_told: 0 }
    }
}

impl TrustRegion {
    /// One more trial was told, the first `explore` of which belong to Phase I. One that gave no value is a failure.
    pub fn follow(&self, width: &mut Width, explore: usize, value: Option<f64>) {
        let gained = value.is_some_and(|value| value > width.best);
        width.best = value.map_or(width.best, |value| width.best.max(value));
        width.n_told += 1;
        if width.n_told <= explore {
            return;
        }
        (width.gains, width.failures) = if gained { (width.gains + 1, 0) } else { (0, width.failures + 1) };
        if width.gains >= self.gains {
            (width.half, width.gains) = ((2.0 * width.half).min(WHOLE), 0);
        }
        if width.failures >= self.failures {
            (width.half, width.failures) = (0.5 * width.half, 0);
        }
        if width.half < self.smallest {
            width.half = WHOLE;
        }
    }

    /// The corners of the box that the next point may lie in, wherever the best one is: part of the way to the edges, and
    /// to the next level of a grid at least. Choices have no edges.
    pub fn reach(&self, history: &History) -> (Vec<f64>, Vec<f64>) {
        let domain = history.domain();
        let (mut lower, mut upper) = (vec![0.0; domain.dimension()], vec![1.0; domain.dimension()]);
        let Some((lowest, highest)) = history.extent() else { return (lower, upper) };
        for axis in domain.axes() {
            let j = axis.columns.start;
            let (low, high) = match axis.kind {
                AxisKind::OneHot => continue,
                AxisKind::Real => (lowest[j], highest[j]),
                AxisKind::Grid(grid) => {
                    let (first, last) = (grid.nearest(lowest[j]), grid.nearest(highest[j]));
                    (grid.level(first.saturating_sub(1)), grid.level((last + 1).min(grid.count() - 1)))
                }
            };
            lower[j] = low.min(lowest[j] * (1.0 - self.approach));
            upper[j] = high.max(highest[j] + self.approach * (1.0 - highest[j]));
        }
        (lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoding;
    use crate::optimizer::{Observation, Outcome};
    use crate::space::{Kind, Parameter, Space, Value};

    #[test]
    fn edges_are_approached_by_halves_and_grids_by_a_level_at_least() {
        let choices = ["a", "b"].map(Value::from).to_vec();
        let int = |high| Kind::Int { low: 0, high, log: false, step: None };
        let space = Space::new(vec![
            Parameter::new("real", Kind::Float { low: 0.0, high: 1.0, log: false, step: None }),
            Parameter::new("switch", int(1)),
            Parameter::new("coarse", int(4)),
            Parameter::new("fine", int(100)),
            Parameter::new("choice", Kind::Categorical { choices }),
        ]);
        let mut history = History::new(Encoding::new(space.unwrap()).domain().clone());
        let trust = TrustRegion::default();
        assert_eq!(trust.reach(&history), (vec![0.0; 6], vec![1.0; 6]));
        for x in [[0.2, 0.0, 0.5, 0.4, 1.0, 0.0], [0.6, 0.0, 0.5, 0.8, 1.0, 0.0]] {
            history.tell(Observation { x: x.to_vec(), outcome: Outcome::Failed }).unwrap();
        }
        let (lower, upper) = trust.reach(&history);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&lower, &[0.1, 0.0, 0.25, 0.2, 0.0, 0.0]), "{lower:?}");
        assert!(close(&upper, &[0.8, 1.0, 0.75, 0.9, 1.0, 1.0]), "{upper:?}");
    }

    fn half_width(explore: usize, values: impl IntoIterator<Item = Option<f64>>) -> f64 {
        let mut width = Width::default();
        values.into_iter().for_each(|value| TrustRegion::default().follow(&mut width, explore, value));
        width.half
    }

    /// The default after one value of Phase I, 0, and these: 1 is a gain, 0 a value that is none.
    fn after(gains: &[u8]) -> f64 {
        let mut best = 0.0;
        let value = |gain: &u8| {
            best += f64::from(*gain);
            Some(best)
        };
        let values = std::iter::once(Some(0.0)).chain(gains.iter().map(value));
        half_width(1, values)
    }

    #[test]
    fn the_box_is_the_whole_cube_until_phase_two() {
        assert_eq!(half_width(0, []), 1.0);
        let falling = (0..50).map(|i| Some(f64::from(-i)));
        assert_eq!(half_width(50, falling), 1.0);
    }

    #[test]
    fn four_failures_in_a_row_halve_it() {
        assert_eq!([3, 4, 7, 8].map(|failures| after(&vec![0; failures])), [1.0, 0.5, 0.5, 0.25]);
    }

    #[test]
    fn three_gains_in_a_row_double_it_up_to_the_whole_cube() {
        let then_gains = |gains| after(&[vec![0; 8], vec![1; gains]].concat());
        assert_eq!([2, 3, 6, 9].map(then_gains), [0.25, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn a_gain_ends_a_row_of_failures_and_a_failure_a_row_of_gains() {
        assert_eq!(after(&[0, 0, 0, 1].repeat(5)), 1.0);
        assert_eq!(after(&[vec![0; 8], [1, 1, 0].repeat(5)].concat()), 0.25);
    }

    #[test]
    fn a_trial_without_a_value_is_a_failure_as_is_one_no_better_than_phase_one() {
        assert_eq!(half_width(1, [Some(9.0), None, None, None, None]), 0.5);
        assert_eq!(half_width(1, [9.0, 1.0, 2.0, 3.0, 4.0].map(Some)), 0.5);
    }

    #[test]
    fn a_tiny_box_starts_over_at_the_whole_cube() {
        assert_eq!([27, 28, 32].map(|failures| after(&vec![0; failures])), [1.0 / 64.0, 1.0, 0.5]);
    }
}
