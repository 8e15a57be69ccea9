//! The workhorse: main effects as Chebyshev series, and products of pairs (linear in w).
//!
//! f_w(x) = w_0 + Σ_j Σ_k w_jk T_k(x_j) + Σ_{i<j} w_ij x_i x_j + w_q Σ_j a_j (T_2(x_j) + 1/3) on [-1, 1]^d_x, with
//! the prior w_0 ~ N(0, k_0²), w_jk ~ N(0, a_j² b_k²), w_ij ~ N(0, c² a_i² a_j²), w_q ~ N(0, q²): a_j says how much
//! coordinate j matters, b_k how rough main effects are, c how strongly coordinates interact, and q how much of their
//! curvature they share. All are fitted by evidence.
//!
//! The last term is one weight for the curvature of all coordinates. Boxes are drawn around good points more often than not, and a
//! bowl (or a dome) is one wherever its centre is and however its axes lie: a handful of trials shows whether the outskirts are
//! good or bad, long before it shows that for each coordinate alone. It took an eighth off the regret of rotated and shifted tasks
//! and costs little where it is wrong (docs/results/log.md).
//!
//! An embedded point is its Chebyshev values T_k(x_j). Inner products use
//! Σ_{i<j} a_i² a_j² x_i x_j z_i z_j = ½ [(Σ_j a_j² x_j z_j)² − Σ_j a_j⁴ x_j² z_j²],
//! so no pair is ever visited: O(d_x) instead of O(d_x²). As z_j² = ½ (1 + T_2(z_j)), all but the first square is linear
//! in the embedding of z, and so is the shared curvature: an inner product is a constant, one dot product with the
//! embedding and the square of one with z.

use std::f64::consts::FRAC_1_SQRT_2;

use super::{Family, Point, Points, Scale};
use crate::linalg::{Matrix, View, add_scaled, dot};

/// Degree of the Chebyshev series unless a coordinate has fewer values than that. No other is on record: roughness, which is learnt,
/// decides how much of it is used.
pub(super) const DEGREE: usize = 6;

/// Main effects and pairwise products; see the module's documentation.
#[derive(Debug, Clone)]
pub struct Anova {
    /// Degree of each coordinate's series; two values need degree one only.
    degrees: Vec<usize>,
    /// max of `degrees`.
    max_degree: usize,
    interactions: bool,
    /// a_j, b_k, c, k_0, q of the module's documentation.
    importance: Vec<f64>,
    roughness: Vec<f64>,
    interaction: f64,
    offset: f64,
    bowl: f64,
    /// Prior variances a_j² b_k² of main effects in the layout of an embedded point; 0 beyond a coordinate's degree.
    variances: Vec<f64>,
    /// a_j where a curved coordinate has T_2 in an embedded point, else 0.
    curvatures: Vec<f64>,
    /// Σ_j a_j / 3 over curved coordinates.
    radius_offset: f64,
}

impl Anova {
    /// Series of `DEGREE` in each coordinate, and all pairs.
    pub fn new(d_x: usize) -> Self {
        Self::with_degrees(vec![DEGREE; d_x], true)
    }

    /// f = w_0 + w·x.
    pub fn linear(d_x: usize) -> Self {
        Self::with_degrees(vec![1; d_x], false)
    }

    /// Series of `DEGREE`, no pairs.
    pub fn additive(d_x: usize) -> Self {
        Self::with_degrees(vec![DEGREE; d_x], false)
    }

    /// All polynomials of degree two.
    pub fn quadratic(d_x: usize) -> Self {
        Self::with_degrees(vec![2; d_x], true)
    }

    /// A series of its own degree (at least 1) for each coordinate, with or without pairs.
    pub fn with_degrees(degrees: Vec<usize>, interactions: bool) -> Self {
        let max_degree = degrees.iter().copied().max().unwrap_or(1);
        let mut family = Self {
            importance: vec![1.0; degrees.len()],
            roughness: vec![1.0; max_degree],
            interaction: 1.0,
            offset: 1.0,
            bowl: if max_degree >= 2 { 1.0 } else { 0.0 },
            variances: Vec::new(),
            curvatures: Vec::new(),
            radius_offset: 0.0,
            degrees,
            max_degree,
            interactions,
        };
        let means: Vec<f64> = family.scales().iter().map(|scale| scale.mean).collect();
        family.set_scales(&means);
        family
    }

