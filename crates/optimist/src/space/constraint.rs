//! Linear constraints between parameters: `a + 2*b <= 10`, `copper + zinc + tin = 1`.
//!
//! Given: a text, or names with their factors. Gives: a [`Constraint`] in one form, names left and a number right.
//! Does not know: parameters. `Space` checks that they exist and can be added up.

mod parse;

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use crate::error::SpaceError;

/// A weighted sum of parameters, in their own units, that is at most, at least or exactly a number.
///
/// ```
/// use optimist::space::{Constraint, Relation};
///
/// let budget: Constraint = "2*steel + brass <= 10 - steel".parse()?;
/// assert_eq!(budget, Constraint::new([("steel", 3.0), ("brass", 1.0)], Relation::AtMost, 10.0)?);
/// assert_eq!(budget.to_string(), "3*steel + brass <= 10");
/// # Ok::<(), optimist::SpaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// At least one, each name once, no factor zero.
    terms: Vec<(String, f64)>,
    relation: Relation,
    bound: f64,
}

/// How the sum has to compare with the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<=`, at most.
    AtMost,
    /// `>=`, at least.
    AtLeast,
    /// `=`, equal to.
    Equal,
}

impl Constraint {
    /// The sum of names times factors compares with `bound`. A name may come several times: its factors are added.
    ///
    /// # Errors
    /// If a number is not finite, or no name is left with a factor other than zero.
    pub fn new<N: Into<String>>(
        terms: impl IntoIterator<Item = (N, f64)>,
        relation: Relation,
        bound: f64,
    ) -> Result<Constraint, SpaceError> {
        let mut constraint = Constraint { terms: Vec::new(), relation, bound };
        for (name, factor) in terms {
            constraint.add(name.into(), factor);
        }
        let numbers = constraint.terms.iter().map(|(_, factor)| factor).chain([&bound]);
        if let Some(number) = numbers.copied().find(|number| !number.is_finite()) {
            let problem = format!("{number} is not finite; give finite numbers");
            return Err(SpaceError::ConstraintSyntax { constraint: constraint.to_string(), problem });
        }
        constraint.terms.retain(|(_, factor)| *factor != 0.0);
        if constraint.terms.is_empty() {
            let problem = "it has no parameter; name at least one".to_owned();
            return Err(SpaceError::ConstraintSyntax { constraint: constraint.to_string(), problem });
        }
        Ok(constraint)
    }

    /// A mixture: these parameters add up to `total`.
    ///
    /// # Errors
    /// If there is no name, or `total` is not finite.
    pub fn sum<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        total: f64,
    ) -> Result<Constraint, SpaceError> {
        Constraint::new(names.into_iter().map(|name| (name, 1.0)), Relation::Equal, total)
    }

    /// Names and their factors, in the order in which they first came.
    pub fn terms(&self) -> &[(String, f64)] {
        &self.terms
    }

    /// How the sum of the terms compares with the bound.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The number right of the comparison.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The left side alone, such as `3*steel + brass`.
    pub(crate) fn left(&self) -> String {
        let mut left = String::new();
        for (name, factor) in &self.terms {
            let sign = match (left.is_empty(), *factor < 0.0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let name = if parse::is_plain(name) { name.clone() } else { format!("`{name}`") };
            let times =
                if factor.abs() == 1.0 { String::new() } else { format!("{}*", number(factor.abs())) };
            left += &format!("{sign}{times}{name}");
        }
        left
    }

    fn add(&mut self, name: String, factor: f64) {
        match self.terms.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += factor,
            None => self.terms.push((name, factor)),
        }
    }
}

impl FromStr for Constraint {
    type Err = SpaceError;

