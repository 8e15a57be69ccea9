//! The schedule of the paper's theorem: every number of its proofs, for T rounds with d_w weights.
//!
//! Given: what the theorem assumes. Gives: n, λ, β_t, every bound of the proofs, and the reasons why the theorem may not apply to a
//! run. Does not know: data, families, points.
//!
//! The paper states its schedule as Õ(…) only; here every constant is explicit. Where the text leaves a choice or has a slip, this
//! is what we chose; each choice keeps the theorem true:
//!
//! * n = ⌈√T⌉. Algorithm 1 counts rounds from 1, the proofs sum over i = 0..t−1, and there is no x_0. Here the ball
//!   of round t holds the t − 1 observations of the rounds before, and bounds are evaluated at t, as in the paper.
//! * ι = log(n max(C_g, C_h)²) + log(2/δ), the first term at least 1. The covering argument writes C_h for the
//!   Lipschitz constant, which is C_g. Pulling log(2/δ) out of d_w F² ι needs F ≥ 1, as Lemma B.1 does.
//! * ι' = log(1 + tC_g²/(d_w λ)) + (2/d_w) log(π²t²/(3δ)). The self-normalised bound has log(1/δ_t²); the proof, with
//!   δ_t = 3δ/(π²t²), drops that square.
//! * ι'' = 2 log(1 + tC_g²/(d_w λ)), the right side of the sum-of-squares lemma over d_w. That lemma bounds
//!   log(det Σ_{t−1}/det Σ_0) where its sum over i < t gives det Σ_t; the right side covers both.
//! * C' = 16 follows from Lemma B.1 with α = ½, C = 2C'/(1−c)² from the proof of the oracle guarantee. The theorem's
//!   condition on T is the guarantee's condition on n, squared: what it calls C there is C².
//! * λ = C_λ√T is solved for, as ι' and ι'' in C_λ depend on λ. It is at least C_g², so that u_t ≤ 1: the regret
//!   analysis sums ‖∇f‖² in Σ_t⁻¹ by a lemma about Σ_T⁻¹, which holds for u_t ≤ 1, by x ≤ 2 log(1+x). A family that is
//!   linear in w has C_h = 0, hence C_λ = 0, and λ = C_g².
//! * "σ² is at most F²/4" is no law for noise: where it fails, ι' in C_λ and C̃ is scaled by 4σ²/F².
//! * C̃ is the smaller root of the induction's quadratic inequality. (a+b+c)² ≤ 4(a²+b²+c²) is kept; 3 would do.

use std::f64::consts::PI;

use serde::Deserialize;

use super::{ABOVE_ZERO, ScheduleError, check};

/// What the theorem assumes about the objective and the family. The defaults are of order one and independent of either: they make
/// the formulas computable, not true.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// F ≥ 1: |f_x(w)| is at most this for all x and w. Default 1.
    pub range: f64,
    /// C_g: ‖∇f_x(w)‖ is at most this. Default 1.
    pub gradient: f64,
    /// C_h: ‖∇²f_x(w)‖ is at most this; 0 for a family that is linear in w. Default 1.
    pub curvature: f64,
    /// μ: near w*, the expected loss L(w) is at least μ/2 ‖w − w*‖². Default 1.
    pub strong_convexity: f64,
    /// σ: the noise is σ-sub-Gaussian. Default 0.01, as in the paper's experiments.
    pub noise_std: f64,
    /// δ: the probability that the theorem may fail with. Default 0.05.
    pub failure: f64,
    /// τ: away from w*, L(w) is at least τ/2 ‖w − w*‖^γ. Default 1.
    pub growth: f64,
    /// γ, between 0 and 2. Default 1.
    pub growth_power: f64,
    /// c ≤ ½: how far from w*, in the norm of ∇²L(w*), L is self-concordant. Default ½.
    pub concordance: f64,
    /// ζ: ‖∇²L(w*)‖ is at most this. Default 2C_g², which always is enough.
    pub loss_curvature: Option<f64>,
    /// C': after Phase I, L(ŵ_0) ≤ C' d_w F² ι/n. Default 16.
    pub oracle_factor: f64,
    /// C: after Phase I, ‖ŵ_0 − w*‖² ≤ C d_w F² ι/(μn). Default 2C'/(1−c)².
    pub distance_factor: Option<f64>,
    /// C̃: in Phase II, ‖ŵ_t − w*‖² ≤ C̃ d_w F² ι/(μn). Default: the least for which the induction goes through.
    pub drift_factor: Option<f64>,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            range: 1.0,
            gradient: 1.0,
            curvature: 1.0,
            strong_convexity: 1.0,
            noise_std: 0.01,
            failure: 0.05,
            growth: 1.0,
            growth_power: 1.0,
            concordance: 0.5,
            loss_curvature: None,
            oracle_factor: 16.0,
            distance_factor: None,
            drift_factor: None,
        }
    }
}

