//! What forms do: each action changes a study once, and redirects back to a page.
//!
//! The guard has checked origin, token and role. After the redirect, a word in the address selects one of our own messages; pages never
//! show text from an address as a message.

use axum::extract::{Path, RawForm, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use optimist::space::{Assignment, Kind, Space, Value};
use optimist_study::view::number::count;
use optimist_study::{
    Amendment, Course, Evaluation, Event, FailureKind, Measurement, NamedOutcome, Plan, Record, Study,
    StudyError, TrialState,
};
use serde::Deserialize;

use super::Shown;
use super::address::Address;
use super::laboratory::{MOST_AT_ONCE, field};
use crate::app::App;
use crate::auth::Identity;
use crate::problem::Problem;

/// The message that a page shows after each action.
const MESSAGES: [(&str, &str); 14] = [
    ("pause", "Paused: workers finish their trials, then wait."),
    ("resume", "Resumed."),
    ("stop", "Stopped: workers finish their trials, then exit."),
    ("trials", "Number of trials changed."),
    ("retry", "Retrying: failed trials run before new suggestions."),
    ("enqueue", "Queued: this point is tried next."),
    ("enqueue-again", "Queued: this point is tried again."),
    ("cancel", "Cancelled."),
    ("amend", "Corrected. The log keeps the previous value."),
    ("note", "Note saved."),
    ("ask", "Here is what to try next."),
    ("tell", "Result saved."),
    ("undo", "Undone: the experiment is open again."),
    ("nothing", "Nothing to change."),
];

/// The message for the word in an address.
pub fn message(word: &str) -> Option<&'static str> {
    MESSAGES.into_iter().find(|(known, _)| *known == word).map(|(_, message)| message)
}

#[derive(Deserialize)]
pub struct ActionPath {
    study: String,
    action: String,
}

/// The fields of a form.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&str> {
        let field = self.0.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn need(&self, name: &str, what: &str) -> Result<&str, Problem> {
        self.get(name)
            .ok_or_else(|| Problem::bad_request(format!("{what} is missing; go back and fill it in")))
    }

    fn whole(&self, name: &str, what: &str) -> Result<usize, Problem> {
        let text = self.need(name, what)?;
        text.parse().map_err(|_| Problem::bad_request(format!("{what} must be a whole number, got `{text}`")))
    }

    fn number(&self, name: &str, what: &str) -> Result<f64, Problem> {
        let text = self.need(name, what)?;
        number(text).ok_or_else(|| {
            Problem::bad_request(format!("{what} must be a number such as 71.5 or 1.2e-3, got `{text}`"))
        })
    }
}

/// A number as people type it: one comma may stand for the point.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().replace('−', "-");
    let text = if text.contains('.') { text } else { text.replacen(',', ".", 1) };
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `POST /studies/{study}/do/{action}`
pub async fn act(
    State(app): State<App>,
    who: Identity,
    Path(ActionPath { study, action }): Path<ActionPath>,
    headers: HeaderMap,
    RawForm(body): RawForm,
) -> Result<Response, Shown> {
    who.require_study(&study)?;
    let pairs = form_pairs(&body);
    let fields = Fields(pairs);
    let address = Address::new(&study);
    let back = back(&address, &fields);
    let done = app
        .look(&study, move |app, held| -> Result<String, Problem> {
            let by = who.name.clone();
            let mut problem = None;
            let done = app.studies.change(held, &by, |study| match apply(study, &action, &fields, &by) {
                Ok(done) => Ok(done),
                Err(Refused::Study(error)) => Err(error),
                Err(Refused::Request(refused)) => {
                    problem = Some(refused);
                    Ok("nothing")
                }
            })?;
            match problem {
                Some(problem) => Err(problem),
                None => Ok(done.to_owned()),
            }
        })
        .await?;
    if headers.contains_key("x-live") {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Redirect::to(&format!("{back}?done={done}")).into_response())
}

fn form_pairs(body: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(body).into_owned().collect()
}

