//! The workhorse: main effects as Chebyshev series, and products of pairs (linear in w).
//!
//! f_w(x) = w_0 + Σ_j Σ_k w_jk T_k(x_j) + Σ_{i<j} w_ij x_i x_j + w_q Σ_j a_j (T_2(x_j) + 1/3) on [-1, 1]^d_x, with
//! the prior w_0 ~ N(0, k_0²), w_jk ~ N(0, a_j² b_k²), w_ij ~ N(0, c² a_i² a_j²), w_q ~ N(0, q²): a_j says how much
//! coordinate j matters, b_k how rough main effects are, c how strongly coordinates interact, and q how much of their
//! curvature they share. All are learnt.
//!
//! The last term is one weight for the curvature of all coordinates. Boxes are drawn around good points more often
//! than not, and a bowl (or a dome) is one wherever its centre and however its axes lie: a handful of trials tells
//! whether the outskirts are good or bad, long before it tells so for each coordinate alone. It took an eighth off the
//! regret of rotated and shifted tasks and costs little where it is wrong (docs/results/log.md).
//!
//! An embedded point is its Chebyshev values T_k(x_j). Inner products use
//! Σ_{i<j} a_i² a_j² x_i x_j z_i z_j = ½ [(Σ_j a_j² x_j z_j)² − Σ_j a_j⁴ x_j² z_j²],
//! so no pair is ever visited: O(d_x) instead of O(d_x²).

use super::{Embedded, Family, Point, Scale};
use crate::linalg::{Matrix, add_scaled, dot};

/// Degree of the Chebyshev series unless a coordinate has fewer values than that.
pub const DEGREE: usize = 6;

/// Main effects and pairwise products; see the module's documentation.
#[derive(Debug, Clone)]
pub struct Anova {
    /// Degree of each coordinate's series; two values need degree one only.
    degrees: Vec<usize>,
    /// max of `degrees`: the width of a coordinate's block in an embedded point.
    max_degree: usize,
    interactions: bool,
    /// a_j, b_k, c, k_0, q of the module's documentation.
    importance: Vec<f64>,
    roughness: Vec<f64>,
    interaction: f64,
    offset: f64,
    bowl: f64,
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

    /// Prior variances a_j² b_k² in the layout of an embedded point; 0 beyond a coordinate's degree.
    fn main_variances(&self) -> Vec<f64> {
        let mut variances = vec![0.0; self.n_embedded()];
        for (j, block) in variances.chunks_mut(self.max_degree).enumerate() {
            for (variance, b) in block[..self.degrees[j]].iter_mut().zip(&self.roughness) {
                *variance = (self.importance[j] * b).powi(2);
            }
        }
        variances
    }

    /// Σ_j a_j (T_2(x_j) + 1/3) of an embedded point: how far out it is; zero on average over the cube.
    fn radius(&self, e: &[f64]) -> f64 {
        let blocks = e.chunks(self.max_degree).zip(self.degrees.iter().zip(&self.importance));
        blocks
            .filter(|(_, (degree, _))| **degree >= 2)
            .map(|(block, (_, a))| a * (block[1] + 1.0 / 3.0))
            .sum()
    }

    fn radii(&self, points: &Embedded) -> Vec<f64> {
        points.e.iter_rows().map(|e| self.radius(e)).collect()
    }

    /// a_j².
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

