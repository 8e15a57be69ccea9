//! Warps of y: monotone curves that tame long tails before a family sees the values.
//!
//! Yeo and Johnson's power transform (Biometrika 2000) of standardised values. Power 1 is the identity; a higher power shortens the
//! lower tail and stretches the upper one, a lower power does the opposite. A monotone warp moves no maximum; the evidence decides
//! which power explains the data best.

/// A power transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warp {
    /// The power; 1 is the identity.
    pub power: f64,
}

impl Warp {
    /// The warp that changes nothing.
    pub const IDENTITY: Self = Self { power: 1.0 };

    /// The warped value.
    pub fn apply(self, y: f64) -> f64 {
        y.signum() * power_integral(y.abs(), self.exponent(y))
    }

    /// The value that is warped to `z`; an end of the range if there is none.
    pub fn invert(self, z: f64) -> f64 {
        let m = self.exponent(z);
        let size =
            if m.abs() < 1e-9 { z.abs().exp_m1() } else { (m * z.abs()).max(-1.0 + 1e-12).ln_1p() / m }
                .min(700.0);
        z.signum() * if m.abs() < 1e-9 { size } else { size.exp_m1() }
    }

    /// log of the slope of `apply` at y: what the warp adds to the evidence.
    pub fn log_slope(self, y: f64) -> f64 {
        (self.exponent(y) - 1.0) * y.abs().ln_1p()
    }

    /// Derivatives of `apply(y)` and of `log_slope(y)` in the power.
    pub fn grad_power(self, y: f64) -> (f64, f64) {
        (power_integral_slope(y.abs(), self.exponent(y)), y.signum() * y.abs().ln_1p())
    }

    /// The exponent on the side of zero that y is on.
    fn exponent(self, y: f64) -> f64 {
        if y >= 0.0 { self.power } else { 2.0 - self.power }
    }
}

/// ∫_0^size (1 + u)^(m-1) du = ((1 + size)^m − 1) / m.
fn power_integral(size: f64, m: f64) -> f64 {
    let log = size.ln_1p();
    if (m * log).abs() < 1e-6 { log * (1.0 + 0.5 * m * log) } else { (m * log).exp_m1() / m }
}

/// The derivative of `power_integral` in m.
fn power_integral_slope(size: f64, m: f64) -> f64 {
    let log = size.ln_1p();
    let p = m * log;
    if p.abs() < 1e-4 { log * log * (0.5 + p / 3.0) } else { (p.exp() * (p - 1.0) + 1.0) / (m * m) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn invert_undoes_apply(y in -20.0..20.0f64, power in -1.0..3.0f64) {
            let warp = Warp { power };
            let back = warp.invert(warp.apply(y));
            prop_assert!((back - y).abs() < 1e-6 * (1.0 + y.abs()), "{y} became {back}");
        }

        #[test]
        fn derivatives_equal_differences(y in -8.0..8.0f64, power in -0.9..2.9f64) {
            let warp = Warp { power };
            let h = 1e-5;
            let slope = (warp.apply(y + h) - warp.apply(y - h)) / (2.0 * h);
            prop_assert!((warp.log_slope(y) - slope.ln()).abs() < 1e-4);
            let (up, down) = (Warp { power: power + h }, Warp { power: power - h });
            let (in_value, in_log_slope) = warp.grad_power(y);
            let expected = (up.apply(y) - down.apply(y)) / (2.0 * h);
            // The two sides of zero move in opposite directions of their exponents.
            prop_assert!((in_value - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{in_value} {expected}");
            let expected = (up.log_slope(y) - down.log_slope(y)) / (2.0 * h);
            prop_assert!((in_log_slope - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn power_one_is_the_identity() {
        for y in [-3.0, -0.5, 0.0, 0.1, 7.0] {
            assert!((Warp::IDENTITY.apply(y) - y).abs() < 1e-12);
        }
    }
}
