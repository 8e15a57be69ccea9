//! From observations to a fitted Gaussian process, and from its scale back to that of the observations.
//!
//! Given: observations, failures included. Gives: the process, with standardised values and fitted hyper-parameters. It depends on
//! the observations alone, not on when it was asked for: caching only saves time.

use std::cell::RefCell;

use super::fit::{Spec, fit};
use super::{Data, Gp};
use crate::history::History;
use crate::linalg::Matrix;
use crate::optimizer::{Observation, Outcome};

/// A Gaussian process fitted to a growing list of observations.
#[derive(Debug, Clone)]
pub(crate) struct Surrogate {
    spec: Spec,
    memo: RefCell<Option<Memo>>,
}

#[derive(Debug, Clone)]
struct Memo {
    /// Observations before this one are left out.
    first: usize,
    /// How many of the others the hyper-parameters were fitted to.
    n_fitted: usize,
    /// How many observations the process has, the first ones included.
    n_told: usize,
    /// `History::fingerprint` of these observations.
    fingerprint: u64,
    fitted: Fitted,
}

/// A process of standardised values.
#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    /// Conditioned on every observation since the first.
    pub gp: Gp,
    /// The values it is conditioned on. (t)
    pub y: Vec<f64>,
    /// How they were standardised.
    pub standard: Standard,
}

/// z = (y − center) / spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standard {
    /// Mean of the values.
    pub center: f64,
    /// Their standard deviation; 1 if they hardly differ.
    pub spread: f64,
}

/// Most observations that hyper-parameters are fitted to, evenly spaced among all: more make them hardly any better, and the time
/// grows with the cube.
const MAX_FITTED: usize = 500;

/// Hyper-parameters are refitted each time the observations have grown by one in this many, and so after each of the first 200: in
/// between they hardly change.
const REFIT_SHARE: usize = 100;

/// Largest known noise variance, standardised: more makes no difference, and no sum overflows.
const MAX_NOISE_VAR: f64 = 1e6;

impl Surrogate {
    pub(crate) fn new(spec: Spec) -> Self {
        Self { spec, memo: RefCell::new(None) }
    }

    /// The process given all observations except the first `first`.
    pub(crate) fn fitted(&self, history: &History, first: usize) -> Fitted {
        let n_told = history.observations().len();
        let observations = &history.observations()[first..];
        let n = observations.len();
        let n_fitted = n - n % (n / REFIT_SHARE).max(1);
        let mut memo = self.memo.borrow_mut();
        let fitted = match memo.take() {
            Some(memo) if memo.is_of(history) && (memo.first, memo.n_fitted) == (first, n_fitted) => {
                memo.fitted
            }
            _ => self.fit(&observations[..n_fitted]),
        };
        let (fitted, fingerprint) = (fitted.grown(observations), history.fingerprint(n_told));
        memo.insert(Memo { first, n_fitted, n_told, fingerprint, fitted }).fitted.clone()
    }

    fn fit(&self, observations: &[Observation]) -> Fitted {
        let standard = Standard::of(&values(observations));
        let stride = observations.len().div_ceil(MAX_FITTED).max(1);
        let some: Vec<Observation> = observations.iter().step_by(stride).cloned().collect();
        let hyper = fit(&self.spec, &standard.data(&some));
        let data = standard.data(observations);
        Fitted { gp: Gp::new(hyper, &data), y: data.y, standard }
    }
}

impl Memo {
    /// Whether `history` is the one that it was fitted to, possibly grown since.
    fn is_of(&self, history: &History) -> bool {
        self.n_told <= history.observations().len() && self.fingerprint == history.fingerprint(self.n_told)
    }
}

impl Fitted {
    /// Updates the process with new observations. A new worst value becomes that of all failures.
    fn grown(mut self, observations: &[Observation]) -> Self {
        let data = self.standard.data(observations);
        for i in self.gp.n_points()..observations.len() {
            self.gp.update(data.x.row(i), data.y[i], data.known_noise_var[i]);
        }
        if self.y != data.y {
            self.gp.set_values(&data.y);
            self.y = data.y;
        }
        self
    }
}

impl Standard {
    /// Standardises by the sample mean and standard deviation (over n − 1). Values are first divided by the largest, so that no sum
    /// or square overflows.
    fn of(y: &[f64]) -> Self {
        let size = y.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
        if size == 0.0 {
            return Self { center: 0.0, spread: 1.0 };
        }
        let n = y.len() as f64;
        let center = y.iter().map(|y| y / size).sum::<f64>() / n;
        let squares: f64 = y.iter().map(|y| (y / size - center).powi(2)).sum();
        let spread = (squares / (n - 1.0).max(1.0)).sqrt();
        // Differences below this are rounding errors of the values.
        if spread < 1e-12 {
            return Self { center: size * center, spread: size.min(1.0) };
        }
        Self { center: size * center, spread: (size * spread).min(f64::MAX) }
    }

    pub(crate) fn apply(self, y: f64) -> f64 {
        y / self.spread - self.center / self.spread
    }

    pub(crate) fn invert(self, z: f64) -> f64 {
        (self.center + self.spread * z).clamp(f64::MIN, f64::MAX)
    }

