//! Scripts, styles and the icon, embedded in the binary, so pages load nothing from other sites.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// Name, content type and content of each file.
const FILES: [(&str, &str, &str); 8] = [
    ("app.js", "text/javascript; charset=utf-8", include_str!("../../assets/app.js")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../../assets/live.js")),
    ("tips.js", "text/javascript; charset=utf-8", include_str!("../../assets/tips.js")),
    ("brush.js", "text/javascript; charset=utf-8", include_str!("../../assets/brush.js")),
    ("outbox.js", "text/javascript; charset=utf-8", include_str!("../../assets/outbox.js")),
    ("tools.js", "text/javascript; charset=utf-8", include_str!("../../assets/tools.js")),
    ("app.css", "text/css; charset=utf-8", include_str!("../../assets/app.css")),
    ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
];

struct File {
    name: &'static str,
    kind: &'static str,
    tag: String,
    text: String,
}

static READY: LazyLock<Vec<File>> = LazyLock::new(|| {
    let file = |&(name, kind, text): &(&'static str, &'static str, &str)| {
        let text = if name == "app.css" { with_dark_plots(text) } else { text.to_owned() };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        File { name, kind, tag: format!("\"{:016x}\"", hasher.finish()), text }
    };
    FILES.iter().map(file).collect()
});

/// Adds the colours of plots on dark pages.
fn with_dark_plots(css: &str) -> String {
    let rules = optimist_plot::study::dark_rules(".panel");
    let spark = optimist_plot::study::dark_rules(".spark");
    format!("{css}\n@media screen and (prefers-color-scheme: dark) {{\n{rules}{spark}}}\n")
}

/// `GET /assets/{file}`. Browsers cache it, and revalidate it by its `ETag`.
pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let file = READY.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| Problem::not_found(format!("no asset `{name}`")))?;
    let common = [(header::ETAG, file.tag.as_str()), (header::CACHE_CONTROL, "public, no-cache")];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    if known == Some(&file.tag) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    Ok((common, [(header::CONTENT_TYPE, file.kind)], file.text.as_str()).into_response())
}
