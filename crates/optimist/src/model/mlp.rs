//! Multi-layer perceptrons; the paper's family is one hidden layer of 25 sigmoids (§6):
//! f_w(x) = b₂ + w₂·σ(W₁x + b₁).
//!
//! Weights lie layer by layer: the rows of W, one for each unit, then b. Prior: W ~ N(0, s²/fan-in) and
//! b ~ N(0, t²), with a scale s and a scale t for each layer, fitted by evidence.
//!
//! With one hidden layer inner products of gradients are structured. With a = σ(W₁x + b₁) the activations and
//! q = w₂∘σ'(W₁x + b₁),
//!     ⟨∇f_x, ∇f_z⟩ = t₂² + s₂²/h (a·a') + (q·q') (t₁² + s₁²/d_x (x·z)),
//! so an embedded point is (a, q), and a product costs O(h + d_x), not O(h d_x). Deeper networks go
//! through explicit gradients.

use std::ops::Range;

use serde::Deserialize;

use super::{Family, Point, Points, Scale};
use crate::linalg::{Matrix, add_scaled, dot};

/// What a hidden unit does with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// The logistic function 1/(1 + e^(−z)), the paper's choice.
    #[default]
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    fn value(self, z: f64) -> f64 {
        match self {
            // Safe for any z: e^(−z) overflows to infinity, whose inverse is 0.
            Self::Sigmoid => 1.0 / (1.0 + (-z).exp()),
            Self::Tanh => z.tanh(),
        }
    }

    /// The first derivative, as a function of the value.
    fn slope(self, a: f64) -> f64 {
        match self {
            Self::Sigmoid => a * (1.0 - a),
            Self::Tanh => 1.0 - a * a,
        }
    }

    /// The second derivative, as a function of the value.
    fn curvature(self, a: f64) -> f64 {
        match self {
            Self::Sigmoid => a * (1.0 - a) * (1.0 - 2.0 * a),
            Self::Tanh => -2.0 * a * (1.0 - a * a),
        }
    }

    /// Mean of the hyper-prior of log scales: units then bend without saturating on [-1, 1]^d_x, and f is of order one. A sigmoid
    /// needs twice the weights of a tanh on both sides, as σ(z) = ½(1 + tanh ½z).
    fn typical_scale(self) -> f64 {
        match self {
            Self::Sigmoid => 3.0,
            Self::Tanh => 1.5,
        }
    }
}

/// A multi-layer perceptron; see the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    /// Units of each layer: d_x inputs, the hidden ones, 1 output.
    widths: Vec<usize>,
    activation: Activation,
    /// s and t of each layer.
    scales: Vec<[f64; 2]>,
}

impl Mlp {
    /// One hidden layer for each entry of `hidden`, of that many units; a linear function if there is none.
    ///
    /// # Panics
    /// If a layer has no units.
    pub fn new(d_x: usize, hidden: &[usize], activation: Activation) -> Self {
        let widths: Vec<usize> = [&[d_x], hidden, &[1]].concat();
        assert!(!widths.contains(&0), "a layer has at least one unit, got {widths:?}");
        let mut family = Self { scales: vec![[1.0; 2]; widths.len() - 1], widths, activation };
        let log_scales: Vec<f64> = family.scales().iter().map(|scale| scale.mean).collect();
        family.set_scales(&log_scales);
        family
    }

    /// The paper's network: one hidden layer of 25 sigmoids.
    pub fn paper(d_x: usize) -> Self {
        Self::new(d_x, &[25], Activation::Sigmoid)
    }

    fn n_hidden_layers(&self) -> usize {
        self.widths.len() - 2
    }