    fn data(self, observations: &[Observation]) -> Data {
        let d = observations.first().map_or(0, |observation| observation.x.len());
        let known_noise_var = |observation: &Observation| match observation.outcome {
            Outcome::Value { noise_std: Some(noise_std), .. } => {
                (noise_std / self.spread).powi(2).min(MAX_NOISE_VAR)
            }
            _ => 0.0,
        };
        Data {
            x: Matrix::from_rows(d, observations.iter().map(|observation| observation.x.as_slice())),
            y: values(observations).into_iter().map(|y| self.apply(y)).collect(),
            known_noise_var: observations.iter().map(known_noise_var).collect(),
        }
    }
}

/// The values, with the worst of them in place of each failure; zeros if all failed.
fn values(observations: &[Observation]) -> Vec<f64> {
    let worst = observations.iter().filter_map(Observation::value).reduce(f64::min).unwrap_or(0.0);
    observations.iter().map(|observation| observation.value().unwrap_or(worst)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::optimizer::rng;
    use rand::RngExt;

    fn observed(x: &[f64], y: f64) -> Observation {
        Observation { x: x.to_vec(), outcome: Outcome::Value { y, noise_std: None } }
    }

    /// The process given these observations.
    fn fitted(surrogate: &Surrogate, observations: &[Observation]) -> Fitted {
        let mut history = History::new(Domain::cube(2));
        observations.iter().for_each(|told| history.tell(told.clone()).unwrap());
        surrogate.fitted(&history, 0)
    }

    fn slope(n: usize) -> Vec<Observation> {
        let mut rng = rng(1, 0);
        (0..n)
            .map(|_| {
                let x: [f64; 2] = rng.random();
                observed(&x, 1e3 + 50.0 * (x[0] - x[1]))
            })
            .collect()
    }

    #[test]
    fn the_process_does_not_depend_on_when_it_was_asked_for() {
        let observations = slope(230);
        let follower = Surrogate::new(Spec::botorch(2));
        for n in [1, 5, 200, 201, 203, 230] {
            let followed = fitted(&follower, &observations[..n]);
            let fresh = fitted(&Surrogate::new(Spec::botorch(2)), &observations[..n]);
            assert_eq!(followed.gp.posterior(&[0.3, 0.4]), fresh.gp.posterior(&[0.3, 0.4]), "{n}");
        }
    }

    #[test]
    fn failures_count_as_the_worst_value_known_now() {
        let mut observations = slope(6);
        observations[2].outcome = Outcome::Failed;
        observations.push(observed(&[0.5, 0.5], -1e4));
        let values = values(&observations);
        assert_eq!((values[2], values[6]), (-1e4, -1e4));
        let fitted = fitted(&Surrogate::new(Spec::botorch(2)), &observations);
        assert_eq!(fitted.y[2], fitted.y[6]);
    }

    #[test]
    fn awkward_values_are_standardised_to_finite_ones() {
        let cases: [&[f64]; 6] =
            [&[], &[3.0], &[7.0, 7.0, 7.0], &[f64::MAX, f64::MIN], &[1e-300, 2e-300], &[1.0 + 1e-15, 1.0]];
        for y in cases {
            let standard = Standard::of(y);
            assert!(standard.spread > 0.0 && standard.spread.is_finite(), "{y:?}: {standard:?}");
            for &y in y {
                let z = standard.apply(y);
                assert!(z.abs() < 3.0, "{y}: {z}");
                assert!((standard.invert(z) - y).abs() <= 1e-9 * y.abs(), "{y}: {}", standard.invert(z));
            }
        }
    }

    #[test]
    fn a_value_with_boundless_noise_says_nothing() {
        let mut observations = slope(20);
        let before = fitted(&Surrogate::new(Spec::botorch(2)), &observations);
        let outcome = Outcome::Value { y: 1e3, noise_std: Some(f64::MAX) };
        observations.push(Observation { x: vec![1.0, 0.0], outcome });
        let after = fitted(&Surrogate::new(Spec::botorch(2)), &observations);
        let [before, after] =
            [before, after].map(|fitted| fitted.standard.invert(fitted.gp.posterior(&[1.0, 0.0]).mean));
        assert!((before - after).abs() < 0.5, "{before} {after}");
    }

    #[test]
    fn duplicated_and_clustered_points_are_learnt_from() {
        let mut observations = Vec::new();
        for i in 0..60 {
            observations.push(observed(&[0.5, 0.5], 1.0));
            observations.push(observed(&[0.2 + 1e-10 * f64::from(i), 0.2], 1e-9 * f64::from(i)));
        }
        for spec in [Spec::botorch(2), Spec::turbo()] {
            let fitted = fitted(&Surrogate::new(spec), &observations);
            let [high, low] =
                [[0.5, 0.5], [0.2, 0.2]].map(|x| fitted.standard.invert(fitted.gp.posterior(&x).mean));
            assert!((high - 1.0).abs() < 0.05 && low.abs() < 0.05, "{high} {low}");
        }
    }

    #[test]
    fn two_thousand_points_are_learnt_from() {
        let fitted = fitted(&Surrogate::new(Spec::botorch(2)), &slope(2000));
        let mean = fitted.standard.invert(fitted.gp.posterior(&[0.9, 0.1]).mean);
        assert!((mean - 1040.0).abs() < 0.5, "{mean}");
    }
}
