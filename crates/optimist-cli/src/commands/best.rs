//! `optimist best STUDY`: the point to bet on, and those that come next.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist::space::Space;
use optimist_study::Best;
use optimist_study::view::number::{significant, with_uncertainty};

use crate::show::{cells, names, or_dash, print, print_json, table};
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
        ranking.iter().try_for_each(print_json)?;
    } else if ranking.len() == 1 {
        print(summary::best_points(state, Some(best)))?;
    } else {
        print(in_words(&state.definition().space, &ranking))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(space: &Space, ranking: &[Best]) -> String {
    let title = ["trial", "observed value", "expected value"].into_iter().chain(names(space));
    let title = title.map(str::to_owned).collect();
    let row = |best: &Best| {
        let value = best.value.map(|value| significant(value, 6));
        let expected = best.std.map(|std| with_uncertainty(best.mean, std));
        let first = [or_dash(best.trial), or_dash(value), or_dash(expected)];
        first.into_iter().chain(cells(&best.params, space)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(title).chain(ranking.iter().map(row)).collect();
    table(rows)
}
