//! One fit of the default preset: everything is fitted to all data, Phase I included.
//!
//! For each family the prior's scales, the noise and the warp of y maximise the evidence; the family with the
//! highest evidence is kept and linearised at its fit. Families are fitted side by side.
//!
//! Departures from the paper: gradients are those at ŵ_t, not at ŵ_i; λ and the noise are fitted to the data.

use rayon::prelude::*;

use super::{Belief, OutputTransform, TrainingData, prior_mean};
use crate::confidence::{Confidence, Round};
use crate::evidence::{self, Data, Hyperparameters, Linearization};
use crate::model::{Family, Scale};
use crate::optimizer::Rng;
use crate::oracle::{self, OracleError, Problem, Starts};

/// Hyper-prior of the warp's power around 1. Twice as wide it had 0.969 ± 0.017 of the cumulative regret on the suite and 1.06 ± 0.05
/// on the real tasks; without a warp answers after 30 trials scored two points less (docs/results/log.md).
const WARP_STD: f64 = 0.3;

/// Quasi-Newton steps for the scales. On f2 and f3, 15, 40 and 100 made little difference to regret (docs/results/log.md).
const SCALE_STEPS: usize = 30;

/// Quasi-Newton steps from scales that were fitted to most of the data. With 30, runs of 500 trials had 1.00 ± 0.03 of the cumulative
/// regret, and an ask took 1.3 times as long (docs/results/log.md, "Long runs").
const FURTHER_SCALE_STEPS: usize = 10;

/// How often fits of weights and of scales alternate for a family that is not linear in w. No other number is on record.
const ALTERNATIONS: usize = 2;

/// What a refit may fit.
pub struct Refit {
    /// Whether y is standardised.
    pub scaled: bool,
    /// Whether y may be warped.
    pub warp: bool,
    /// Whether values far worse than all others count as just worse.
    pub limited: bool,
    /// Hyper-prior of log noise.
    pub noise: Scale,
    /// How many starts the oracle has for a family that is not linear in w.
    pub restarts: usize,
}

impl Refit {
    /// Fits each family to `sample`. The scales of families that are linear in w start from those in `start`, where there are any.
    pub fn fit(
        &self,
        families: Vec<Box<dyn Family>>,
        sample: &TrainingData,
        start: &[Option<Hyperparameters>],
        rng: &mut Rng,
    ) -> Fits {
        let outputs =
            if self.scaled { OutputTransform::standardized(&sample.y) } else { OutputTransform::IDENTITY };
        let data = sample.standardized(&outputs);
        // Drawn here, not in parallel: otherwise the starts would depend on the order of threads.
        let mut with_starts = |(i, family): (usize, Box<dyn Family>)| {
            let scales = start.get(i).and_then(Option::as_ref);
            (scales, Starts::draw(&*family, self.restarts, rng), family)
        };
        let families: Vec<_> = families.into_iter().enumerate().map(&mut with_starts).collect();
        let fits = families
            .into_par_iter()
            .map(|(scales, weights, family)| self.fit_family(family, &data, scales, weights))
            .collect();
        Fits { fits, outputs, data }
    }

    /// Fits scales, noise and warp by evidence, and the weights under them.
    fn fit_family(
        &self,
        mut family: Box<dyn Family>,
        data: &Data,
        start: Option<&Hyperparameters>,
        weights: Starts,
    ) -> Result<Fitted, OracleError> {
        let max_steps = if start.is_some() { FURTHER_SCALE_STEPS } else { SCALE_STEPS };
        let settings =
            evidence::Settings { warp_std: self.warp.then_some(WARP_STD), noise: self.noise, max_steps };
        let fit_hyperparameters = |family: &mut dyn Family, w: &[f64], start: Option<&Hyperparameters>| {
            let at = Linearization::new(family, w, &data.x);
            evidence::fit_hyperparameters(family, data, &at, start, settings).ok_or(OracleError::NothingToFit)
        };
        if weights == Starts::Anywhere {
            let anywhere = prior_mean(&*family);
            let (hyperparameters, evidence) = fit_hyperparameters(&mut *family, &anywhere, start)?;
            return Ok(Fitted { family, hyperparameters, w: None, evidence });
        }
        let (mut hyperparameters, mut evidence) =
            (Hyperparameters::prior(&*family, self.noise), f64::NEG_INFINITY);
        let mut w = fit_weights(&*family, data, &hyperparameters, weights)?;
        for _ in 0..ALTERNATIONS {
            (hyperparameters, evidence) = fit_hyperparameters(&mut *family, &w, Some(&hyperparameters))?;
            w = fit_weights(&*family, data, &hyperparameters, Starts::At(vec![w]))?;
        }
        Ok(Fitted { family, hyperparameters, w: Some(w), evidence })
    }
}

