//! How well a family explains the data, and the scales under which it does so best.
//!
//! Given: points embedded by a family, and observations about the prior mean (the residuals of its
//! linearisation). Gives: the linearised-Laplace log marginal likelihood
//! −½ rᵀ(K+S)⁻¹r − ½ log det(K+S) − (t/2) log 2π, with K the inner products of gradients under the
//! prior and S the noise, its exact gradient, and the scales that maximise it plus the hyper-priors.
//! Does not know: how weights are fitted, what is proposed.
//!
//! The warp of y (`warp`) is one more scale: its log-Jacobian belongs to the evidence.

use std::f64::consts::PI;

use crate::lbfgsb::{ClimbLimits, maximize_in_box};
use crate::linalg::{Cholesky, Matrix, dot};
use crate::model::{Embedded, Family, Scale};
use crate::warp::Warp;

/// log N(r; 0, K + S), with what its gradient is computed from.
pub struct Evidence {
    /// The log marginal likelihood.
    pub value: f64,
    /// (K+S)⁻¹ r, which gradients and predictions are computed from.
    pub alpha: Vec<f64>,
    /// The factor of K + S.
    pub factor: Cholesky,
}

impl Evidence {
    /// The evidence of residuals `r`. Only the lower triangle of `gram`, K, is read. `None` if K + S is not positive definite to
    /// working precision.
    pub fn new(mut gram: Matrix, noise_var: &[f64], r: &[f64]) -> Option<Self> {
        noise_var.iter().enumerate().for_each(|(i, s2)| gram[(i, i)] += s2);
        let evidence = Self::from_factor(Cholesky::new(&gram)?, r);
        evidence.value.is_finite().then_some(evidence)
    }

    /// The evidence of residuals `r`, given the factor of K + S.
    pub fn from_factor(factor: Cholesky, r: &[f64]) -> Self {
        let alpha = factor.solve(r);
        let value = -0.5 * (dot(r, &alpha) + factor.log_det() + r.len() as f64 * (2.0 * PI).ln());
        Self { value, alpha, factor }
    }

    /// ∂value/∂K = ½ (ααᵀ − (K+S)⁻¹).
    pub fn grad_gram(&self) -> Matrix {
        let mut m = self.factor.inverse();
        for i in 0..m.rows() {
            let alpha_i = self.alpha[i];
            m.row_mut(i).iter_mut().zip(&self.alpha).for_each(|(m, a)| *m = 0.5 * (alpha_i * a - *m));
        }
        m
    }
}

/// Observations in model coordinates, as a family is fitted to them.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// The points. (t, d_x)
    pub x: Matrix,
    /// Standardised observations. (t)
    pub y: Vec<f64>,
    /// Variance of each observation's noise where it is known, on the standardised scale; else 0. (t)
    pub known_noise_var: Vec<f64>,
}

/// What the evidence decides: the scales of a family's prior, the noise and the warp of y.
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperparameters {
    /// The family's log scales.
    pub log_scales: Vec<f64>,
    /// Standard deviation of what the family leaves unexplained: noise and misfit, standardised.
    pub noise_std: f64,
    /// The warp of y.
    pub warp: Warp,
}

/// Hyper-prior of log noise: s around 0.15 of the spread of y, within a factor of e. Around 0.05 the cumulative regret on six rough
/// tasks was 0.92 of that with one kernel and 1.07 with the one in use (docs/results/log.md).
pub const NOISE: Scale = Scale { mean: -1.897, std: 1.0 };

/// What is fitted besides the family's scales, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Hyper-prior of the warp's power around 1; `None` leaves y as it is.
    pub warp_std: Option<f64>,
    /// Hyper-prior of log noise.
    pub noise: Scale,
    /// Most quasi-Newton steps of the fit.
    pub max_steps: usize,
}

impl Hyperparameters {
    /// The hyperparameters before any data: the centres of the hyper-priors, and no warp.
    pub fn prior(family: &dyn Family, noise: Scale) -> Self {
        let log_scales = family.scales().iter().map(|scale| scale.mean).collect();
        Self { log_scales, noise_std: noise.mean.exp(), warp: Warp::IDENTITY }
    }
}

