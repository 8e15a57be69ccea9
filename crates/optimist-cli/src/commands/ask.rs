//! `optimist ask STUDY`: what to measure next, if `optimist run` does not do it.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use optimist_study::view::number::shown;
use optimist_study::{AskTell, Job};
use serde_json::json;

use crate::show::{cells, names, print, print_json, say, table, what_to_tell};
use crate::storage::AnyStudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist ask film                  the next trial to measure
  optimist ask film -n 4 --worker anna
  optimist ask film --json           {\"trial\": 7, \"params\": {\"x\": 181.2}, ...}
  optimist ask film --lease 86400    put back unless told within a day

The trial is yours until you report its value (`optimist tell`) or that there
is none (`optimist fail`), however long that takes; --lease sets a limit.
Trials that were put back come first, then enqueued points, then suggestions
of the optimizer.

Exit status: 0 if there is a trial, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist ask`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AskArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Number of trials to measure at the same time
    #[arg(short, long = "number", value_name = "K", default_value = "1")]
    n: NonZeroUsize,
    /// Put the trial back if its value is not reported within this many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    lease: Option<Duration>,
    /// Who measures it; `optimist show` displays the name
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    /// Print one JSON object for each trial
    #[arg(long)]
    json: bool,
}

/// Asks for trials and prints them with the command that reports their values.
pub fn execute(args: AskArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open_to_ask()?;
    study.reclaim()?;
    let jobs = study.ask_many(args.n.get(), args.worker.as_deref(), args.lease)?;
    if args.json {
        jobs.iter().try_for_each(|job| {
            print_json(&json!({ "trial": job.trial, "params": job.params, "source": job.source.word() }))
        })?;
    } else {
        print(in_words(&study, &jobs))?;
        let name = &study.definition().name;
        let value = what_to_tell(&study.definition().outcomes);
        match &jobs[..] {
            [job] => say(format!("when measured: optimist tell {name} {} {value}", job.trial)),
            _ => say(format!("when measured: optimist tell {name} TRIAL {value}")),
        }
    }
    let planned = study.definition().plan.trials;
    if study.n_counted() > planned {
        say(format!("note: this is beyond the {planned} planned trials"));
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(study: &AskTell, jobs: &[Job]) -> String {
    if let [Job { trial, params, .. }] = jobs {
        let rows = params.iter().map(|(name, value)| vec![name.to_owned(), shown(value)]).collect();
        return format!("trial {trial}\n{}", table(rows));
    }
    let space = &study.definition().space;
    let title = std::iter::once("trial").chain(names(space)).map(str::to_owned).collect();
    let row = |job: &Job| std::iter::once(job.trial.to_string()).chain(cells(&job.params, space)).collect();
    table(std::iter::once(title).chain(jobs.iter().map(row)).collect())
}

fn seconds(word: &str) -> Result<Duration, String> {
    let lasts = word.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // A century is as good as forever, and more than some databases can store.
    let possible = lasts.filter(|lasts| !lasts.is_zero() && lasts.as_secs() < 3_000_000_000);
    possible.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}