impl Constants {
    /// Checks what the paper assumes of each constant on its own.
    ///
    /// # Errors
    /// If a constant is not finite or out of its range.
    pub fn validate(&self) -> Result<(), ScheduleError> {
        const RANGE: &str =
            "it must be at least 1; a wider bound on |f| is still a bound, so use 1 if |f| is less";
        check("range", self.range, self.range >= 1.0, RANGE)?;
        check("gradient", self.gradient, self.gradient > 0.0, ABOVE_ZERO)?;
        check("curvature", self.curvature, self.curvature >= 0.0, "it must be finite and not negative")?;
        check("strong_convexity", self.strong_convexity, self.strong_convexity > 0.0, ABOVE_ZERO)?;
        check("noise_std", self.noise_std, self.noise_std >= 0.0, "it must be finite and not negative")?;
        let failure = self.failure > 0.0 && self.failure < 1.0;
        check("failure", self.failure, failure, "it is a probability and must lie between 0 and 1")?;
        check("growth", self.growth, self.growth > 0.0, ABOVE_ZERO)?;
        let growth_power = self.growth_power > 0.0 && self.growth_power < 2.0;
        check("growth_power", self.growth_power, growth_power, "it must lie between 0 and 2")?;
        let concordance = self.concordance > 0.0 && self.concordance <= 0.5;
        const CONCORDANCE: &str =
            "it must be above 0 and at most 0.5; what holds for more holds for 0.5, so use that";
        check("concordance", self.concordance, concordance, CONCORDANCE)?;
        check("oracle_factor", self.oracle_factor, self.oracle_factor > 0.0, ABOVE_ZERO)?;
        let optional = [
            ("loss_curvature", self.loss_curvature),
            ("distance_factor", self.distance_factor),
            ("drift_factor", self.drift_factor),
        ];
        for (name, value) in optional {
            let value = value.unwrap_or(1.0);
            check(
                name,
                value,
                value > 0.0,
                "it must be finite and above 0; leave it out to have it derived",
            )?;
        }
        Ok(())
    }

    /// ζ, given or derived.
    fn zeta(&self) -> f64 {
        self.loss_curvature.unwrap_or(2.0 * self.gradient * self.gradient)
    }

    /// C, given or derived.
    fn c(&self) -> f64 {
        self.distance_factor.unwrap_or(2.0 * self.oracle_factor / (1.0 - self.concordance).powi(2))
    }

    /// 4σ²/F², or 1 where that is larger.
    fn noise_ratio(&self) -> f64 {
        (4.0 * (self.noise_std / self.range).powi(2)).max(1.0)
    }
}

/// Every number of the paper's proofs, for T rounds with d_w weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    constants: Constants,
    horizon: usize,
    n_weights: usize,
    lambda: f64,
    c_tilde: f64,
}

impl Proof {
    /// The schedule for valid constants; see [`Constants::validate`].
    pub fn new(constants: Constants, horizon: usize, n_weights: usize) -> Self {
        let mut proof = Self { constants, horizon: horizon.max(1), n_weights, lambda: 0.0, c_tilde: 0.0 };
        proof.lambda = proof.solve_lambda();
        proof.c_tilde = proof.constants.drift_factor.unwrap_or(proof.quadratic().roots().0);
        proof
    }