    /// Splits weights, or anything of their shape, by layer.
    fn layers<'a>(&self, mut w: &'a [f64]) -> Vec<Layer<'a>> {
        let layer = |shape: &[usize]| {
            let (weights, rest) = w.split_at(shape[0] * shape[1]);
            let (biases, rest) = rest.split_at(shape[1]);
            w = rest;
            Layer { weights, biases }
        };
        self.widths.windows(2).map(layer).collect()
    }

    /// Splits weights by layer like `layers`, mutably: weights and biases of each.
    fn layers_mut<'a>(&self, mut w: &'a mut [f64]) -> Vec<(&'a mut [f64], &'a mut [f64])> {
        let layer = |shape: &[usize]| {
            let (weights, rest) = std::mem::take(&mut w).split_at_mut(shape[0] * shape[1]);
            let (biases, rest) = rest.split_at_mut(shape[1]);
            w = rest;
            (weights, biases)
        };
        self.widths.windows(2).map(layer).collect()
    }

    /// The input, then the activations of each hidden layer.
    fn forward(&self, layers: &[Layer<'_>], x: &[f64]) -> Vec<Vec<f64>> {
        let mut activations = vec![x.to_vec()];
        for layer in &layers[..self.n_hidden_layers()] {
            let mut a = layer.times(activations.last().expect("the input is there"));
            a.iter_mut().for_each(|z| *z = self.activation.value(*z));
            activations.push(a);
        }
        activations
    }

    /// ∂f/∂z for the inputs z of each layer's units, the output's (which is 1) last.
    fn backward(&self, layers: &[Layer<'_>], activations: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut deltas = vec![vec![1.0]];
        for (layer, a) in layers.iter().zip(activations).skip(1).rev() {
            let mut delta = layer.transposed_times(deltas.last().expect("the output is there"));
            for (delta, &a) in delta.iter_mut().zip(a) {
                *delta *= self.activation.slope(a);
            }
            deltas.push(delta);
        }
        deltas.reverse();
        deltas
    }

    /// The structured inner product, if there is one hidden layer.
    fn structure(&self) -> Option<Structure> {
        let &[d_x, h, _] = self.widths.as_slice() else {
            return None;
        };
        let [[s1, t1], [s2, t2]] = [self.scales[0], self.scales[1]];
        Some(Structure { h, variances: [s1 * s1 / d_x as f64, t1 * t1, s2 * s2 / h as f64, t2 * t2] })
    }
}

/// One layer's share of the weights.
struct Layer<'a> {
    /// One row of fan-in entries for each unit.
    weights: &'a [f64],
    biases: &'a [f64],
}

impl Layer<'_> {
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.weights.chunks_exact(self.weights.len() / self.biases.len())
    }

    /// W a + b, the inputs of the units.
    fn times(&self, a: &[f64]) -> Vec<f64> {
        self.rows().zip(self.biases).map(|(row, b)| dot(row, a) + b).collect()
    }

    /// Wᵀ delta, the gradient in the activations below.
    fn transposed_times(&self, delta: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.weights.len() / self.biases.len()];
        for (row, &delta) in self.rows().zip(delta) {
            add_scaled(delta, row, &mut out);
        }
        out
    }
}

impl Family for Mlp {
    fn dimension(&self) -> usize {
        self.widths[0]
    }

