//! The factor of a symmetric positive definite matrix that may grow.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Llt;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Par, Side};

use super::{Matrix, THICK, THIN, add_scaled, dot, vectorized};

/// L with A = L Lᵀ, for a symmetric positive definite A that may grow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cholesky {
    /// Row i holds i + 1 entries, packed one row after the other: appending a row moves nothing.
    packed: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Factors a symmetric matrix (only its lower triangle is read); `None` if it is not positive definite.
    pub fn new(a: &Matrix) -> Option<Self> {
        let factor = Llt::new(a.as_faer(), Side::Lower).ok()?;
        let l = factor.L();
        let size = a.rows();
        let mut packed = Vec::with_capacity(size * (size + 1) / 2);
        for i in 0..size {
            packed.extend((0..=i).map(|j| l[(i, j)]));
        }
        packed.iter().all(|entry| entry.is_finite()).then_some(Self { packed, size })
    }

    /// The factor of `scale`² I.
    pub fn scaled_identity(size: usize, scale: f64) -> Self {
        let mut factor = Self::default();
        for i in 0..size {
            factor.packed.extend(std::iter::repeat_n(0.0, i));
            factor.packed.push(scale);
        }
        factor.size = size;
        factor
    }

    /// Number of rows of A.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Row i of L, up to the diagonal.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        let start = i * (i + 1) / 2;
        &self.packed[start..=start + i]
    }

    /// log det A.
    pub fn log_det(&self) -> f64 {
        (0..self.size).map(|i| 2.0 * self.row(i)[i].ln()).sum()
    }

    /// Solves L z = b in place.
    pub fn solve_lower(&self, b: &mut [f64]) {
        #[inline(always)]
        fn kernel((l, b): (&Cholesky, &mut [f64])) {
            for i in 0..l.size {
                let row = l.row(i);
                b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
            }
        }
        vectorized(kernel, (self, b));
    }

    /// Solves Lᵀ z = b in place.
    pub fn solve_upper(&self, b: &mut [f64]) {
        #[inline(always)]
        fn kernel((l, b): (&Cholesky, &mut [f64])) {
            for i in (0..l.size).rev() {
                let row = l.row(i);
                b[i] /= row[i];
                let value = b[i];
                add_scaled(-value, &row[..i], &mut b[..i]);
            }
        }
        vectorized(kernel, (self, b));
    }

    /// Solves A z = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut z = b.to_vec();
        self.solve_lower(&mut z);
        self.solve_upper(&mut z);
        z
    }

    /// Solves L Z = B for all columns of B at once.
    pub fn solve_lower_many(&self, mut b: Matrix) -> Matrix {
        let l = self.dense();
        solve_lower_triangular_in_place(l.as_faer(), b.as_faer_mut(), Par::Seq);
        b
    }

    /// Solves L z = b for each row b of B, and replaces it by z.
    pub fn solve_lower_rows(&self, mut b: Matrix) -> Matrix {
        let l = self.dense();
        solve_lower_triangular_in_place(l.as_faer(), b.as_faer_mut().transpose_mut(), Par::Seq);
        b
    }

    /// A⁻¹ = L⁻ᵀ L⁻¹, in a third of the work of solving for each column of the identity.
    pub fn inverse(&self) -> Matrix {
        let (n, l) = (self.size, self.dense());
        let mut u = Matrix::from_fn(n, n, |i, j| f64::from(i == j)); // L⁻ᵀ in the end
        u.each_panel(THICK, n / 3, |Range { start, end: _ }, panel| {
            let l = l.as_faer().submatrix(start, start, n - start, n - start);
            solve_lower_triangular_in_place(l, panel.subcols_mut(start, n - start).transpose_mut(), Par::Seq);
        });
        let u = u.as_faer();
        let mut inverse = Matrix::zeros(n, n);
        inverse.each_panel(THIN, n / 3, |Range { start, end }, panel| {
            let (left, right) =
                (u.submatrix(start, start, end - start, n - start), u.submatrix(0, start, end, n - start));
            matmul(panel.subcols_mut(0, end), Accum::Replace, left, right.transpose(), 1.0, Par::Seq);
        });
        for i in 0..n {
            for j in 0..i {
                inverse[(j, i)] = inverse[(i, j)];
            }
        }
        inverse
    }

    /// Grows A by one row and column: `row` left of the diagonal, then `diagonal`.
    /// False, and nothing changed, if A would no longer be positive definite.
    pub fn append(&mut self, row: &[f64], diagonal: f64) -> bool {
        let mut z = row.to_vec();
        self.solve_lower(&mut z);
        let rest = diagonal - dot(&z, &z);
        if !(rest > 0.0 && rest.is_finite()) {
            return false;
        }
        self.packed.extend_from_slice(&z);
        self.packed.push(rest.sqrt());
        self.size += 1;
        true
    }

    /// Replaces A by A + v vᵀ.
    pub fn rank_one_update(&mut self, v: &[f64]) {
        // Column by column Givens rotations would stride through the packed rows; row by row the
        // rotations found so far are applied to each row before its own is made.
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(self.size);
        for (i, &v_i) in v.iter().enumerate() {
            let start = i * (i + 1) / 2;
            let (left, diagonal) = self.packed[start..=start + i].split_at_mut(i);
            let mut carried = v_i;
            for (entry, &(cosine, sine)) in left.iter_mut().zip(&rotations) {
                let rotated = cosine * *entry + sine * carried;
                carried = cosine * carried - sine * *entry;
                *entry = rotated;
            }
            let length = diagonal[0].hypot(carried);
            rotations.push((diagonal[0] / length, carried / length));
            diagonal[0] = length;
        }
    }

    fn dense(&self) -> Matrix {
        let mut l = Matrix::zeros(self.size, self.size);
        for i in 0..self.size {
            l.row_mut(i)[..=i].copy_from_slice(self.row(i));
        }
        l
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::tests::close;

    fn positive_definite(size: usize, entries: &[f64]) -> Matrix {
        let g =
            Matrix::from_fn(size, size, |i, j| entries[(i * size + j) % entries.len()] + f64::from(i == j));
        let mut a = g.product_transposed(&g);
        (0..size).for_each(|i| a[(i, i)] += 0.5);
        a
    }

    proptest! {
        #[test]
        fn solving_undoes_multiplying(size in 1usize..12, entries in prop::collection::vec(-1.0..1.0f64, 40)) {
            let a = positive_definite(size, &entries);
            let factor = Cholesky::new(&a).expect("positive definite");
            let x = &entries[..size];
            prop_assert!(close(&factor.solve(&a.times(x)), x, 1e-8));
            let many = factor.solve_lower_rows(Matrix::from_rows(size, [x, &entries[20..20 + size]]));
            let mut one = entries[20..20 + size].to_vec();
            factor.solve_lower(&mut one);
            prop_assert!(close(many.row(1), &one, 1e-10));
            prop_assert!(close(factor.inverse().product(&a).data(), Matrix::from_fn(size, size, |i, j| f64::from(i == j)).data(), 1e-8));
        }

        #[test]
        fn a_rank_one_update_equals_refactoring(size in 1usize..12, entries in prop::collection::vec(-1.0..1.0f64, 40)) {
            let mut a = positive_definite(size, &entries);
            let v = &entries[20..20 + size];
            let mut factor = Cholesky::new(&a).expect("positive definite");
            factor.rank_one_update(v);
            for i in 0..size { for j in 0..size { a[(i, j)] += v[i] * v[j]; } }
            let fresh = Cholesky::new(&a).expect("positive definite");
            prop_assert!(close(&factor.packed, &fresh.packed, 1e-10));
            prop_assert!((factor.log_det() - fresh.log_det()).abs() < 1e-9);
        }

        #[test]
        fn appending_equals_refactoring(size in 2usize..12, entries in prop::collection::vec(-1.0..1.0f64, 40)) {
            let a = positive_definite(size, &entries);
            let mut factor = Cholesky::default();
            for i in 0..size {
                prop_assert!(factor.append(&a.row(i)[..i], a[(i, i)]));
            }
            prop_assert!(close(&factor.packed, &Cholesky::new(&a).expect("positive definite").packed, 1e-10));
        }
    }

    #[test]
    fn an_inverse_that_threads_share_is_the_inverse() {
        let n = 3 * THICK + 7;
        let a = Matrix::from_fn(n, n, |i, j| (-(i.abs_diff(j) as f64)).exp() + 0.1 * f64::from(i == j));
        let inverse = Cholesky::new(&a).expect("positive definite").inverse();
        let identity = Matrix::from_fn(n, n, |i, j| f64::from(i == j));
        assert!(close(inverse.product(&a).data(), identity.data(), 1e-9));
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let a = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
        assert_eq!(Cholesky::new(&a), None);
        let mut factor = Cholesky::scaled_identity(1, 1.0);
        assert!(!factor.append(&[2.0], 1.0));
        assert_eq!(factor.size(), 1);
    }
}
