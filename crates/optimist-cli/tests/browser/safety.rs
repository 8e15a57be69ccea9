//! What people and programs write is shown and never obeyed.

use optimist_study::{Evaluation, FailureKind, Measurement};
use serde_json::json;

use crate::driver::Browser;
use crate::served::{Served, create};
use crate::{enter, expect_quiet};

const ATTACK: &str =
    "\"'><img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><svg onload=window.hacked=1>";

/// A study that carries the attack wherever text can be.
fn attacked() -> Served {
    Served::new(|storage| {
        let quoted = ATTACK.replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!(
            "name = \"{quoted}\"\ndirection = \"minimize\"
             [parameters.\"{quoted}\"]\ntype = \"float\"\nlow = 0\nhigh = 1
             [parameters.choice]\ntype = \"categorical\"\nchoices = [\"{quoted}\", \"</title><script>window.hacked=1</script>\"]"
        );
        let mut study = create(storage, &text);
        for trial in 0..8 {
            let job = study.ask(Some(ATTACK)).unwrap();
            let metrics = json!({ ATTACK: ATTACK });
            let metrics = metrics.as_object().cloned().map(Box::new);
            let measured =
                Measurement { note: Some(ATTACK.to_owned()), metrics, ..Measurement::new(f64::from(trial)) };
            study.tell(job.trial, measured, None).unwrap();
        }
        let job = study.ask(Some(ATTACK)).unwrap();
        let (reason, stderr) = (ATTACK.to_owned(), Some(ATTACK.to_owned()));
        study
            .tell(
                job.trial,
                Evaluation::Failed { kind: FailureKind::Crashed, reason, stderr, known: None },
                None,
            )
            .unwrap();
        study.ask(Some(ATTACK)).unwrap();
        study.annotate(None, &format!("{ATTACK}\n\n[x](javascript:window.hacked=1)")).unwrap();
        study.annotate(Some(0), ATTACK).unwrap();
    })
}

#[track_caller]
fn expect_unharmed(browser: &Browser, what: &str) {
    let hacked = browser.script("return window.hacked === undefined && !document.querySelector('img, main script, [onerror], [onload]')", &[]);
    assert_eq!(hacked, true, "{what}: {}", browser.source());
}

#[test]
fn names_notes_and_standard_error_are_text_on_every_page() {
    let served = attacked();
    let browser = enter(&served);
    browser.wait_for_text("#studies", "onerror");
    expect_unharmed(&browser, "list");
    let study =
        browser.script("return document.querySelector('#studies td.name a').getAttribute('href')", &[]);
    let study = study.as_str().unwrap().to_owned();
    let pages =
        ["", "/trials", "/trials/0", "/trials/8", "/analysis", "/laboratory", "/laboratory/sheet", "/manage"];
    for page in pages {
        browser.open(&served.at(&format!("{study}{page}")));
        browser.wait_for("main");
        // Tooltips are made by a script.
        browser.script(
            "document.querySelectorAll('.panel g').forEach((mark) =>
               mark.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: 5, clientY: 5 })))",
            &[],
        );
        expect_unharmed(&browser, page);
    }
    browser.open(&served.at(&format!("{study}/analysis")));
    browser.wait_for("[data-plot='contour'] svg, #modelled .problem");
    expect_unharmed(&browser, "plots of the model");
    browser.open(&served.at(&format!("/compare?study={}", study.trim_start_matches("/studies/"))));
    expect_unharmed(&browser, "compare");
    browser.open(
        &served.at(&format!("{study}/trials?filter=%22%3E%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E")),
    );
    expect_unharmed(&browser, "a filter in an address");
    browser.open(&served.at("/?search=%22%3E%3Cscript%3Ewindow.hacked%3D1%3C/script%3E"));
    expect_unharmed(&browser, "a search in an address");
    expect_quiet(&browser, &served);
}