    fn n_weights(&self) -> usize {
        self.widths.windows(2).map(|shape| (shape[0] + 1) * shape[1]).sum()
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        let layers = self.layers(w);
        let activations = self.forward(&layers, x);
        layers[self.n_hidden_layers()].times(&activations[self.n_hidden_layers()])[0]
    }

    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let layers = self.layers(w);
        let activations = self.forward(&layers, x);
        let deltas = self.backward(&layers, &activations);
        let shares = self.layers_mut(out).into_iter();
        for ((weights, biases), (delta, a)) in shares.zip(deltas.iter().zip(&activations)) {
            for (row, delta) in weights.chunks_exact_mut(a.len()).zip(delta) {
                row.iter_mut().zip(a).for_each(|(out, a)| *out = delta * a);
            }
            biases.copy_from_slice(delta);
        }
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let layers = self.layers(w);
        let deltas = self.backward(&layers, &self.forward(&layers, x));
        out.copy_from_slice(&layers[0].transposed_times(&deltas[0]));
    }

    /// Pearlmutter's R-operator: forward and backward pass once more, differentiated as w moves along v.
    fn grad_x_along(&self, w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        let (layers, moves) = (self.layers(w), self.layers(v));
        let activations = self.forward(&layers, x);
        let deltas = self.backward(&layers, &activations);

        let mut moved_inputs = Vec::new(); // R z of each hidden layer
        let mut moved_a = vec![0.0; x.len()]; // R a of the layer below
        for (l, a) in activations.iter().enumerate().take(self.n_hidden_layers()) {
            let mut moved_z = moves[l].times(a);
            for (moved, row) in moved_z.iter_mut().zip(layers[l].rows()) {
                *moved += dot(row, &moved_a);
            }
            let slopes = activations[l + 1].iter().map(|&a| self.activation.slope(a));
            moved_a = slopes.zip(&moved_z).map(|(slope, moved)| slope * moved).collect();
            moved_inputs.push(moved_z);
        }

        let mut moved_delta = vec![0.0]; // R ∂f/∂z; the output's is 1 whatever w
        for l in (1..layers.len()).rev() {
            let grad_a = layers[l].transposed_times(&deltas[l]);
            let mut moved_grad_a = moves[l].transposed_times(&deltas[l]);
            add_scaled(1.0, &layers[l].transposed_times(&moved_delta), &mut moved_grad_a);
            moved_delta = (0..grad_a.len())
                .map(|k| {
                    let a = activations[l][k];
                    self.activation.curvature(a) * moved_inputs[l - 1][k] * grad_a[k]
                        + self.activation.slope(a) * moved_grad_a[k]
                })
                .collect();
        }
        out.copy_from_slice(&moves[0].transposed_times(&deltas[0]));
        add_scaled(1.0, &layers[0].transposed_times(&moved_delta), out);
    }

    fn is_linear(&self) -> bool {
        self.n_hidden_layers() == 0
    }

    /// For each layer log s, then log t: weights as large as the activation likes, biases half as large.
    fn scales(&self) -> Vec<Scale> {
        let typical = self.activation.typical_scale().ln();
        let weights = Scale { mean: typical, std: 0.7 };
        let biases = Scale { mean: typical - 2f64.ln(), std: 0.7 };
        [weights, biases].repeat(self.widths.len() - 1)
    }

    fn set_scales(&mut self, log_scales: &[f64]) {
        for (scales, log_scales) in self.scales.iter_mut().zip(log_scales.chunks_exact(2)) {
            *scales = [log_scales[0].exp(), log_scales[1].exp()];
        }
    }

    fn prior_std(&self, out: &mut [f64]) {
        let layers = self.layers_mut(out).into_iter();
        for (((weights, biases), fan_in), [s, t]) in layers.zip(&self.widths).zip(&self.scales) {
            weights.fill(s / (*fan_in as f64).sqrt());
            biases.fill(*t);
        }
    }

    fn n_embedded(&self) -> usize {
        self.structure().map_or(self.n_weights(), |structure| 2 * structure.h)
    }

    fn embed(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let layers = self.layers(w);
        let activations = self.forward(&layers, x);
        if let Some(structure) = self.structure() {
            let (a, q) = out.split_at_mut(structure.h);
            a.copy_from_slice(&activations[1]);
            for ((q, &a), w2) in q.iter_mut().zip(&*a).zip(layers[1].weights) {
                *q = w2 * self.activation.slope(a);
            }
            return;
        }
        let mut std = vec![0.0; self.n_weights()];
        self.prior_std(&mut std);
        self.grad_w(w, x, out);
        out.iter_mut().zip(std).for_each(|(g, s)| *g *= s);
    }

    fn embed_again(&self, w: &[f64], x: &[f64], e: &mut [f64]) {
        if self.structure().is_none() {
            self.embed(w, x, e);
        }
    }

    fn gram(&self, a: Points<'_>, b: Points<'_>) -> Matrix {
        let Some(structure) = self.structure() else {
            return a.e.product_transposed(b.e);
        };
        let products = structure.products(a, b);
        let mut gram = products.a;
        for ((k, qq), xx) in gram.data_mut().iter_mut().zip(products.q.data()).zip(products.x.data()) {
            *k = structure.inner(*k, *qq, *xx);
        }
        gram
    }

    fn gram_row(&self, x: Point<'_>, points: Points<'_>, out: &mut [f64]) {
        let Some(structure) = self.structure() else {
            return points.e.times_into(x.e, out);
        };
        let rows = points.x.iter_rows().zip(points.e.iter_rows());
        for (k, (z, e)) in out.iter_mut().zip(rows) {
            *k = structure.inner_of_points(x, Point { x: z, e });
        }
    }

    fn gram_self(&self, x: Point<'_>) -> f64 {
        match &self.structure() {
            Some(structure) => structure.inner_of_points(x, x),
            None => dot(x.e, x.e),
        }
    }

    fn gram_grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        if let Some(structure) = self.structure() {
            return structure.grad_scales(points, m, out);
        }
        // Σ_ij m_ij e_i·e_j = Σ_i (ME)_i·e_i, of which the weights that share a scale each have their share.
        let weighted = m.view().product(points.e);
        out.fill(0.0);
        for (weighted, e) in weighted.iter_rows().zip(points.e.iter_rows()) {
            let shares = self.layers(weighted).into_iter().zip(self.layers(e));
            for ((weighted, e), out) in shares.zip(out.chunks_exact_mut(2)) {
                out[0] += 2.0 * dot(weighted.weights, e.weights);
                out[1] += 2.0 * dot(weighted.biases, e.biases);
            }
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
        let layers = self.layers(w);
        let Some(structure) = self.structure() else {
            let mut along = points.e.transposed_times(v);
            add_scaled(v_self, x.e, &mut along);
            let mut std = vec![0.0; self.n_weights()];
            self.prior_std(&mut std);
            along.iter_mut().zip(std).for_each(|(a, s)| *a *= s);
            return self.grad_x_along(w, &along, x.x, out);
        };
        let (grad_a, grad_q) = structure.grad_embedded(x, points, v, v_self, out);
        let a = &x.e[..structure.h];
        for (k, row) in layers[0].rows().enumerate() {
            let through_a = grad_a[k] * self.activation.slope(a[k]);
            let through_q = grad_q[k] * layers[1].weights[k] * self.activation.curvature(a[k]);
            add_scaled(through_a + through_q, row, out);
        }
    }
}

