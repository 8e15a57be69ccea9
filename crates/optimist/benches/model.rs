//! Families: values, gradients, inner products and their gradients.

use divan::{Bencher, black_box};
use optimist::internal::linalg::Matrix;
use optimist::internal::model::Embedded;
use optimist::model::{Anova, Family, Fourier, Mlp};
use optimist::rng;
use rand::RngExt;

fn main() {
    divan::main();
}

/// Points that a block of candidates is compared with: those of a run of the paper.
const T: usize = 72;

/// A family, and its dimension.
const CASES: [(&str, usize); 5] =
    [("anova", 20), ("anova", 100), ("anova", 500), ("fourier", 20), ("mlp", 20)];

fn family((name, d_x): (&str, usize)) -> Box<dyn Family> {
    match name {
        "anova" => Box::new(Anova::new(d_x)),
        "fourier" => Box::new(Fourier::new(d_x, 128, 0)),
        _ => Box::new(Mlp::paper(d_x)),
    }
}

fn points(n: usize, d_x: usize) -> Matrix {
    let mut rng = rng(0, 0);
    Matrix::from_fn(n, d_x, |_, _| rng.random_range(-1.0..1.0))
}

fn weights(family: &dyn Family) -> Vec<f64> {
    family.start(&mut rng(1, 0))
}

#[divan::bench(args = CASES)]
fn value(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let (w, x) = (weights(&*family), points(1, case.1));
    bencher.bench(|| family.value(black_box(&w), x.row(0)));
}

#[divan::bench(args = CASES)]
fn grad_w(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let (w, x) = (weights(&*family), points(1, case.1));
    let mut out = vec![0.0; family.n_weights()];
    bencher.bench_local(|| family.grad_w(black_box(&w), x.row(0), &mut out));
}

#[divan::bench(args = CASES)]
fn grad_x(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let (w, x) = (weights(&*family), points(1, case.1));
    let mut out = vec![0.0; case.1];
    bencher.bench_local(|| family.grad_x(black_box(&w), x.row(0), &mut out));
}

/// What the dual form needs of each point.
#[divan::bench(args = CASES)]
fn embed(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let (w, x) = (weights(&*family), points(T, case.1));
    bencher.bench(|| Embedded::new(&*family, black_box(&w), x.clone()));
}

/// Inner products of the gradients of all pairs of points.
#[divan::bench(args = CASES)]
fn gram(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let points = Embedded::new(&*family, &weights(&*family), points(T, case.1));
    bencher.bench(|| family.gram(black_box(points.points()), points.points()));
}

/// What a step of fitting the scales needs besides.
#[divan::bench(args = CASES)]
fn gram_grad_scales(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let points = Embedded::new(&*family, &weights(&*family), points(T, case.1));
    let m = Matrix::from_fn(T, T, |i, j| 1.0 / (1.0 + i as f64 + j as f64));
    let mut out = vec![0.0; family.scales().len()];
    bencher.bench_local(|| family.gram_grad_scales(black_box(points.points()), &m, &mut out));
}

/// What a step of a climb needs in the dual form.
#[divan::bench(args = CASES)]
fn gram_grad_x(bencher: Bencher, case: (&str, usize)) {
    let family = family(case);
    let w = weights(&*family);
    let points = Embedded::new(&*family, &w, points(T, case.1));
    let (v, x) = (vec![1.0; T], points.point(0));
    let mut out = vec![0.0; case.1];
    bencher.bench_local(|| family.gram_grad_x(black_box(&w), x, points.points(), &v, 1.0, &mut out));
}
