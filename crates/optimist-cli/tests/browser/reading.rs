//! Whether everybody can read the pages: axe-core finds nothing serious, in the light and in the dark.

use serde_json::Value;

use crate::driver::Browser;
use crate::enter;
use crate::served::{Served, laboratory, several, tuning};

/// Serious and critical findings on the page.
fn findings(browser: &Browser, axe: &str) -> Vec<String> {
    browser.script(axe, &[]);
    let result = browser.waiting_script(
        "const done = arguments[arguments.length - 1];
         axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations), (error) => done(String(error)));",
        &[],
    );
    let violations = result.as_array().unwrap_or_else(|| panic!("axe-core says {result}"));
    let is_serious = |found: &&Value| matches!(found["impact"].as_str(), Some("serious" | "critical"));
    let text = |found: &Value| format!("{}: {} at {}", found["id"], found["help"], found["nodes"][0]["html"]);
    violations.iter().filter(is_serious).map(text).collect()
}

#[test]
fn axe_finds_nothing_serious() {
    let Ok(file) = std::env::var("OPTIMIST_AXE") else {
        println!("OPTIMIST_AXE is not set: pages are not checked; scripts/browser sets it");
        return;
    };
    let axe = std::fs::read_to_string(file).expect("OPTIMIST_AXE names the file axe.min.js");
    let served = Served::new(|storage| {
        let mut study = tuning(storage, 20);
        study.annotate(None, "A **note** with `code` and a [link](https://example.org).").unwrap();
        laboratory(storage).ask(None).unwrap();
        several(storage, 8);
    });
    let browser = enter(&served);
    let pages = [
        "/",
        "/?search=nothing",
        "/compare?study=image-model&study=film",
        "/studies/phone-net",
        "/studies/phone-net/analysis",
        "/studies/image-model",
        "/studies/image-model/trials",
        "/studies/image-model/trials?filter=nonsense%3D1",
        "/studies/image-model/trials/11",
        "/studies/image-model/analysis",
        "/studies/image-model/manage",
        "/studies/film/laboratory",
        "/studies/film/laboratory/sheet",
        "/studies/none",
    ];
    let mut found = Vec::new();
    for scheme in ["light", "dark"] {
        browser.media(scheme, "screen");
        for page in pages {
            browser.open(&served.at(page));
            browser.wait_for("main");
            found.extend(
                findings(&browser, &axe).into_iter().map(|finding| format!("{scheme} {page}: {finding}")),
            );
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
