//! The dashboard: pages that the server renders and that scripts keep up to date.
//!
//! A handler takes `State<App>` and an [`Identity`]: the guard has authenticated every request, and checked origin and CSRF token of every
//! change. Pages work without scripts: forms post to `do/…` (`actions`) and redirect back. With scripts, a page that hears of new records
//! requests itself again with the header `x-live`, gets only its live parts, and replaces the old ones.
//!
//! | module | what it holds |
//! |---|---|
//! | `layout` | the frame of every page, forms, parts |
//! | `asked` | what requests for pages have in common, errors as pages |
//! | `studies`, `overview`, `trials`, `trial`, `analysis`, `laboratory`, `manage` | one page each: state in, HTML out |
//! | `filter` | filters of trials, as people type them |
//! | `front` | the answer of a study with several goals, on the overview |
//! | `actions` | what forms do |
//! | `advice`, `background`, `kept` | results that take longer than a page may: computed in the background, and cached |
//! | `assets` | scripts, styles and the icon, in the program |
//! | `address`, `clock`, `markdown`, `snippet` | small things that pages are made of |

mod actions;
pub(crate) mod address;
mod advice;
mod analysis;
mod asked;
mod assets;
mod background;
mod clock;
mod filter;
mod front;
mod kept;
mod laboratory;
mod layout;
mod manage;
mod markdown;
mod overview;
mod snippet;
mod studies;
mod trial;
mod trials;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use maud::html;
use optimist_plot::study::{MOST_STUDIES, PlotKind, Plots, Section};
use optimist_study::view::number::count;
use optimist_study::{Record, State as StudyState};
use serde::Deserialize;

use self::advice::{Advice, advise};
use self::asked::Asked;
pub use self::asked::Shown;
use self::background::Found;
use self::filter::Filter;
use self::kept::Kept;
use self::layout::Tab;
pub use self::layout::login;
use crate::api::idempotency;
use crate::app::App;
use crate::auth::Identity;
use crate::problem::Problem;
use crate::studies::Held;

/// How long a page waits for a model to be fitted.
const PATIENCE: Duration = Duration::from_millis(400);

/// The most log records to show for a trial.
const MOST_RECORDS: usize = 50;

/// A log longer than this is only searched for a trial's records on request.
const LONG_LOG: u64 = 20_000;

/// The routes of all pages and of their assets (`/assets/…`, which need no login).
pub fn routes(app: &App) -> Router<App> {
    // Scripts send a form again, with the same key, when a bad connection has lost the answer.
    let act = post(actions::act).layer(from_fn_with_state(app.clone(), idempotency::once));
    Router::new()
        .route("/", get(list))
        .route("/compare", get(compare))
        .route("/studies/{study}", get(overview_page))
        .route("/studies/{study}/trials", get(trials_page))
        .route("/studies/{study}/trials.csv", get(trials_csv))
        .route("/studies/{study}/trials/{trial}", get(trial_page))
        .route("/studies/{study}/analysis", get(analysis_page))
        .route("/studies/{study}/plots/{file}", get(plot_file))
        .route("/studies/{study}/laboratory", get(laboratory_page))
        .route("/studies/{study}/laboratory/sheet", get(sheet_page))
        .route("/studies/{study}/manage", get(manage_page))
        .route("/studies/{study}/do/{action}", act)
        .route("/assets/{file}", get(assets::asset))
        .layer(Extension(Kept::default()))
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    search: String,
}

async fn list(
    State(app): State<App>,
    who: Identity,
    headers: HeaderMap,
    Query(Search { search }): Query<Search>,
) -> Result<Html<String>, Shown> {
    let html = app
        .blocking(move |app| -> Result<String, Problem> {
            let entries = app.studies.entries()?;
            let seen: Vec<_> = entries.iter().filter(|entry| who.sees(&entry.name)).collect();
            let wanted = search.to_lowercase();
            let found = seen.iter().filter(|entry| entry.name.to_lowercase().contains(&wanted));
            let row = |name: &str| match app.studies.get(name) {
                Ok(held) => held.read(studies::Row::new),
                Err(problem) => studies::Row::unreadable(name, problem.detail().to_owned()),
            };
            let rows: Vec<_> = found.map(|entry| row(&entry.name)).collect();
            Ok(match headers.contains_key("x-live") {
                true => studies::part(&rows, &search).section().into_string(),
                false => studies::list(&who, &rows, &search, seen.len()).into_string(),
            })
        })
        .await?;
    Ok(Html(html))
}

