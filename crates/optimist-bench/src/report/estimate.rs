//! A mean over repetitions and how sure of it we are.

/// A mean, and half the width of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean over the repetitions.
    pub mean: f64,
    /// 1.96 sd/√reps with the sample's standard deviation; `None` for a single repetition.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// From one number a repetition; there must be at least one.
    pub(crate) fn of(values: &[f64]) -> Estimate {
        let reps = values.len() as f64;
        let mean = values.iter().sum::<f64>() / reps;
        let half_width = (values.len() > 1).then(|| {
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (reps - 1.0);
            1.96 * (variance / reps).sqrt()
        });
        Estimate { mean, half_width }
    }
}

/// `17169 ± 512`, both to as many decimals as show four digits of the mean.
impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self.half_width {
            Some(half_width) => {
                let largest = self.mean.abs().max(half_width);
                format!("{} ± {}", number(self.mean, largest), number(half_width, largest))
            }
            None => number(self.mean, self.mean),
        };
        f.pad(&text)
    }
}

/// A number as the table shows it, with the decimals that suit one as large as `like`.
pub(crate) fn number(value: f64, like: f64) -> String {
    let magnitude = like.abs();
    if magnitude >= 1e7 || (magnitude < 1e-3 && magnitude > 0.0) {
        return format!("{value:.2e}");
    }
    let decimals = match magnitude {
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_the_papers_interval() {
        // Mean 4, sample sd 2, three repetitions.
        let estimate = Estimate::of(&[2.0, 4.0, 6.0]);
        assert_eq!(estimate.mean, 4.0);
        assert!((estimate.half_width.unwrap() - 1.96 * 2.0 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(Estimate::of(&[5.0]), Estimate { mean: 5.0, half_width: None });
    }

    #[test]
    fn numbers_show_about_four_digits() {
        let show = |mean, half_width| Estimate { mean, half_width }.to_string();
        assert_eq!(show(17_168.6, Some(512.3)), "17169 ± 512");
        assert_eq!(show(68.123, Some(1.0)), "68.12 ± 1.00");
        assert_eq!(show(0.5, None), "0.500");
        assert_eq!(show(0.0, Some(0.0)), "0.000 ± 0.000");
        assert_eq!(show(1.234e9, Some(5e7)), "1.23e9 ± 5.00e7");
        assert_eq!(show(2e-5, None), "2.00e-5");
        // A narrow mean with a wide interval is written alike.
        assert_eq!(show(0.0001, Some(20.0)), "0.00 ± 20.00");
    }
}
