//! `optimist show STUDY`: the status of a study.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use optimist::space::{Kind, Parameter, Space};
use optimist_study::view::number::{count, shown, significant, with_uncertainty};
use optimist_study::view::{StudyView, UnderwayView};
use optimist_study::{Best, Course, NamedOutcome, Outcomes, State, TrialState};

use crate::show::{age, in_short, or_dash, print, print_json, table, values};
use crate::storage::AnyStudyArgs;
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  optimist show film
  optimist show film --json | jq .running

Exit status: 0 if the study exists, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Print the status as a JSON object
    #[arg(long)]
    json: bool,
}

/// Shows the study.
pub fn execute(args: ShowArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let (best, front, leases) = (study.recommend()?, study.front()?, study.leases()?);
    let (state, view) = (study.state(), StudyView::new(&study, best, &leases).with_front(front));
    if args.json {
        print_json(&view)?;
    } else {
        let parts = [overview(state, &view), parameters(view.space), underway(&view), failures(state)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        print(parts.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn overview(state: &State, view: &StudyView) -> String {
    let objective = match &view.plan.objective {
        Some(objective) => format!("{} (in {})", objective.command.join(" "), objective.folder.display()),
        None => "none: `optimist ask` and `optimist tell`".to_owned(),
    };
    let settings = view.optimizer.table().iter().filter(|(key, _)| *key != "name");
    let settings = settings.map(|(key, value)| format!(" {key}={value}")).collect::<String>();
    let optimizer = format!("{}{settings}, seed {}", view.optimizer.name(), view.seed);
    let mut rows = match view.direction {
        Some(direction) => vec![("direction", direction.word().to_owned())],
        None => {
            let outcome = |outcome: &NamedOutcome| format!("{}: {}", outcome.name, outcome.aim);
            view.outcomes.iter().map(|one| ("outcome", outcome(one))).collect()
        }
    };
    rows.push(("progress", progress(state, view)));
    rows.extend(
        view.feasible.map(|n| ("feasible", format!("{n} of {}", count(view.complete, "complete trial")))),
    );
    rows.push(match (&view.front, &view.best) {
        (Some(front), _) => ("front", summary::front_in_short(front, state.outcomes())),
        (None, Some(best)) => ("recommended", recommended(best, state.outcomes())),
        (None, None) => ("recommended", "no value yet".to_owned()),
    });
    let recommended = view.best.as_ref().and_then(|best| best.trial);
    if let Some(observed) = state.best_observed().filter(|trial| recommended != Some(trial.number)) {
        let value = values(state.outcomes(), |name| observed.value_of(name));
        rows.push(("best observed", format!("trial {}: {value}", observed.number)));
    }
    if !view.suggestions.is_empty() {
        let found: Vec<String> = view.suggestions.iter().map(ToString::to_string).collect();
        rows.push(("suggestions", found.join("; ")));
    }
    rows.extend(view.widened.iter().map(|widening| {
        let trials = count(widening.trials, "trial");
        ("widened", format!("{} after {trials}: {}", age(widening.at), widening.changes.join("; ")))
    }));
    rows.extend([
        ("objective", objective),
        ("optimizer", optimizer),
        ("storage", view.storage.clone()),
        ("started", age(view.created_at)),
    ]);
    let rows = rows.into_iter().map(|(title, text)| vec![title.to_owned(), text]).collect();
    format!("{}\n{}", view.study, table(rows))
}

fn progress(state: &State, view: &StudyView) -> String {
    let mut parts = vec![format!("{} of {} trials done", view.done, view.plan.trials)];
    let imported = state.trials().iter().filter(|trial| trial.source.word() == "imported").count();
    let amended = state.trials().iter().filter(|trial| !trial.amendments.is_empty()).count();
    let counts = [
        (view.failed, "failed"),
        (view.running.len(), "running"),
        (view.waiting.len(), "waiting"),
        (view.cancelled, "cancelled"),
        (view.queue.len(), "enqueued"),
        (imported, "imported"),
        (amended, "amended"),
    ];
    parts.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    parts.extend((view.course == Course::Paused).then(|| "paused".to_owned()));
    parts.extend(view.over.as_ref().map(|reason| format!("finished: {reason}")));
    parts.join(", ")
}

fn recommended(best: &Best, outcomes: &Outcomes) -> String {
    let observed = |name: &str| best.outcomes.get(name).and_then(|one| one.value);
    let expected = best.std.map(|std| format!("{} expected", with_uncertainty(best.mean, std)));
    let goal = outcomes.goal().filter(|_| !outcomes.is_one()).map(|goal| format!("{} ", goal.name));
    let values = [
        best.feasible.map(|chance| format!("{} likely to be feasible", summary::percent(chance))),
        expected.map(|expected| format!("{}{expected}", goal.unwrap_or_default())),
        match outcomes.is_one() {
            true => best.value.map(|value| format!("{} observed", significant(value, 6))),
            false => best.trial.map(|_| format!("{} observed", values(outcomes, observed))),
        },
    ];
    let values: Vec<String> = values.into_iter().flatten().collect();
    let trial = best.trial.map_or_else(|| "a new point".to_owned(), |trial| format!("trial {trial}"));
    format!("{trial}: {}; {}", values.join(", "), in_short(&best.params))
}

fn parameters(space: &Space) -> String {
    let title = ["parameter", "type", "values"].map(str::to_owned).to_vec();
    let rows = table(std::iter::once(title).chain(space.parameters().iter().map(parameter)).collect());
    let constraints = space.constraints().iter().map(|constraint| format!("\n such that {constraint}"));
    std::iter::once(rows).chain(constraints).collect()
}

fn parameter(Parameter { name, kind, when }: &Parameter) -> Vec<String> {
    let number = |value: f64| significant(value, 6);
    let range = |low: String, high: String, log: bool, step: Option<String>| {
        let step = step.map(|step| format!(", step {step}")).unwrap_or_default();
        format!("{low} to {high}{step}{}", if log { ", log scale" } else { "" })
    };
    let (word, mut values) = match kind {
        Kind::Float { low, high, log, step } => {
            ("float", range(number(*low), number(*high), *log, step.map(number)))
        }
        Kind::Int { low, high, log, step } => {
            ("int", range(low.to_string(), high.to_string(), *log, step.map(|step| step.to_string())))
        }
        Kind::Bool => ("bool", "false, true".to_owned()),
        Kind::Categorical { choices } => {
            ("categorical", choices.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
    };
    for condition in when {
        values.push_str(&format!("; when {} = {}", condition.parameter, shown(&condition.value)));
    }
    vec![name.clone(), word.to_owned(), values]
}

/// Running and waiting trials, and enqueued points.
fn underway(view: &StudyView) -> String {
    let mut rows = vec![["", "worker", "asked for", "lease", "parameters"].map(str::to_owned).to_vec()];
    for UnderwayView { trial, lease, asked_at } in view.running.iter().chain(&view.waiting) {
        rows.push(vec![
            format!("trial {} {}", trial.trial, trial.state),
            or_dash(trial.worker),
            age(*asked_at),
            (*lease).to_owned(),
            in_short(trial.params),
        ]);
    }
    for params in &view.queue {
        rows.push(vec!["enqueued".into(), "-".into(), "-".into(), "-".into(), in_short(params)]);
    }
    if rows.len() == 1 { String::new() } else { table(rows) }
}

/// Reasons of failed trials, the most frequent first.
fn failures(state: &State) -> String {
    let mut reasons: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for trial in state.trials().iter().filter(|trial| trial.state == TrialState::Failed) {
        let reason = trial.failure.as_ref().map_or("no reason given", |failure| failure.reason.as_str());
        reasons.entry(reason).or_default().push(trial.number);
    }
    let mut reasons: Vec<(&str, Vec<usize>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, trials)| std::cmp::Reverse(trials.len()));
    let line = |(reason, trials): &(&str, Vec<usize>)| {
        let last = trials.last().map_or(0, |last| *last);
        let which = if trials.len() == 1 { "" } else { "last: " };
        let reason = reason.lines().next().unwrap_or("");
        format!(" {} ({which}trial {last}): {reason}", count(trials.len(), "failure"))
    };
    reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}
