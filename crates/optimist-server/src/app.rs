//! What all requests share: settings, studies, accounts.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use optimist_study::{Objective, StorageError};
use tokio::sync::watch;

use crate::api::Done;
use crate::auth::Door;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::studies::{Held, Studies};
use crate::{api, auth, guard, metrics, pages};

/// How often the server looks for new records in studies that somebody listens to.
const LOOK: Duration = Duration::from_millis(200);

/// What all requests share; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

/// What every clone of an [`App`] points to.
pub struct Shared {
    pub(crate) settings: Settings,
    pub(crate) studies: Studies,
    pub(crate) door: Door,
    pub(crate) metrics: metrics::Metrics,
    pub(crate) done: Done,
    pub(crate) stopping: watch::Sender<bool>,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    /// A server of the studies in the storage that the settings name.
    ///
    /// # Errors
    /// If storage cannot be opened, or its accounts cannot be read.
    pub fn new(settings: Settings) -> Result<Self, StorageError> {
        let studies = Studies::new(settings.storage.clone())?;
        let door = Door::new(&settings, &studies)?;
        let (metrics, stopping) = (metrics::Metrics::default(), watch::Sender::new(false));
        Ok(Self(Arc::new(Shared { settings, studies, door, metrics, done: Done::default(), stopping })))
    }

    /// All routes, behind the guard.
    pub fn router(&self) -> Router {
        let routes = Router::new()
            .merge(pages::routes(self))
            .merge(auth::routes())
            .merge(metrics::routes())
            .merge(api::routes(self))
            .fallback(nothing_here);
        guard::guarded(self, routes).with_state(self.clone())
    }

    /// Follows what other processes append to studies that somebody listens to, until the server stops.
    pub async fn watch(self) {
        let mut stopping = self.stopping.subscribe();
        loop {
            tokio::select! {
                _ = stopping.wait_for(|stops| *stops) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            let _ = self
                .blocking(|app| -> Result<(), Problem> {
                    app.studies.follow_watched();
                    Ok(())
                })
                .await;
        }
    }

    /// What authenticates requests.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Refuses a command that came over HTTP, unless the study has it already or `--allow-command` names it.
    ///
    /// # Errors
    /// If the command is refused.
    pub(crate) fn allow_command(
        &self,
        wanted: Option<&Objective>,
        known: Option<&Objective>,
    ) -> Result<(), Problem> {
        let Some(wanted) = wanted.filter(|wanted| Some(*wanted) != known) else { return Ok(()) };
        if self.settings.commands.contains(&wanted.command) {
            return Ok(());
        }
        Err(Problem::forbidden(
            "a study can't be given a command over HTTP, since every worker would run it; leave out `objective` and pass the study \
             file on each machine (`optimist worker STUDY --file study.toml`), or start the server with `--allow-command`",
        ))
    }

    /// Runs work that blocks (storage, models) on a thread where it doesn't hold up other requests.
    ///
    /// # Errors
    /// Whatever `work` returns, and status 500 if it panics.
    pub(crate) async fn blocking<T, E>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app).map_err(Into::into)).await;
        done.unwrap_or_else(|_| {
            Err(Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error; the server's log has the details, please report it as a bug",
            ))
        })
    }

    /// Looks at a study as it stands now.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot be read.
    pub(crate) async fn look<T, E>(
        &self,
        study: &str,
        look: impl FnOnce(&Self, &Held) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let study = study.to_owned();
        self.blocking(move |app| {
            let held = app.studies.get(&study)?;
            look(app, &held).map_err(Into::into)
        })
        .await
    }
}

/// The answer at addresses without a route: a page for browsers, a problem for programs.
async fn nothing_here(headers: HeaderMap) -> Response {
    let problem = Problem::not_found(
        "there is nothing at this address; / lists the studies, and /api/v1/openapi.json describes the API",
    );
    if guard::wants_page(&headers) {
        pages::Shown::from(problem).into_response()
    } else {
        problem.into_response()
    }
}
