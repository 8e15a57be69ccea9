//! Pages of studies of every kind: one outcome, several, none yet, and those whose trials all failed.

mod common;

use common::Running;
use optimist_server::Role;
use optimist_study::{Measurement, Storage, Study, StudyFile};

const PAGES: [&str; 7] =
    ["", "/trials", "/trials.csv", "/analysis", "/laboratory", "/laboratory/sheet", "/manage"];

fn create(storage: &Storage, name: &str, outcomes: &str) -> Study {
    let text = format!(
        "name = '{name}'\n{outcomes}
         [parameters.width]\ntype = 'int'\nlow = 1\nhigh = 9
         [parameters.gas]\ntype = 'categorical'\nchoices = ['argon', 'air']
         [parameters.flow]\ntype = 'float'\nlow = 0.5\nhigh = 2.0\nwhen = {{ gas = 'argon' }}"
    );
    Study::create(storage, StudyFile::parse(&text).unwrap().definition).unwrap()
}

/// The part of a page between `from` and the next `to`.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from} in {page}"));
    page[start..].split(to).next().unwrap()
}

#[test]
fn every_kind_of_study_has_its_pages() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let get = |path: &str| server.call(&admin, "GET", path, None);

    create(&server.storage, "empty", "direction = 'minimize'");
    let mut failing = create(&server.storage, "failing", "direction = 'minimize'");
    for _ in 0..3 {
        let job = failing.ask(None).unwrap();
        failing.tell(job.trial, Err::<f64, _>("no licence"), None).unwrap();
    }
    let goals = "outcomes.speed = { goal = 'maximize' }\noutcomes.heat = { goal = 'minimize' }\noutcomes.mass = { at_most = 5.0 }";
    let mut several = create(&server.storage, "several", goals);
    for n in 0..6_u8 {
        let job = several.ask(None).unwrap();
        let n = f64::from(n);
        let measured = Measurement::of([("speed", n), ("heat", 2.0 * n), ("mass", n)]);
        several.tell(job.trial, measured, None).unwrap();
    }
    for study in ["film", "empty", "failing", "several"] {
        for page in PAGES {
            let answer = get(&format!("/studies/{study}{page}"));
            assert_eq!(answer.status, 200, "{study}{page}: {answer:?}");
        }
    }

    // Only the first picture of a history is as wide as the page; each further outcome has a small one.
    let overview = get("/studies/several").body;
    let history = between(&overview, "<section id=\"history\"", "</section>");
    let n = |class: &str| history.matches(&format!("class=\"{class}\"")).count();
    assert_eq!((n("panel wide"), n("panel")), (1, 3));
    assert!(overview.contains("on the front"), "{overview}");

    // Without a value there are no empty axes.
    for study in ["empty", "failing"] {
        let overview = get(&format!("/studies/{study}")).body;
        assert!(!between(&overview, "<section id=\"history\"", "</section>").contains("<svg"), "{overview}");
        let analysis = get(&format!("/studies/{study}/analysis")).body;
        assert!(!analysis.contains("data-plot=\"parallel\""), "{analysis}");
        assert!(analysis.contains("A model is fitted once a trial has a value."), "{analysis}");
    }
    assert!(get("/studies/failing").body.contains("no licence"));

    // Numbers stand under their headings.
    let trials = get("/studies/several/trials").body;
    for (column, is_number) in
        [("trial", true), ("speed", true), ("width", true), ("flow", true), ("gas", false)]
    {
        let heading = trials.find(&format!(">{column}</a></th>")).unwrap_or_else(|| panic!("no {column}"));
        let tag = &trials[trials[..heading].rfind("<th").unwrap()..heading];
        assert_eq!(tag.contains("class=\"number\""), is_number, "{tag}");
    }
}

#[test]
fn more_studies_than_can_be_compared_are_mentioned() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let names: Vec<String> = (0..7).map(|n| format!("s{n}")).collect();
    for name in &names {
        create(&server.storage, name, "direction = 'minimize'");
    }
    let compare = |n: usize| {
        let query: Vec<String> = names[..n].iter().map(|name| format!("study={name}")).collect();
        server.call(&admin, "GET", &format!("/compare?{}", query.join("&")), None).body
    };
    assert!(compare(7).contains("Showing the first 6 of 7 selected studies."));
    assert!(!compare(6).contains("Showing the first"));
}

#[test]
fn what_is_not_there_is_a_page_for_people_and_a_problem_for_programs() {
    let server = Running::with_users(|_| ());
    let cookie = server.log_in("viewer");
    for path in ["/nothing", "/studies/none", "/studies/film/trials/99"] {
        let headers = [("Cookie", cookie.as_str()), ("Accept", "text/html")];
        let page = server.ask("GET", path, &headers, None);
        assert_eq!(page.status, 404, "{path}: {page:?}");
        assert!(page.headers["content-type"].starts_with("text/html"), "{path}: {page:?}");
        assert!(page.body.contains("<h1>Not found</h1>"), "{path}: {page:?}");
    }
    let problem = server.ask("GET", "/nothing", &[("Cookie", &cookie)], None);
    assert_eq!(problem.headers["content-type"], "application/problem+json");
}