    /// The constants that it was made with.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// d_w, the number of weights.
    pub fn n_weights(&self) -> usize {
        self.n_weights
    }

    /// n, the length of Phase I that the theorem takes: ⌈√T⌉.
    pub fn n(&self) -> usize {
        (self.horizon as f64).sqrt().ceil() as usize
    }

    /// λ = C_λ √T, and at least C_g².
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// C_λ (eq. c_lambda).
    pub fn c_lambda(&self) -> f64 {
        self.c_lambda_at(self.lambda)
    }

    /// C̃, given or derived.
    pub fn c_tilde(&self) -> f64 {
        self.c_tilde
    }

    /// ι, the logarithm of the oracle's guarantee.
    pub fn iota(&self) -> f64 {
        let lipschitz = self.constants.gradient.max(self.constants.curvature);
        (self.n() as f64 * lipschitz * lipschitz).ln().max(1.0) + (2.0 / self.constants.failure).ln()
    }

    /// ι', the logarithm of the noise.
    pub fn iota_noise(&self, t: usize) -> f64 {
        self.iota_noise_at(t, self.lambda)
    }

    /// ι'', the logarithm of the linearisation's error.
    pub fn iota_curvature(&self, t: usize) -> f64 {
        self.iota_curvature_at(t, self.lambda)
    }

    /// β_t: Step 3 of the proof that w* stays in Ball_t.
    pub fn beta_t(&self, t: usize) -> f64 {
        let Constants { range: f, curvature: c_h, strong_convexity: mu, noise_std, .. } = self.constants;
        let (n, d_w) = (self.n() as f64, self.n_weights as f64);
        let noise = 4.0 * d_w * noise_std * noise_std * self.iota_noise(t);
        let start = 4.0 * self.lambda * self.w_hat_0_error();
        let drift = self.c_tilde * c_h * d_w * f * f * self.iota() / (mu * n);
        noise + start + drift * drift * d_w * t as f64 * self.iota_curvature(t)
    }

    /// ‖ŵ_0 − w*‖² is at most this: C d_w F² ι/(μn).
    pub fn w_hat_0_error(&self) -> f64 {
        let Constants { range: f, strong_convexity: mu, .. } = self.constants;
        self.constants.c() * self.n_weights as f64 * f * f * self.iota() / (mu * self.n() as f64)
    }

    /// log det Σ_t − log det Σ_0 is at most this: d_w log(1 + tC_g²/(d_w λ)).
    pub fn log_det_bound(&self, t: usize) -> f64 {
        0.5 * self.n_weights as f64 * self.iota_curvature(t)
    }

    /// Σ_i ‖∇f_{x_i}(ŵ_i)‖² in Σ_t⁻¹ is at most this: 2 d_w log(1 + tC_g²/(d_w λ)).
    pub fn sum_of_squares_bound(&self, t: usize) -> f64 {
        self.n_weights as f64 * self.iota_curvature(t)
    }

    /// r_t is at most this: 2√β_t u_t + 2β_t C_h/λ.
    pub fn regret_bound(&self, t: usize, u_t: f64) -> f64 {
        let beta_t = self.beta_t(t);
        2.0 * beta_t.sqrt() * u_t + 2.0 * beta_t * self.constants.curvature / self.lambda
    }

    /// The regret of `explored` rounds of Phase I and t of Phase II is at most this:
    /// 2nF + √(16 t β_t d_w log(1 + tC_g²/(d_w λ)) + 8 t² β_t² C_h²/λ²).
    pub fn cumulative_regret_bound(&self, explored: usize, t: usize) -> f64 {
        let (beta_t, rounds) = (self.beta_t(t), t as f64);
        let curved = rounds * beta_t * self.constants.curvature / self.lambda;
        let squares = 16.0 * rounds * beta_t * self.log_det_bound(t) + 8.0 * curved * curved;
        2.0 * explored as f64 * self.constants.range + squares.sqrt()
    }

