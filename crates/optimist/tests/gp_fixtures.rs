//! The Gaussian process against BoTorch, on what `scripts/make-fixtures` wrote down.

use optimist::internal::baselines::gp::acquisition::Criterion;
use optimist::internal::baselines::gp::fit::Spec;
use optimist::internal::baselines::gp::likelihood::LogLikelihood;
use optimist::internal::baselines::gp::{Data, Gp, Hyper, Kernel};
use optimist::internal::linalg::Matrix;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    kernel: String,
    lengthscales: Vec<f64>,
    signal_var: f64,
    noise_var: f64,
    mean: f64,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    log_likelihood: f64,
    grad: Grad,
    queries: Vec<Vec<f64>>,
    posterior_mean: Vec<f64>,
    posterior_var: Vec<f64>,
    best: f64,
    beta: f64,
    log_ei: Vec<f64>,
    log_pi: Vec<f64>,
    ucb: Vec<f64>,
    default_lengthscale: f64,
    default_noise_var: f64,
}

/// Derivatives in the logs of the positive hyper-parameters, and in the mean.
#[derive(Deserialize)]
struct Grad {
    lengthscales: Vec<f64>,
    signal_var: f64,
    noise_var: f64,
    mean: f64,
}

impl Case {
    fn hyper(&self) -> Hyper {
        let kernel = match self.kernel.as_str() {
            "squared-exponential" => Kernel::SquaredExponential,
            "matern-5/2" => Kernel::Matern52,
            other => panic!("kernel {other}"),
        };
        let (signal_var, noise_var, mean) = (self.signal_var, self.noise_var, self.mean);
        Hyper { kernel, lengthscales: self.lengthscales.clone(), signal_var, noise_var, mean }
    }

    fn data(&self) -> Data {
        Data {
            x: Matrix::from_rows(self.lengthscales.len(), self.x.iter().map(Vec::as_slice)),
            y: self.y.clone(),
            known_noise_var: vec![0.0; self.y.len()],
        }
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("fixtures/gp.json")).expect("the fixtures are cases")
}

fn assert_close(what: &str, case: usize, ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "case {case}, {what}: {ours}, BoTorch {theirs}");
}

#[test]
fn there_are_thirty_cases_from_1_to_30_dimensions() {
    let dimensions: Vec<usize> = cases().iter().map(|case| case.lengthscales.len()).collect();
    assert!(dimensions.len() >= 30);
    assert_eq!((dimensions.iter().min(), dimensions.iter().max()), (Some(&1), Some(&30)));
}

#[test]
fn posteriors_are_those_of_botorch() {
    for (i, case) in cases().iter().enumerate() {
        let gp = Gp::new(case.hyper(), &case.data());
        for (j, x) in case.queries.iter().enumerate() {
            let posterior = gp.posterior(x);
            assert_close("mean", i, posterior.mean, case.posterior_mean[j]);
            assert_close("variance", i, posterior.var, case.posterior_var[j]);
        }
    }
}

#[test]
fn log_likelihoods_and_their_gradients_are_those_of_botorch() {
    for (i, case) in cases().iter().enumerate() {
        let ours = LogLikelihood::new(&case.hyper(), &case.data()).expect("positive definite");
        assert_close("log likelihood", i, ours.value, case.log_likelihood);
        assert_close("slope in signal", i, ours.grad_log_signal_var, case.grad.signal_var);
        assert_close("slope in noise", i, ours.grad_log_noise_var, case.grad.noise_var);
        assert_close("slope in mean", i, ours.grad_mean, case.grad.mean);
        for (ours, theirs) in ours.grad_log_lengthscales.iter().zip(&case.grad.lengthscales) {
            assert_close("slope in a lengthscale", i, *ours, *theirs);
        }
    }
}

#[test]
fn acquisition_functions_are_those_of_botorch() {
    for (i, case) in cases().iter().enumerate() {
        let gp = Gp::new(case.hyper(), &case.data());
        for (j, x) in case.queries.iter().enumerate() {
            let value = |criterion: Criterion| criterion.value(gp.posterior(x));
            assert_close("log-EI", i, value(Criterion::LogEi { best: case.best }), case.log_ei[j]);
            assert_close("log-PI", i, value(Criterion::LogPi { best: case.best }), case.log_pi[j]);
            assert_close("UCB", i, value(Criterion::Ucb { beta: case.beta }), case.ucb[j]);
        }
    }
}

#[test]
fn climbs_begin_at_the_hyper_parameters_that_botorch_begins_with() {
    for (i, case) in cases().iter().enumerate() {
        let spec = Spec::botorch(case.lengthscales.len());
        assert_close("lengthscale", i, spec.lengthscale.start, case.default_lengthscale);
        assert_close("noise", i, spec.noise_var.start, case.default_noise_var);
    }
}
