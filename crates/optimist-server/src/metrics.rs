//! `/healthz` and `/metrics`: whether the server is up, and metrics for Prometheus.

use std::fmt::Write;
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use optimist_study::view::StudySummary;

use crate::app::App;
use crate::auth::Identity;
use crate::problem::Problem;
use crate::studies::lock;

/// By method and status: how many requests, and how long they took in total.
type Requests = std::collections::BTreeMap<(&'static str, u16), (u64, Duration)>;

/// Counts since the server started.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<Requests>,
}

impl Metrics {
    /// Counts an answered request.
    pub fn count(&self, method: &'static str, status: u16, took: Duration) {
        let mut requests = lock(&self.requests);
        let (n, total) = requests.entry((method, status)).or_default();
        *n += 1;
        *total += took;
    }

    fn page(&self) -> String {
        let requests = lock(&self.requests);
        let mut page = String::from(
            "# HELP optimist_requests_total Number of requests answered.\n# TYPE optimist_requests_total counter\n",
        );
        for ((method, status), (n, _)) in requests.iter() {
            let _ = writeln!(page, "optimist_requests_total{{method=\"{method}\",status=\"{status}\"}} {n}");
        }
        let _ = writeln!(
            page,
            "# HELP optimist_request_seconds_total Total time spent answering requests, in seconds.\n# TYPE optimist_request_seconds_total counter"
        );
        for ((method, status), (_, total)) in requests.iter() {
            let seconds = total.as_secs_f64();
            let _ = writeln!(
                page,
                "optimist_request_seconds_total{{method=\"{method}\",status=\"{status}\"}} {seconds}"
            );
        }
        page
    }
}

/// `/healthz`, which needs no login, and `/metrics`, which does.
pub fn routes() -> Router<App> {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/metrics", get(metrics))
}

async fn metrics(State(app): State<App>, who: Identity) -> Result<impl IntoResponse, Problem> {
    let studies = app
        .blocking(move |app| {
            let entries = app.studies.entries()?.into_iter().filter(|entry| who.sees(&entry.name));
            let held = entries.filter_map(|entry| app.studies.get(&entry.name).ok());
            Ok::<_, Problem>(held.map(|held| held.read(StudySummary::new)).collect::<Vec<_>>())
        })
        .await?;
    let mut page = app.metrics.page();
    let _ = writeln!(
        page,
        "# HELP optimist_trials Number of trials in each study, by state.\n# TYPE optimist_trials gauge"
    );
    for study in &studies {
        let name = study.study.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let states = [("complete", study.complete), ("failed", study.failed), ("running", study.running)];
        for (state, n) in states {
            let _ = writeln!(page, "optimist_trials{{study=\"{name}\",state=\"{state}\"}} {n}");
        }
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page))
}