/// A family linearised at weights w: f_x(w') ≈ f_x(w) + ∇f_x(w)·(w' − w).
#[derive(Debug, Clone)]
pub struct Linearization {
    /// The weights w. (d_w)
    pub w: Vec<f64>,
    /// ∇f_{x_i}(w)·(w − prior mean) − f_{x_i}(w): added to y_i it is the residual about the prior mean. (t)
    offsets: Vec<f64>,
}

impl Linearization {
    /// Linearises the family at `w`, for the points in the rows of `x`.
    pub fn new(family: &dyn Family, w: &[f64], x: &Matrix) -> Self {
        let mut prior_mean = vec![0.0; w.len()];
        family.prior_mean(&mut prior_mean);
        let shift: Vec<f64> = w.iter().zip(&prior_mean).map(|(w, m)| w - m).collect();
        let mut grad_w = vec![0.0; w.len()];
        let mut offset = |x: &[f64]| {
            family.grad_w(w, x, &mut grad_w);
            dot(&grad_w, &shift) - family.value(w, x)
        };
        Self { w: w.to_vec(), offsets: x.iter_rows().map(&mut offset).collect() }
    }
}

/// The scales, noise and warp that maximise evidence plus hyper-priors, and that maximum. Sets the scales of the family. `None` if
/// the evidence is finite nowhere near the start.
pub fn fit_hyperparameters(
    family: &mut dyn Family,
    data: &Data,
    at: &Linearization,
    start: Option<&Hyperparameters>,
    settings: Settings,
) -> Option<(Hyperparameters, f64)> {
    let mut objective = LogPosterior::new(family, data, at, settings);
    let scales = objective.scales.clone();
    let n_family = scales.len() - 2;
    let start: Vec<f64> = match start {
        Some(start) => pack(start).iter().zip(&scales).map(|(theta, scale)| scale.standard(*theta)).collect(),
        None => vec![0.0; scales.len()],
    };
    // In standard deviations of the hyper-priors, whose curvature is then the same in all directions.
    let unpack =
        |z: &[f64]| z.iter().zip(&scales).map(|(z, scale)| scale.mean + scale.std * z).collect::<Vec<f64>>();
    let maximum = maximize_in_box(
        |z, gradient| {
            let value = objective.value(family, &unpack(z), gradient);
            gradient.iter_mut().zip(&scales).for_each(|(slope, scale)| *slope *= scale.std);
            value.unwrap_or(f64::NAN)
        },
        &start,
        &vec![-REACH; scales.len()],
        &vec![REACH; scales.len()],
        ClimbLimits { max_steps: settings.max_steps, min_gain: MIN_GAIN, first_step: FIRST_STEP },
    );
    let theta = unpack(&maximum.x);
    let hyperparameters = Hyperparameters {
        log_scales: theta[..n_family].to_vec(),
        noise_std: theta[n_family].exp(),
        warp: Warp { power: theta[n_family + 1] },
    };
    family.set_scales(&hyperparameters.log_scales);
    maximum.value.is_finite().then_some((hyperparameters, maximum.value))
}

/// How far a scale may move from the mean of its hyper-prior, in standard deviations of it.
const REACH: f64 = 4.0;

/// The fit ends with a step that gains less than a hundredth of a nat: data can't distinguish such scales. docs/results/log.md says
/// how much time that saves.
const MIN_GAIN: f64 = 0.01;

/// The first step of the fit moves no scale by more than this share of its range. Without a limit it often ended where the evidence
/// is lower by thousands, and the next steps were spent on the way back.
const FIRST_STEP: f64 = 0.1;

/// Residuals about the prior mean, under the warp.
pub fn residuals(data: &Data, at: &Linearization, warp: Warp) -> Vec<f64> {
    let mut r: Vec<f64> = data.y.iter().map(|&y| warp.apply(y)).collect();
    r.iter_mut().zip(&at.offsets).for_each(|(r, offset)| *r += offset);
    r
}

/// Noise variances: fitted plus known.
pub fn noise_variances(data: &Data, noise_std: f64) -> Vec<f64> {
    data.known_noise_var.iter().map(|known| known + noise_std * noise_std).collect()
}

fn hyper_priors(family: &dyn Family, settings: Settings) -> Vec<Scale> {
    let mut scales = family.scales();
    scales.push(settings.noise);
    scales.push(Scale { mean: 1.0, std: settings.warp_std.unwrap_or(0.0) });
    scales
}

