//! Linear and logarithmic scales: positions in [0, 1] of offsets above the lower bound.
//!
//! Offsets, not values, so that a narrow range far from zero keeps all its digits.

use std::f64::consts::LN_2;

/// A linear or logarithmic axis for the numbers `low ..= low + width`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    width: f64,
    /// The lower bound, on a log scale.
    log_low: Option<f64>,
}

impl Scale {
    /// A scale on which equal differences are equally far apart.
    pub(crate) fn linear(width: f64) -> Scale {
        Scale { width, log_low: None }
    }

    /// A scale on which equal ratios are equally far apart; `low` must be positive.
    pub(crate) fn log(low: f64, width: f64) -> Scale {
        Scale { width, log_low: Some(low) }
    }

    /// The position of an offset, from 0 for the lower bound to 1 for the upper; 0.5 if they are the same.
    pub(crate) fn position(&self, offset: f64) -> f64 {
        if self.width <= 0.0 {
            return 0.5;
        }
        let position = match self.log_low {
            None => offset / self.width,
            Some(low) => log_ratio(offset, low) / log_ratio(self.width, low),
        };
        position.clamp(0.0, 1.0)
    }

    /// The offset at a position: inverse of `position`. Positions beyond the ends are clamped.
    pub(crate) fn offset(&self, position: f64) -> f64 {
        let position = unit(position);
        if position == 1.0 {
            return self.width;
        }
        let offset = match self.log_low {
            None => position * self.width,
            Some(low) => offset_at(position * log_ratio(self.width, low), low),
        };
        offset.clamp(0.0, self.width)
    }
}

/// The number of [0, 1] nearest to `u`; 0 for NaN.
pub(crate) fn unit(u: f64) -> f64 {
    if u.is_nan() { 0.0 } else { u.clamp(0.0, 1.0) }
}

/// ln((low + offset) / low), exact to rounding for small offsets and without overflow for large.
fn log_ratio(offset: f64, low: f64) -> f64 {
    if offset < low { (offset / low).ln_1p() } else { (low + offset).ln() - low.ln() }
}

/// Inverse of `log_ratio`.
fn offset_at(log_ratio: f64, low: f64) -> f64 {
    if log_ratio < LN_2 { low * log_ratio.exp_m1() } else { (low.ln() + log_ratio).exp() - low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_and_narrowest_log_scales_keep_their_digits() {
        let narrow = Scale::log(4e18, 5.0); // 4e18 + 5 is 4e18 in doubles
        for offset in 0..=5 {
            let offset = f64::from(offset);
            assert!((narrow.position(offset) - offset / 5.0).abs() < 1e-15);
            assert!((narrow.offset(narrow.position(offset)) - offset).abs() < 1e-14);
        }
        let low = f64::from_bits(1);
        let wide = Scale::log(low, f64::MAX - low);
        for offset in [1e-300, 1.0, 1e300] {
            assert!((wide.offset(wide.position(offset)) / offset - 1.0).abs() < 1e-12);
        }
        assert_eq!((wide.offset(0.0), wide.offset(1.0)), (0.0, f64::MAX));
    }

    #[test]
    fn positions_beyond_the_ends_are_the_ends() {
        let scale = Scale::linear(4.0);
        assert_eq!([-1.0, 2.0, f64::NAN].map(|u| scale.offset(u)), [0.0, 4.0, 0.0]);
        assert_eq!(Scale::linear(0.0).position(0.0), 0.5);
    }
}
