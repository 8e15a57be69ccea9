//! The units of x: from the unit cube, where points are searched, to the coordinates that families are written in.
//!
//! Given: a domain, or its dimension. Gives: model coordinates of points, and gradients in x of what was
//! differentiated in them. Does not know: families, observations.

use crate::encode::Domain;
use crate::linalg::Matrix;

/// From the unit cube to model coordinates: z = low + width · x.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Model coordinate of 0.
    pub low: Vec<f64>,
    /// Model coordinate of 1, less `low`.
    pub width: Vec<f64>,
}

impl Frame {
    /// The frame of [-1, 1] in each coordinate if `scaled`, otherwise of the parameters' own units.
    pub fn new(domain: &Domain, scaled: bool) -> Self {
        if scaled { Self::symmetric(domain.dimension()) } else { Self::natural(domain) }
    }

    /// The frame of [-1, 1] in each coordinate.
    pub fn symmetric(d: usize) -> Self {
        Self { low: vec![-1.0; d], width: vec![2.0; d] }
    }

    /// The frame of the parameters' own units.
    pub fn natural(domain: &Domain) -> Self {
        let units = || domain.axes().iter().flat_map(|axis| axis.columns.clone().map(|_| axis.units));
        Self {
            low: units().map(|(low, _)| low).collect(),
            width: units().map(|(low, high)| high - low).collect(),
        }
    }

    /// d_x, the number of coordinates.
    pub fn dimension(&self) -> usize {
        self.low.len()
    }

    /// Model coordinates of x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        (0..x.len()).map(|j| self.low[j] + self.width[j] * x[j]).collect()
    }

    /// Model coordinates of each of these points, as the rows of a matrix.
    pub(crate) fn rows(&self, points: &[Vec<f64>]) -> Matrix {
        let rows: Vec<Vec<f64>> = points.iter().map(|x| self.apply(x)).collect();
        Matrix::from_rows(self.dimension(), rows.iter().map(Vec::as_slice))
    }

    /// Sets x to the point with model coordinates `z`; coordinates without width are left alone.
    pub(crate) fn invert(&self, z: &[f64], x: &mut [f64]) {
        for j in 0..x.len() {
            x[j] = if self.width[j] == 0.0 { x[j] } else { (z[j] - self.low[j]) / self.width[j] };
        }
    }

    /// Turns a gradient in model coordinates into one in x.
    pub(crate) fn pull_back(&self, grad: &mut [f64]) {
        grad.iter_mut().zip(&self.width).for_each(|(slope, width)| *slope *= width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoding;
    use crate::space::{Kind, Parameter, Space};

    fn domain() -> Domain {
        let celsius = Kind::Float { low: 20.0, high: 80.0, log: false, step: None };
        Encoding::new(Space::new(vec![Parameter::new("celsius", celsius)]).unwrap()).domain().clone()
    }

    #[test]
    fn the_cube_is_minus_one_to_one_or_the_units_of_the_parameters() {
        let model = |scaled: bool| [0.0, 0.25, 1.0].map(|x| Frame::new(&domain(), scaled).apply(&[x])[0]);
        assert_eq!(model(true), [-1.0, -0.5, 1.0]);
        assert_eq!(model(false), [20.0, 35.0, 80.0]);
    }

    #[test]
    fn inverting_undoes_applying_and_leaves_coordinates_without_width() {
        let frame = Frame { low: vec![3.0, 7.0], width: vec![4.0, 0.0] };
        let mut x = [0.9, 0.3];
        frame.invert(&frame.apply(&[0.25, 0.8]), &mut x);
        assert_eq!(x, [0.25, 0.3]);
    }

    #[test]
    fn a_gradient_is_pulled_back_by_the_chain_rule() {
        let frame = Frame::natural(&domain());
        let square = |x: f64| frame.apply(&[x])[0].powi(2);
        let mut grad = [2.0 * frame.apply(&[0.4])[0]];
        frame.pull_back(&mut grad);
        let difference = (square(0.4 + 1e-6) - square(0.4 - 1e-6)) / 2e-6;
        assert!((grad[0] - difference).abs() < 1e-3, "{} and {difference}", grad[0]);
    }
}
