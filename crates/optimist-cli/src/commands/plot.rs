//! `optimist plot STUDY`: pictures of a study, or the numbers behind them.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use optimist_study::Study;

use crate::args::PlotArgs;
use crate::plot::{Plots, terminal};

/// Draws the study; errors are printed by `main`.
pub fn execute(args: PlotArgs) -> anyhow::Result<ExitCode> {
    let study = Study::open(&args.storage.storage()?, &args.study)?;
    let state = study.state();
    let mut stdout = std::io::stdout();
    if args.output.is_none() && !args.json {
        let Some(text) = terminal::text(state.trials(), state.definition().direction) else {
            bail!("study `{}` has no value yet; there is nothing to draw", args.study);
        };
        writeln!(stdout, "{text}\n\n`optimist plot {} -o plots.html` shows more", args.study)?;
        return Ok(ExitCode::SUCCESS);
    }
    let plots = Plots::of(state, &args.kind)?;
    if let Some(file) = &args.output {
        plots.write(file)?;
        eprintln!("wrote {}", file.display());
    }
    if args.json {
        writeln!(stdout, "{}", plots.data())?;
    }
    Ok(ExitCode::SUCCESS)
}
