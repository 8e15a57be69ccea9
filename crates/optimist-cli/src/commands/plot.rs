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
  optimist plot lr-sweep                                  the history, in the terminal
  optimist plot lr-sweep -o lr-sweep.html                 everything, as a page that needs no network
  optimist plot lr-sweep -o best.png --kind history       one picture
  optimist plot lr-sweep -o c.svg --kind contour --of rate,depth
  optimist plot lr-sweep --kind importance --json         the numbers behind it

The page opens with what to take home: the recommended parameters, what they are worth, how far the model can be trusted.

Exit status: 0 if there is a picture, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist plot`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlotArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// What to show, separated by commas
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "all")]
    kind: Vec<KindWord>,
    /// The two parameters of the contour; without it those that matter most
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
    /// Each trial as a line through its parameters
    Parallel,
    /// How much each parameter matters, as the model has it
    Importance,
    /// How well the model predicts, and what it says of each parameter
    Surrogate,
    /// Of several goals: each against each, and the trials that no other beats
    Front,
    /// Each metric against the value
    Metrics,
    /// What the model says of two parameters together: see --of
    Contour,
    /// Which part of the trials was at least this good
    Edf,
    /// When each trial ran, and on which worker
    Timeline,
    /// All of these
    All,
}

/// Draws the study; errors are printed by `main`.
pub fn execute(args: PlotArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    // Only a page tells it.
    let best = if args.output.is_some() { study.recommend()? } else { None };
    let (state, name) = (study.state(), study.name());
    if args.output.is_none() && !args.json {
        let Some(text) = terminal::text(state) else {
            bail!("study `{name}` has no value yet; there is nothing to draw");
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
        bail!("a contour needs two parameters of which neither is inactive for some values of the other");
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
