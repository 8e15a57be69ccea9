//! What people do: those who tune models, those in a laboratory, those with a simulator on many machines.

use optimist_study::{Course, Measurement, TrialState};

use crate::served::{Served, create, laboratory, tuning};
use crate::{enter, expect_quiet};

#[test]
fn somebody_who_tunes_a_model_finds_the_best_point_and_why() {
    let served = Served::new(|storage| {
        tuning(storage, 30);
        laboratory(storage);
    });
    let browser = enter(&served);
    browser.wait_for_text("#studies", "image-model");
    browser.wait_for("#studies .spark svg");
    browser.type_into("#search", "image");
    browser.click("form.search button");
    browser.wait("only one study is listed", |browser| browser.count("#studies tbody tr") == 1);

    browser.click("#studies td.name a");
    browser.wait_for_text("#answer", "expected, ± one standard deviation");
    browser.wait_for_text("#summary", "Best observed");
    browser.wait_for("#history svg");
    assert!(browser.count("#history [data-trial]") >= 30);
    browser.click("details.copy:nth-of-type(3) summary");
    browser.wait_for_text("details.copy[open] pre", "params = {");

    // What happens elsewhere is seen here.
    let mut study = served.study("image-model");
    let job = study.ask(Some("gpu-9")).unwrap();
    browser.wait_for_text("#underway", "gpu-9");
    study.tell(job.trial, Measurement::new(0.0125), None).unwrap();
    browser.wait_for_text("#summary strong.best", "0.0125");

    browser.click("nav.tabs a[href$='/trials']");
    browser.wait_for("table.trials tbody tr");
    browser.clear("#filter");
    browser.type_into("#filter", "state=failed");
    browser.click("form.search button");
    browser.wait_for("#trials");
    browser.wait("only failed trials are listed", |browser| {
        browser.count("table.trials tbody tr") == browser.count("table.trials .is-failed")
    });
    browser.click("table.trials tbody a");
    browser.wait_for_text("#trial", "CUDA out of memory");
    browser.wait_for_text("details.records", "\"failed\"");

    browser.click("nav.tabs a[href$='/analysis']");
    browser.wait_for("[data-plot='contour'] svg");
    for plot in ["parallel", "slices", "edf", "timeline", "importance", "surrogate"] {
        assert!(browser.count(&format!("[data-plot='{plot}'] svg")) > 0, "{plot}");
    }
    let all = browser.count("[data-plot='parallel'] [data-trial]");
    brush_the_best_rates(&browser);
    browser
        .wait("other trials are pale", |browser| browser.count("[data-plot='slices'] [fill='#e3e7eb']") > 5);
    assert_eq!(browser.count("[data-plot='parallel'] [data-trial]"), all);
    assert!(browser.url().contains("filter=rate"), "{}", browser.url());
    expect_quiet(&browser, &served);
}

