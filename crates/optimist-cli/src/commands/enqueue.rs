//! `optimist enqueue STUDY name=value …`: a point that somebody wants to be tried next.

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist::space::{Assignment, Kind, Space, Value};
use serde_json::json;

use crate::show::{in_short, print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist enqueue film temperature=180 minutes=40 gas=argon
  optimist enqueue film '{\"temperature\": 180, \"minutes\": 40, \"gas\": \"argon\"}'

Every active parameter needs a value. The point is tried before the optimizer is asked again, and counts as any other.

Exit status: 0 if it is in the queue, 1 if it is not in the space, 2 if the command line is wrong.";

/// Options of `optimist enqueue`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EnqueueArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// name=value for each parameter, or one JSON object
    #[arg(required = true, value_name = "POINT")]
    point: Vec<String>,
    /// Print the point as a JSON object
    #[arg(long)]
    json: bool,
}

/// Puts the point in the queue; errors are printed by `main`.
pub fn execute(args: EnqueueArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let params = read(&args.point, &study.state().definition().space)?;
    study.enqueue(&params)?;
    let n_queued = study.state().queue().count();
    if args.json {
        print_json(&json!({ "study": study.name(), "params": params, "queued": n_queued }))?;
    } else {
        let place =
            if n_queued == 1 { "is next".to_owned() } else { format!("is number {n_queued} in the queue") };
        print(format!("{} {place}", in_short(&params)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The point that the words say, checked, in the order in which parameters are declared.
fn read(words: &[String], space: &Space) -> anyhow::Result<Assignment> {
    let given = match words {
        [object] if object.trim_start().starts_with('{') => {
            serde_json::from_str(object).context("the point is not a JSON object of names and values")?
        }
        pairs => read_pairs(pairs, space)?,
    };
    space.check(&given)?;
    let declared = space.parameters().iter().map(|parameter| parameter.name.as_str());
    Ok(declared.filter_map(|name| Some((name, given.get(name)?.clone()))).collect())
}

fn read_pairs(pairs: &[String], space: &Space) -> anyhow::Result<Assignment> {
    let mut given = Assignment::default();
    for pair in pairs {
        let Some((name, word)) = pair.split_once('=') else {
            bail!("expected name=value for each parameter, or one JSON object, got `{pair}`");
        };
        if given.get(name).is_some() {
            bail!("parameter `{name}` is given twice; drop one of the two");
        }
        let kind = space.get(name).map(|parameter| &parameter.kind);
        given.insert(name, kind.and_then(|kind| value(kind, word)).unwrap_or_else(|| word.into()));
    }
    Ok(given)
}

/// What `word` means for a parameter of this kind; `None` if it means nothing.
fn value(kind: &Kind, word: &str) -> Option<Value> {
    match kind {
        Kind::Float { .. } => word.parse().ok().map(Value::Float),
        Kind::Int { .. } => word.parse().ok().map(Value::Int).or_else(|| word.parse().ok().map(Value::Float)),
        Kind::Bool => word.parse().ok().map(Value::Bool),
        Kind::Categorical { choices } => choices.iter().find(|choice| choice.to_string() == word).cloned(),
    }
}
