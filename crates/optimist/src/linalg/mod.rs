//! Dense matrices and Cholesky factors; the only folder that calls the linear-algebra crate.

mod cholesky;

use std::ops::{Index, IndexMut, Range};

use faer::linalg::matmul::matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

pub use self::cholesky::Cholesky;

/// A dense matrix, one row after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// A matrix whose entry (i, j) is `f(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| f(i, j)));
        }
        Self { rows, cols, data }
    }

    /// A matrix of the given rows, all of length `cols`.
    pub fn from_rows<'a>(cols: usize, rows: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let mut matrix = Self { rows: 0, cols, data: Vec::new() };
        rows.into_iter().for_each(|row| matrix.push_row(row));
        matrix
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`, as a slice.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, mutable.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// All rows in order.
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.rows).map(|i| self.row(i))
    }

    /// Adds a row at the bottom.
    pub fn push_row(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.cols, "a row has as many entries as the matrix has columns");
        self.data.extend_from_slice(row);
        self.rows += 1;
    }

    /// All entries, row after row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row after row, mutable.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The matrix, borrowed.
    pub fn view(&self) -> View<'_> {
        View { data: &self.data, rows: self.rows, cols: self.cols, stride: self.cols }
    }

    /// The product A x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.view().times(x)
    }

    /// The product Aᵀ x.
    pub fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        self.view().transposed_times(x)
    }

    /// The product A B.
    pub fn product(&self, b: &Matrix) -> Matrix {
        self.view().product(b.view())
    }

    /// The product A Bᵀ.
    pub fn product_transposed(&self, b: &Matrix) -> Matrix {
        self.view().product_transposed(b.view())
    }

    /// The lower triangle of Aᵀ A with its diagonal; entries above it are meaningless.
    pub fn transposed_product_lower(&self) -> Matrix {
        multiply_lower(self.as_faer().transpose(), self.as_faer())
    }

    /// Fills panels of `rows` rows, in parallel if `per_entry` multiplications for each entry add up to a lot of work. The panels
    /// are the same either way.
    fn each_panel(
        &mut self,
        rows: usize,
        per_entry: usize,
        fill: impl Fn(Range<usize>, MatMut<'_, f64>) + Sync,
    ) {
        let (cols, is_much) = (self.cols, self.data.len() * per_entry >= SHARED_FROM);
        let fill = |(i, data): (usize, &mut [f64])| {
            let (start, n) = (i * rows, data.len() / cols);
            fill(start..start + n, MatMut::from_row_major_slice_mut(data, n, cols));
        };
        let length = (rows * cols).max(1);
        if is_much {
            self.data.par_chunks_mut(length).enumerate().with_max_len(1).for_each(fill);
        } else {
            self.data.chunks_mut(length).enumerate().for_each(fill);
        }
    }

    fn as_faer(&self) -> MatRef<'_, f64> {
        self.view().as_faer()
    }

    fn as_faer_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }
}

/// A borrowed matrix, or a range of columns of one.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The entries, from the first one on.
    data: &'a [f64],
    rows: usize,
    cols: usize,
    /// Number of entries from the start of a row to the start of the next.
    stride: usize,
}

impl<'a> View<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`, as a slice.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.stride..][..self.cols]
    }

    /// All rows in order.
    #[inline(always)]
    pub fn iter_rows(self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        (0..self.rows).map(move |i| self.row(i))
    }

    /// A range of its columns.
    pub fn columns(self, columns: Range<usize>) -> Self {
        assert!(columns.end <= self.cols, "columns {columns:?} of {}", self.cols);
        let data = self.data.get(columns.start..).unwrap_or_default(); // without rows there is nothing to skip
        Self { data, cols: columns.len(), ..self }
    }

    /// The product A x.
    pub fn times(self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        self.times_into(x, &mut out);
        out
    }

    /// Sets `out` to A x.
    pub fn times_into(self, x: &[f64], out: &mut [f64]) {
        #[inline(always)]
        fn kernel((a, x, out): (View<'_>, &[f64], &mut [f64])) {
            out.iter_mut().zip(a.iter_rows()).for_each(|(out, row)| *out = dot(row, x));
        }
        vectorized(kernel, (self, x, out));
    }

    /// The product Aᵀ x.
    pub fn transposed_times(self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.cols];
        self.transposed_times_into(x, &mut out);
        out
    }

    /// Sets `out` to Aᵀ x.
    pub fn transposed_times_into(self, x: &[f64], out: &mut [f64]) {
        #[inline(always)]
        fn kernel((a, x, out): (View<'_>, &[f64], &mut [f64])) {
            out.fill(0.0);
            a.iter_rows().zip(x).for_each(|(row, &weight)| add_scaled(weight, row, out));
        }
        vectorized(kernel, (self, x, out));
    }

    /// The product A B.
    pub fn product(self, b: View<'_>) -> Matrix {
        multiply(self.as_faer(), b.as_faer())
    }

    /// The product A Bᵀ.
    pub fn product_transposed(self, b: View<'_>) -> Matrix {
        multiply(self.as_faer(), b.as_faer().transpose())
    }

    /// The lower triangle of A Bᵀ with its diagonal, in little more than half the time; entries above it are meaningless.
    pub fn product_transposed_lower(self, b: View<'_>) -> Matrix {
        multiply_lower(self.as_faer(), b.as_faer().transpose())
    }

    /// bᵀ A b for each column b of B and a symmetric A, in little more than half the time of A B.
    pub fn quadratic_forms(self, b: View<'_>) -> Vec<f64> {
        let (a, dense) = (self.as_faer(), b.as_faer());
        let mut product = Matrix::zeros(self.rows, b.cols);
        product.each_panel(THIN, self.cols / 2, |Range { start, end }, mut panel| {
            // The part left of the panel's own square counts twice, for the part above it too.
            let size = end - start;
            let (left, square) = (a.submatrix(start, 0, size, start), a.submatrix(start, start, size, size));
            matmul(panel.rb_mut(), Accum::Replace, left, dense.subrows(0, start), 2.0, Par::Seq);
            matmul(panel, Accum::Add, square, dense.subrows(start, size), 1.0, Par::Seq);
        });
        let mut sums = vec![0.0; b.cols];
        for (product, b) in product.iter_rows().zip(b.iter_rows()) {
            sums.iter_mut().zip(product.iter().zip(b)).for_each(|(sum, (p, b))| *sum += p * b);
        }
        sums
    }

    fn as_faer(self) -> MatRef<'a, f64> {
        MatRef::from_row_major_slice_with_stride(self.data, self.rows, self.cols, self.stride)
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

/// Rows per panel of a symmetric product. Thinner panels compute less twice, but products of thin matrices are slow.
const THIN: usize = 24;

/// Rows per panel of any other product, if threads share it.
const THICK: usize = 64;

/// Multiplications from which a product is worth sharing between threads.
const SHARED_FROM: usize = 1 << 20;

fn multiply(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    out.each_panel(THICK, a.ncols(), |Range { start, end }, panel| {
        matmul(panel, Accum::Replace, a.subrows(start, end - start), b, 1.0, Par::Seq);
    });
    out
}

/// The lower triangle of a square product.
fn multiply_lower(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    assert_eq!(a.nrows(), b.ncols(), "a square matrix has as many columns as rows");
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    out.each_panel(THIN, a.ncols() / 2, |Range { start, end }, panel| {
        let (a, b) = (a.subrows(start, end - start), b.subcols(0, end));
        matmul(panel.subcols_mut(0, end), Accum::Replace, a, b, 1.0, Par::Seq);
    });
    out
}

/// `kernel(arguments)`, compiled for the widest vector registers of this processor: up to twice as fast as for those that every
/// processor has, and the same to the last bit, since nothing is reordered or fused. The kernel, and the functions called in its
/// loops, must be `#[inline(always)]`.
#[inline(always)]
pub fn vectorized<A, R>(kernel: impl FnOnce(A) -> R, arguments: A) -> R {
    struct Call<K, A>(K, A);
    impl<K: FnOnce(A) -> R, A, R> NullaryFnOnce for Call<K, A> {
        type Output = R;
        #[inline(always)]
        fn call(self) -> R {
            (self.0)(self.1)
        }
    }
    Arch::new().dispatch(Call(kernel, arguments))
}

/// ‖a − b‖². Four partial sums, so that the compiler can use vector registers.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    for (p, q) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += (p[lane] - q[lane]) * (p[lane] - q[lane]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(p, q)| (p - q) * (p - q)).sum();
    sums.iter().sum::<f64>() + rest
}

