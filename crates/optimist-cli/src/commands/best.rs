//! `optimist best STUDY`: the point to bet on, and those that come next.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_study::{Best, State, Trial};
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
may just have been lucky, and is shown beside it. The further ones of -n are by observed value.

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
    let Some(best) = study.recommend()? else {
        bail!(
            "study `{}` has no value yet, so nothing is best; `optimist show` tells how it stands",
            study.name()
        );
    };
    let state = study.state();
    let others = runners_up(state, &best, args.n.get() - 1);
    if args.json {
        print_json(&in_json(state, &best))?;
        others.iter().try_for_each(|trial| print_json(&trial_in_json(trial)))?;
    } else if others.is_empty() {
        print(summary::best_points(state, Some(&best)))?;
    } else {
        print(in_words(state, &best, &others))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The trials with the best observed values, but for the recommended one.
fn runners_up<'s>(state: &'s State, best: &Best, n: usize) -> Vec<&'s Trial> {
    let direction = state.definition().direction;
    let others = state.trials().iter().filter(|trial| Some(trial.number) != best.trial);
    let mut valued: Vec<(f64, &Trial)> = others.filter_map(|trial| Some((trial.value()?, trial))).collect();
    valued.sort_by(|a, b| direction.flip(b.0).total_cmp(&direction.flip(a.0)));
    valued.into_iter().take(n).map(|(_, trial)| trial).collect()
}

/// The recommended point, as `--json` prints it.
pub fn in_json(state: &State, best: &Best) -> Value {
    json!({
        "trial": best.trial,
        "params": best.params,
        "expected": best.mean,
        "std": best.std,
        "value": best.trial.and_then(|trial| state.trials()[trial].value()),
    })
}

fn trial_in_json(trial: &Trial) -> Value {
    json!({ "trial": trial.number, "params": trial.params, "value": trial.value() })
}

fn in_words(state: &State, best: &Best, others: &[&Trial]) -> String {
    let names = || state.definition().space.parameters().iter().map(|parameter| parameter.name.as_str());
    let title =
        ["trial", "observed value", "expected value"].into_iter().chain(names()).map(str::to_owned).collect();
    let row = |number: Option<usize>, expected: Option<String>, params: &optimist::space::Assignment| {
        let value = number.and_then(|number| state.trials()[number].value());
        let value = value.map(|value| significant(value, 6));
        let values = names().map(|name| or_dash(params.get(name).map(shown)));
        [or_dash(number), or_dash(value), or_dash(expected)].into_iter().chain(values).collect()
    };
    let expected = best.std.map(|std| with_uncertainty(best.mean, std));
    let mut rows: Vec<Vec<String>> = vec![title, row(best.trial, expected, &best.params)];
    rows.extend(others.iter().map(|trial| row(Some(trial.number), None, &trial.params)));
    table(rows)
}
