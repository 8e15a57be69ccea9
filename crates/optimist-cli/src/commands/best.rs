//! `optimist best STUDY`: the point to bet on, and those that come next.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_study::{Best, State};
use serde_json::{Value, json};

use crate::number::{significant, with_uncertainty};
use crate::show::{or_dash, print, print_json, shown, table};
use crate::storage::AnyStudyArgs;
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  optimist best film
  optimist best film --json | jq .params
  optimist best film -n 5

The first is the point to bet on: that with the best expected value, by the optimizer's model. The best observed value
may just have been lucky, and is shown beside it. The further ones of -n are by expected value, too; an optimizer without
a model expects what was observed.

Exit status: 0 if there is a value, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist best`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BestArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Show this many points
    #[arg(short, long = "number", value_name = "K", default_value = "1")]
    n: NonZeroUsize,
    /// Print one JSON object for each point
    #[arg(long)]
    json: bool,
}

/// Shows the best points; errors are printed by `main`.
pub fn execute(args: BestArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let ranking = study.ranking(args.n.get())?;
    let Some(best) = ranking.first() else {
        bail!(
            "study `{}` has no value yet, so nothing is best; `optimist show` tells how it stands",
            study.name()
        );
    };
    let state = study.state();
    if args.json {
        ranking.iter().try_for_each(|best| print_json(&in_json(state, best)))?;
    } else if ranking.len() == 1 {
        print(summary::best_points(state, Some(best)))?;
    } else {
        print(in_words(state, &ranking))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A point, as `--json` prints it.
pub fn in_json(state: &State, best: &Best) -> Value {
    json!({
        "trial": best.trial,
        "params": best.params,
        "expected": best.mean,
        "std": best.std,
        "value": best.trial.and_then(|trial| state.trials()[trial].value()),
    })
}

fn in_words(state: &State, ranking: &[Best]) -> String {
    let names = || state.definition().space.parameters().iter().map(|parameter| parameter.name.as_str());
    let title =
        ["trial", "observed value", "expected value"].into_iter().chain(names()).map(str::to_owned).collect();
    let row = |best: &Best| {
        let value = best.trial.and_then(|trial| state.trials()[trial].value());
        let value = value.map(|value| significant(value, 6));
        let expected = best.std.map(|std| with_uncertainty(best.mean, std));
        let values = names().map(|name| or_dash(best.params.get(name).map(shown)));
        [or_dash(best.trial), or_dash(value), or_dash(expected)].into_iter().chain(values).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(title).chain(ranking.iter().map(row)).collect();
    table(rows)
}
