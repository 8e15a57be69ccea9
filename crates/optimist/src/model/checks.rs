//! What every family must satisfy: exact gradients equal differences, structured inner products equal explicit sums. A family's own
//! tests begin with `check_family`.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::{Embedded, Family};
use crate::linalg::{Matrix, dot};
use crate::optimizer::{Rng, rng};

/// Panics, saying which, if a property fails at scales, weights and points drawn from `seed`.
pub(crate) fn check_family(family: &mut dyn Family, seed: u64) {
    let mut rng = rng(seed, 0);
    let log_scales = draw_scales(family, &mut rng);
    family.set_scales(&log_scales);
    let w = draw_weights(family, &mut rng);
    let points = draw_points(5, family.dimension(), &mut rng);

    for x in points.iter_rows() {
        check_gradients(family, &w, x, &mut rng);
    }
    check_gram(family, &w, &points);
    check_gram_grad_x(family, &w, &points, &mut rng);
    check_gram_grad_scales(family, &w, &points, &log_scales, &mut rng);
}

fn check_gradients(family: &dyn Family, w: &[f64], x: &[f64], rng: &mut Rng) {
    let mut grad_w = vec![0.0; w.len()];
    family.grad_w(w, x, &mut grad_w);
    assert_close("grad_w", &grad_w, &differences(w, |w| family.value(w, x)));
    if family.is_linear() {
        assert_close("value of a linear family", &[family.value(w, x)], &[dot(w, &grad_w)]);
    }

    let mut grad_x = vec![0.0; x.len()];
    family.grad_x(w, x, &mut grad_x);
    assert_close("grad_x", &grad_x, &differences(x, |x| family.value(w, x)));

    let v: Vec<f64> = w.iter().map(|_| StandardNormal.sample(rng)).collect();
    let slope = |x: &[f64]| {
        let mut grad_w = vec![0.0; w.len()];
        family.grad_w(w, x, &mut grad_w);
        dot(&v, &grad_w)
    };
    family.grad_x_along(w, &v, x, &mut grad_x);
    assert_close("grad_x_along", &grad_x, &differences(x, slope));
}

fn check_gram(family: &dyn Family, w: &[f64], points: &Matrix) {
    let mut std = vec![0.0; w.len()];
    family.prior_std(&mut std);
    let mut scaled = Matrix::zeros(points.rows(), w.len());
    for (i, x) in points.iter_rows().enumerate() {
        family.grad_w(w, x, scaled.row_mut(i));
        scaled.row_mut(i).iter_mut().zip(&std).for_each(|(g, s)| *g *= s);
    }
    let explicit = scaled.product_transposed(&scaled);
    let embedded = Embedded::new(family, w, points.clone());
    assert_close("gram", family.gram(embedded.points(), embedded.points()).data(), explicit.data());
    let within = family.gram_within(embedded.points());
    for i in 0..explicit.rows() {
        assert_close("gram_within", &within.row(i)[..=i], &explicit.row(i)[..=i]);
    }

    for i in 0..points.rows() {
        let x = embedded.point(i);
        let mut row = vec![0.0; points.rows()];
        family.gram_row(x, embedded.points(), &mut row);
        assert_close("gram_row", &row, explicit.row(i));
        assert_close("gram_self", &[family.gram_self(x)], &[explicit[(i, i)]]);
    }
}

fn check_gram_grad_x(family: &dyn Family, w: &[f64], points: &Matrix, rng: &mut Rng) {
    let embedded = Embedded::new(family, w, points.clone());
    let v: Vec<f64> = (0..points.rows()).map(|_| StandardNormal.sample(rng)).collect();
    let v_self: f64 = StandardNormal.sample(rng);
    let at = |x: &[f64]| Embedded::new(family, w, Matrix::from_rows(x.len(), [x]));
    let combination = |x: &[f64]| {
        let x = at(x);
        let products = family.gram(x.points(), embedded.points());
        dot(&v, products.row(0)) + 0.5 * v_self * family.gram(x.points(), x.points())[(0, 0)]
    };

    let x = at(draw_points(1, family.dimension(), rng).row(0));
    let mut grad_x = vec![f64::NAN; family.dimension()];
    family.gram_grad_x(w, x.point(0), embedded.points(), &v, v_self, &mut grad_x);
    assert_close("gram_grad_x", &grad_x, &differences(x.x.row(0), combination));
}