    /// The theorem holds for T above this: (C d_w F² ι max{μ^(γ/(2−γ))/τ^(2/(2−γ)), ζ/(μc²)})².
    pub fn horizon_needed(&self) -> f64 {
        let Constants { range: f, strong_convexity: mu, growth, growth_power: gamma, concordance: c, .. } =
            self.constants;
        let local = mu.powf(gamma / (2.0 - gamma)) / growth.powf(2.0 / (2.0 - gamma));
        let concordant = self.constants.zeta() / (mu * c * c);
        let n_needed =
            self.constants.c() * self.n_weights as f64 * f * f * self.iota() * local.max(concordant);
        n_needed * n_needed
    }

    /// What the theorem assumes and this horizon, these weights or these constants do not give. Algorithm 1 runs
    /// all the same, without its guarantee.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let (horizon, needed) = (self.horizon, self.horizon_needed());
        if horizon as f64 <= needed {
            warnings.push(Warning::ShortHorizon { horizon, needed });
        }
        let (strong_convexity, n_weights) = (self.constants.strong_convexity, self.n_weights);
        if strong_convexity >= n_weights as f64 {
            warnings.push(Warning::LargeStrongConvexity { strong_convexity, n_weights });
        }
        let (least, most) = self.quadratic().roots();
        if !(least..=most).contains(&self.c_tilde) {
            warnings.push(Warning::DriftFactor { drift_factor: self.c_tilde, least, most });
        }
        warnings
    }

    fn iota_noise_at(&self, t: usize, lambda: f64) -> f64 {
        let t_squared = (t.max(1) as f64).powi(2);
        let union = (PI * PI * t_squared / (3.0 * self.constants.failure)).ln();
        0.5 * self.iota_curvature_at(t, lambda) + 2.0 * union / self.n_weights as f64
    }

    fn iota_curvature_at(&self, t: usize, lambda: f64) -> f64 {
        let c_g = self.constants.gradient;
        2.0 * (t as f64 * c_g * c_g / (self.n_weights as f64 * lambda)).ln_1p()
    }

    fn c_lambda_at(&self, lambda: f64) -> f64 {
        let Constants { range: f, curvature: c_h, strong_convexity: mu, .. } = self.constants;
        let iota_noise = self.constants.noise_ratio() * self.iota_noise_at(self.horizon, lambda);
        let iota_curvature = self.iota_curvature_at(self.horizon, lambda);
        let scale = c_h * self.n_weights as f64 * f;
        let curved = self.constants.c() * scale * scale * self.iota() * iota_curvature / mu;
        4.0 * (scale * scale * iota_noise * iota_curvature + 16.0 * curved * curved).sqrt()
    }

    /// The λ that is C_λ√T: C_λ falls as λ grows, so there is one, and it is bracketed.
    fn solve_lambda(&self) -> f64 {
        let root = (self.horizon as f64).sqrt();
        let mut below = self.constants.gradient.powi(2);
        let mut above = root * self.c_lambda_at(below);
        if above <= below {
            return below;
        }
        while above / below > 1.0 + 1e-14 {
            let middle = below.sqrt() * above.sqrt();
            if middle <= below || middle >= above {
                break;
            }
            let side = if root * self.c_lambda_at(middle) > middle { &mut below } else { &mut above };
            *side = middle;
        }
        above
    }

    /// What C̃ must satisfy for ‖ŵ_i − w*‖² ≤ C̃ d_w F² ι/(μn) to carry over from round to round, up to T.
    fn quadratic(&self) -> Quadratic {
        let Constants { range: f, curvature: c_h, strong_convexity: mu, .. } = self.constants;
        let (n, iota) = (self.n() as f64, self.iota());
        let scale = c_h * self.n_weights as f64 * f * iota;
        let noise = self.constants.noise_ratio() * self.iota_noise(self.horizon);
        Quadratic {
            a: scale * scale * self.horizon as f64 * self.iota_curvature(self.horizon),
            b: self.lambda * mu * n * iota,
            c: mu * mu * n * n * noise + 4.0 * self.lambda * mu * n * self.constants.c() * iota,
        }
    }
}