    /// Whether any coordinate is curved at all; without, there is no weight for shared curvature.
    fn is_curved(&self) -> bool {
        self.max_degree >= 2
    }

    fn n_main(&self) -> usize {
        self.degrees.iter().sum()
    }

    /// Length of a coordinate's block in an embedded point: T_2 is always there, for the squares.
    fn width(&self) -> usize {
        self.max_degree.max(2)
    }

    /// The index of T_2(x_j) in an embedded point.
    fn second(&self, j: usize) -> usize {
        j * self.width() + 1
    }

    /// Σ_j a_j (T_2(x_j) + 1/3) of an embedded point: how far out it is; zero on average over the cube.
    fn radius(&self, e: &[f64]) -> f64 {
        dot(&self.curvatures, e) + self.radius_offset
    }

    /// Sets `main` and `linear` such that ⟨∇f_x, ∇f_z⟩ is constant + main·e(z) + (linear·z)² for every z, and returns
    /// the constant. Without interactions `linear` is left alone.
    fn inner_product_with(&self, x: Point<'_>, main: &mut [f64], linear: &mut [f64]) -> f64 {
        for (main, (variance, e)) in main.iter_mut().zip(self.variances.iter().zip(x.e)) {
            *main = variance * e;
        }
        let pull = self.bowl.powi(2) * self.radius(x.e);
        add_scaled(pull, &self.curvatures, main);
        let mut constant = self.offset.powi(2) + pull * self.radius_offset;
        if self.interactions {
            let strength = self.interaction * FRAC_1_SQRT_2;
            for (j, linear) in linear.iter_mut().enumerate() {
                *linear = strength * self.importance[j].powi(2) * x.x[j];
                let half_square = 0.5 * linear.powi(2);
                main[self.second(j)] -= half_square;
                constant -= half_square;
            }
        }
        constant
    }

    /// Inner products of all rows of `a` with all rows of `b`, or as many of them as `product` multiplies out.
    fn gram_by(&self, product: fn(View<'_>, View<'_>) -> Matrix, a: Points<'_>, b: Points<'_>) -> Matrix {
        let (n, d) = (a.x.rows(), self.degrees.len());
        let (mut main, mut linear) = (Matrix::zeros(n, self.n_embedded()), Matrix::zeros(n, d));
        let constants: Vec<f64> = (0..n)
            .map(|i| {
                let x = Point { x: a.x.row(i), e: a.e.row(i) };
                self.inner_product_with(x, main.row_mut(i), linear.row_mut(i))
            })
            .collect();
        let mut gram = product(main.view(), b.e);
        for (i, constant) in constants.into_iter().enumerate() {
            gram.row_mut(i).iter_mut().for_each(|k| *k += constant);
        }
        if self.interactions {
            let linear = product(linear.view(), b.x);
            gram.data_mut().iter_mut().zip(linear.data()).for_each(|(k, l)| *k += l * l);
        }
        gram
    }

    /// a_j² for each coordinate.
    fn importance_squared(&self) -> Vec<f64> {
        self.importance.iter().map(|a| a * a).collect()
    }

    /// Calls `visit(index, i, j)` for the weight of each pair i < j.
    fn each_pair(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let mut index = 1 + self.n_main();
        for j in 0..self.degrees.len() {
            for i in 0..j {
                visit(index, i, j);
                index += 1;
            }
        }
    }
}

impl Family for Anova {
    fn dimension(&self) -> usize {
        self.degrees.len()
    }

    fn n_weights(&self) -> usize {
        let d = self.degrees.len();
        1 + self.n_main()
            + usize::from(self.is_curved())
            + if self.interactions { d * d.saturating_sub(1) / 2 } else { 0 }
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        let mut gradient = vec![0.0; w.len()];
        self.grad_w(w, x, &mut gradient);
        dot(w, &gradient)
    }

