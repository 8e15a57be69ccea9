//! Studies with very many trials.

use crate::enter;
use crate::served::{Served, large};

/// Bytes of a page with all that it loads, and milliseconds until something is painted.
const MEASURE: &str = "const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    return [entries.reduce((sum, entry) => sum + entry.transferSize, 0), paint ? paint.startTime : null];";

#[test]
fn pages_of_a_study_with_100_000_trials_are_small() {
    let served = Served::new(|storage| drop(large(storage, 100_000)));
    let browser = enter(&served);
    for page in ["", "/trials", "/trials?filter=value%3C0.5&sort=x3", "/trials/77777", "/analysis", "/manage"]
    {
        let mut bytes = 0.0;
        // The second time nothing has to be loaded for the first time, on the server.
        for round in 0..2 {
            browser.devtools("Network.setCacheDisabled", &serde_json::json!({ "cacheDisabled": true }));
            browser.open(&served.at(&format!("/studies/large{page}")));
            browser.wait_for("main");
            browser.wait("something is painted", |browser| browser.script(MEASURE, &[])[1].is_number());
            let measured = browser.script(MEASURE, &[]);
            bytes = measured[0].as_f64().unwrap_or(f64::MAX);
            println!(
                "{page:40} round {round}: {:6.0} kB, first paint {:.0} ms",
                bytes / 1e3,
                measured[1].as_f64().unwrap_or(f64::NAN)
            );
        }
        assert!(bytes < 3e6, "{page}: {bytes} bytes");
    }
    browser.open(&served.at("/studies/large/trials"));
    browser.wait_for_text("nav.pages", "page 1 of 2000");
    browser.click("nav.pages a[rel=next]");
    browser.wait_for_text("nav.pages", "page 2 of 2000");
}