/// The inner product of the module's documentation.
struct Structure {
    h: usize,
    /// s₁²/d_x, t₁², s₂²/h, t₂²: prior variances, in the order of the scales.
    variances: [f64; 4],
}

/// a·a', q·q' and x·z of all pairs of two sets of points.
struct Products {
    a: Matrix,
    q: Matrix,
    x: Matrix,
}

impl Structure {
    fn inner(&self, aa: f64, qq: f64, xx: f64) -> f64 {
        let [w1, b1, w2, b2] = self.variances;
        b2 + w2 * aa + qq * (b1 + w1 * xx)
    }

    fn inner_of_points(&self, x: Point<'_>, z: Point<'_>) -> f64 {
        let ((a, q), (a_z, q_z)) = (x.e.split_at(self.h), z.e.split_at(self.h));
        self.inner(dot(a, a_z), dot(q, q_z), dot(x.x, z.x))
    }

    fn products(&self, left: Points<'_>, right: Points<'_>) -> Products {
        let product = |columns: Range<usize>| {
            left.e.columns(columns.clone()).product_transposed(right.e.columns(columns))
        };
        let x = left.x.product_transposed(right.x);
        Products { a: product(0..self.h), q: product(self.h..2 * self.h), x }
    }

    fn grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        let products = self.products(points, points);
        let mut sums = [0.0; 4];
        let pairs = products.a.data().iter().zip(products.q.data()).zip(products.x.data());
        for (m, ((aa, qq), xx)) in m.data().iter().zip(pairs) {
            let m_qq = m * qq;
            sums[0] += m_qq * xx;
            sums[1] += m_qq;
            sums[2] += m * aa;
            sums[3] += m;
        }
        for ((out, sum), variance) in out.iter_mut().zip(sums).zip(self.variances) {
            *out = 2.0 * variance * sum;
        }
    }

    /// Gradients of Σ_i v_i ⟨x, x_i⟩ + ½ v_self ⟨x, x⟩ in a and in q, and in x itself into `out`.
    fn grad_embedded(
        &self,
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        v_self: f64,
        out: &mut [f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let [w1, b1, w2, _] = self.variances;
        let (mut grad_a, mut grad_q) = (vec![0.0; self.h], vec![0.0; self.h]);
        out.fill(0.0);
        let others = points.x.iter_rows().zip(points.e.iter_rows()).zip(v);
        for ((z, e), &v) in others.chain([((x.x, x.e), &v_self)]) {
            let (a, q) = e.split_at(self.h);
            add_scaled(v * w2, a, &mut grad_a);
            add_scaled(v * (b1 + w1 * dot(x.x, z)), q, &mut grad_q);
            add_scaled(v * w1 * dot(&x.e[self.h..], q), z, out);
        }
        (grad_a, grad_q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::checks::check_family;
    use crate::optimizer::rng;

    #[test]
    fn is_a_family() {
        for activation in [Activation::Sigmoid, Activation::Tanh] {
            for (d_x, hidden) in [(3, &[5][..]), (1, &[1]), (4, &[6, 5]), (2, &[4, 3, 4]), (3, &[])] {
                for seed in 0..3 {
                    check_family(&mut Mlp::new(d_x, hidden, activation), seed);
                }
            }
        }
        check_family(&mut Mlp::paper(20), 0);
    }

    #[test]
    fn the_papers_family_has_551_weights_and_f1_is_all_ones() {
        let family = Mlp::paper(20);
        assert_eq!(family.n_weights(), 551);
        let f1 = family.value(&[1.0; 551], &[5.0; 20]);
        assert!((f1 - 26.0).abs() < 1e-12, "f1 is 1 + 25 σ(1 + Σ x), which is 26 at its maximum: {f1}");
        assert_eq!(family.value(&[1.0; 551], &[-0.05; 20]), 13.5);
    }

    #[test]
    fn huge_weights_and_points_give_finite_values_and_gradients() {
        for activation in [Activation::Sigmoid, Activation::Tanh] {
            for hidden in [&[7][..], &[5, 4]] {
                let family = Mlp::new(3, hidden, activation);
                let mut rng = rng(0, 0);
                let w: Vec<f64> = family.start(&mut rng).iter().map(|w| w.signum() * 1e6).collect();
                let x = [1e6, -1e6, 1e6];
                let mut grad_w = vec![0.0; w.len()];
                let (mut grad_x, mut along) = ([0.0; 3], [0.0; 3]);
                family.grad_w(&w, &x, &mut grad_w);
                family.grad_x(&w, &x, &mut grad_x);
                family.grad_x_along(&w, &w, &x, &mut along);
                assert!(family.value(&w, &x).is_finite());
                assert!(grad_w.iter().chain(&grad_x).chain(&along).all(|g| g.is_finite()));
            }
        }
    }

    #[test]
    fn draws_from_the_prior_are_of_order_one() {
        for (activation, hidden) in
            [(Activation::Sigmoid, &[25][..]), (Activation::Tanh, &[25]), (Activation::Tanh, &[20, 20])]
        {
            let family = Mlp::new(20, hidden, activation);
            let mut rng = rng(3, 0);
            let mean_square =
                (0..200).map(|_| family.value(&family.start(&mut rng), &[0.5; 20]).powi(2)).sum::<f64>()
                    / 200.0;
            assert!((0.5..10.0).contains(&mean_square), "{activation:?} {hidden:?}: {mean_square}");
        }
    }
}