/// The page to return to, always one of this study.
fn back(address: &Address, fields: &Fields) -> String {
    if fields.get("sheet").is_some() {
        return address.path("/laboratory/sheet");
    }
    let trial = fields.get("trial").and_then(|trial| trial.parse::<usize>().ok());
    match (fields.get("back").unwrap_or_default(), trial) {
        ("/laboratory", _) => address.path("/laboratory"),
        ("/manage", _) => address.path("/manage"),
        ("", None) => address.path(""),
        (_, Some(trial)) => address.path(&format!("/trials/{trial}")),
        (_, None) => address.path("/trials"),
    }
}

/// Why nothing was done.
enum Refused {
    Study(StudyError),
    Request(Problem),
}

impl From<StudyError> for Refused {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Request(problem)
    }
}

fn apply(study: &mut Study, action: &str, fields: &Fields, by: &str) -> Result<&'static str, Refused> {
    let trial = || fields.whole("trial", "the number of the trial");
    Ok(match action {
        "pause" => steer(study, Course::Paused, "pause")?,
        "resume" => steer(study, Course::Going, "resume")?,
        "stop" => steer(study, Course::Stopped, "stop")?,
        "trials" => {
            change_trials(study, fields.whole("trials", "the number of trials")?)?;
            "trials"
        }
        "retry" if fields.get("all").is_some() => {
            study.refresh()?;
            let failed = study.state().trials().iter().filter(|trial| trial.state == TrialState::Failed);
            let failed: Vec<usize> = failed.map(|trial| trial.number).collect();
            if study.retry(&failed)?.is_empty() { "nothing" } else { "retry" }
        }
        "retry" => {
            study.retry(&[trial()?])?;
            "retry"
        }
        "cancel" => {
            study.cancel(trial()?)?;
            "cancel"
        }
        "enqueue" => {
            let params = params(&study.state().definition().space, fields)?;
            study.enqueue(&params)?;
            "enqueue"
        }
        "enqueue-again" => {
            let params = known(study, trial()?)?.params.clone();
            study.enqueue(&params)?;
            "enqueue-again"
        }
        "note" => {
            let trial = fields.get("trial").map(|_| trial()).transpose()?;
            study.annotate(trial, fields.get("text").unwrap_or_default())?;
            "note"
        }
        "amend" => {
            let measured = measured(study, fields)?;
            let number = trial()?;
            let measured = known(study, number)?.corrected(measured);
            study.amend(
                number,
                &Assignment::default(),
                Some(Amendment::Measured(measured)),
                fields.get("reason"),
            )?;
            "amend"
        }
        "ask" => {
            let count = fields.whole("count", "the number of experiments")?.clamp(1, MOST_AT_ONCE);
            for _ in 0..count {
                study.ask(Some(by))?;
            }
            "ask"
        }
        "tell" => tell(study, trial()?, fields)?,
        "undo" => undo(study, trial()?, by)?,
        other => return Err(Problem::not_found(format!("unknown action `{other}`")).into()),
    })
}

fn steer(study: &mut Study, course: Course, word: &'static str) -> Result<&'static str, Refused> {
    study.steer(course)?;
    Ok(word)
}

fn change_trials(study: &mut Study, trials: usize) -> Result<(), Refused> {
    if trials == 0 {
        return Err(
            Problem::bad_request("the number of trials must be 1 or more; to end a study, stop it").into()
        );
    }
    study.refresh()?;
    study.change(Plan { trials, ..study.state().plan().clone() })?;
    Ok(())
}

fn known(study: &mut Study, trial: usize) -> Result<&optimist_study::Trial, Refused> {
    study.refresh()?;
    let n = study.state().n_trials();
    let known = study.state().trial(trial);
    known.ok_or_else(|| {
        Problem::not_found(format!("trial {trial} doesn't exist; the study has {}", count(n, "trial"))).into()
    })
}

/// Stores the result of an experiment. Sending the same form again changes nothing: a bad connection may make scripts repeat it.
fn tell(study: &mut Study, trial: usize, fields: &Fields) -> Result<&'static str, Refused> {
    match fields.get("how") {
        Some("cancel") if known(study, trial)?.state == TrialState::Cancelled => {}
        Some("cancel") => study.cancel(trial)?,
        Some("failed") => {
            let reason = fields.get("reason").unwrap_or("it failed in the laboratory").to_owned();
            study.tell(trial, Evaluation::failed(FailureKind::Infeasible, reason), None)?;
        }
        _ => {
            let note = fields.get("note").map(str::to_owned);
            let measured = Measurement { note, ..measured(study, fields)? };
            study.tell(trial, measured, None)?;
        }
    }
    Ok("tell")
}

