//! The box around the best point so far in which the next one is looked for.
//!
//! A family that is wrong far away from the data is often right nearby. After a few gains in a row the box
//! doubles, after more failures it halves, and when it has become tiny it starts over at full size (TuRBO,
//! Eriksson et al. 2019, with the counts that a prototype found to cost least where the family is right).

/// When the box grows, shrinks and starts over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustRegion {
    /// Gains in a row after which the box doubles.
    pub gains: usize,
    /// Failures in a row after which it halves.
    pub failures: usize,
    /// Half-width below which it starts over at 1, in units of the cube's side.
    pub smallest: f64,
}

impl Default for TrustRegion {
    fn default() -> Self {
        Self { gains: 3, failures: 8, smallest: 0.01 }
    }
}

impl TrustRegion {
    /// Half-width of the box, in units of the cube's side, after these values in this order.
    /// A trial that gave no value is a failure.
    pub fn half_width(&self, explore: usize, values: impl IntoIterator<Item = Option<f64>>) -> f64 {
        let (mut half, mut gains, mut failures, mut best) =
            (crate::knob("HALF0", 0.5), 0, 0, f64::NEG_INFINITY);
        for (trial_idx, value) in values.into_iter().enumerate() {
            let gained = value.is_some_and(|value| value > best);
            best = value.map_or(best, |value| best.max(value));
            if trial_idx < explore {
                continue;
            }
            (gains, failures) = if gained { (gains + 1, 0) } else { (0, failures + 1) };
            if gains >= self.gains {
                (half, gains) = ((2.0 * half).min(crate::knob("HALF0", 0.5)), 0);
            }
            if failures >= self.failures {
                (half, failures) = (0.5 * half, 0);
            }
            if half < self.smallest {
                half = crate::knob("HALF0", 0.5);
            }
        }
        half
    }
}