    fn grad_w(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
        if self.is_curved() {
            let last = out.len() - 1;
            let curved =
                self.degrees.iter().zip(x).zip(&self.importance).filter(|((degree, _), _)| **degree >= 2);
            out[last] = curved.map(|((_, x), a)| a * (2.0 * x * x - 2.0 / 3.0)).sum();
        }
        let mut rest = &mut out[1..];
        for (&degree, &x_j) in self.degrees.iter().zip(x) {
            let (block, tail) = rest.split_at_mut(degree);
            chebyshev(x_j, block);
            rest = tail;
        }
        if self.interactions {
            self.each_pair(|index, i, j| out[index] = x[i] * x[j]);
        }
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let bowl = if self.is_curved() { w[w.len() - 1] } else { 0.0 };
        let mut rest = &w[1..];
        let mut slopes = vec![0.0; self.max_degree];
        for (j, &degree) in self.degrees.iter().enumerate() {
            let (block, tail) = rest.split_at(degree);
            chebyshev_slopes(x[j], &mut slopes[..degree]);
            out[j] = dot(block, &slopes[..degree]);
            if degree >= 2 {
                out[j] += bowl * self.importance[j] * 4.0 * x[j];
            }
            rest = tail;
        }
        if self.interactions {
            self.each_pair(|index, i, j| {
                out[i] += w[index] * x[j];
                out[j] += w[index] * x[i];
            });
        }
    }

    fn grad_x_along(&self, _w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        self.grad_x(v, x, out); // f is linear in w
    }

    fn start(&self, _rng: &mut crate::Rng) -> Vec<f64> {
        vec![0.0; self.n_weights()]
    }

    /// At the centres each coordinate has 1/d of the variance, higher degrees fall off as 1/k, and f varies as much as standardised
    /// y do. Chosen by hand or by a prototype. Numbers below are cumulative regret as a ratio to these values, on 29 tasks with 261
    /// pairs of runs (docs/results/log.md): nothing else is better by more than chance.
    fn scales(&self) -> Vec<Scale> {
        let d = self.degrees.len();
        // a_j: 0.4 lies between one importance for all (better where coordinates are alike) and free ones (better where
        // they are not). With 0.8 an early engine had 1.02 of the cumulative and 0.89 of the simple regret.
        let mut scales = vec![Scale { mean: -0.5 * (d as f64).ln(), std: 0.4 }; d];
        // b_k: twice the standard deviation, 0.989 ± 0.010. Falling off as k^-1.5, an early engine: 1.02.
        scales.extend((1..=self.max_degree).map(|k| Scale { mean: -(k as f64).ln(), std: 0.7 }));
        if self.interactions {
            // c: a mean of 0, 1.012 ± 0.010; half the standard deviation, 1.008 ± 0.007.
            scales.push(Scale { mean: -0.7, std: 1.0 });
        }
        // k_0: twice the standard deviation, 1.011 ± 0.009.
        scales.push(Scale { mean: 0.0, std: 0.5 });
        if self.is_curved() {
            // q: a mean of 0, 0.993 ± 0.010; the standard deviation was never varied.
            scales.push(Scale { mean: -1.2, std: 0.7 });
        }
        scales
    }

    fn set_scales(&mut self, log_scales: &[f64]) {
        let mut values = log_scales.iter().map(|log| log.exp());
        let mut fill = |target: &mut f64| {
            if let Some(value) = values.next() {
                *target = value;
            }
        };
        self.importance.iter_mut().for_each(&mut fill);
        self.roughness.iter_mut().for_each(&mut fill);
        if self.interactions {
            fill(&mut self.interaction);
        }
        fill(&mut self.offset);
        if self.max_degree >= 2 {
            fill(&mut self.bowl);
        }
        let mut variances = vec![0.0; self.n_embedded()];
        let mut curvatures = variances.clone();
        for (j, &degree) in self.degrees.iter().enumerate() {
            let block = &mut variances[j * self.width()..][..degree];
            for (variance, b) in block.iter_mut().zip(&self.roughness) {
                *variance = (self.importance[j] * b).powi(2);
            }
            if degree >= 2 {
                curvatures[self.second(j)] = self.importance[j];
            }
        }
        self.radius_offset = curvatures.iter().sum::<f64>() / 3.0;
        (self.variances, self.curvatures) = (variances, curvatures);
    }

