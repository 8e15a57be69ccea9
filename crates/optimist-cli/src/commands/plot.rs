//! `optimist plot STUDY`: pictures of a study, or the numbers behind them.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use optimist_plot::study::{PlotKind, Plots, is_drawable, terminal};
use optimist_study::State;

use crate::show::{print, print_json, say};
use crate::storage::AnyStudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist plot film                                its history, as text
  optimist plot film -o film.html                   everything, as one page
  optimist plot film -o best.png --kind history     one plot
  optimist plot film -o c.svg --kind contour --of temperature,minutes
  optimist plot film --kind importance --json       the numbers behind it

The page needs no network. It starts with the recommended parameters, what to
expect from them, and how far the model can be trusted.

Exit status: 0 if there is a plot, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist plot`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlotArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// What to plot; separate several by commas
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "all")]
    kind: Vec<KindWord>,
    /// The two parameters of the contour [default: the two that matter most]
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    of: Vec<String>,
    /// Write to this .svg, .png or .html file
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
    /// Parallel coordinates: each trial is a line through its parameters
    Parallel,
    /// Parameter importance according to the model
    Importance,
    /// How well the model predicts, and the effect of each parameter
    Surrogate,
    /// The Pareto front: each goal against each other
    Front,
    /// Each metric against the value
    Metrics,
    /// Predicted value over two parameters; see --of
    Contour,
    /// Empirical distribution of values
    Edf,
    /// When each trial ran, and on which worker
    Timeline,
    /// All of these
    All,
}

/// Draws the study.
pub fn execute(args: PlotArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    // Only a page tells it.
    let best = if args.output.is_some() { study.recommend()? } else { None };
    let (state, name) = (study.state(), study.name());
    if args.output.is_none() && !args.json {
        let Some(text) = terminal::text(state) else {
            bail!("study `{name}` has no value yet; there is nothing to plot");
        };
        print(format!("{text}\n\n`optimist plot {name} -o plots.html` shows more"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds: Vec<PlotKind> = args.kind.iter().flat_map(|word| word.kinds()).copied().collect();
    let plots = Plots::of_pair(state, &kinds, pair(state, &args.of)?)?;
    let plots = plots.with_recommended(best.as_ref());
    if let Some(file) = &args.output {
        plots.write(file)?;
        say(format!("wrote {}", file.display()));
    }
    if args.json {
        print_json(&plots.data(state))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The places of two parameters in the space.
fn pair(state: &State, names: &[String]) -> anyhow::Result<Option<(usize, usize)>> {
    let (x, y) = match names {
        [] => return Ok(None),
        [x, y] => (x, y),
        _ => bail!("`--of` takes two parameters, such as --of rate,depth; got {}", names.len()),
    };
    let parameters = state.definition().space.parameters();
    let place = |name: &String| {
        let place = parameters.iter().position(|parameter| parameter.name == *name);
        let names = || parameters.iter().map(|parameter| &parameter.name[..]).collect::<Vec<_>>().join(", ");
        place.with_context(|| format!("there is no parameter `{name}`; the study has {}", names()))
    };
    let (x, y) = (place(x)?, place(y)?);
    if !is_drawable(parameters, x, y) {
        bail!("a contour needs two parameters that are always active together");
    }
    Ok(Some((x, y)))
}

impl KindWord {
    fn kinds(self) -> &'static [PlotKind] {
        match self {
            Self::History => &[PlotKind::History],
            Self::Slices => &[PlotKind::Slices],
            Self::Parallel => &[PlotKind::Parallel],
            Self::Importance => &[PlotKind::Importance],
            Self::Surrogate => &[PlotKind::Surrogate],
            Self::Front => &[PlotKind::Front],
            Self::Metrics => &[PlotKind::Metrics],
            Self::Contour => &[PlotKind::Contour],
            Self::Edf => &[PlotKind::Edf],
            Self::Timeline => &[PlotKind::Timeline],
            Self::All => &PlotKind::ALL,
        }
    }
}