/// The z with a z² − b z + c ≤ 0, for a ≥ 0 and b, c > 0.
struct Quadratic {
    a: f64,
    b: f64,
    c: f64,
}

impl Quadratic {
    /// The least and the largest such z. λ makes sure that there are some.
    fn roots(&self) -> (f64, f64) {
        let sum = self.b + (self.b * self.b - 4.0 * self.a * self.c).max(0.0).sqrt();
        (2.0 * self.c / sum, if self.a == 0.0 { f64::INFINITY } else { sum / (2.0 * self.a) })
    }
}

/// Why the theorem says nothing about a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Phase I, of √T rounds, cannot be trusted to get near w*.
    #[error("T must exceed {needed:.3e} for the theorem to hold; it is {horizon}")]
    ShortHorizon {
        /// T, the number of rounds of Phase II.
        horizon: usize,
        /// What it must exceed.
        needed: f64,
    },
    /// Assumption 3.3 has μ < d_w.
    #[error(
        "strong_convexity must be below the number of weights, {n_weights}, for the theorem to hold; \
         it is {strong_convexity}"
    )]
    LargeStrongConvexity {
        /// μ, as it was given.
        strong_convexity: f64,
        /// d_w, the number of weights.
        n_weights: usize,
    },
    /// C̃ was given, and the induction does not go through with it.
    #[error(
        "drift_factor must be from {least:.3e} to {most:.3e} for the theorem to hold; it is {drift_factor:.3e}"
    )]
    DriftFactor {
        /// C̃, as it was given.
        drift_factor: f64,
        /// The least that is feasible.
        least: f64,
        /// The largest that is feasible.
        most: f64,
    },
}

#[cfg(test)]
mod tests {
    use serde::de::value::{Error, MapDeserializer};

    use super::*;
    use crate::schedule::check_range;

    fn curved() -> Constants {
        Constants {
            range: 2.0,
            gradient: 1.5,
            curvature: 0.7,
            strong_convexity: 0.4,
            noise_std: 0.1,
            failure: 0.1,
            ..Constants::default()
        }
    }

