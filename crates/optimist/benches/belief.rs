//! From observations to the ball: evidence, and one more round in the dual and in the primal form.

mod common;

use divan::{Bencher, black_box};
use optimist::internal::confidence::{Confidence, Round};
use optimist::internal::evidence::{
    Data, Evidence, Linearization, NOISE, Settings, fit_hyperparameters, noise_variances, residuals,
};
use optimist::internal::linalg::Matrix;
use optimist::internal::model::Embedded;
use optimist::internal::warp::Warp;
use optimist::model::{Anova, Family};

fn main() {
    divan::main();
}

/// Rounds and dimension. The family has 311 weights for d = 20: dual at 72 rounds, primal at 1,000.
const CASES: [(usize, usize); 3] = [(72, 20), (256, 20), (72, 500)];

fn data(t: usize, d: usize) -> Data {
    let told = common::observations(t, d);
    let x = Matrix::from_fn(t, d, |i, j| 2.0 * told[i].x[j] - 1.0);
    let y = told.iter().filter_map(|told| told.value()).collect();
    Data { x, y, known_noise_var: vec![0.0; t] }
}

fn linearized(family: &dyn Family, data: &Data) -> Linearization {
    Linearization::new(family, &vec![0.0; family.n_weights()], &data.x)
}

/// One value of the evidence with its gradient; fitting scales takes about forty.
#[divan::bench(args = CASES)]
fn evidence_and_gradient(bencher: Bencher, (t, d): (usize, usize)) {
    let (mut family, data) = (Anova::new(d), data(t, d));
    let at = linearized(&family, &data);
    let scales: Vec<f64> = family.scales().iter().map(|scale| scale.mean).collect();
    let mut gradient = vec![0.0; scales.len()];
    let mut points = Embedded::new(&family, &at.w, data.x.clone());
    bencher.bench_local(|| {
        family.set_scales(black_box(&scales));
        points.update(&family, &at.w);
        let (noise, r) = (noise_variances(&data, 0.15), residuals(&data, &at, Warp::IDENTITY));
        let evidence = Evidence::new(family.gram(points.points(), points.points()), &noise, &r)
            .expect("noise is positive");
        family.gram_grad_scales(points.points(), &evidence.grad_gram(), &mut gradient);
        evidence.value
    });
}

/// Scales, noise and warp, as at every checkpoint.
#[divan::bench(args = CASES, sample_count = 10)]
fn fit_scales(bencher: Bencher, (t, d): (usize, usize)) {
    let data = data(t, d);
    let settings = Settings { warp_std: Some(0.3), noise: NOISE, max_steps: 30 };
    bencher.bench(|| {
        let mut family = Anova::new(d);
        let at = linearized(&family, &data);
        fit_hyperparameters(&mut family, &data, &at, None, settings)
    });
}

fn ball(t: usize, d: usize) -> (Confidence, Vec<f64>) {
    let (family, data) = (Box::new(Anova::new(d)), data(t + 1, d));
    let w = vec![0.0; family.n_weights()];
    let round = |i: usize| Round { w: &w, x: data.x.row(i), residual: data.y[i], noise_var: 0.02 };
    (Confidence::with_rounds(family, w.clone(), (0..t).map(round)), data.x.row(t).to_vec())
}

/// Σ_t and ŵ_t after one more round; copying the ball is not counted.
#[divan::bench(args = [(72, 20), (256, 20), (1000, 20), (1000, 100)], sample_count = 20)]
fn update(bencher: Bencher, (t, d): (usize, usize)) {
    let (ball, x) = ball(t, d);
    bencher.with_inputs(|| ball.clone()).bench_local_refs(|ball| {
        ball.update(Round { w: &[], x: &x, residual: 0.3, noise_var: 0.02 });
    });
}

/// All rounds at once.
#[divan::bench(args = [(72, 20), (1000, 20)], sample_count = 10)]
fn factor(bencher: Bencher, (t, d): (usize, usize)) {
    let (ball, _) = ball(t, d);
    bencher.with_inputs(|| ball.clone()).bench_local_refs(Confidence::refresh);
}