/// a·b. Eight partial sums, so that the compiler can use vector registers.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut sums = [0.0; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (p, q) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..8 {
            sums[lane] += p[lane] * q[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(p, q)| p * q).sum();
    sums.iter().sum::<f64>() + rest
}

/// y += alpha x.
#[inline(always)]
pub fn add_scaled(alpha: f64, x: &[f64], y: &mut [f64]) {
    debug_assert_eq!(x.len(), y.len());
    for (target, value) in y.iter_mut().zip(x) {
        *target += alpha * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(p, q)| (p - q).abs() <= tolerance * (1.0 + p.abs()))
    }

    #[test]
    fn columns_of_a_matrix_are_multiplied_as_a_copy_of_them_would_be() {
        let matrix = Matrix::from_fn(5, 7, |i, j| (1.3 * i as f64 + 0.7 * j as f64).sin());
        let view = matrix.view().columns(2..6);
        let copy = Matrix::from_fn(5, 4, |i, j| matrix[(i, 2 + j)]);
        assert!(view.iter_rows().eq(copy.iter_rows()));
        let (x, z) = (&matrix.data()[..4], &matrix.data()[..5]);
        assert_eq!(view.times(x), copy.times(x));
        assert_eq!(view.transposed_times(z), copy.transposed_times(z));
        let square = matrix.view().columns(1..6);
        let product = Matrix::from_rows(5, square.iter_rows()).product(&copy);
        assert!(close(square.product(view).data(), product.data(), 1e-12));
        assert!(close(view.product_transposed(view).data(), copy.product_transposed(&copy).data(), 1e-12));
        assert_eq!(view.columns(1..3).row(4), &copy.row(4)[1..3]);
        assert_eq!(Matrix::zeros(0, 7).view().columns(2..6).iter_rows().len(), 0);
    }

    #[test]
    fn half_of_a_symmetric_matrix_tells_all_of_it() {
        // The last is large enough to be shared between threads.
        for (n, d) in [(1, 4), (THIN, 4), (2 * THIN + 5, 4), (250, 40)] {
            let b = Matrix::from_fn(n, d, |i, j| (1.3 * i as f64 + 0.7 * j as f64).sin());
            let all = Matrix::from_fn(n, n, |i, j| dot(b.row(i), b.row(j)));
            let half = b.view().product_transposed_lower(b.view());
            let transposed = Matrix::from_fn(d, n, |i, j| b[(j, i)]).transposed_product_lower();
            for i in 0..n {
                assert!(close(&half.row(i)[..=i], &all.row(i)[..=i], 1e-12), "row {i} of {n}");
                assert!(close(&transposed.row(i)[..=i], &all.row(i)[..=i], 1e-12), "row {i} of {n}");
            }
            let product = all.product(&b);
            let column = |j: usize| (0..n).map(|i| b[(i, j)] * product[(i, j)]).sum();
            let expected: Vec<f64> = (0..d).map(column).collect();
            assert!(close(&all.view().quadratic_forms(b.view()), &expected, 1e-10), "{n}");
        }
    }

    #[test]
    fn a_product_that_threads_share_is_the_product() {
        let (n, k) = (3 * THICK + 7, 120);
        assert!(n * n * k > SHARED_FROM);
        let a = Matrix::from_fn(n, k, |i, j| (1.3 * i as f64 - 0.7 * j as f64).cos());
        let b = Matrix::from_fn(k, n, |i, j| (0.4 * i as f64 + 1.1 * j as f64).sin());
        let column = |j: usize| (0..k).map(|i| b[(i, j)]).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
        let expected = Matrix::from_fn(n, n, |i, j| dot(a.row(i), &columns[j]));
        assert!(close(a.product(&b).data(), expected.data(), 1e-12));
    }
}
