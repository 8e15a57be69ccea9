//! The Gaussian process of the baselines: fit and predictions.

mod common;

use divan::Bencher;
use optimist::internal::baselines::gp::fit::{Spec, fit};
use optimist::internal::baselines::gp::likelihood::LogLikelihood;
use optimist::internal::baselines::gp::{Data, Gp, Hyper};
use optimist::internal::linalg::Matrix;

fn main() {
    divan::main();
}

const D: usize = 20;

fn data(t: usize) -> Data {
    let told = common::observations(t, D);
    let y = told.iter().filter_map(|told| told.value()).collect();
    Data { x: Matrix::from_fn(t, D, |i, j| told[i].x[j]), y, known_noise_var: vec![0.0; t] }
}

fn hyper() -> Hyper {
    let spec = Spec::botorch(D);
    Hyper {
        kernel: spec.kernel,
        lengthscales: vec![spec.lengthscale.start; D],
        signal_var: 1.0,
        noise_var: 0.01,
        mean: 0.0,
    }
}

/// A step of a fit.
#[divan::bench(args = [72, 500], sample_count = 10)]
fn likelihood_and_gradient(bencher: Bencher, t: usize) {
    let (hyper, data) = (hyper(), data(t));
    bencher.bench(|| LogLikelihood::new(&hyper, &data));
}

#[divan::bench(args = [72, 250], sample_count = 5)]
fn fit_all(bencher: Bencher, t: usize) {
    let (spec, data) = (Spec::botorch(D), data(t));
    bencher.bench(|| fit(&spec, &data));
}

/// A block of candidates.
#[divan::bench(args = [72, 500], sample_count = 10)]
fn predict_block(bencher: Bencher, t: usize) {
    let gp = Gp::new(hyper(), &data(t));
    let points = data(t + 512).x;
    let block = Matrix::from_fn(512, D, |i, j| points[(t + i, j)]);
    bencher.bench(|| gp.posteriors(&block));
}

/// A step of a climb.
#[divan::bench(args = [72, 500])]
fn predict_with_grad(bencher: Bencher, t: usize) {
    let gp = Gp::new(hyper(), &data(t));
    let (x, mut grad_mean, mut grad_var) = (vec![0.3; D], vec![0.0; D], vec![0.0; D]);
    bencher.bench_local(|| gp.posterior_with_grad(&x, &mut grad_mean, &mut grad_var));
}
