//! `optimist enqueue STUDY name=value …`: a point to try next.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use optimist::space::{Assignment, Space};
use serde_json::json;

use crate::pairs::read_pairs;
use crate::show::{in_short, print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist enqueue film temperature=180 minutes=40 gas=argon
  optimist enqueue film '{\"temperature\": 180, \"minutes\": 40, \"gas\": \"argon\"}'

Every active parameter needs a value. The point is tried before anything that
the optimizer suggests, and counts as a trial like any other.

Exit status: 0 if the point is in the queue, 1 if it isn't in the space, 2 if
the command line is wrong.";

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

/// Puts the point in the queue.
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