fn pack(hyperparameters: &Hyperparameters) -> Vec<f64> {
    let mut theta = hyperparameters.log_scales.clone();
    theta.extend([hyperparameters.noise_std.ln(), hyperparameters.warp.power]);
    theta
}

/// Evidence plus hyper-priors as a function of theta = (family's log scales, log noise, power of the warp).
struct LogPosterior<'a> {
    data: &'a Data,
    at: &'a Linearization,
    scales: Vec<Scale>,
    /// The points of `data`, embedded; updated when the scales change.
    points: Embedded,
}

impl<'a> LogPosterior<'a> {
    fn new(family: &dyn Family, data: &'a Data, at: &'a Linearization, settings: Settings) -> Self {
        let points = Embedded::new(family, &at.w, data.x.clone());
        Self { data, at, scales: hyper_priors(family, settings), points }
    }

    /// The value at theta, with its gradient. Leaves the family at these scales. `None` if the evidence can't be computed.
    fn value(&mut self, family: &mut dyn Family, theta: &[f64], gradient: &mut [f64]) -> Option<f64> {
        let Self { data, at, scales, points } = self;
        let n_family = scales.len() - 2;
        let (noise_std, warp) = (theta[n_family].exp(), Warp { power: theta[n_family + 1] });
        family.set_scales(&theta[..n_family]);
        points.update(family, &at.w);
        let gram = family.gram_within(points.points());
        let evidence = Evidence::new(gram, &noise_variances(data, noise_std), &residuals(data, at, warp))?;
        let m = evidence.grad_gram();
        family.gram_grad_scales(points.points(), &m, &mut gradient[..n_family]);
        gradient[n_family] = (0..m.rows()).map(|i| 2.0 * noise_std * noise_std * m[(i, i)]).sum();
        gradient[n_family + 1] = 0.0;
        let mut value = evidence.value;
        for (&y, alpha) in data.y.iter().zip(&evidence.alpha) {
            let (in_value, in_log_slope) = warp.grad_power(y);
            gradient[n_family + 1] += in_log_slope - alpha * in_value;
            value += warp.log_slope(y);
        }
        for ((&theta, scale), slope) in theta.iter().zip(scales).zip(gradient) {
            if scale.std > 0.0 {
                let z = scale.standard(theta);
                value -= 0.5 * z * z;
                *slope -= z / scale.std;
            }
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::model::{Activation, Anova, Fourier, Matern, Mlp, Sum};
    use crate::optimizer::rng;

    /// w_0 + w_1 x with w ~ N(0, I).
    struct Line;

    impl Family for Line {
        fn dimension(&self) -> usize {
            1
        }

        fn n_weights(&self) -> usize {
            2
        }

        fn value(&self, w: &[f64], x: &[f64]) -> f64 {
            w[0] + w[1] * x[0]
        }

        fn is_linear(&self) -> bool {
            true
        }
    }

    /// exp(−w x) with w ~ N(0.4, 0.7²): curved in w, and its prior is not centred at zero.
    struct Decay;

    impl Family for Decay {
        fn dimension(&self) -> usize {
            1
        }

        fn n_weights(&self) -> usize {
            1
        }

        fn value(&self, w: &[f64], x: &[f64]) -> f64 {
            (-w[0] * x[0]).exp()
        }

        fn prior_mean(&self, out: &mut [f64]) {
            out.fill(0.4);
        }

        fn prior_std(&self, out: &mut [f64]) {
            out.fill(0.7);
        }
    }

    /// Smooth values at random points of [-1, 1]^d_x; the noise of every third is known.
    fn data(t: usize, d_x: usize, seed: u64) -> Data {
        let mut rng = rng(seed, 0);
        let x = Matrix::from_fn(t, d_x, |_, _| rng.random_range(-1.0..1.0));
        let y = x.iter_rows().map(|x| x.iter().map(|x| (2.0 * x).sin() + 0.4 * x * x).sum()).collect();
        let known_noise_var = (0..t).map(|i| if i % 3 == 0 { 0.05 } else { 0.0 }).collect();
        Data { x, y, known_noise_var }
    }

    fn log_normal(y: f64, mean: f64, variance: f64) -> f64 {
        -0.5 * ((y - mean).powi(2) / variance + (2.0 * PI * variance).ln())
    }

    /// log ∫ Π_i N(y_i; f linearised at `at`, s_i²) N(w; prior) dw, as a sum over a fine lattice of w.
    fn brute_force(family: &dyn Family, data: &Data, at: &[f64], noise_var: &[f64]) -> f64 {
        const STEP: f64 = 0.02;
        let d_w = at.len();
        let (mut mean, mut std) = (vec![0.0; d_w], vec![0.0; d_w]);
        family.prior_mean(&mut mean);
        family.prior_std(&mut std);
        let tangents: Vec<(f64, Vec<f64>)> = data
            .x
            .iter_rows()
            .map(|x| {
                let mut grad_w = vec![0.0; d_w];
                family.grad_w(at, x, &mut grad_w);
                (family.value(at, x) - dot(&grad_w, at), grad_w)
            })
            .collect();
        let density = |w: &[f64]| {
            let prior = (0..d_w).map(|k| log_normal(w[k], mean[k], std[k] * std[k]));
            let fit = tangents.iter().zip(&data.y).zip(noise_var);
            let likelihood = fit.map(|(((f, grad_w), y), s2)| log_normal(*y, f + dot(grad_w, w), *s2));
            (prior.sum::<f64>() + likelihood.sum::<f64>()).exp()
        };
        let coordinate = |i: i32| STEP * f64::from(i);
        let sum: f64 = match d_w {
            1 => (-400..400).map(|i| density(&[coordinate(i)])).sum(),
            2 => (-300..300)
                .flat_map(|i| (-300..300).map(move |j| [coordinate(i), coordinate(j)]))
                .map(|w| density(&w))
                .sum(),
            _ => panic!("a lattice of {d_w} dimensions is too large"),
        };
        (sum * STEP.powi(d_w as i32)).ln()
    }

    #[test]
    fn the_evidence_is_the_integral_of_likelihood_times_prior() {
        let cases: [(&dyn Family, &[f64]); 4] =
            [(&Line, &[0.0, 0.0]), (&Line, &[0.5, -1.0]), (&Decay, &[0.4]), (&Decay, &[1.1])];
        for (family, at) in cases {
            for t in [1, 2, 5] {
                let data = data(t, 1, t as u64);
                let noise_var = noise_variances(&data, 0.4);
                let points = Embedded::new(family, at, data.x.clone());
                let r = residuals(&data, &Linearization::new(family, at, &data.x), Warp::IDENTITY);
                let evidence =
                    Evidence::new(family.gram(points.points(), points.points()), &noise_var, &r).unwrap();
                let expected = brute_force(family, &data, at, &noise_var);
                let value = evidence.value;
                assert!((value - expected).abs() < 1e-6, "{t} at {at:?}: {value} for {expected}");
            }
        }
    }

    /// The log posterior at theta, with a gradient of its own.
    fn at_theta(
        family: &mut dyn Family,
        data: &Data,
        w: &[f64],
        settings: Settings,
        theta: &[f64],
    ) -> (f64, Vec<f64>) {
        let at = Linearization::new(family, w, &data.x);
        let mut gradient = vec![f64::NAN; theta.len()];
        let value =
            LogPosterior::new(family, data, &at, settings).value(family, theta, &mut gradient).unwrap();
        (value, gradient)
    }

    const SETTINGS: Settings = Settings { warp_std: Some(0.3), noise: NOISE, max_steps: 100 };

    /// Scales, noise and warp not far from the centres of their hyper-priors.
    fn draw_theta(family: &dyn Family, seed: u64) -> Vec<f64> {
        let mut rng = rng(seed, 1);
        let draw = |scale: &Scale| {
            let z: f64 = StandardNormal.sample(&mut rng);
            scale.mean + 0.5 * scale.std * z
        };
        hyper_priors(family, SETTINGS).iter().map(draw).collect()
    }

    #[test]
    fn its_gradient_in_scales_noise_and_warp_equals_differences() {
        let both: Vec<Box<dyn Family>> =
            vec![Box::new(Anova::quadratic(2)), Box::new(Fourier::residual(2, 8, 1))];
        let mut families: Vec<Box<dyn Family>> = vec![
            Box::new(Anova::new(2)),
            Box::new(Fourier::new(2, 16, 0)),
            Box::new(Sum::new(both)),
            Box::new(Mlp::new(2, &[3], Activation::Tanh)),
            Box::new(Matern::new(2)),
        ];
        for (seed, family) in families.iter_mut().enumerate() {
            let data = data(7, 2, seed as u64);
            let w =
                if family.is_linear() { vec![0.0; family.n_weights()] } else { family.start(&mut rng(3, 0)) };
            let theta = draw_theta(&**family, seed as u64);
            let (_, gradient) = at_theta(&mut **family, &data, &w, SETTINGS, &theta);
            for i in 0..theta.len() {
                let mut moved = |step: f64| {
                    let mut moved = theta.clone();
                    moved[i] += step;
                    at_theta(&mut **family, &data, &w, SETTINGS, &moved).0
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let error = (gradient[i] - expected).abs();
                assert!(
                    error < 1e-5 * (1.0 + expected.abs()),
                    "family {seed}, entry {i}: {} for {expected}",
                    gradient[i]
                );
            }
        }
    }

    #[test]
    fn under_any_warp_the_density_of_a_value_integrates_to_one() {
        let fixed = Settings { warp_std: None, ..SETTINGS };
        for power in [0.4, 1.0, 1.6] {
            let mut family = Line;
            let theta = [NOISE.mean, power];
            let density = |y: f64| {
                let data = Data {
                    x: Matrix::from_rows(1, [[0.3].as_slice()]),
                    y: vec![y],
                    known_noise_var: vec![0.0],
                };
                at_theta(&mut family, &data, &[0.0, 0.0], fixed, &theta).0.exp()
            };
            // Even steps of sinh⁻¹ y: tails are long where the warp draws them in.
            let step = 0.005;
            let mut sum = 0.0;
            let mut density = density;
            for i in -2400..2400 {
                let s = step * f64::from(i);
                sum += density(s.sinh()) * s.cosh() * step;
            }
            assert!((sum - 1.0).abs() < 1e-3, "power {power}: {sum}");
        }
    }

    #[test]
    fn the_fit_is_better_than_the_start_and_than_anything_nearby() {
        for seed in 0..3 {
            let mut family = Anova::new(2);
            let data = data(15, 2, seed);
            let w = vec![0.0; family.n_weights()];
            let at = Linearization::new(&family, &w, &data.x);
            let start = pack(&Hyperparameters::prior(&family, NOISE));
            let (fitted, value) = fit_hyperparameters(&mut family, &data, &at, None, SETTINGS).unwrap();
            let fitted = pack(&fitted);
            let mut height = |theta: &[f64]| at_theta(&mut family, &data, &w, SETTINGS, theta).0;
            assert!((height(&fitted) - value).abs() < 1e-9 * (1.0 + value.abs()));
            assert!(value > height(&start) + 0.1, "{value} from {}", height(&start));

            let scales = hyper_priors(&Anova::new(2), SETTINGS);
            let mut rng = rng(seed, 2);
            for _ in 0..50 {
                let near = |(theta, scale): (&f64, &Scale)| {
                    let z: f64 = StandardNormal.sample(&mut rng);
                    let reach = 4.0 * scale.std;
                    (theta + 0.2 * scale.std * z).clamp(scale.mean - reach, scale.mean + reach)
                };
                let nearby: Vec<f64> = fitted.iter().zip(&scales).map(near).collect();
                assert!(
                    height(&nearby) <= value + 1e-3,
                    "{} at {nearby:?}, {value} at {fitted:?}",
                    height(&nearby)
                );
            }
        }
    }

    #[test]
    fn without_a_hyper_prior_for_it_there_is_no_warp() {
        let mut family = Anova::new(2);
        let data = data(12, 2, 0);
        let at = Linearization::new(&family, &vec![0.0; family.n_weights()], &data.x);
        let (hyperparameters, _) =
            fit_hyperparameters(&mut family, &data, &at, None, Settings { warp_std: None, ..SETTINGS })
                .unwrap();
        assert_eq!(hyperparameters.warp, Warp::IDENTITY);
    }

    #[test]
    fn numbers_without_an_evidence_have_none() {
        let gram = |diagonal: f64| Matrix::from_fn(2, 2, |i, j| if i == j { diagonal } else { 1.0 });
        assert!(Evidence::new(gram(0.5), &[0.0, 0.0], &[1.0, 1.0]).is_none());
        assert!(Evidence::new(gram(2.0), &[0.0, 0.0], &[f64::INFINITY, 1.0]).is_none());
        assert!(Evidence::new(gram(2.0), &[0.0, 0.0], &[1.0, 1.0]).is_some());
    }
}
