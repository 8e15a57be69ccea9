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

use crate::linalg::{Cholesky, Matrix, dot};
use crate::maximize::maximize_in_box;
use crate::model::{Embedded, Family, Scale};
use crate::warp::Warp;

/// log N(r; 0, K + S) with what it takes to differentiate it.
pub struct Evidence {
    /// The log marginal likelihood.
    pub value: f64,
    /// (K+S)⁻¹ r.
    pub alpha: Vec<f64>,
    /// The factor of K + S.
    pub factor: Cholesky,
}

impl Evidence {
    /// `None` if K + S is not positive definite to working precision.
    pub fn new(gram: &Matrix, noise_var: &[f64], r: &[f64]) -> Option<Self> {
        let mut k = gram.clone();
        noise_var.iter().enumerate().for_each(|(i, s2)| k[(i, i)] += s2);
        let factor = Cholesky::new(&k)?;
        let alpha = factor.solve(r);
        let value = -0.5 * (dot(r, &alpha) + factor.log_det() + r.len() as f64 * (2.0 * PI).ln());
        value.is_finite().then_some(Self { value, alpha, factor })
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
    /// Points. (t, d_x)
    pub x: Matrix,
    /// Standardised observations. (t)
    pub y: Vec<f64>,
    /// Variance of each observation's noise where it is known, on the standardised scale; else 0. (t)
    pub known_noise_var: Vec<f64>,
}

/// What is learnt besides a family's own scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// The family's log scales.
    pub log_scales: Vec<f64>,
    /// Standard deviation of what the family leaves unexplained: noise and misfit, standardised.
    pub noise_std: f64,
    /// The warp of y.
    pub warp: Warp,
}

/// Hyper-prior of log noise: s around 0.15 of the spread of y, within a factor of e.
const NOISE: Scale = Scale { mean: -1.897, std: 1.0 };

/// Which of the things besides the family's scales are learnt, and how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learning {
    /// Hyper-prior of the warp's power around 1; `None` leaves y as it is.
    pub warp_std: Option<f64>,
    /// Quasi-Newton steps.
    pub max_steps: usize,
}

impl Learnt {
    /// What is believed before any data: the centres of the hyper-priors, and no warp.
    pub fn prior(family: &dyn Family) -> Self {
        let log_scales = family.scales().iter().map(|scale| scale.mean).collect();
        Self { log_scales, noise_std: NOISE.mean.exp(), warp: Warp::IDENTITY }
    }
}

/// A family linearised at weights w: f_x(w') ≈ f_x(w) + ∇f_x(w)·(w' − w).
#[derive(Debug, Clone)]
pub struct Linearization {
    /// Where. (d_w)
    pub w: Vec<f64>,
    /// ∇f_{x_i}(w)·(w − prior mean) − f_{x_i}(w): added to y_i it is the residual about the prior mean. (t)
    offsets: Vec<f64>,
}

impl Linearization {
    /// At `w`, for the points in the rows of `x`.
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

/// The scales, noise and warp that maximise evidence plus hyper-priors, and that maximum. The family is left at
/// these scales. `None` if the evidence can be computed nowhere near.
pub fn learn(
    family: &mut dyn Family,
    data: &Data,
    at: &Linearization,
    start: Option<&Learnt>,
    learning: Learning,
) -> Option<(Learnt, f64)> {
    let scales = hyper_priors(family, learning);
    let n_family = scales.len() - 2;
    let start: Vec<f64> = match start {
        Some(learnt) => pack(learnt),
        None => scales.iter().map(|scale| scale.mean).collect(),
    };
    let reach = |sign: f64| scales.iter().map(|s| s.mean + sign * 4.0 * s.std).collect::<Vec<f64>>();
    let maximum = maximize_in_box(
        |theta, gradient| log_posterior(family, data, at, &scales, theta, gradient).unwrap_or(f64::NAN),
        &start,
        &reach(-1.0),
        &reach(1.0),
        learning.max_steps,
    );
    let learnt = Learnt {
        log_scales: maximum.x[..n_family].to_vec(),
        noise_std: maximum.x[n_family].exp(),
        warp: Warp { power: maximum.x[n_family + 1] },
    };
    family.set_scales(&learnt.log_scales);
    maximum.value.is_finite().then_some((learnt, maximum.value))
}

/// Residuals about the prior mean, under the warp.
pub fn residuals(data: &Data, at: &Linearization, warp: Warp) -> Vec<f64> {
    let mut r: Vec<f64> = data.y.iter().map(|&y| warp.apply(y)).collect();
    r.iter_mut().zip(&at.offsets).for_each(|(r, offset)| *r += offset);
    r
}

/// Noise variances: what is learnt plus what is known.
pub fn noise_variances(data: &Data, noise_std: f64) -> Vec<f64> {
    data.known_noise_var.iter().map(|known| known + noise_std * noise_std).collect()
}

fn hyper_priors(family: &dyn Family, learning: Learning) -> Vec<Scale> {
    let mut scales = family.scales();
    scales.push(NOISE);
    scales.push(Scale { mean: 1.0, std: learning.warp_std.unwrap_or(0.0) });
    scales
}

fn pack(learnt: &Learnt) -> Vec<f64> {
    let mut theta = learnt.log_scales.clone();
    theta.extend([learnt.noise_std.ln(), learnt.warp.power]);
    theta
}

/// Evidence plus hyper-priors at theta = (family's log scales, log noise, power of the warp), with its gradient.
fn log_posterior(
    family: &mut dyn Family,
    data: &Data,
    at: &Linearization,
    scales: &[Scale],
    theta: &[f64],
    gradient: &mut [f64],
) -> Option<f64> {
    let n_family = scales.len() - 2;
    let (noise_std, warp) = (theta[n_family].exp(), Warp { power: theta[n_family + 1] });
    family.set_scales(&theta[..n_family]);
    let points = Embedded::new(family, &at.w, data.x.clone());
    let gram = family.gram(&points, &points);
    let evidence = Evidence::new(&gram, &noise_variances(data, noise_std), &residuals(data, at, warp))?;
    let m = evidence.grad_gram();
    family.gram_grad_scales(&points, &m, &mut gradient[..n_family]);
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
            let z = (theta - scale.mean) / scale.std;
            value -= 0.5 * z * z;
            *slope -= z / scale.std;
        }
    }
    Some(value)
}