    fn prior_std(&self, out: &mut [f64]) {
        out[0] = self.offset;
        if self.is_curved() {
            out[self.n_weights() - 1] = self.bowl;
        }
        let mut index = 1;
        for (&degree, a) in self.degrees.iter().zip(&self.importance) {
            for b in &self.roughness[..degree] {
                out[index] = a * b;
                index += 1;
            }
        }
        if self.interactions {
            self.each_pair(|index, i, j| {
                out[index] = self.interaction * self.importance[i] * self.importance[j]
            });
        }
    }

    fn n_embedded(&self) -> usize {
        self.degrees.len() * self.width()
    }

    fn embed(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        for (block, &x_j) in out.chunks_mut(self.width()).zip(x) {
            chebyshev(x_j, block);
        }
    }

    fn embed_again(&self, _w: &[f64], _x: &[f64], _e: &mut [f64]) {}

    fn gram(&self, a: Points<'_>, b: Points<'_>) -> Matrix {
        self.gram_by(|a, b| a.product_transposed(b), a, b)
    }

    fn gram_within(&self, points: Points<'_>) -> Matrix {
        self.gram_by(|a, b| a.product_transposed_lower(b), points, points)
    }

    fn gram_row(&self, x: Point<'_>, points: Points<'_>, out: &mut [f64]) {
        let (mut main, mut linear) = (vec![0.0; x.e.len()], vec![0.0; x.x.len()]);
        let constant = self.inner_product_with(x, &mut main, &mut linear);
        points.e.times_into(&main, out);
        out.iter_mut().for_each(|k| *k += constant);
        if self.interactions {
            let linear = points.x.times(&linear);
            out.iter_mut().zip(linear).for_each(|(k, l)| *k += l * l);
        }
    }

    fn gram_self(&self, x: Point<'_>) -> f64 {
        let main: f64 = self.variances.iter().zip(x.e).map(|(v, e)| v * e * e).sum();
        let mut total = self.offset.powi(2) + main + (self.bowl * self.radius(x.e)).powi(2);
        if self.interactions {
            let squares: Vec<f64> = self.importance.iter().zip(x.x).map(|(a, x)| (a * x).powi(2)).collect();
            let sum: f64 = squares.iter().sum();
            total += 0.5 * self.interaction.powi(2) * (sum * sum - dot(&squares, &squares));
        }
        total
    }

