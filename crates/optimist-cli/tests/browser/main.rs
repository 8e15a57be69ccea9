//! The dashboard in a real browser: journeys of the people who use it, what it must withstand, and whether everybody can read it.
//!
//! `scripts/browser` installs Chromium and axe-core, and runs these tests; without Chromium they fail. With OPTIMIST_AXE, the file
//! `axe.min.js` of the package axe-core, pages are also checked for accessibility.

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod served;

mod gallery;
mod journeys;
mod large;
mod reading;
mod safety;

use driver::Browser;
use served::Served;

/// A browser that has come in.
fn enter(served: &Served) -> Browser {
    let browser = Browser::start();
    browser.open(&served.link);
    browser.wait_for("#studies");
    browser
}

/// Nothing was asked of another machine, and no page broke its own rules.
#[track_caller]
fn expect_quiet(browser: &Browser, served: &Served) {
    let origin = served.at("");
    for url in browser.requests() {
        let is_ours = url.starts_with(&origin)
            || url.starts_with("data:")
            || url.starts_with("about:")
            || url.starts_with("chrome://"); // its own first page
        assert!(is_ours, "the page asked for {url}");
    }
    let messages = browser.console();
    assert!(messages.is_empty(), "the console says: {messages:#?}");
}