    /// Sums of names and numbers, left and right of `<=`, `>=` or `=`: `2*a - b/4 + 1 >= c`. Names that are not just
    /// letters, digits and underscores stand in backticks.
    fn from_str(text: &str) -> Result<Constraint, SpaceError> {
        let problem =
            |problem: String| SpaceError::ConstraintSyntax { constraint: text.trim().to_owned(), problem };
        let (left, relation, right) = parse::comparison(text).map_err(problem)?;
        let minus = |(name, factor): (String, f64)| (name, -factor);
        let terms = left.terms.into_iter().chain(right.terms.into_iter().map(minus));
        Constraint::new(terms, relation, right.constant - left.constant).map_err(|error| match error {
            SpaceError::ConstraintSyntax { problem: text, .. } => problem(text),
            other => other,
        })
    }
}

/// Displayed in a form that can be parsed again.
impl Display for Constraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left(), self.relation, number(self.bound))
    }
}

/// A number without a superfluous `.0`: 2, 0.5, 1e300.
fn number(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
            Relation::Equal => "=",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Constraint {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn all_names_go_left_and_all_numbers_right() {
        for (text, canonical) in [
            ("a+b<=1", "a + b <= 1"),
            ("flour + water <= 1.0", "flour + water <= 1"),
            ("copper + zinc + tin = 1", "copper + zinc + tin = 1"),
            ("copper + zinc == 1 - tin", "copper + zinc + tin = 1"),
            ("10 >= 2*b + a", "-2*b - a >= -10"),
            ("a ≥ b", "a - b >= 0"),
            ("-a + 3 ≤ 2 b", "-a - 2*b <= -3"),
            ("a*2/4 - -b <= 1e-3", "0.5*a + b <= 0.001"),
            ("3e20 a >= -1e-9", "3e20*a >= -1e-9"),
            ("a + a + b - b <= 2*3", "2*a <= 6"),
            ("`learning-rate` + größe_2 <= .5", "`learning-rate` + größe_2 <= 0.5"),
        ] {
            assert_eq!(parsed(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_understood_is_explained() {
        let message = |text: &str| text.parse::<Constraint>().expect_err(text).to_string();
        for (text, expected) in [
            ("", "it has no comparison"),
            ("a + b", "it has no comparison; use `<=`, `>=` or `=`"),
            ("0 <= a <= 1", "it has two comparisons; write two constraints"),
            ("a + b < 1", "`<` is not known, bounds are included; use `<=`"),
            ("a > 1", "use `>=`"),
            ("a != 1", "`!` is not known"),
            ("a * b <= 1", "`a` times `b` is not linear; multiply by numbers only"),
            ("1 / a <= 1", "`a` is divided by; divide by numbers only"),
            ("a / 0 <= 1", "it divides by zero"),
            ("2*(a + b) <= 1", "`(` is not known; multiply out"),
            ("a + <= 1", "expected a name or a number after `+`, got `<=`"),
            ("a b <= 1", "expected `+`, `-`, `*`, `/` or a comparison after `a`, got `b`"),
            ("a <= ", "expected a name or a number after `<=`"),
            ("`a <= 1", "a name in backticks does not end"),
            ("a - a <= 1", "it has no parameter; name at least one"),
            ("1 <= 2", "it has no parameter"),
            ("1e999 * a <= 1", "inf is not finite"),
        ] {
            let message = message(text);
            assert!(message.contains(expected), "{text}: {message}");
            assert!(message.starts_with(&format!("constraint `{}`: ", text.trim())), "{message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_parsed_again(
            terms in prop::collection::vec(("[a-z_ä-]{1,3}", prop_oneof![-9.0..9.0, Just(1.0), -1e-300..1e300]), 1..5),
            relation in prop_oneof![Just(Relation::AtMost), Just(Relation::AtLeast), Just(Relation::Equal)],
            bound in -1e3..1e3,
        ) {
            if let Ok(constraint) = Constraint::new(terms, relation, bound) {
                prop_assert_eq!(parsed(&constraint.to_string()), constraint);
            }
        }

        #[test]
        fn no_text_is_too_strange(text in "[-+*/<>=!()`a-c0-9eé. ]{0,20}") {
            let _ = text.parse::<Constraint>();
        }
    }
}