async fn compare(
    State(app): State<App>,
    who: Identity,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Html<String>, Shown> {
    let html = app
        .blocking(move |app| -> Result<String, Problem> {
            let is_wanted = |(key, name): &&(String, String)| key == "study" && who.sees(name);
            let names: Vec<&String> = pairs.iter().filter(is_wanted).map(|(_, name)| name).collect();
            let states: Vec<StudyState> = names
                .iter()
                .take(MOST_STUDIES)
                .map(|name| Ok(app.studies.get(name)?.read(StudyState::clone)))
                .collect::<Result<_, Problem>>()?;
            Ok(studies::compare(&who, &states.iter().collect::<Vec<_>>(), names.len()).into_string())
        })
        .await?;
    Ok(Html(html))
}

/// The optimizer's advice on a study, as far as it is computed; waits for so long.
fn advice(kept: &Kept, app: &App, held: &Held, by: &str, patience: Duration) -> Found<Advice> {
    let (own, name, by) = (app.clone(), held.name().to_owned(), by.to_owned());
    kept.advice.of(held.id(), held.read(StudyState::head), patience, move || {
        let held = own.studies.get(&name).map_err(|problem| problem.detail().to_owned())?;
        own.studies.change(&held, &by, advise).map_err(|problem| problem.detail().to_owned())
    })
}

async fn overview_page(
    State(app): State<App>,
    Extension(kept): Extension<Kept>,
    asked: Asked,
) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let html = app
        .look(&name, move |app, held| -> Result<String, Problem> {
            let advise = |patience| advice(&kept, app, held, &asked.who.name, patience);
            let page = |history: &Section, advised: &Found<Advice>| -> Result<String, Problem> {
                let leases = app.studies.with_log(|log| log.leases(held.id()))?;
                let parts =
                    held.read(|state| overview::parts(state, &asked.study, advised, &leases, history));
                Ok(asked.answer(Tab::Overview, html! {}, &parts, html! {}))
            };
            if !asked.is_live {
                // The model is fitted while the history is drawn.
                let begin = Instant::now();
                advise(Duration::ZERO);
                let history = held.read(history)?;
                return page(&history, &advise(PATIENCE.saturating_sub(begin.elapsed())));
            }
            // Many browsers watch the same study: parts are drawn once and shared.
            let advised = advise(PATIENCE);
            let version = (held.read(StudyState::head), advised.head());
            kept.parts.get((held.id(), asked.uri.clone()), version, || page(&held.read(history)?, &advised))
        })
        .await?;
    Ok(Html(html))
}

fn history(state: &StudyState) -> Result<Section, Problem> {
    let plots = Plots::new(state, &[PlotKind::History])?;
    plots.sections(None).pop().ok_or_else(|| Problem::not_found("this study has no history plot"))
}

