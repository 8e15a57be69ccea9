//! `optimist pause STUDY`, `optimist stop STUDY`, `optimist resume STUDY`: tell every run of a study to wait, to end or to resume.

use std::process::ExitCode;

use clap::Args;
use optimist_study::{Course, Kept};
use serde_json::json;

use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist pause lr-sweep     workers finish their trials, then wait
  optimist stop lr-sweep      workers finish their trials, then exit
  optimist resume lr-sweep    resumes it; if it was stopped, also run it again

`optimist ask` still works while a study is paused or stopped.

Exit status: 0 if the study is now in this state, 1 if not, 2 if the command
line is wrong.";

/// Options of `optimist pause`, `stop` and `resume`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SteerArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Print the outcome as a JSON object
    #[arg(long)]
    json: bool,
}

/// Stores the new course.
pub fn execute(args: SteerArgs, course: Course) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let kept = study.steer(course)?;
    if args.json {
        let is_new = kept == Kept::Stored;
        print_json(&json!({ "study": study.name(), "course": course, "changed": is_new }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(match (kept, course) {
        (Kept::Already, Course::Going) => "the study is neither paused nor stopped",
        (Kept::Already, Course::Paused) => "the study is already paused",
        (Kept::Already, Course::Stopped) => "the study is already stopped",
        (Kept::Stored, Course::Going) => "the study is resumed",
        (Kept::Stored, Course::Paused) => {
            "paused: workers finish their trials, then wait for `optimist resume`"
        }
        (Kept::Stored, Course::Stopped) => {
            "stopped: workers finish their trials, then exit; `optimist resume` resumes it"
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
