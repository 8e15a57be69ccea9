//! Points with their embeddings: what the dual form and the fit of scales work with.
//!
//! Given: points in model coordinates, and a family that embeds them. Gives: matrices of both. Does not know: observations.

use super::Family;
use crate::linalg::{Matrix, View};

/// Points with their embeddings, one row per point in both matrices: what the dual form works with.
#[derive(Debug, Clone, Default)]
pub struct Embedded {
    /// The points, in model coordinates. (n, d_x)
    pub x: Matrix,
    /// The embeddings, which `Family::gram` works with: see [`Family::embed`]. (n, n_embedded)
    pub e: Matrix,
}

impl Embedded {
    /// Embeds the rows of `x` at the weights `w`.
    pub fn new(family: &dyn Family, w: &[f64], x: Matrix) -> Self {
        let mut e = Matrix::zeros(x.rows(), family.n_embedded());
        for i in 0..x.rows() {
            family.embed(w, x.row(i), e.row_mut(i));
        }
        Self { x, e }
    }

    /// Updates the embeddings after the family's scales have changed.
    pub fn update(&mut self, family: &dyn Family, w: &[f64]) {
        for (i, x) in self.x.iter_rows().enumerate() {
            family.embed_again(w, x, self.e.row_mut(i));
        }
    }

    /// All points, borrowed.
    pub fn points(&self) -> Points<'_> {
        Points { x: self.x.view(), e: self.e.view() }
    }

    /// Point `i`, borrowed.
    pub fn point(&self, i: usize) -> Point<'_> {
        Point { x: self.x.row(i), e: self.e.row(i) }
    }
}

/// Points with their embeddings, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    /// The points, in model coordinates. (n, d_x)
    pub x: View<'a>,
    /// Their embeddings: see [`Family::embed`]. (n, n_embedded)
    pub e: View<'a>,
}

/// One point with its embedding.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// The point, in model coordinates. (d_x)
    pub x: &'a [f64],
    /// The embedding: see [`Family::embed`]. (n_embedded)
    pub e: &'a [f64],
}
