//! The frame of every page: the head, the top bar, the tabs of a study, messages.
//!
//! What changes while a study runs is a *live* part: a section with an id, which scripts replace with a newer version from the server.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use optimist_study::{Course, State};

use super::address::Address;
use crate::auth::{Identity, Need, Role};

/// The pages of a study, as tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Overview,
    Trials,
    Analysis,
    Laboratory,
    Manage,
}

impl Tab {
    const ALL: [Self; 5] = [Self::Overview, Self::Trials, Self::Analysis, Self::Laboratory, Self::Manage];

    fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Trials => "Trials",
            Self::Analysis => "Analysis",
            Self::Laboratory => "Laboratory",
            Self::Manage => "Manage",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Trials => "/trials",
            Self::Analysis => "/analysis",
            Self::Laboratory => "/laboratory",
            Self::Manage => "/manage",
        }
    }
}

/// A part of a page that is redrawn while a study runs.
pub struct Part {
    /// Unique on its page.
    pub id: &'static str,
    /// The HTML inside the section.
    pub content: Markup,
}

impl Part {
    pub fn new(id: &'static str, content: Markup) -> Self {
        Self { id, content }
    }

    /// The section that scripts replace.
    pub fn section(&self) -> Markup {
        html! { section id=(self.id) data-live { (self.content) } }
    }
}

/// A page that isn't about a single study.
pub fn page(who: &Identity, title: &str, content: Markup) -> Markup {
    frame(who, title, None, html! { main id="main" { (content) } })
}

/// A page of a study. `message` reports the last change.
pub fn study_page(
    who: &Identity,
    study: &Address,
    tab: Tab,
    message: Option<&str>,
    content: Markup,
) -> Markup {
    let title = format!("{} · {}", study.name, tab.title());
    let body = html! {
        nav.tabs aria-label="Pages of this study" {
            @for other in Tab::ALL {
                a href=(study.path(other.path())) aria-current=[(other == tab).then_some("page")] { (other.title()) }
            }
        }
        main id="main" {
            @if let Some(message) = message { p.message role="status" { (message) } }
            (content)
        }
    };
    frame(who, &title, Some(study), body)
}

/// The login page; a server that printed a link says so instead of showing a form. `next` is the page to show afterwards, `problem` the
/// error of the last try.
pub fn login(has_link: bool, next: Option<&str>, problem: Option<&str>) -> String {
    let nobody = Identity { name: String::new(), role: Role::Viewer, study: None, csrf: None };
    let content = html! {
        header.title { h1 { "Log in" } }
        @if let Some(problem) = problem { p.message.warning role="alert" { (problem) } }
        @if has_link {
            p { "This server has no users. Open the link printed at startup." }
        } @else {
            form.change.stacked method="post" action="/login" {
                div.field {
                    label for="user" { "Name" }
                    input #user name="user" autocomplete="username" required autofocus;
                }
                div.field {
                    label for="password" { "Password" }
                    input #password name="password" type="password" autocomplete="current-password" required;
                }
                @if let Some(next) = next { input type="hidden" name="next" value=(next); }
                button.primary { "Log in" }
            }
        }
        @if let Some(next) = next {
            // Browsers keep the session cookie back when a link on another site leads here (`SameSite=Strict`).
            p.faint { "Already logged in? " a href=(next) { "Continue" } }
        }
    };
    page(&nobody, "Log in", content).into_string()
}

fn frame(who: &Identity, title: &str, study: Option<&Address>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(csrf) = &who.csrf { meta name="csrf" content=(csrf); }
                title { (title) " · Optimist" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/app.css";
                script type="module" src="/assets/app.js" {}
            }
            body data-events=[study.map(|study| study.api("/events"))] {
                a.skip href="#main" { "Skip to the content" }
                header.bar {
                    a.brand href="/" { (mark()) span { "Optimist" } }
                    @if let Some(study) = study {
                        span.crumb aria-hidden="true" { "/" }
                        a.crumb href=(study.path("")) { (study.name) }
                    }
                    span.push {}
                    span #connection role="status" {}
                    @if !who.name.is_empty() { span.who { (who.name) " · " (who.role.word()) } }
                    @if who.csrf.is_some() {
                        form method="post" action="/logout" { (csrf(who)) button.plain { "Log out" } }
                    }
                }
                (body)
            }
        }
    }
}

/// The hidden CSRF field that every form needs.
pub fn csrf(who: &Identity) -> Markup {
    html! { @if let Some(csrf) = &who.csrf { input type="hidden" name="csrf" value=(csrf); } }
}

/// Whether somebody may change studies; others see no forms.
pub fn may_operate(who: &Identity) -> bool {
    who.role.has(Need::Operate)
}

/// A form that changes a study and comes back to `tab`.
pub fn change(who: &Identity, study: &Address, action: &str, tab: Tab, fields: Markup) -> Markup {
    html! {
        form.change method="post" action=(study.path(&format!("/do/{action}"))) {
            (csrf(who))
            input type="hidden" name="back" value=(tab.path());
            (fields)
        }
    }
}

/// The state of a study, in a word.
pub fn status(state: &State) -> Markup {
    let (class, word) = match state.course() {
        Course::Paused => ("paused", "paused"),
        Course::Stopped => ("over", "stopped"),
        Course::Going if state.over().is_some() && state.running().next().is_none() => ("over", "finished"),
        Course::Going if state.running().next().is_some() => ("running", "running"),
        Course::Going => ("idle", "idle"),
    };
    html! { span class={ "status " (class) } { (word) } }
}

/// A point in time, which scripts turn into *3 min ago*.
pub fn time(at: u64) -> Markup {
    let text = super::clock::utc(at);
    html! { time datetime=(text) { (text.replace('T', " ").replace('Z', " UTC")) } }
}

/// SVG that we drew ourselves, inserted without escaping.
pub fn svg(text: &str) -> Markup {
    PreEscaped(text.to_owned())
}

/// The logo: a curve with its best point.
fn mark() -> Markup {
    svg(
        r##"<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path class="stroke" d="M1 4c4 16 7 16 10 6s4-8 8-6" fill="none" stroke-width="2"/><circle class="dot" cx="6.4" cy="14.6" r="2.6"/></svg>"##,
    )
}
