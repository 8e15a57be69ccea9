//! A sum of families: f = f⁽¹⁾ + f⁽²⁾ + …, each with its own weights and scales.
//!
//! Weights, scales and embeddings are those of the parts, one after the other; inner products add up.

use std::ops::Range;

use super::{Family, Point, Points, Scale};
use crate::linalg::{Matrix, add_scaled};
use crate::optimizer::Rng;

/// A sum of families; see the module.
pub struct Sum {
    parts: Vec<Part>,
}

/// One family, and its share of the sum's vectors.
struct Part {
    family: Box<dyn Family>,
    weights: Range<usize>,
    scales: Range<usize>,
    embedded: Range<usize>,
}

impl Sum {
    /// Adds up `families`.
    ///
    /// # Panics
    /// If there are none, or they differ in dimension.
    pub fn new(families: Vec<Box<dyn Family>>) -> Self {
        let d_x = families.first().expect("a sum has at least one family").dimension();
        let (mut weights, mut scales, mut embedded) = (0..0, 0..0, 0..0);
        let part = |family: Box<dyn Family>| {
            assert_eq!(family.dimension(), d_x, "families of a sum share their dimension");
            weights = weights.end..weights.end + family.n_weights();
            scales = scales.end..scales.end + family.scales().len();
            embedded = embedded.end..embedded.end + family.n_embedded();
            Part { family, weights: weights.clone(), scales: scales.clone(), embedded: embedded.clone() }
        };
        let parts = families.into_iter().map(part).collect();
        Self { parts }
    }

    /// The sum of what each part gives.
    fn add_grams(&self, gram: impl Fn(&Part) -> Matrix) -> Matrix {
        let add = |mut sum: Matrix, gram: Matrix| {
            add_scaled(1.0, gram.data(), sum.data_mut());
            sum
        };
        self.parts.iter().map(gram).reduce(add).expect("a sum has at least one family")
    }

    fn last(&self) -> &Part {
        self.parts.last().expect("a sum has at least one family")
    }
}

impl Part {
    fn point<'a>(&self, x: Point<'a>) -> Point<'a> {
        Point { x: x.x, e: &x.e[self.embedded.clone()] }
    }

    fn points<'a>(&self, points: Points<'a>) -> Points<'a> {
        Points { x: points.x, e: points.e.columns(self.embedded.clone()) }
    }
}

/// Sets `out` to the sum of what each part writes.
fn add_up(parts: &[Part], out: &mut [f64], mut write: impl FnMut(&Part, &mut [f64])) {
    let (first, others) = parts.split_first().expect("a sum has at least one family");
    write(first, out);
    let mut share = vec![0.0; out.len()];
    for part in others {
        write(part, &mut share);
        add_scaled(1.0, &share, out);
    }
}

impl Family for Sum {
    fn dimension(&self) -> usize {
        self.last().family.dimension()
    }

    fn n_weights(&self) -> usize {
        self.last().weights.end
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        self.parts.iter().map(|part| part.family.value(&w[part.weights.clone()], x)).sum()
    }

    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        for part in &self.parts {
            let weights = part.weights.clone();
            part.family.grad_w(&w[weights.clone()], x, &mut out[weights]);
        }
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        add_up(&self.parts, out, |part, out| part.family.grad_x(&w[part.weights.clone()], x, out));
    }

    fn grad_x_along(&self, w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        add_up(&self.parts, out, |part, out| {
            let weights = part.weights.clone();
            part.family.grad_x_along(&w[weights.clone()], &v[weights], x, out);
        });
    }

    fn is_linear(&self) -> bool {
        self.parts.iter().all(|part| part.family.is_linear())
    }

    fn start(&self, rng: &mut Rng) -> Vec<f64> {
        self.parts.iter().flat_map(|part| part.family.start(rng)).collect()
    }

    fn scales(&self) -> Vec<Scale> {
        self.parts.iter().flat_map(|part| part.family.scales()).collect()
    }

    fn set_scales(&mut self, log_scales: &[f64]) {
        for part in &mut self.parts {
            part.family.set_scales(&log_scales[part.scales.clone()]);
        }
    }

    fn prior_mean(&self, out: &mut [f64]) {
        for part in &self.parts {
            part.family.prior_mean(&mut out[part.weights.clone()]);
        }
    }

    fn prior_std(&self, out: &mut [f64]) {
        for part in &self.parts {
            part.family.prior_std(&mut out[part.weights.clone()]);
        }
    }

    fn n_embedded(&self) -> usize {
        self.last().embedded.end
    }

    fn embed(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        for part in &self.parts {
            part.family.embed(&w[part.weights.clone()], x, &mut out[part.embedded.clone()]);
        }
    }

    fn embed_again(&self, w: &[f64], x: &[f64], e: &mut [f64]) {
        for part in &self.parts {
            part.family.embed_again(&w[part.weights.clone()], x, &mut e[part.embedded.clone()]);
        }
    }

    fn gram(&self, a: Points<'_>, b: Points<'_>) -> Matrix {
        self.add_grams(|part| part.family.gram(part.points(a), part.points(b)))
    }

    fn gram_within(&self, points: Points<'_>) -> Matrix {
        self.add_grams(|part| part.family.gram_within(part.points(points)))
    }

    fn gram_row(&self, x: Point<'_>, points: Points<'_>, out: &mut [f64]) {
        add_up(&self.parts, out, |part, out| {
            part.family.gram_row(part.point(x), part.points(points), out);
        });
    }

    fn gram_self(&self, x: Point<'_>) -> f64 {
        self.parts.iter().map(|part| part.family.gram_self(part.point(x))).sum()
    }

    fn gram_grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        for part in &self.parts {
            part.family.gram_grad_scales(part.points(points), m, &mut out[part.scales.clone()]);
        }
    }

    fn gram_grad_x(
        &self,
        w: &[f64],
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        v_self: f64,
        out: &mut [f64],
    ) {
        add_up(&self.parts, out, |part, out| {
            let w = &w[part.weights.clone()];
            part.family.gram_grad_x(w, part.point(x), part.points(points), v, v_self, out);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::checks::check_family;
    use crate::model::{Activation, Mlp};
    use crate::model::{Anova, Fourier};

    fn two_fouriers() -> Sum {
        Sum::new(vec![Box::new(Fourier::new(3, 10, 1)), Box::new(Fourier::new(3, 6, 2))])
    }

    #[test]
    fn is_a_family() {
        check_family(&mut two_fouriers(), 0);
        check_family(&mut Sum::new(vec![Box::new(Fourier::new(2, 4, 3))]), 1);
        let not_linear = Mlp::new(3, &[4], Activation::Sigmoid);
        check_family(&mut Sum::new(vec![Box::new(Anova::new(3)), Box::new(not_linear)]), 3);
        check_family(&mut Sum::new(vec![Box::new(two_fouriers()), Box::new(Fourier::new(3, 4, 4))]), 2);
    }

    #[test]
    fn values_add_up() {
        let (a, b) = (Fourier::new(3, 10, 1), Fourier::new(3, 6, 2));
        let w: Vec<f64> = (0..16).map(|k| 0.1 * k as f64 - 0.7).collect();
        let x = [0.2, -0.4, 0.9];
        let sum = two_fouriers().value(&w, &x);
        assert_eq!(sum, a.value(&w[..10], &x) + b.value(&w[10..], &x));
    }

    #[test]
    #[should_panic(expected = "share their dimension")]
    fn families_of_different_dimension_do_not_add_up() {
        Sum::new(vec![Box::new(Fourier::new(3, 4, 0)), Box::new(Fourier::new(2, 4, 0))]);
    }
}