    #[track_caller]
    fn assert_close(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-6, "got {got}, expected {expected}");
    }

    /// The expected numbers are from a transcription of the formulas in another language.
    #[test]
    fn the_proofs_numbers_are_those_of_a_second_transcription() {
        let proof = Proof::new(curved(), 100, 3);
        assert_eq!(proof.n(), 10);
        assert_close(proof.iota(), 6.109247582764365);
        assert_close(proof.lambda(), 28750.20864611091);
        assert_close(proof.beta_t(1), 269813311.74901897);
        assert_close(proof.beta_t(100), 539241746.8422711);
        assert_close(proof.horizon_needed(), 178312960370.64813);

        let noisy = Proof::new(Constants { noise_std: 3.0, ..curved() }, 100, 3);
        assert_close(noisy.lambda(), 28750.295372091445);
        let small = Constants { range: 1.0, oracle_factor: 0.01, ..curved() };
        let small = Proof::new(small, 100, 5);
        assert_close(small.c_tilde(), 0.5687394041966278);
        assert_close(small.beta_t(100), 1990.4987616919013);
    }

    #[test]
    fn lambda_solves_its_own_equation() {
        for (horizon, n_weights) in [(2, 1), (64, 3), (1000, 551)] {
            let proof = Proof::new(curved(), horizon, n_weights);
            assert_close(proof.lambda(), proof.c_lambda() * (horizon as f64).sqrt());
        }
    }

    #[test]
    fn a_linear_family_needs_no_more_than_the_squared_gradient() {
        let linear = Constants { curvature: 0.0, gradient: 3.0, ..curved() };
        let proof = Proof::new(linear, 100, 4);
        assert_eq!(proof.lambda(), 9.0);
        assert_eq!(proof.warnings().len(), 1, "the drift factor is feasible: {:?}", proof.warnings());
    }

    #[test]
    fn the_drift_factor_closes_the_induction() {
        let factors = [16.0, 1e-2, 1e-5];
        for (oracle_factor, horizon) in factors.into_iter().flat_map(|c| [(c, 10), (c, 1000)]) {
            let constants = Constants { oracle_factor, ..curved() };
            let proof = Proof::new(constants.clone(), horizon, 3);
            let (t, n, f, mu) = (horizon as f64, proof.n() as f64, constants.range, 0.4);
            let error = |factor: f64| factor * 3.0 * f * f * proof.iota() / (mu * n); // of ‖ŵ_i − w*‖²
            let noise = 3.0 * f * f * proof.iota_noise(horizon) / proof.lambda();
            let drift = (constants.curvature * error(proof.c_tilde())).powi(2)
                * 3.0
                * t
                * proof.iota_curvature(horizon)
                / proof.lambda();
            assert_close(noise + 4.0 * error(constants.c()) + drift, error(proof.c_tilde()));
        }
    }

    #[test]
    fn balls_never_shrink() {
        let proof = Proof::new(Constants { oracle_factor: 1e-4, ..curved() }, 50, 3);
        assert!((1..50).all(|t| proof.beta_t(t) < proof.beta_t(t + 1)));
    }

    #[test]
    fn a_short_horizon_is_a_warning_and_a_long_one_is_none() {
        let said = |constants: Constants, horizon| {
            let warnings = Proof::new(constants, horizon, 3).warnings();
            warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
        };
        assert_eq!(said(curved(), 100), ["T must exceed 1.783e11 for the theorem to hold; it is 100"]);
        let easy = Constants { oracle_factor: 1e-4, ..curved() };
        assert_eq!(said(easy.clone(), 100), Vec::<String>::new());
        let flat = Constants { strong_convexity: 3.0, ..easy.clone() };
        assert_eq!(
            said(flat, 100),
            ["strong_convexity must be below the number of weights, 3, for the theorem to hold; it is 3"]
        );
        let drifting = said(Constants { drift_factor: Some(1e9), ..easy }, 100);
        assert!(drifting[0].starts_with("drift_factor must be from "), "{drifting:?}");
    }

    #[test]
    fn wrong_settings_are_named_with_what_they_must_be() {
        let said = |constants: Constants| constants.validate().unwrap_err().to_string();
        assert_eq!(
            said(Constants { strong_convexity: 0.0, ..curved() }),
            "schedule setting `strong_convexity` is 0; it must be finite and above 0"
        );
        assert_eq!(
            said(Constants { range: 0.5, ..curved() }),
            "schedule setting `range` is 0.5; it must be at least 1; \
             a wider bound on |f| is still a bound, so use 1 if |f| is less"
        );
        assert!(said(Constants { failure: 1.0, ..curved() }).contains("`failure`"));
        assert!(said(Constants { curvature: f64::NAN, ..curved() }).contains("`curvature`"));
        assert!(said(Constants { drift_factor: Some(-1.0), ..curved() }).contains("`drift_factor`"));
        assert!(check_range(f64::INFINITY).is_err());
        assert_eq!(Constants::default().validate(), Ok(()));
    }

    #[test]
    fn constants_are_read_by_name_and_unknown_names_refused() {
        let read = |pairs: [(&'static str, f64); 2]| {
            Constants::deserialize(MapDeserializer::<_, Error>::new(pairs.into_iter()))
        };
        let constants = read([("range", 2.0), ("growth_power", 0.5)]).unwrap();
        assert_eq!(constants, Constants { range: 2.0, growth_power: 0.5, ..Constants::default() });
        assert!(
            read([("range", 2.0), ("grwth", 0.5)]).unwrap_err().to_string().contains("unknown field `grwth`")
        );
    }
}