async fn trials_page(
    State(app): State<App>,
    asked: Asked,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Html<String>, Shown> {
    let wanted = trials::Wanted::new(&pairs);
    let name = asked.study.name.clone();
    let html = app
        .look(&name, move |_, held| -> Result<String, Problem> {
            Ok(held.read(|state| match trials::Table::new(state, wanted.clone()) {
                Ok(table) => {
                    let part = trials::part(&asked.study, &table);
                    asked.answer(Tab::Trials, trials::controls(state, &wanted, None), &[part], html! {})
                }
                Err(problem) => {
                    let controls = trials::controls(state, &wanted, Some(&problem));
                    asked.answer(Tab::Trials, controls, &[], html! {})
                }
            }))
        })
        .await?;
    Ok(Html(html))
}

async fn trials_csv(
    State(app): State<App>,
    asked: Asked,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Shown> {
    let wanted = trials::Wanted::new(&pairs);
    let file = format!("attachment; filename=\"{}.csv\"", address::encoded(&asked.study.name));
    let csv = app
        .look(&asked.study.name, move |_, held| {
            held.read(|state| {
                trials::Table::new(state, wanted.with_all_columns(state))
                    .map(|table| table.csv())
                    .map_err(Problem::bad_request)
            })
        })
        .await?;
    let headers =
        [(header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((headers, csv).into_response())
}

#[derive(Deserialize)]
struct TrialPath {
    trial: usize,
}

#[derive(Deserialize)]
struct TrialWanted {
    #[serde(default)]
    records: String,
}

async fn trial_page(
    State(app): State<App>,
    asked: Asked,
    Path(TrialPath { trial }): Path<TrialPath>,
    Query(wanted): Query<TrialWanted>,
) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let html = app
        .look(&name, move |app, held| -> Result<String, Problem> {
            let head = held.read(StudyState::head);
            let records = match head <= LONG_LOG || !wanted.records.is_empty() {
                true => Some(records_of(app, held, trial)?),
                false => None,
            };
            held.read(|state| {
                let n = state.n_trials();
                let known = state.trial(trial).ok_or_else(|| {
                    Problem::not_found(format!(
                        "study `{}` has no trial {trial}; it has {}, numbered from 0",
                        asked.study.name,
                        count(n, "trial")
                    ))
                })?;
                let after = html! {
                    (trial::actions(&asked.who, &asked.study, state, known))
                    @match &records {
                        Some(records) => (trial::records(records)),
                        None => p { a href="?records=yes" { "Show log records" } },
                    }
                };
                Ok(asked.answer(Tab::Trials, html! {}, &[trial::part(&asked.study, state, known)], after))
            })
        })
        .await?;
    Ok(Html(html))
}

/// The log records of a trial, as they are stored.
fn records_of(app: &App, held: &Held, trial: usize) -> Result<Vec<(u64, String)>, Problem> {
    let after = held.read(|state| match state.trial(trial).map(|trial| trial.source) {
        Some(optimist_study::Source::Suggested { seen, .. }) => seen,
        _ => 0,
    });
    let sign = format!("\"trial\":{trial}");
    let mut records = Vec::new();
    app.studies.with_log(|log| {
        log.read(held.id(), after, &mut |seq, body| {
            // Most records are not even parsed.
            if body.contains(&sign)
                && Record::from_json(body).is_ok_and(|record| actions::is_about(&record, trial))
            {
                records.push((seq, body.to_owned()));
            }
            if records.len() < MOST_RECORDS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    })?;
    Ok(records)
}

async fn analysis_page(
    State(app): State<App>,
    Extension(kept): Extension<Kept>,
    asked: Asked,
    Query(wanted): Query<analysis::Wanted>,
) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let html = app
        .look(&name, move |_, held| -> Result<String, Problem> {
            let drawn = kept.parts.clone();
            let (head, pair) = held.read(|state| (state.head(), wanted.pair(state)));
            let snapshot = || held.read(StudyState::clone);
            let modelled = {
                let question = (held.id(), pair);
                // Fitting must not block appends, so it works on a copy of the state, made only if needed.
                let state = (!kept.plots.knows(&question, head)).then(snapshot);
                kept.plots.of(question, head, PATIENCE, move || {
                    let state = state.ok_or("the study has changed; reload the page")?;
                    let plots = Plots::of_pair(&state, &analysis::MODELLED, pair)
                        .map_err(|error| error.to_string())?;
                    Ok((state.head(), plots))
                })
            };
            let draw = || {
                held.read(|state| {
                    let (filter, problem) = match Filter::parse(&wanted.filter, state) {
                        Ok(filter) => (Some(filter).filter(|filter| !filter.is_empty()), None),
                        Err(problem) => (None, Some(problem)),
                    };
                    let filter = filter.as_ref().map(|filter| (filter, state));
                    let seen = Plots::new(state, &analysis::SEEN)?;
                    let parts = [
                        analysis::seen(&asked.study, state, &seen, filter),
                        analysis::modelled(&asked.study, state, &wanted, &modelled, filter),
                    ];
                    let controls = analysis::controls(state, &asked.study, &wanted, problem.as_deref());
                    Ok(asked.answer(Tab::Analysis, controls, &parts, html! {}))
                })
            };
            if !asked.is_live {
                return draw();
            }
            drawn.get((held.id(), asked.uri.clone()), (head, modelled.head()), draw)
        })
        .await?;
    Ok(Html(html))
}

#[derive(Deserialize)]
struct PlotPath {
    file: String,
}

/// A plot as a file: `history.svg`, `contour.png?x=rate&y=depth`.
async fn plot_file(
    State(app): State<App>,
    asked: Asked,
    Path(PlotPath { file }): Path<PlotPath>,
    Query(wanted): Query<analysis::Wanted>,
) -> Result<Response, Shown> {
    let (word, ending) = file.rsplit_once('.').unwrap_or((&file, ""));
    let kind = PlotKind::from_word(word).filter(|_| matches!(ending, "svg" | "png"));
    let kind = kind.ok_or_else(|| {
        let words: Vec<&str> = PlotKind::ALL.into_iter().map(PlotKind::word).collect();
        Problem::not_found(format!(
            "unknown plot `{file}`; use one of {}, with .svg or .png",
            words.join(", ")
        ))
    })?;
    let is_svg = ending == "svg";
    let name = format!("attachment; filename=\"{}-{word}.{ending}\"", address::encoded(&asked.study.name));
    let bytes = app
        .look(&asked.study.name, move |_, held| -> Result<Vec<u8>, Problem> {
            let state = held.read(StudyState::clone); // drawing must not block appends
            let plots = Plots::of_pair(&state, &[kind], wanted.pair(&state))?;
            if is_svg {
                return Ok(plots.svg().into_bytes());
            }
            plots.png().map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        })
        .await?;
    let kind = if is_svg { "image/svg+xml" } else { "image/png" };
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, bytes).into_response())
}

#[derive(Deserialize)]
struct LaboratoryWanted {
    undo: Option<usize>,
}

async fn laboratory_page(
    State(app): State<App>,
    asked: Asked,
    Query(wanted): Query<LaboratoryWanted>,
) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let html = app
        .look(&name, move |app, held| -> Result<String, Problem> {
            let leases = app.studies.with_log(|log| log.leases(held.id()))?;
            Ok(held.read(|state| {
                let undo = wanted
                    .undo
                    .and_then(|number| state.trial(number))
                    .filter(|trial| laboratory::can_undo(trial));
                let before = html! {
                    @if let Some(trial) = undo { (laboratory::undo(&asked.who, &asked.study, trial)) }
                    (laboratory::page(&asked.who, &asked.study, state, &leases))
                };
                let done = laboratory::done(&asked.who, &asked.study, state);
                asked.answer(Tab::Laboratory, before, &[done], html! {})
            }))
        })
        .await?;
    Ok(Html(html))
}

async fn sheet_page(State(app): State<App>, asked: Asked) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let look = move |app: &App, held: &Held| -> Result<String, Problem> {
        let leases = app.studies.with_log(|log| log.leases(held.id()))?;
        Ok(held.read(|state| {
            asked.answer(Tab::Laboratory, laboratory::sheet(&asked.study, state, &leases), &[], html! {})
        }))
    };
    Ok(Html(app.look(&name, look).await?))
}

async fn manage_page(State(app): State<App>, asked: Asked) -> Result<Html<String>, Shown> {
    let name = asked.study.name.clone();
    let look = move |_: &App, held: &Held| -> Result<String, Problem> {
        Ok(held.read(|state| {
            asked.answer(Tab::Manage, manage::page(&asked.who, &asked.study, state), &[], html! {})
        }))
    };
    Ok(Html(app.look(&name, look).await?))
}