/// Families fitted to the same observations.
pub struct Fits {
    fits: Vec<Result<Fitted, OracleError>>,
    outputs: OutputTransform,
    data: Data,
}

impl Fits {
    /// Scales, noise and warp of each family; `None` where a fit failed.
    pub fn hyperparameters(&self) -> Vec<Option<Hyperparameters>> {
        self.fits.iter().map(|fit| fit.as_ref().ok().map(|fit| fit.hyperparameters.clone())).collect()
    }

    /// The belief of the family with the highest evidence, given all of `told`. The sample it was fitted to may be smaller, since
    /// the time to fit scales grows with the cube of its size.
    ///
    /// # Errors
    /// If no family could be fitted; the last one's reason.
    pub fn into_belief(self, told: &TrainingData) -> Result<Belief, OracleError> {
        let Self { fits, mut outputs, data } = self;
        let mut best: Option<(usize, Fitted)> = None;
        let mut failure = OracleError::NothingToFit;
        for (idx, fit) in fits.into_iter().enumerate() {
            match fit {
                Ok(fit) if best.as_ref().is_none_or(|(_, best)| fit.evidence > best.evidence) => {
                    best = Some((idx, fit));
                }
                Ok(_) => {}
                Err(error) => failure = error,
            }
        }
        let (family_idx, Fitted { family, hyperparameters, w, .. }) = best.ok_or(failure)?;
        let data = if w.is_none() { told.standardized(&outputs) } else { data };
        outputs.warp = hyperparameters.warp;
        Ok(Belief {
            ball: ball(family, &data, &hyperparameters, w),
            outputs,
            noise_std: hyperparameters.noise_std,
            family_idx,
        })
    }
}

/// A family at the fitted scales, and the rest of its fit.
struct Fitted {
    family: Box<dyn Family>,
    hyperparameters: Hyperparameters,
    /// The fitted weights, where the family is linearised. `None` if it is linear in them, and its linearisation the same
    /// everywhere.
    w: Option<Vec<f64>>,
    /// Evidence plus hyper-priors, at these hyperparameters.
    evidence: f64,
}

/// The most probable weights under these hyperparameters.
fn fit_weights(
    family: &dyn Family,
    data: &Data,
    hyperparameters: &Hyperparameters,
    starts: Starts,
) -> Result<Vec<f64>, OracleError> {
    let y: Vec<f64> = data.y.iter().map(|&y| hyperparameters.warp.apply(y)).collect();
    let noise_var = evidence::noise_variances(data, hyperparameters.noise_std);
    let noise_std: Vec<f64> = noise_var.iter().map(|s2| s2.sqrt()).collect();
    let problem = Problem { family, x: &data.x, y: &y, noise_std: &noise_std, prior_weight: 1.0 };
    oracle::fit(&problem, &starts).map(|fit| fit.w)
}

