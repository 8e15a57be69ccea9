//! The box around the best point so far in which the next one is looked for.
//!
//! A family that is wrong far away from the data is often right nearby. After a few gains in a row the box
//! doubles, after more failures it halves, and when it has become tiny it starts over at full size, which is the whole
//! cube (after TuRBO, Eriksson et al. 2019). Starting at half the cube's side was as good in cumulative
//! regret and worse in simple regret; without a trust region it is the other way round (docs/results/log.md).

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
}

impl Default for TrustRegion {
    fn default() -> Self {
        Self { gains: 3, failures: 4, smallest: 0.01 }
    }
}

impl TrustRegion {
    /// Half-width of the box, in units of the cube's side, after these values in this order.
    /// A trial that gave no value is a failure.
    pub fn half_width(&self, explore: usize, values: impl IntoIterator<Item = Option<f64>>) -> f64 {
        let (mut half, mut gains, mut failures, mut best) = (WHOLE, 0, 0, f64::NEG_INFINITY);
        for (trial_idx, value) in values.into_iter().enumerate() {
            let gained = value.is_some_and(|value| value > best);
            best = value.map_or(best, |value| best.max(value));
            if trial_idx < explore {
                continue;
            }
            (gains, failures) = if gained { (gains + 1, 0) } else { (0, failures + 1) };
            if gains >= self.gains {
                (half, gains) = ((2.0 * half).min(WHOLE), 0);
            }
            if failures >= self.failures {
                (half, failures) = (0.5 * half, 0);
            }
            if half < self.smallest {
                half = WHOLE;
            }
        }
        half
    }
}
