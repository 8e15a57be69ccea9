//! `optimist show STUDY`: how a study stands.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use optimist::space::{Kind, Parameter};
use optimist_study::log::Lease;
use optimist_study::state::Over;
use optimist_study::{Best, State, Study, Trial, TrialState};
use serde_json::{Value, json};

use crate::number::{significant, with_uncertainty};
use crate::show::{age, count, in_short, or_dash, print, print_json, shown, table};
use crate::storage::AnyStudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist show film
  optimist show film --json | jq .running

Exit status: 0 if the study is there, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Print it as a JSON object
    #[arg(long)]
    json: bool,
}

/// Shows the study; errors are printed by `main`.
pub fn execute(args: ShowArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let (best, leases) = (study.recommend()?, study.leases()?);
    if args.json {
        print_json(&in_json(&study, best.as_ref(), &leases))?;
    } else {
        let state = study.state();
        let parts =
            [overview(&study, best.as_ref()), parameters(state), underway(state, &leases), failures(state)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        print(parts.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn overview(study: &Study, best: Option<&Best>) -> String {
    let state = study.state();
    let (definition, plan) = (state.definition(), state.plan());
    let objective = match &plan.objective {
        Some(objective) => format!("{} (in {})", objective.command.join(" "), objective.folder.display()),
        None => "none: `optimist ask` and `optimist tell`".to_owned(),
    };
    let settings = definition.optimizer.table().iter().filter(|(key, _)| *key != "name");
    let settings = settings.map(|(key, value)| format!(" {key}={value}")).collect::<String>();
    let optimizer = format!("{}{settings}, seed {}", definition.optimizer.name(), definition.seed);
    let mut rows = vec![
        ("direction", definition.direction.word().to_owned()),
        ("progress", progress(state)),
        ("recommended", best.map_or_else(|| "no value yet".to_owned(), |best| recommended(state, best))),
    ];
    if let Some(observed) =
        state.best_observed().filter(|trial| best.and_then(|best| best.trial) != Some(trial.number))
    {
        let value = or_dash(observed.value().map(|value| significant(value, 6)));
        rows.push(("best observed", format!("trial {}: {value}", observed.number)));
    }
    rows.extend([
        ("objective", objective),
        ("optimizer", optimizer),
        ("storage", study.storage().to_string()),
        ("begun", age(state.created_at())),
    ]);
    let rows = rows.into_iter().map(|(title, text)| vec![title.to_owned(), text]).collect();
    format!("{}\n{}", study.name(), table(rows))
}

fn progress(state: &State) -> String {
    let mut parts = vec![format!("{} of {} trials done", state.n_done(), state.plan().trials)];
    let imported = state.trials().iter().filter(|trial| trial.source.word() == "imported").count();
    let counts = [
        (state.count(TrialState::Failed), "failed"),
        (state.running().count(), "running"),
        (state.waiting().count(), "waiting"),
        (state.count(TrialState::Cancelled), "cancelled"),
        (state.queue().count(), "enqueued"),
        (imported, "imported"),
    ];
    parts.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    parts.extend(state.over().map(|over| format!("over: {}", why_over(over))));
    parts.join(", ")
}

fn why_over(over: Over) -> String {
    match over {
        Over::Trials => "as many trials as planned".to_owned(),
        Over::Target { trial } => format!("trial {trial} reached the target"),
        Over::Gain { gain } => format!("no more than {} to gain", significant(gain, 3)),
    }
}

fn recommended(state: &State, best: &Best) -> String {
    let observed = best.trial.and_then(|trial| state.trials()[trial].value());
    let values = [
        best.std.map(|std| format!("{} expected", with_uncertainty(best.mean, std))),
        observed.map(|value| format!("{} observed", significant(value, 6))),
    ];
    let values: Vec<String> = values.into_iter().flatten().collect();
    let trial = best.trial.map_or_else(|| "a new point".to_owned(), |trial| format!("trial {trial}"));
    format!("{trial}: {}; {}", values.join(", "), in_short(&best.params))
}

fn parameters(state: &State) -> String {
    let space = &state.definition().space;
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

/// Trials that somebody runs or is to run, and the points in the queue.
fn underway(state: &State, leases: &[Lease]) -> String {
    let mut rows = vec![["", "worker", "asked for", "lease", "parameters"].map(str::to_owned).to_vec()];
    for trial in state.running().chain(state.waiting()) {
        rows.push(vec![
            format!("trial {} {}", trial.number, trial.state.word()),
            or_dash(trial.worker.as_ref()),
            age(trial.asked_at),
            lease_word(trial, leases).to_owned(),
            in_short(&trial.params),
        ]);
    }
    for params in state.queue() {
        rows.push(vec!["enqueued".into(), "-".into(), "-".into(), "-".into(), in_short(params)]);
    }
    if rows.len() == 1 { String::new() } else { table(rows) }
}

fn lease_word(trial: &Trial, leases: &[Lease]) -> &'static str {
    match leases.iter().find(|lease| lease.trial == trial.number) {
        Some(lease) if lease.has_expired => "ran out",
        Some(_) => "held",
        None => "none",
    }
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
        format!(
            " {}, the last trial {last}: {}",
            count(trials.len(), "failure"),
            reason.lines().next().unwrap_or("")
        )
    };
    reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn in_json(study: &Study, best: Option<&Best>, leases: &[Lease]) -> Value {
    let state = study.state();
    let definition = state.definition();
    let with_lease = |trial: &Trial| {
        let mut object = serde_json::to_value(trial).unwrap_or_default();
        object["lease"] = lease_word(trial, leases).into();
        object["asked_at"] = trial.asked_at.into();
        object
    };
    json!({
        "study": study.name(),
        "storage": study.storage().to_string(),
        "created_at": state.created_at(),
        "direction": definition.direction,
        "seed": definition.seed,
        "optimizer": definition.optimizer,
        "space": definition.space,
        "plan": state.plan(),
        "trials": state.trials().len(),
        "done": state.n_done(),
        "complete": state.count(TrialState::Complete),
        "failed": state.count(TrialState::Failed),
        "cancelled": state.count(TrialState::Cancelled),
        "over": state.over().map(why_over),
        "best": best.map(|best| crate::commands::best::in_json(state, best)),
        "running": state.running().map(with_lease).collect::<Vec<_>>(),
        "waiting": state.waiting().map(with_lease).collect::<Vec<_>>(),
        "queue": state.queue().collect::<Vec<_>>(),
    })
}
