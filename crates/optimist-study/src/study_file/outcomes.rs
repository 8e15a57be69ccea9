//! `direction`, or the `[outcomes]` table: what is measured, and what is wanted of it.

use super::problem::Problem;
use super::table::{Entry, Finite, Table, entries};
use crate::definition::{Direction, Plan};
use crate::outcomes::{Aim, MOST, NamedOutcome, Outcomes};

const DIRECTIONS: [(&str, Direction); 2] =
    [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)];

/// The outcomes that a study file declares; `None` only if there are problems. `parameters` are names that are taken.
pub fn outcomes(
    table: &mut Table<'_>,
    parameters: &[Entry<'_>],
    problems: &mut Vec<Problem>,
) -> Option<Outcomes> {
    let named = table.take("outcomes");
    let Some(named) = named else {
        table.require("direction", "`maximize` or `minimize`, or one `[outcomes.NAME]` for each outcome");
        return table.one_of("direction", &DIRECTIONS, problems).map(Outcomes::one);
    };
    if let Some(direction) = table.take("direction") {
        let expected = "expected either this or `[outcomes]`";
        let problem =
            Problem::new(direction.key.span(), "the study has both `direction` and `outcomes`", expected);
        problems.push(problem.help("drop `direction`: each outcome has a `goal` of its own"));
    }
    let Some(declared) = named.value.get_ref().as_table() else {
        let expected = "expected one `[outcomes.NAME]` for each outcome";
        problems.push(Problem::new(named.value.span(), "`outcomes` is not a table", expected));
        return None;
    };
    let declared = entries(declared);
    if declared.is_empty() || declared.len() > MOST {
        let (message, expected) = match declared.len() {
            0 => {
                ("the study has no outcomes".to_owned(), "expected at least one `[outcomes.NAME]`".to_owned())
            }
            n => (format!("the study has {n} outcomes"), format!("expected at most {MOST}")),
        };
        problems.push(Problem::new(named.key.span(), message, expected));
        return None;
    }
    let mistakes_before = problems.len();
    let read: Vec<(&Entry<'_>, NamedOutcome)> =
        declared.iter().filter_map(|entry| Some((entry, outcome(entry, parameters, problems)?))).collect();
    let n_goals = read.iter().filter(|(_, outcome)| outcome.is_goal()).count();
    for (entry, outcome) in &read {
        if let Some(problem) = outcome.problem(n_goals) {
            problems.push(sentence(entry, &problem));
        }
    }
    if problems.len() > mistakes_before {
        return None;
    }
    let read = read.into_iter().map(|(_, outcome)| outcome).collect();
    Outcomes::new(read).map_err(|problem| problems.push(sentence(&named, &problem))).ok()
}

/// One outcome, checked by itself so that every wrong one is reported.
fn outcome(entry: &Entry<'_>, parameters: &[Entry<'_>], problems: &mut Vec<Problem>) -> Option<NamedOutcome> {
    let name = entry.name();
    if parameters.iter().any(|parameter| parameter.name() == name) {
        let message = format!("`{name}` is both a parameter and an outcome");
        problems.push(Problem::new(entry.key.span(), message, "expected another name"));
    }
    let Some(mut table) = entry.table(format!("outcome `{name}`")) else {
        let message = format!("outcome `{name}` is not a table");
        let expected = "expected one of the keys `goal`, `at_most` and `at_least`";
        problems.push(Problem::new(entry.value.span(), message, expected));
        return None;
    };
    let keys = ["goal", "at_most", "at_least"].map(|key| table.has(key));
    let is_goal = table.has("goal");
    let goal = table.one_of("goal", &DIRECTIONS, problems);
    let reference = table.optional("reference", problems).map(|Finite(at)| at);
    let at_most = table.optional("at_most", problems).map(|Finite(bound)| bound);
    let at_least = table.optional("at_least", problems).map(|Finite(bound)| bound);
    let n_unknown = problems.len();
    table.finish(problems);
    let is_misspelt = problems.len() > n_unknown;
    match keys.iter().filter(|is_there| **is_there).count() {
        0 if is_misspelt => return None, // one mistake, not two
        0 => {
            let message = format!("outcome `{name}` has neither a goal nor a bound");
            let expected = "expected `goal`, `at_most` or `at_least`";
            problems.push(Problem::new(entry.key.span(), message, expected));
        }
        1 if reference.is_some() && !is_goal => {
            let message = format!("outcome `{name}` has a `reference` and no `goal`");
            let expected = "a constraint needs no reference";
            problems.push(Problem::new(entry.key.span(), message, expected));
        }
        1 => {}
        _ => {
            let message = format!("outcome `{name}` has more than one of `goal`, `at_most` and `at_least`");
            let help = "to use a measurement in two ways, report it as two outcomes";
            problems.push(Problem::new(entry.key.span(), message, "expected one of them").help(help));
        }
    }
    let goal = goal.map(|direction| Aim::Goal { direction, reference });
    let aim = goal.or(at_most.map(Aim::AtMost)).or(at_least.map(Aim::AtLeast))?;
    Some(NamedOutcome::new(name, aim))
}

/// Settings of the plan that mean nothing with these outcomes, at their places.
pub fn misfits(outcomes: &Outcomes, plan: &Plan, document: &[Entry<'_>], problems: &mut Vec<Problem>) {
    for (key, problem) in outcomes.misfits(plan) {
        if let Some(entry) = document.iter().find(|entry| entry.name() == key) {
            problems.push(sentence(entry, &problem));
        }
    }
}

/// A sentence about an entry; what to do comes after its last semicolon.
fn sentence(entry: &Entry<'_>, sentence: &str) -> Problem {
    match sentence.rsplit_once("; ") {
        Some((wrong, help)) => Problem::new(entry.key.span(), wrong, "in this study").help(help),
        None => Problem::new(entry.key.span(), sentence, "in this study"),
    }
}
