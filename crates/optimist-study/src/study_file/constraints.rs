//! The `constraints` of a study: a list of texts such as `"flour + water <= 1"`.

use std::ops::Range;

use optimist::space::{Constraint, Space};

use super::parameters::space_problem;
use super::problem::Problem;
use super::table::Entry;

/// A constraint and its place in the file.
pub type Placed = (Range<usize>, Constraint);

/// The constraints that can be understood; others become problems.
pub fn constraints(list: &Entry<'_>, problems: &mut Vec<Problem>) -> Vec<Placed> {
    let Some(items) = list.value.get_ref().as_array() else {
        let expected = "expected a list of constraints such as [\"flour + water <= 1\"]";
        problems.push(Problem::new(list.value.span(), "`constraints` is not a list", expected));
        return Vec::new();
    };
    let mut constraints = Vec::new();
    for item in items {
        let Some(text) = item.get_ref().as_str() else {
            let expected = "expected a string such as \"flour + water <= 1\"";
            problems.push(Problem::new(item.span(), "a constraint is not a string", expected));
            continue;
        };
        match text.parse() {
            Ok(constraint) => constraints.push((item.span(), constraint)),
            Err(error) => problems.push(space_problem(item.span(), &error, "in this constraint")),
        }
    }
    constraints
}

/// The space under constraints; `None` only if there are problems. A constraint on a parameter that is declared, and is not in
/// the space because of a mistake, is not looked at.
pub fn constrained(
    space: Space,
    mut constraints: Vec<Placed>,
    declared: &[Entry<'_>],
    problems: &mut Vec<Problem>,
) -> Option<Space> {
    let mistakes_before = problems.len();
    let is_mistaken =
        |name: &str| space.get(name).is_none() && declared.iter().any(|entry| entry.name() == name);
    constraints.retain(|(_, constraint)| !constraint.terms().iter().any(|(name, _)| is_mistaken(name)));
    for (span, constraint) in &constraints {
        if let Err(error) = space.clone().with_constraints([constraint.clone()]) {
            problems.push(space_problem(span.clone(), &error, "in this constraint"));
        }
    }
    if problems.len() > mistakes_before {
        return None;
    }
    let last = constraints.last().map_or(0..0, |(span, _)| span.clone());
    let constrained = space.with_constraints(constraints.into_iter().map(|(_, constraint)| constraint));
    constrained.map_err(|error| problems.push(space_problem(last, &error, "with the others"))).ok()
}
