//! `optimist plot STUDY`: pictures of a study, or the numbers behind them.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use optimist_plot::study::{PlotKind, Plots, terminal};

use crate::show::{print, print_json, say};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist plot lr-sweep                                  the history, in the terminal
  optimist plot lr-sweep -o lr-sweep.html                 everything, as a page that needs no network
  optimist plot lr-sweep -o best.png --kind history       one picture
  optimist plot lr-sweep --kind importance --json         the numbers behind it

docs/plots.md says what each plot means.";

/// Options of `optimist plot`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlotArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// What to show; several with commas between them
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "all")]
    kind: Vec<KindWord>,
    /// Write to this file; its ending says how: .svg, .png or .html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the data behind the plots as a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindWord {
    /// The value of each trial, and the best so far
    History,
    /// Value against each parameter
    Slices,
    /// Each trial as a line through its parameters
    Parallel,
    /// How much each parameter matters, as the model has it
    Importance,
    /// How well the model predicts, and what it says of each parameter
    Surrogate,
    /// All of these
    All,
}

/// Draws the study; errors are printed by `main`.
pub fn execute(args: PlotArgs) -> anyhow::Result<ExitCode> {
    let study = args.study.open()?;
    let (state, name) = (study.state(), study.name());
    if args.output.is_none() && !args.json {
        let Some(text) = terminal::text(state.trials(), state.definition().direction) else {
            bail!("study `{name}` has no value yet; there is nothing to draw");
        };
        print(format!("{text}\n\n`optimist plot {name} -o plots.html` shows more"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds: Vec<PlotKind> = args.kind.iter().flat_map(|word| word.kinds()).copied().collect();
    let plots = Plots::new(state, &kinds)?;
    if let Some(file) = &args.output {
        plots.write(file)?;
        say(format!("wrote {}", file.display()));
    }
    if args.json {
        print_json(&plots.data(state))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl KindWord {
    fn kinds(self) -> &'static [PlotKind] {
        match self {
            Self::History => &[PlotKind::History],
            Self::Slices => &[PlotKind::Slices],
            Self::Parallel => &[PlotKind::Parallel],
            Self::Importance => &[PlotKind::Importance],
            Self::Surrogate => &[PlotKind::Surrogate],
            Self::All => &PlotKind::ALL,
        }
    }
}
