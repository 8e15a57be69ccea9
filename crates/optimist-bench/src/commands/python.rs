//! Python environments of benchmarks: found, or made when they are needed for the first time.

use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use optimist_bench::environment::{CLASSIFIERS, Environment, PEERS};
use optimist_bench::task::Task;
use optimist_bench::trainer::Trainer;

/// Who trains the classifiers of these tasks, if there are any.
pub fn trainer_for<'a>(
    mut tasks: impl Iterator<Item = &'a &'static Task>,
) -> anyhow::Result<Option<Trainer>> {
    if !tasks.any(|task| task.needs_training()) {
        return Ok(None);
    }
    let python = interpreter(&CLASSIFIERS, "scikit-learn and data sets, about a minute")?;
    Ok(Some(Trainer::open(&python)?))
}

/// Makes sure that there is an environment for peers.
pub fn prepare_peers() -> anyhow::Result<()> {
    interpreter(&PEERS, "BoTorch, Optuna, pycma, scikit-optimize, HEBO: a few gigabytes, some minutes")
        .map(drop)
}

fn interpreter(environment: &Environment, contents: &str) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir()?;
    if let Some(python) = environment.find(&here) {
        return Ok(python);
    }
    eprintln!("making {} ({contents})", environment.folder);
    let spinner = ProgressBar::new_spinner().with_style(style()); // hidden where there is no terminal
    spinner.enable_steady_tick(Duration::from_millis(200));
    let made = environment.make(&here, &|line| spinner.set_message(line.trim().to_owned()));
    spinner.finish_and_clear();
    Ok(made?)
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {elapsed}  {wide_msg}")
        .expect("the template is a constant, and a test reads it")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_of_the_spinner_is_valid() {
        super::style();
    }
}