fn ball(
    family: Box<dyn Family>,
    data: &Data,
    hyperparameters: &Hyperparameters,
    w: Option<Vec<f64>>,
) -> Confidence {
    let prior_mean = prior_mean(&*family);
    let w = &w.unwrap_or_else(|| prior_mean.clone());
    let at = Linearization::new(&*family, w, &data.x);
    let residuals = evidence::residuals(data, &at, hyperparameters.warp);
    let noise_var = evidence::noise_variances(data, hyperparameters.noise_std);
    let round = |i: usize| Round { w, x: data.x.row(i), residual: residuals[i], noise_var: noise_var[i] };
    Confidence::with_rounds(family, prior_mean, (0..data.y.len()).map(round))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::linalg::Matrix;
    use crate::model::{Activation, Anova, Mlp};
    use crate::optimizer::rng;

    const REFIT: Refit =
        Refit { scaled: true, warp: true, limited: true, noise: evidence::NOISE, restarts: 2 };

    /// `f` at `t` random points of [-1, 1]².
    fn told(t: usize, f: impl Fn(&[f64]) -> f64) -> TrainingData {
        let mut rng = rng(0, 0);
        let x = Matrix::from_fn(t, 2, |_, _| rng.random_range(-1.0..1.0));
        let y = x.iter_rows().map(f).collect();
        TrainingData { x, y, noise_std: vec![0.0; t] }
    }

    fn wave(x: &[f64]) -> f64 {
        (2.0 * x[0]).sin() + x[1] - x[0] * x[1]
    }

    fn fit(families: Vec<Box<dyn Family>>, told: &TrainingData, pending: &[Vec<f64>]) -> Belief {
        let mut belief = REFIT.fit(families, told, &[], &mut rng(1, 0)).into_belief(told).unwrap();
        let w_hat = belief.ball.w_hat().to_vec();
        belief.fantasize(&w_hat, pending);
        belief
    }

    #[test]
    fn a_pending_point_takes_away_uncertainty_and_leaves_the_mean() {
        let pending = [vec![0.9, -0.9], vec![-0.2, 0.6]];
        // In the dual form, at the crossing to the primal one (15 weights), and beyond.
        for t in [4, 14, 40] {
            let told = told(t, wave);
            let believe = |pending: &[Vec<f64>]| fit(vec![Box::new(Anova::new(2))], &told, pending);
            let (before, after) = (believe(&[]), believe(&pending));
            for x in &pending {
                let ((_, std_before), (_, std_after)) = (before.predict(x), after.predict(x));
                assert!(std_after < std_before, "{t} told: {std_before} became {std_after}");
            }
            for x in pending.iter().map(Vec::as_slice).chain([[0.0, 0.0].as_slice(), &[-1.0, 1.0]]) {
                let ((mean_before, std_before), (mean_after, std_after)) =
                    (before.predict(x), after.predict(x));
                assert!((mean_before - mean_after).abs() < 1e-7, "{mean_before} became {mean_after}");
                assert!(std_after <= std_before + 1e-9, "{std_before} became {std_after}");
            }
        }
    }

    #[test]
    fn pending_points_count_for_a_network_too() {
        let told = told(8, wave);
        let pending = [vec![0.9, -0.9]];
        let believe =
            |pending: &[Vec<f64>]| fit(vec![Box::new(Mlp::new(2, &[4], Activation::Tanh))], &told, pending);
        let ((mean, std), (mean_after, std_after)) =
            (believe(&[]).predict(&pending[0]), believe(&pending).predict(&pending[0]));
        assert!(std_after < std, "{std} became {std_after}");
        assert!((mean - mean_after).abs() < 1e-6, "{mean} became {mean_after}");
    }

    #[test]
    fn the_family_that_explains_the_data_is_kept() {
        let families =
            || -> Vec<Box<dyn Family>> { vec![Box::new(Anova::additive(2)), Box::new(Anova::quadratic(2))] };
        let kept = |f: fn(&[f64]) -> f64| fit(families(), &told(25, f), &[]).ball.family().n_weights();
        assert_eq!(kept(|x| x[0] * x[1]), Anova::quadratic(2).n_weights());
        assert_eq!(kept(|x| (4.0 * x[0]).sin() + x[1].powi(3)), Anova::additive(2).n_weights());
    }

    #[test]
    fn predictions_are_in_the_units_of_the_observations() {
        let told = told(40, |x| 500.0 + 80.0 * wave(x));
        let belief = fit(vec![Box::new(Anova::new(2))], &told, &[]);
        for x in [[0.3, 0.3], [-0.5, 0.7]] {
            let ((mean, std), truth) = (belief.predict(&x), 500.0 + 80.0 * wave(&x));
            assert!((mean - truth).abs() < 8.0 && std > 0.0 && std < 20.0, "{mean}±{std}, in truth {truth}");
        }
    }

    #[test]
    fn without_families_there_is_no_belief() {
        let told = told(3, wave);
        let error = REFIT.fit(Vec::new(), &told, &[], &mut rng(0, 0)).into_belief(&told).err();
        assert_eq!(error, Some(OracleError::NothingToFit));
    }
}
