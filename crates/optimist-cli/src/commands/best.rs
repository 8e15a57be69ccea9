//! `optimist best STUDY`: the point to bet on, and those that come next.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist::space::Space;
use optimist_study::view::number::{significant, with_uncertainty};
use optimist_study::{Best, Outcomes, Search, State, Study};

use crate::show::{cells, names, or_dash, print, print_json, table};
use crate::storage::AnyStudyArgs;
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  optimist best film
  optimist best film --json | jq .params
  optimist best film -n 5
  optimist best net --json | jq '.points[] | select(.knee)'    several goals

Shows the point to bet on: the one with the best expected value, according to
the optimizer's model. The best observed value may just have been lucky, and
is shown beside it. -n ranks by expected value, too; an optimizer without a
model expects what was observed.

With several goals it shows the front: the points that no other is expected to
beat in every goal, the hypervolume they cover, and the knee, which trades the
goals off most evenly. With constraints it shows how likely each point is
feasible.

Exit status: 0 if there is a value, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist best`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BestArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Number of points to show [default: 1, or the whole front]
    #[arg(short, long = "number", value_name = "K")]
    n: Option<NonZeroUsize>,
    /// Print one JSON object for each point
    #[arg(long)]
    json: bool,
}

/// Shows the best points.
pub fn execute(args: BestArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    if study.state().outcomes().search() == Search::Front {
        return execute_front(&mut study, &args);
    }
    let ranking = study.ranking(args.n.map_or(1, NonZeroUsize::get))?;
    let Some(best) = ranking.first() else {
        bail!("study `{}` has no value yet; `optimist show` shows its status", study.name());
    };
    let state = study.state();
    if args.json {
        ranking.iter().try_for_each(print_json)?;
    } else if ranking.len() == 1 {
        print(summary::best_points(state, Some(best)))?;
    } else {
        print(in_words(state, &ranking))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Several goals have no best point, but a front.
fn execute_front(study: &mut Study, args: &BestArgs) -> anyhow::Result<ExitCode> {
    let Some(mut front) = study.front()? else {
        bail!(
            "study `{}` has no front yet: every outcome must have been measured in at least one trial; `optimist show` shows \
             its status",
            study.name()
        );
    };
    if args.json {
        front.points.truncate(args.n.map_or(usize::MAX, NonZeroUsize::get));
        print_json(&front)?;
    } else {
        print(summary::front(study.state(), &front, args.n.map_or(usize::MAX, NonZeroUsize::get)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(state: &State, ranking: &[Best]) -> String {
    let (outcomes, space) = (state.outcomes(), &state.definition().space);
    if !outcomes.is_one() {
        return several_in_words(outcomes, space, ranking);
    }
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

fn several_in_words(outcomes: &Outcomes, space: &Space, ranking: &[Best]) -> String {
    let feasible = outcomes.has_constraints().then_some("feasible");
    let title = std::iter::once("trial").chain(feasible).chain(outcomes.names()).chain(names(space));
    let row = |best: &Best| {
        let of_outcomes = best.outcomes.0.iter().map(|(_, one)| match one.std {
            Some(std) => with_uncertainty(one.expected, std),
            None => significant(one.expected, 6),
        });
        let feasible = feasible.map(|_| or_dash(best.feasible.map(summary::percent)));
        std::iter::once(or_dash(best.trial))
            .chain(feasible)
            .chain(of_outcomes)
            .chain(cells(&best.params, space))
            .collect()
    };
    let title = title.map(str::to_owned).collect();
    table(std::iter::once(title).chain(ranking.iter().map(row)).collect())
}