    fn scales(&self) -> Vec<Scale> {
        let d = self.degrees.len();
        // A standard deviation of 0.4 lies between one importance for all (better where coordinates are alike) and
        // free ones (better where they are not); see docs/results/log.md.
        let mut scales = vec![Scale { mean: -0.5 * (d as f64).ln(), std: 0.4 }; d];
        scales.extend((1..=self.max_degree).map(|k| Scale { mean: -(k as f64).ln(), std: 0.7 }));
        if self.interactions {
            scales.push(Scale { mean: -0.7, std: 1.0 });
        }
        scales.push(Scale { mean: 0.0, std: 0.5 });
        if self.is_curved() {
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
        self.degrees.len() * self.max_degree
    }

    fn embed(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        for (block, &x_j) in out.chunks_mut(self.max_degree).zip(x) {
            chebyshev(x_j, block);
        }
    }

    fn gram(&self, a: &Embedded, b: &Embedded) -> Matrix {
        let mut gram = scaled_columns(&a.e, &self.main_variances()).product_transposed(&b.e);
        let (radii_a, radii_b, q2) = (self.radii(a), self.radii(b), self.bowl.powi(2));
        for (i, r) in radii_a.iter().enumerate() {
            gram.row_mut(i)
                .iter_mut()
                .zip(&radii_b)
                .for_each(|(k, s)| *k += self.offset.powi(2) + q2 * r * s);
        }
        if self.interactions {
            let weights = self.importance_squared();
            let linear = scaled_columns(&a.x, &weights).product_transposed(&b.x);
            let squares =
                |x: &Matrix| Matrix::from_fn(x.rows(), x.cols(), |i, j| weights[j] * x[(i, j)].powi(2));
            let squares = squares(&a.x).product_transposed(&squares(&b.x));
            let half = 0.5 * self.interaction.powi(2);
            for ((k, l), q) in gram.data_mut().iter_mut().zip(linear.data()).zip(squares.data()) {
                *k += half * (l * l - q);
            }
        }
        gram
    }

    fn gram_row(&self, x: Point<'_>, points: &Embedded, out: &mut [f64]) {
        let weighted: Vec<f64> = self.main_variances().iter().zip(x.e).map(|(v, e)| v * e).collect();
        let radius = self.bowl.powi(2) * self.radius(x.e);
        for (k, row) in out.iter_mut().zip(points.e.iter_rows()) {
            *k = self.offset.powi(2) + dot(&weighted, row) + radius * self.radius(row);
        }
        if self.interactions {
            let linear: Vec<f64> = self.importance.iter().zip(x.x).map(|(a, x)| a * a * x).collect();
            let square: Vec<f64> = linear.iter().map(|l| l * l).collect();
            let half = 0.5 * self.interaction.powi(2);
            for (k, row) in out.iter_mut().zip(points.x.iter_rows()) {
                let q: f64 = square.iter().zip(row).map(|(s, z)| s * z * z).sum();
                *k += half * (dot(&linear, row).powi(2) - q);
            }
        }
    }

    fn gram_self(&self, x: Point<'_>) -> f64 {
        let main: f64 = self.main_variances().iter().zip(x.e).map(|(v, e)| v * e * e).sum();
        let mut total = self.offset.powi(2) + main + (self.bowl * self.radius(x.e)).powi(2);
        if self.interactions {
            let squares: Vec<f64> = self.importance.iter().zip(x.x).map(|(a, x)| (a * x).powi(2)).collect();
            let sum: f64 = squares.iter().sum();
            total += 0.5 * self.interaction.powi(2) * (sum * sum - dot(&squares, &squares));
        }
        total
    }

    fn gram_grad_scales(&self, points: &Embedded, m: &Matrix, out: &mut [f64]) {
        out.fill(0.0);
        let d = self.degrees.len();
        let (importance, rest) = out.split_at_mut(d);
        let (roughness, rest) = rest.split_at_mut(self.max_degree);
        let main = column_products(&points.e, &m.product(&points.e)); // Σ_st m_st T_k(x_sj) T_k(x_tj)
        for (index, (variance, product)) in self.main_variances().iter().zip(main).enumerate() {
            importance[index / self.max_degree] += 2.0 * variance * product;
            roughness[index % self.max_degree] += 2.0 * variance * product;
        }
        if self.interactions {
            let weights = self.importance_squared();
            let mut weighted = scaled_columns(&points.x, &weights).product_transposed(&points.x);
            let mut pairs = 0.0;
            for (l, m) in weighted.data_mut().iter_mut().zip(m.data()) {
                pairs += m * *l * *l;
                *l *= m;
            }
            let linear = column_products(&points.x, &weighted.product(&points.x));
            let squares = Matrix::from_fn(points.x.rows(), d, |i, j| points.x[(i, j)].powi(2));
            let squares = column_products(&squares, &m.product(&squares));
            let c2 = self.interaction.powi(2);
            for j in 0..d {
                importance[j] += 2.0 * c2 * (weights[j] * linear[j] - weights[j].powi(2) * squares[j]);
                pairs -= weights[j].powi(2) * squares[j];
            }
            rest[0] = c2 * pairs;
        }
        let offset_at = usize::from(self.interactions);
        rest[offset_at] = 2.0 * self.offset.powi(2) * m.data().iter().sum::<f64>();
        if !self.is_curved() {
            return;
        }
        let radii = self.radii(points);
        let weighted = m.times(&radii);
        let q2 = self.bowl.powi(2);
        rest[offset_at + 1] = 2.0 * q2 * dot(&radii, &weighted);
        for (row, weight) in points.e.iter_rows().zip(&weighted) {
            for (j, block) in row.chunks(self.max_degree).enumerate() {
                if self.degrees[j] >= 2 {
                    importance[j] += 2.0 * q2 * weight * self.importance[j] * (block[1] + 1.0 / 3.0);
                }
            }
        }
    }

    fn gram_grad_x(
        &self,
        _w: &[f64],
        x: Point<'_>,
        points: &Embedded,
        v: &[f64],
        v_self: f64,
        out: &mut [f64],
    ) {
        let far: f64 = points.e.iter_rows().zip(v).map(|(row, v)| v * self.radius(row)).sum();
        let pull = self.bowl.powi(2) * (far + v_self * self.radius(x.e));
        let mut main = points.e.transposed_times(v);
        add_scaled(v_self, x.e, &mut main);
        let mut slopes = vec![0.0; self.max_degree];
        for (j, block) in main.chunks(self.max_degree).enumerate() {
            let degree = self.degrees[j];
            chebyshev_slopes(x.x[j], &mut slopes[..degree]);
            let sum: f64 = (0..degree).map(|k| self.roughness[k].powi(2) * slopes[k] * block[k]).sum();
            out[j] = self.importance[j].powi(2) * sum;
            if degree >= 2 {
                out[j] += pull * self.importance[j] * slopes[1];
            }
        }
        if self.interactions {
            let weights = self.importance_squared();
            let scaled: Vec<f64> = weights.iter().zip(x.x).map(|(a2, x)| a2 * x).collect();
            let (mut linear, mut squares) = (vec![0.0; x.x.len()], vec![0.0; x.x.len()]);
            let mut add = |weight: f64, z: &[f64]| {
                add_scaled(weight * dot(&scaled, z), z, &mut linear);
                squares.iter_mut().zip(z).for_each(|(s, z)| *s += weight * z * z);
            };
            points.x.iter_rows().zip(v).for_each(|(row, &weight)| add(weight, row));
            add(v_self, x.x);
            let c2 = self.interaction.powi(2);
            for j in 0..out.len() {
                out[j] += c2 * weights[j] * (linear[j] - scaled[j] * squares[j]);
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

fn scaled_columns(a: &Matrix, factors: &[f64]) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] * factors[j])
}

/// Σ_i a_ij b_ij for each column j.
fn column_products(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let mut sums = vec![0.0; a.cols()];
    for (p, q) in a.iter_rows().zip(b.iter_rows()) {
        sums.iter_mut().zip(p.iter().zip(q)).for_each(|(sum, (p, q))| *sum += p * q);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::checks::check_family;

    #[test]
    fn gradients_and_inner_products_are_exact() {
        let with_levels = Anova::with_degrees(vec![6, 1, 3], true);
        let families =
            [Anova::new(3), Anova::linear(3), Anova::additive(2), Anova::quadratic(4), with_levels];
        for mut family in families {
            check_family(&mut family, 1);
        }
    }
}