/// The value of each outcome, from its field.
fn measured(study: &Study, fields: &Fields) -> Result<Measurement, Problem> {
    let outcomes = study.state().outcomes();
    let value = |outcome: &NamedOutcome| {
        let what = if outcomes.is_one() {
            "the value".to_owned()
        } else {
            format!("the value of `{}`", outcome.name)
        };
        Ok((outcome.name.clone(), fields.number(&field(outcome), &what)?))
    };
    Ok(Measurement::of(outcomes.all().iter().map(value).collect::<Result<Vec<_>, Problem>>()?))
}

/// Reopens an experiment and hands it to the person who undoes it, unless another trial is waiting.
fn undo(study: &mut Study, trial: usize, by: &str) -> Result<&'static str, Refused> {
    match known(study, trial)?.state {
        TrialState::Failed | TrialState::Cancelled => {
            study.retry(&[trial])?;
        }
        TrialState::Complete => {
            let reason = format!("undone by {by}");
            study.amend(trial, &Assignment::default(), Some(Amendment::Waiting), Some(&reason))?;
        }
        TrialState::Running | TrialState::Waiting => return Ok("nothing"),
    }
    study.ask(Some(by))?;
    Ok("undo")
}

/// The point in fields `p.NAME`; parameters without a value are left out, as inactive ones must be.
fn params(space: &Space, fields: &Fields) -> Result<Assignment, Refused> {
    let mut params = Assignment::default();
    for parameter in space.parameters() {
        let name = &parameter.name;
        let Some(text) = fields.get(&format!("p.{name}")) else { continue };
        let value = value(&parameter.kind, text);
        let value = value
            .ok_or_else(|| Problem::bad_request(format!("`{text}` is not a valid value of `{name}`")))?;
        params.insert(name.as_str(), value);
    }
    Ok(params)
}

fn value(kind: &Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Float { .. } => number(text).map(Value::Float),
        Kind::Int { .. } => text.parse().ok().map(Value::Int),
        Kind::Bool => text.parse().ok().map(Value::Bool),
        Kind::Categorical { choices } => choices.iter().find(|choice| choice.to_string() == text).cloned(),
    }
}

/// Whether a record is about this trial.
pub fn is_about(record: &Record, wanted: usize) -> bool {
    match &record.event {
        Event::Asked { trial, .. }
        | Event::Retried { trial, .. }
        | Event::Told { trial, .. }
        | Event::Failed { trial, .. }
        | Event::Requeued { trial, .. }
        | Event::Cancelled { trial }
        | Event::Added { trial, .. }
        | Event::Amended { trial, .. }
        | Event::Noted { trial: Some(trial), .. } => *trial == wanted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, expected) in [
            ("71.5", Some(71.5)),
            (" 71,5 ", Some(71.5)),
            ("−1e-3", Some(-1e-3)),
            ("1,000.5", None),
            ("nan", None),
            ("inf", None),
            ("", None),
            ("7 kg", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn a_form_comes_back_to_a_page_of_its_own_study() {
        let address = Address::new("a b");
        let fields = |back: &str, trial: &str| {
            Fields(vec![("back".to_owned(), back.to_owned()), ("trial".to_owned(), trial.to_owned())])
        };
        assert_eq!(back(&address, &fields("/laboratory", "3")), "/studies/a%20b/laboratory");
        assert_eq!(back(&address, &fields("/trials", "3")), "/studies/a%20b/trials/3");
        assert_eq!(back(&address, &fields("//evil.example", "")), "/studies/a%20b/trials");
    }
}
