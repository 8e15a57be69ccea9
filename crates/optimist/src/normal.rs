//! The standard normal distribution.

use std::f64::consts::FRAC_1_SQRT_2;

/// ln √(2π), the log of the density's normalising constant.
pub(crate) const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Probability of a value below `z`; exact far in the lower tail, where it underflows beyond -38.
pub(crate) fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Density at `z`.
pub(crate) fn density(z: f64) -> f64 {
    (-0.5 * z * z - LN_SQRT_2PI).exp()
}

/// The expected excess over `threshold`, values below it counting as zero, of a normal value with this mean and standard deviation.
pub(crate) fn expected_excess(mean: f64, std: f64, threshold: f64) -> f64 {
    if std <= 0.0 {
        return (mean - threshold).max(0.0);
    }
    let z = (mean - threshold) / std;
    // In the lower tail the two terms cancel to rounding, which must not become a loss.
    (std * (z * below(z) + density(z))).max(0.0)
}

/// Logarithm of the probability of a value from `low` to `high`; -∞ where it underflows.
pub(crate) fn log_mass(low: f64, high: f64) -> f64 {
    /// Intervals this narrow would lose their digits in a difference. The density in the middle is
    /// exact to 1e-5 there, up to 100 standard deviations out.
    const NARROW: f64 = 1e-4;
    if high - low < NARROW {
        let middle = 0.5 * (low + high);
        return (high - low).ln() - 0.5 * middle * middle - LN_SQRT_2PI;
    }
    // In the upper tail probabilities are differences of ones: use the mirror image in the lower tail.
    let (low, high) = if low > 0.0 { (-high, -low) } else { (low, high) };
    (below(high) - below(low)).ln()
}

/// The value below which a standard normal lies with probability `share`, between 0 and 1 exclusively: inverse of [`below`].
pub(crate) fn quantile(share: f64) -> f64 {
    if share > 0.5 {
        return -quantile(1.0 - share);
    }
    // Newton's method on ln(below) is concave and so climbs to the solution from any point left of it.
    // The tail bound below(z) <= exp(-z²/2) / 2 gives such a point.
    let mut z = -(-2.0 * (2.0 * share).ln()).max(0.0).sqrt();
    if below(z) > share {
        z -= 1.0;
    }
    for _ in 0..20 {
        let step = below(z) / density(z) * (share / below(z)).ln();
        z += step;
        if step.abs() < 1e-13 * (1.0 + z.abs()) {
            break;
        }
    }
    z
}

/// Below this the continued fraction is used: there 60 terms are exact to the last digit, and above it the plain
/// formula loses fewer than two.
const TAIL: f64 = -4.0;

/// ln h(z), where h(z) = φ(z) + z Φ(z) is the expected excess of a standard normal value over −z, and its derivative Φ(z) / h(z).
pub(crate) fn ln_h(z: f64) -> (f64, f64) {
    if z < TAIL {
        let q = mills_fraction(-z);
        return (ln_density(z) + (q / (q - z)).ln(), 1.0 / q);
    }
    let cdf = below(z);
    let h = ln_density(z).exp() + z * cdf;
    (h.ln(), cdf / h)
}

/// ln Φ(z) and its derivative φ(z) / Φ(z).
pub(crate) fn ln_below(z: f64) -> (f64, f64) {
    if z < TAIL {
        let q = mills_fraction(-z);
        return (ln_density(z) - (q - z).ln(), q - z);
    }
    let cdf = below(z);
    let ln_cdf = if z > 0.0 { (-below(-z)).ln_1p() } else { cdf.ln() };
    (ln_cdf, ln_density(z).exp() / cdf)
}

/// ln φ(z), the log of the density.
fn ln_density(z: f64) -> f64 {
    -0.5 * z * z - LN_SQRT_2PI
}

/// q = 1/(t + 2/(t + 3/(t + …))), from its 60th term upwards. With t = −z, Φ(z) = φ(z) / (t + q) and h(z) = φ(z) q / (t + q).
fn mills_fraction(t: f64) -> f64 {
    (1..=60).rev().fold(0.0, |rest, k| f64::from(k) / (t + rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_expected_excess_is_the_mean_of_what_lies_above() {
        for (mean, std, threshold) in [(0.0, 1.0, 0.0), (1.0, 2.0, 3.0), (-4.0, 0.5, -3.0), (2.0, 1.0, -3.0)]
        {
            let n = 200_000;
            let above = |i: usize| mean + std * quantile((i as f64 + 0.5) / n as f64) - threshold;
            let average = (0..n).map(|i| above(i).max(0.0)).sum::<f64>() / n as f64;
            let excess = expected_excess(mean, std, threshold);
            assert!((excess - average).abs() < 1e-4 * std, "{excess} and {average}");
        }
        assert_eq!([expected_excess(1.0, 0.0, 3.0), expected_excess(3.0, 0.0, 1.0)], [0.0, 2.0]);
        assert!((0..100).all(|z| expected_excess(-f64::from(z), 1.0, 0.0) >= 0.0));
    }

    #[test]
    fn chances_are_those_of_the_tables() {
        let table = [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-3.0, 1.349_898_031_630_095e-3)];
        for (z, share) in table {
            assert!((below(z) / share - 1.0).abs() < 1e-14);
        }
        // SciPy: a, b = log_ndtr(-20), log_ndtr(-21); a + log1p(-exp(b - a))
        assert!((log_mass(20.0, 21.0) + 203.917_155_372_288_2).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn narrow_intervals_agree_with_the_sum_of_wide_ones(low in -5.0..5.0f64) {
            let wide = log_mass(low, low + 2e-4).exp();
            let halves = log_mass(low, low + 0.99e-4).exp() + log_mass(low + 0.99e-4, low + 2e-4).exp();
            prop_assert!((wide / halves - 1.0).abs() < 1e-7);
        }

        #[test]
        fn quantiles_undo_chances(log_share in -200.0..-1e-6f64) {
            let share = log_share.exp();
            let z = quantile(share);
            prop_assert!((below(z) / share - 1.0).abs() < 1e-9, "{share} at {z}: {}", below(z));
        }
    }
}