    fn gram_grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        out.fill(0.0);
        let (importance, rest) = out.split_at_mut(self.degrees.len());
        let (roughness, rest) = rest.split_at_mut(self.max_degree);
        let main = m.view().quadratic_forms(points.e); // Σ_st m_st T_k(x_sj) T_k(x_tj)
        for (j, &degree) in self.degrees.iter().enumerate() {
            for (k, roughness) in roughness[..degree].iter_mut().enumerate() {
                let slope = 2.0 * self.variances[j * self.width() + k] * main[j * self.width() + k];
                importance[j] += slope;
                *roughness += slope;
            }
        }
        let row_sums = m.times(&vec![1.0; m.cols()]);
        let total: f64 = row_sums.iter().sum();
        if self.interactions {
            let weights = self.importance_squared();
            let linear = scaled_columns(points.x, &weights).view().product_transposed(points.x);
            let mut weighted = linear.clone();
            weighted.data_mut().iter_mut().zip(m.data()).for_each(|(l, m)| *l *= m);
            let mut pairs = dot(weighted.data(), linear.data());
            let linear = weighted.view().quadratic_forms(points.x);
            let by_row = points.e.transposed_times(&row_sums);
            let c2 = self.interaction.powi(2);
            for (j, a2) in weights.into_iter().enumerate() {
                let second = self.second(j);
                let squares = 0.25 * (main[second] + 2.0 * by_row[second] + total); // Σ_st m_st x_sj² x_tj²
                importance[j] += 2.0 * c2 * a2 * (linear[j] - a2 * squares);
                pairs -= a2 * a2 * squares;
            }
            rest[0] = c2 * pairs;
        }
        let offset_at = usize::from(self.interactions);
        rest[offset_at] = 2.0 * self.offset.powi(2) * total;
        if !self.is_curved() {
            return;
        }
        let mut radii = points.e.times(&self.curvatures);
        radii.iter_mut().for_each(|radius| *radius += self.radius_offset);
        let weighted = m.times(&radii);
        let (by_radius, total) = (points.e.transposed_times(&weighted), weighted.iter().sum::<f64>());
        let q2 = self.bowl.powi(2);
        rest[offset_at + 1] = 2.0 * q2 * dot(&radii, &weighted);
        for (j, importance) in importance.iter_mut().enumerate() {
            let second = self.second(j);
            *importance += 2.0 * q2 * self.curvatures[second] * (by_radius[second] + total / 3.0);
        }
    }

    fn gram_grad_x(
        &self,
        _w: &[f64],
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        v_self: f64,
        out: &mut [f64],
    ) {
        let mut main = points.e.transposed_times(v);
        add_scaled(v_self, x.e, &mut main);
        let total = v.iter().sum::<f64>() + v_self;
        let pull = self.bowl.powi(2) * (dot(&self.curvatures, &main) + total * self.radius_offset);
        let width = self.width();
        let mut slopes = vec![0.0; width];
        for (j, out) in out.iter_mut().enumerate() {
            chebyshev_slopes(x.x[j], &mut slopes);
            let block = j * width..(j + 1) * width;
            let terms = slopes.iter().zip(&self.variances[block.clone()]).zip(&main[block]);
            let sum: f64 = terms.map(|((slope, variance), main)| variance * slope * main).sum();
            *out = sum + pull * self.curvatures[self.second(j)] * slopes[1];
        }
        if self.interactions {
            let weights = self.importance_squared();
            let scaled: Vec<f64> = weights.iter().zip(x.x).map(|(a2, x)| a2 * x).collect();
            let mut along = points.x.times(&scaled);
            along.iter_mut().zip(v).for_each(|(along, v)| *along *= v);
            let mut linear = points.x.transposed_times(&along);
            add_scaled(v_self * dot(&scaled, x.x), x.x, &mut linear);
            let c2 = self.interaction.powi(2);
            for (j, out) in out.iter_mut().enumerate() {
                let squares = 0.5 * (total + main[self.second(j)]);
                *out += c2 * weights[j] * (linear[j] - scaled[j] * squares);
            }
        }
    }
}

/// T_1(x), T_2(x), …
fn chebyshev(x: f64, out: &mut [f64]) {
    let (mut before, mut current) = (1.0, x);
    for value in out {
        *value = current;
        (before, current) = (current, 2.0 * x * current - before);
    }
}

/// T_1'(x), T_2'(x), …: T_k' = k U_{k-1}.
fn chebyshev_slopes(x: f64, out: &mut [f64]) {
    let (mut before, mut current) = (0.0, 1.0);
    for (k, slope) in out.iter_mut().enumerate() {
        *slope = (k + 1) as f64 * current;
        (before, current) = (current, 2.0 * x * current - before);
    }
}

fn scaled_columns(a: View<'_>, factors: &[f64]) -> Matrix {
    let mut scaled = Matrix::zeros(a.rows(), a.cols());
    for (i, row) in a.iter_rows().enumerate() {
        let terms = row.iter().zip(factors);
        scaled.row_mut(i).iter_mut().zip(terms).for_each(|(scaled, (a, factor))| *scaled = a * factor);
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::checks::check_family;

    #[test]
    fn gradients_and_inner_products_are_exact() {
        let with_levels = Anova::with_degrees(vec![6, 1, 3], true);
        let switches = Anova::with_degrees(vec![1; 3], true);
        let families =
            [Anova::new(3), Anova::linear(3), Anova::additive(2), Anova::quadratic(4), with_levels, switches];
        for mut family in families {
            check_family(&mut family, 1);
        }
    }
}
