//! Spaces to the unit cube and back: the only place that knows log scales, steps, categories and conditions.
//!
//! Given: a checked `Space`. Gives: a feasible point of the cube for every valid assignment, and a valid assignment for every point
//! of the cube.
//!
//! A number gets one column, placed on its linear or log scale; a category one column per choice. `decode` after `encode` gives
//! back the same assignment: exactly, except for continuous floats, which come back to within 1e-12 of the larger bound (of the
//! value itself on a log scale; of 1e-9 of the range where a constraint was missed by that much), and for integers with more than
//! 2^40 values, to within 1e-12 of the range. `encode` after `decode` is `Domain::snap`, up to the same rounding.

mod constraints;
mod coupling;
mod domain;
mod grid;
mod scale;

pub use domain::{Axis, AxisKind, Domain};
pub use grid::Grid;

pub(crate) use coupling::{Coupling, FeasibleWalk};
pub(crate) use domain::{TOLERANCE, is_same_point};

use self::scale::Scale;
use crate::error::SpaceError;
use crate::space::{Assignment, Kind, Parameter, Space, Value};

/// A space, laid out in the unit cube.
///
/// ```
/// use optimist::encode::Encoding;
/// use optimist::space::{Assignment, Kind, Parameter, Space, Value};
///
/// let lr = Parameter::new("lr", Kind::Float { low: 1e-4, high: 1.0, log: true, step: None });
/// let encoding = Encoding::new(Space::new(vec![lr])?);
/// let x = encoding.encode(&Assignment::from_iter([("lr", 0.01)]))?;
/// assert!((x[0] - 0.5).abs() < 1e-12);
/// assert_eq!(encoding.decode(&[1.0]).get("lr"), Some(&Value::Float(1.0)));
/// # Ok::<(), optimist::SpaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    space: Space,
    domain: Domain,
}

impl Encoding {
    /// Lays out `space`: one axis per parameter, in the order of declaration.
    pub fn new(space: Space) -> Encoding {
        let axes = axes(&space);
        let couplings = constraints::couplings(&space, &axes).expect("a space checks its constraints");
        Encoding { space, domain: Domain::new(axes, couplings) }
    }

    /// The space that is encoded.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The feasible part of the cube.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The feasible point of an assignment.
    ///
    /// # Errors
    /// If the assignment is not valid: see [`Space::check`].
    pub fn encode(&self, assignment: &Assignment) -> Result<Vec<f64>, SpaceError> {
        self.space.check(assignment)?;
        let mut x = vec![0.0; self.domain.dimension()];
        for (idx, (Parameter { name, kind, .. }, axis)) in self.parameters_and_axes().enumerate() {
            match (assignment.get(name), kind) {
                (None, _) => x[axis.columns.clone()].fill(axis.neutral()),
                (Some(value), &Kind::Float { low, high, log, step: None }) if low < high => {
                    let offset = value.as_f64().expect("a checked float is a number") - low;
                    x[axis.columns.start] = continuum(low, high, log).position(offset);
                }
                (Some(value), _) => {
                    let level = kind.level_of(value).expect("a checked value has a level");
                    self.domain.set_level(idx, level, &mut x);
                }
            }
        }
        if self.domain.is_constrained() {
            self.domain.snap(&mut x); // by a billionth at most
        }
        Ok(x)
    }

    /// The assignment at any point of the cube, feasible or not, since it is snapped first.
    ///
    /// # Panics
    /// If `x` does not have the dimension of the domain.
    pub fn decode(&self, x: &[f64]) -> Assignment {
        assert_eq!(x.len(), self.domain.dimension(), "a point has one coordinate per column");
        let mut x = x.to_vec();
        if self.domain.is_constrained() {
            self.domain.snap(&mut x); // the rest is snapped as it is read
        }
        let x = x.as_slice();
        let active = self.parameters_and_axes().enumerate().filter(|&(idx, _)| self.domain.is_active(idx, x));
        active.map(|(idx, (Parameter { name, .. }, _))| (name.as_str(), self.value(idx, x))).collect()
    }

    /// The value of one parameter at a point; meaningless where it is inactive.
    ///
    /// # Panics
    /// If there is no such parameter, or `x` does not have the dimension of the domain.
    pub fn value(&self, parameter: usize, x: &[f64]) -> Value {
        let (kind, axis) = (&self.space.parameters()[parameter].kind, &self.domain.axes()[parameter]);
        match (self.domain.level(parameter, x), kind) {
            (Some(level), _) => kind.value_at(level),
            (None, &Kind::Float { low, high, log, .. }) => {
                let offset = continuum(low, high, log).offset(x[axis.columns.start]);
                let is_end = offset == high - low; // low + (high - low) may round
                Value::Float(if is_end { high } else { (low + offset).clamp(low, high) })
            }
            (None, _) => unreachable!("only continuous floats have a real axis"),
        }
    }

    fn parameters_and_axes(&self) -> impl Iterator<Item = (&Parameter, &Axis)> {
        self.space.parameters().iter().zip(self.domain.axes())
    }
}

/// Checks that the constraints of a space leave anything to search.
///
/// # Errors
/// If they do not.
pub(crate) fn check_constraints(space: &Space) -> Result<(), SpaceError> {
    constraints::couplings(space, &axes(space)).map(drop)
}

/// One axis per parameter.
fn axes(space: &Space) -> Vec<Axis> {
    let mut first_column = 0;
    let mut axes = Vec::with_capacity(space.parameters().len());
    for (parameter, requirements) in space.parameters().iter().zip(space.requirements()) {
        let kind = axis_kind(&parameter.kind);
        let columns = first_column..first_column + n_columns(&parameter.kind);
        first_column = columns.end;
        let when = requirements.iter().map(|required| (required.parameter, required.level)).collect();
        axes.push(Axis { kind, columns, when, units: units(&parameter.kind) });
    }
    axes
}

/// The bounds of a number, or their logarithms on a log scale.
fn units(kind: &Kind) -> (f64, f64) {
    let (low, high, log) = match *kind {
        Kind::Float { low, high, log, .. } => (low, high, log),
        Kind::Int { low, high, log, .. } => (low as f64, high as f64, log),
        Kind::Bool | Kind::Categorical { .. } => return (0.0, 1.0),
    };
    if log { (low.ln(), high.ln()) } else { (low, high) }
}

fn axis_kind(kind: &Kind) -> AxisKind {
    match (kind, kind.last_level()) {
        (Kind::Categorical { .. }, _) => AxisKind::OneHot,
        (_, None) => AxisKind::Real,
        (&Kind::Float { low, log: true, step, .. }, Some(last)) => {
            AxisKind::Grid(Grid::log(last, low, step.unwrap_or(1.0)))
        }
        (&Kind::Int { low, log: true, step, .. }, Some(last)) => {
            AxisKind::Grid(Grid::log(last, low as f64, step.unwrap_or(1) as f64))
        }
        (_, Some(last)) => AxisKind::Grid(Grid::linear(last)),
    }
}

fn n_columns(kind: &Kind) -> usize {
    match kind {
        Kind::Categorical { choices } => choices.len(),
        Kind::Float { .. } | Kind::Int { .. } | Kind::Bool => 1,
    }
}

/// The scale of a continuous float.
fn continuum(low: f64, high: f64, log: bool) -> Scale {
    if log { Scale::log(low, high - low) } else { Scale::linear(high - low) }
}