fn check_gram_grad_scales(
    family: &mut dyn Family,
    w: &[f64],
    points: &Matrix,
    log_scales: &[f64],
    rng: &mut Rng,
) {
    let n = points.rows();
    let mut m = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            m[(i, j)] = StandardNormal.sample(rng);
            m[(j, i)] = m[(i, j)];
        }
    }
    let mut grad = vec![f64::NAN; log_scales.len()];
    let embedded = Embedded::new(family, w, points.clone());
    family.gram_grad_scales(embedded.points(), &m, &mut grad);
    let mut updated = embedded.clone();
    let expected = differences(log_scales, |log_scales| {
        family.set_scales(log_scales);
        let embedded = Embedded::new(family, w, points.clone());
        updated.update(family, w);
        assert_eq!(updated.e, embedded.e, "an embedding that followed the scales is not one made at them");
        dot(m.data(), family.gram(embedded.points(), embedded.points()).data())
    });
    family.set_scales(log_scales);
    assert_close("gram_grad_scales", &grad, &expected);
}

fn draw_scales(family: &dyn Family, rng: &mut Rng) -> Vec<f64> {
    let draw = |scale: &super::Scale| {
        let z: f64 = StandardNormal.sample(rng);
        scale.mean + 0.7 * scale.std * z
    };
    family.scales().iter().map(draw).collect()
}

fn draw_weights(family: &dyn Family, rng: &mut Rng) -> Vec<f64> {
    let mut std = vec![0.0; family.n_weights()];
    let mut w = vec![0.0; family.n_weights()];
    family.prior_mean(&mut w);
    family.prior_std(&mut std);
    for (w, std) in w.iter_mut().zip(std) {
        let z: f64 = StandardNormal.sample(rng);
        *w += std * z;
    }
    w
}

fn draw_points(n: usize, d_x: usize, rng: &mut Rng) -> Matrix {
    Matrix::from_fn(n, d_x, |_, _| rng.random_range(-1.0..1.0))
}

/// Central differences of f, independent of the defaults of the trait.
fn differences(at: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let mut moved = at.to_vec();
    let mut slope = |i: usize| {
        moved[i] = at[i] + step;
        let up = f(&moved);
        moved[i] = at[i] - step;
        let down = f(&moved);
        moved[i] = at[i];
        (up - down) / (2.0 * step)
    };
    (0..at.len()).map(&mut slope).collect()
}

#[track_caller]
fn assert_close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what} has the wrong length");
    let largest = expected.iter().fold(0.0, |largest: f64, e| largest.max(e.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (got - expected).abs();
        assert!(
            error <= 1e-6 * largest + 1e-7,
            "{what}: entry {i} is {got}, differences or explicit sums give {expected}"
        );
    }
}

/// a exp(b x): a family with one gradient written and everything else left to the defaults.
struct Growth {
    /// A factor on the written gradient.
    fault: f64,
}

impl Family for Growth {
    fn dimension(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        2
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        w[0] * (w[1] * x[0]).exp()
    }

    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let growth = (w[1] * x[0]).exp();
        out.copy_from_slice(&[self.fault * growth, w[0] * x[0] * growth]);
    }
}

#[test]
fn the_defaults_of_the_trait_pass() {
    for seed in 0..5 {
        check_family(&mut Growth { fault: 1.0 }, seed);
    }
}

#[test]
#[should_panic(expected = "grad_w: entry 0")]
fn a_gradient_that_is_wrong_by_a_thousandth_is_caught() {
    check_family(&mut Growth { fault: 1.001 }, 0);
}
