//! New records of a study as server-sent events. The id of an event is the number of its record, so a client that reconnects says
//! which record it saw last and misses nothing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Route;
use super::take::{Named, Query};
use crate::app::App;
use crate::auth::Need;
use crate::problem::Problem;
use crate::studies::Held;

/// After this long without an event a comment is sent, so that proxies don't hang up.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub fn routes() -> Vec<Route> {
    let live = Route::new(
        (Method::GET, "/studies/{study}/events"),
        ("events", Need::View, "Stream new records as server-sent events; `Last-Event-ID` resumes"),
        events,
    );
    vec![live.query::<From>().gives_other("text/event-stream")]
}

/// Where to start.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct From {
    /// Start after this record. The header `Last-Event-ID` wins over it; without either, the stream starts with the next new record.
    after: Option<u64>,
}

/// A stream ends after this long and the client reconnects, so that clients whose access has ended don't listen for ever.
const LASTS: Duration = Duration::from_secs(300);

/// The state of one client's event stream.
struct Listener {
    app: App,
    held: Arc<Held>,
    head: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    until: Instant,
    last: u64,
    ready: VecDeque<(u64, Arc<str>)>,
}

/// `GET /api/v1/studies/{study}/events`
pub async fn events(
    State(app): State<App>,
    Named(study): Named<String>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let held = app.blocking(move |app| app.studies.get(&study)).await?;
    let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let head = held.watch();
    let last = resumed.or(from.after).unwrap_or(*head.borrow());
    let stopping = app.stopping.subscribe();
    let until = Instant::now() + LASTS;
    let listener = Listener { app, held, head, stopping, until, last, ready: VecDeque::new() };
    let events = stream::unfold(listener, |mut listener| async {
        let (seq, body) = listener.next().await?;
        let event = Event::default().event("record").id(seq.to_string()).data(&*body);
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

impl Listener {
    /// Waits for the next record; `None` ends the stream.
    async fn next(&mut self) -> Option<(u64, Arc<str>)> {
        loop {
            if let Some((seq, body)) = self.ready.pop_front() {
                self.last = seq;
                return Some((seq, body));
            }
            let head = *self.head.borrow_and_update();
            if head == 0 {
                return None; // the study was deleted
            }
            if head > self.last {
                let (held, last) = (self.held.clone(), self.last);
                let records = self.app.blocking(move |app| held.after(&app.studies, last)).await.ok()?;
                self.ready = records.into();
                if self.ready.is_empty() {
                    return None; // storage can't be read: the client reconnects
                }
                continue;
            }
            tokio::select! {
                _ = self.stopping.wait_for(|stops| *stops) => return None,
                () = sleep_until(self.until) => return None,
                changed = self.head.changed() => changed.ok()?,
            }
        }
    }
}