/// Drags along the upper part of the first axis of the parallel coordinates.
fn brush_the_best_rates(browser: &crate::driver::Browser) {
    let place = browser.script(
        "const svg = document.querySelector('[data-plot=parallel] svg'); svg.scrollIntoView({ block: 'center' });
         const axis = JSON.parse(svg.closest('[data-axes]').dataset.axes)[0];
         const at = (y) => { const p = new DOMPoint(axis.x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; };
         return [at(axis.top + 40), at(axis.top + 140)];",
        &[],
    );
    let at = |i: usize| (place[i][0].as_f64().unwrap(), place[i][1].as_f64().unwrap());
    browser.drag(at(0), at(1));
}

#[test]
fn somebody_in_a_laboratory_enters_results_over_a_bad_connection() {
    let served = Served::new(|storage| drop(laboratory(storage)));
    let browser = enter(&served);
    browser.open(&served.at("/studies/film/laboratory"));
    browser.click("button.primary");
    browser.wait_for("#trial-0 dl.large");
    let first = served.study("film").state().trials()[0].params.clone();
    assert!(browser.text("#trial-0 dl.large").contains(first.text("gas")));

    // What the server rejects can be corrected.
    browser.type_into("#value-0", "1,000.5");
    browser.click("#trial-0 button.primary");
    browser.wait_for_text("#outbox", "must be a number such as 71.5");
    let is_open = browser.script(
        "const field = document.querySelector('#value-0'); return [field.value, field.disabled]",
        &[],
    );
    assert_eq!(is_open, serde_json::json!(["1,000.5", false]));
    browser.clear("#value-0");

    // What was typed is there after a reload.
    browser.type_into("#value-0", "71,5");
    browser.type_into("#note-0", "second oven");
    browser.open(&served.at("/studies/film/laboratory"));
    browser.wait_for("#trial-0");
    let typed = browser.script("return document.querySelector('#value-0').value", &[]);
    assert_eq!(typed, "71,5");

    // And arrives once there is a connection.
    browser.connection(false);
    browser.click("#trial-0 button.primary");
    browser.wait_for_text("#outbox", "1 result saved on this device");
    assert_eq!(served.study("film").state().trials()[0].state, TrialState::Running);
    browser.connection(true);
    browser.wait_for_text(".message", "Result saved");
    let study = served.study("film");
    let measured = &study.state().trials()[0].measurements;
    assert_eq!(
        (measured.len(), measured[0].value("value"), measured[0].note.as_deref()),
        (1, Some(71.5), Some("second oven"))
    );

    // A mistake is undone: the experiment is open again.
    browser.click("#done a.button");
    browser.click(".message form button");
    browser.wait_for("#trial-0 input[name=value]");
    browser.type_into("#value-0", "72.5");
    browser.click("#trial-0 button.primary");
    browser.wait_for_text("#done", "72.5");

    browser.click("button.primary");
    browser.click("#trial-1 .failed summary");
    browser.type_into("#reason-1", "the film peeled off");
    browser.click("#trial-1 button[value=failed]");
    browser.wait_for_text("#done", "failed");
    let study = served.study("film");
    assert_eq!(study.state().trials()[1].failure.as_ref().unwrap().reason, "the film peeled off");

    // The next five on paper.
    browser.open(&served.at("/studies/film/laboratory"));
    browser.click("input[name=sheet] ~ button");
    browser.wait("a sheet of five", |browser| browser.count("table.sheet tbody tr") == 5);
    assert_eq!(served.study("film").state().running().count(), 5);
    browser.console(); // without a connection, the browser says so there
}

#[test]
fn somebody_with_a_simulator_sees_workers_and_steers_them() {
    let served = Served::new(|storage| {
        let text = "name = 'wing'\ndirection = 'minimize'\ntrials = 20
            parameters.angle = { type = 'float', low = 0, high = 15 }
            parameters.span = { type = 'float', low = 1, high = 4 }";
        let mut study = create(storage, text);
        for trial in 0..6 {
            let job = study.claim().unwrap().unwrap();
            let drag = (job.params.float("angle") - 4.0).powi(2) + job.params.float("span");
            match trial {
                2 => drop(study.tell(
                    job.trial,
                    optimist_study::Evaluation::failed(
                        optimist_study::FailureKind::TimedOut,
                        "took longer than 60 s",
                    ),
                    None,
                )),
                _ => drop(study.tell(job.trial, Measurement::new(drag), Some(2.0))),
            }
        }
        study.claim().unwrap().unwrap();
    });
    let browser = enter(&served);
    browser.open(&served.at("/studies/wing"));
    browser.wait_for_text("#underway", "held");
    browser.wait_for_text("#failures", "took longer than 60 s");
    browser.click("nav.tabs a[href$='/manage']");
    browser.click("form[action$='/do/pause'] button");
    browser.wait_for_text(".message", "Paused");
    assert_eq!(served.study("wing").state().course(), Course::Paused);
    browser.click("form[action$='/do/resume'] button");
    browser.wait_for_text(".message", "Resumed");
    browser.click("form[action$='/do/stop'] button");
    browser.wait_for_text(".message", "Stopped");
    assert_eq!(served.study("wing").state().course(), Course::Stopped);
    browser.click("form[action$='/do/resume'] button");
    browser.wait_for_text(".message", "Resumed"); // on the page that comes, not on this one
    browser.clear("#trials");
    browser.type_into("#trials", "33");
    browser.click("form[action$='/do/trials'] button");
    browser.wait_for_text(".message", "Number of trials");
    browser.click("form[action$='/do/retry'] button");
    browser.wait_for_text(".message", "Retrying");
    browser.type_into("#p0", "3.5");
    browser.type_into("#p1", "2");
    browser.click("form[action$='/do/enqueue'] button");
    browser.wait_for_text(".message", "Queued");
    browser.type_into("#note", "**Mesh 7** only");
    browser.click("form[action$='/do/note'] button");
    browser.wait_for_text("div.note strong", "Mesh 7");
    let study = served.study("wing");
    let state = study.state();
    assert_eq!((state.plan().trials, state.queue().count(), state.waiting().count()), (33, 1, 1));
    assert_eq!(state.note(None).unwrap().text, "**Mesh 7** only");
    expect_quiet(&browser, &served);
}

#[test]
fn a_page_that_nobody_sees_holds_no_connection() {
    let served = Served::new(|storage| drop(laboratory(storage)));
    let browser = enter(&served);
    let remember = "window.sources = [];
        window.EventSource = class extends EventSource { constructor(address) { super(address); window.sources.push(this); } };";
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", &serde_json::json!({ "source": remember }));
    browser.open(&served.at("/studies/film"));
    let states = |browser: &crate::driver::Browser| {
        browser.script("return window.sources.map((source) => source.readyState)", &[])
    };
    let (open, closed) = (1, 2);
    browser.wait("the page listens", |browser| states(browser) == serde_json::json!([open]));
    let leave = "window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))";
    browser.script(leave, &[]);
    assert_eq!(states(&browser), serde_json::json!([closed]));
    served.study("film").ask(Some("ben")).unwrap();
    browser.script(&leave.replace("pagehide", "pageshow"), &[]);
    browser.wait("it listens again", |browser| states(browser) == serde_json::json!([closed, open]));
    browser.wait_for_text("#underway", "ben");
}

#[test]
fn everything_can_be_done_without_scripts() {
    let served = Served::new(|storage| {
        tuning(storage, 12);
        laboratory(storage);
    });
    let browser = enter(&served);
    browser.scripts(false);
    browser.open(&served.at("/studies/film/laboratory"));
    browser.click("button.primary");
    browser.type_into("#value-0", "64.2");
    browser.click("#trial-0 button.primary");
    browser.wait_for_text("#done", "64.2");
    browser.open(&served.at("/studies/image-model"));
    browser.wait_for("#history svg");
    browser.open(&served.at("/studies/image-model/trials?filter=state%3Dfailed"));
    browser.wait_for("table.trials .is-failed");
    browser.click("thead a");
    browser.wait_for("th[aria-sort]");
    browser.open(&served.at("/studies/image-model/analysis?filter=layers%3E3"));
    browser.wait_for("[data-plot='parallel'] svg");
    assert!(browser.count("[data-plot='slices'] [fill='#e3e7eb']") > 0);
    browser.open(&served.at("/studies/image-model/manage"));
    browser.click("form[action$='/do/pause'] button");
    browser.wait_for_text(".message", "Paused");
    assert_eq!(served.study("film").state().trials()[0].value(), Some(64.2));
    assert_eq!(served.study("image-model").state().course(), Course::Paused);
}
