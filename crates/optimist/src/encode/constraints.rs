//! Constraints in the user's units become polytopes in the cube: one for each group of parameters that share them.

use super::coupling::{Coupling, Member};
use super::domain::{Axis, AxisKind};
use crate::error::SpaceError;
use crate::polytope::{Polytope, Row};
use crate::space::{Constraint, Kind, Relation, Space};

/// The couplings of parameters by the constraints of a space.
///
/// # Errors
/// If they leave nothing.
pub(super) fn couplings(space: &Space, axes: &[Axis]) -> Result<Vec<Coupling>, SpaceError> {
    let mut equations = Vec::new();
    for constraint in space.constraints() {
        let equation = Equation::new(space, constraint);
        if !equation.terms.is_empty() {
            equations.push(equation);
        } else if !equation.holds_for_constants() {
            return Err(contradiction([constraint], false));
        }
    }
    groups(equations).iter().map(|group| couple(group, axes)).collect()
}

/// A constraint in terms of fractions of the parameters' ranges; constants are part of the bound.
struct Equation<'a> {
    constraint: &'a Constraint,
    /// Indices of parameters, and how much they add to the left side on their way from 0 to 1.
    terms: Vec<(usize, f64)>,
    bound: f64,
}

impl<'a> Equation<'a> {
    fn new(space: &Space, constraint: &'a Constraint) -> Self {
        // "At least" is "at most" with all signs flipped.
        let sign = if constraint.relation() == Relation::AtLeast { -1.0 } else { 1.0 };
        let mut equation = Equation { constraint, terms: Vec::new(), bound: sign * constraint.bound() };
        for (name, factor) in constraint.terms() {
            let parameter = space.parameters().iter().position(|parameter| parameter.name == *name);
            let parameter = parameter.expect("a space knows the parameters of its constraints");
            let (low, width) = range(&space.parameters()[parameter].kind);
            equation.bound -= sign * factor * low;
            if width > 0.0 {
                equation.terms.push((parameter, sign * factor * width));
            }
        }
        equation
    }

    fn holds_for_constants(&self) -> bool {
        let tolerance = 1e-9 * (1.0 + self.constraint.bound().abs());
        match self.constraint.relation() {
            Relation::Equal => self.bound.abs() <= tolerance,
            Relation::AtMost | Relation::AtLeast => self.bound >= -tolerance,
        }
    }
}

fn range(kind: &Kind) -> (f64, f64) {
    kind.range().expect("only numbers are part of constraints")
}

/// Equations that share parameters, directly or through others, come together.
fn groups(equations: Vec<Equation<'_>>) -> Vec<Vec<Equation<'_>>> {
    let mut groups: Vec<Vec<Equation<'_>>> = Vec::new();
    for equation in equations {
        let shares = |group: &Vec<Equation<'_>>| {
            let mut names = group.iter().flat_map(|other| &other.terms).map(|(parameter, _)| parameter);
            names.any(|parameter| equation.terms.iter().any(|(own, _)| own == parameter))
        };
        let (sharing, others) = groups.into_iter().partition(shares);
        groups = others;
        groups.push(sharing.into_iter().flatten().chain([equation]).collect());
    }
    groups
}

fn couple(group: &[Equation<'_>], axes: &[Axis]) -> Result<Coupling, SpaceError> {
    let mut tied: Vec<usize> =
        group.iter().flat_map(|equation| &equation.terms).map(|(axis, _)| *axis).collect();
    tied.sort_unstable();
    tied.dedup();
    let row = |equation: &Equation<'_>| {
        let mut coefficients = vec![0.0; tied.len()];
        for (axis, coefficient) in &equation.terms {
            let place = tied.binary_search(axis).expect("the axes of all terms are tied");
            coefficients[place] = *coefficient;
        }
        let is_equality = equation.constraint.relation() == Relation::Equal;
        Row::new(&coefficients, equation.bound, is_equality).expect("factors and widths are not zero")
    };
    let (lower, upper) = (vec![0.0; tied.len()], vec![1.0; tied.len()]);
    let polytope = Polytope::new(lower, upper, group.iter().map(row).collect()).map_err(|conflict| {
        let rows = if conflict.rows.is_empty() { (0..group.len()).collect() } else { conflict.rows };
        contradiction(rows.iter().map(|&row| group[row].constraint), false)
    })?;
    let member = |&axis: &usize| Member {
        axis,
        column: axes[axis].columns.start,
        grid: match axes[axis].kind {
            AxisKind::Grid(grid) => Some(grid),
            AxisKind::Real | AxisKind::OneHot => None,
        },
    };
    Coupling::new(tied.iter().map(member).collect(), polytope)
        .ok_or_else(|| contradiction(group.iter().map(|equation| equation.constraint), true))
}

fn contradiction<'a>(constraints: impl IntoIterator<Item = &'a Constraint>, on_steps: bool) -> SpaceError {
    let constraints = constraints.into_iter().map(Constraint::to_string).collect();
    SpaceError::ConstraintsContradict { constraints, on_steps }
}
