//! The noise of a task: what an optimizer is told in place of the value.

use rand::RngExt;
use rand_distr::{StandardNormal, StudentT};

use optimist::Rng;

/// How what is observed strays from the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Added, normal.
    Gaussian {
        /// Its standard deviation; 0 for none.
        std: f64,
    },
    /// Added, Student's t with [`DEGREES`](Noise::DEGREES) degrees of freedom: outliers now and then, infinite variance.
    HeavyTailed {
        /// What a standard t is multiplied by.
        scale: f64,
    },
    /// Normal, in proportion to the value.
    Multiplicative {
        /// Its standard deviation as a share of the value.
        share: f64,
    },
}

impl Noise {
    /// What is observed is the value.
    pub const NONE: Noise = Noise::Gaussian { std: 0.0 };

    /// Degrees of freedom of heavy-tailed noise.
    pub const DEGREES: f64 = 2.0;

    /// Luck on a standard scale, for [`observed`](Noise::observed).
    pub fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Noise::Gaussian { .. } | Noise::Multiplicative { .. } => rng.sample(StandardNormal),
            Noise::HeavyTailed { .. } => {
                rng.sample(StudentT::new(Self::DEGREES).expect("degrees are positive"))
            }
        }
    }

    /// What is told where the value is `value`, with what was [drawn](Noise::draw).
    pub fn observed(self, value: f64, draw: f64) -> f64 {
        value
            + match self {
                Noise::Gaussian { std } => std * draw,
                Noise::HeavyTailed { scale } => scale * draw,
                Noise::Multiplicative { share } => share * value * draw,
            }
    }
}

/// `0.01`, `0.3 × t`, `20 %`.
impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Noise::Gaussian { std } => write!(f, "{std}"),
            Noise::HeavyTailed { scale } => write!(f, "{scale} × t"),
            Noise::Multiplicative { share } => write!(f, "{:.0} %", 100.0 * share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_added_or_in_proportion() {
        assert_eq!(Noise::NONE.observed(3.0, 2.0), 3.0);
        assert_eq!(Noise::Gaussian { std: 0.5 }.observed(3.0, 2.0), 4.0);
        assert_eq!(Noise::HeavyTailed { scale: 2.0 }.observed(3.0, -2.0), -1.0);
        assert_eq!(Noise::Multiplicative { share: 0.5 }.observed(-3.0, 2.0), -6.0);
    }

    #[test]
    fn heavy_tails_are_heavy() {
        let far = |noise: Noise| {
            let mut rng = optimist::rng(1, 0);
            (0..10_000).filter(|_| noise.draw(&mut rng).abs() > 5.0).count()
        };
        assert_eq!(far(Noise::Gaussian { std: 1.0 }), 0);
        let expected = 377; // P(|t_2| > 5) is 0.0377
        assert!(far(Noise::HeavyTailed { scale: 1.0 }).abs_diff(expected) < 80);
    }
}
