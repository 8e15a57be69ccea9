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
    let laboratory = get("/studies/several/laboratory").body;
    for name in ["speed", "heat", "mass"] {
        assert!(laboratory.contains(&format!("<th class=\"number\">{name}</th>")), "{name}: {laboratory}");
    }

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

/// The overview once its model is fitted, without which it has no answer.
fn with_answer(server: &Running, token: &str, study: &str) -> String {
    for _ in 0..600 {
        let page = server.call(token, "GET", &format!("/studies/{study}"), None).body;
        if !page.contains("data-again") {
            return page;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the model of {study} is never fitted");
}

#[test]
fn the_answer_of_several_goals_is_a_front_with_a_knee() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let get = |path: &str| server.call(&admin, "GET", path, None);
    let outcomes = "outcomes.speed = { goal = 'maximize' }\noutcomes.heat = { goal = 'minimize' }\noutcomes.mass = { at_most = 5.0 }";
    let mut several = create(&server.storage, "several", outcomes);
    assert!(get("/studies/several").body.contains("No trial has a value yet."));
    assert!(get("/api/v1/studies/several/front").json()["expected"].is_null());
    // The third is beaten by the second, and the last is too heavy.
    for (speed, heat, mass) in
        [(1.0, 1.0, 1.0), (4.0, 2.0, 1.0), (2.0, 3.0, 1.0), (5.0, 6.0, 1.0), (9.0, 1.0, 9.0)]
    {
        let job = several.ask(None).unwrap();
        several
            .tell(job.trial, Measurement::of([("speed", speed), ("heat", heat), ("mass", mass)]), None)
            .unwrap();
    }
    let front = get("/api/v1/studies/several/front").json();
    assert_eq!(front["trials"], serde_json::json!([0, 1, 3]));
    let points = front["expected"]["points"].as_array().unwrap();
    assert!(!points.is_empty() && points[0]["outcomes"]["speed"]["expected"].is_number(), "{front}");
    assert_eq!(
        get("/api/v1/studies/several").json()["front"],
        front["expected"],
        "as in `optimist show --json`"
    );

    let page = with_answer(&server, &admin, "several");
    let answer = between(&page, "<section id=\"answer\"", "</section>");
    let best = between(answer, "Best observed in each goal", "</article>");
    let ends = [
        "<strong>5</strong> <a href=\"/studies/several/trials/3\"",
        "<strong>1</strong> <a href=\"/studies/several/trials/0\"",
    ];
    assert!(ends.iter().all(|end| best.contains(end)), "{best}");
    assert!(answer.contains("Recommended: the knee") && answer.contains("params = {"), "{answer}");
    let table = between(answer, "<table class=\"front\"", "</table>");
    assert_eq!(table.matches("<tr").count(), 1 + points.len(), "{table}");
}

#[test]
fn the_answer_of_one_goal_with_constraints_has_all_outcomes() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let mut study = create(
        &server.storage,
        "light",
        "outcomes.speed = { goal = 'maximize' }\noutcomes.mass = { at_most = 5.0 }",
    );
    for (speed, mass) in [(1.0, 1.0), (4.0, 2.0), (9.0, 9.0)] {
        let job = study.ask(None).unwrap();
        study.tell(job.trial, Measurement::of([("speed", speed), ("mass", mass)]), None).unwrap();
    }
    let page = with_answer(&server, &admin, "light");
    let observed = between(&page, "<h3>Best observed</h3>", "</article>");
    assert!(observed.contains("<strong>4</strong>"), "{observed}");
    assert!(observed.contains("<dt>mass</dt><dd>2</dd>"), "{observed}");
    let recommended = between(&page, "<h3>Recommended</h3>", "</article>");
    assert!(recommended.contains("meets all constraints with a probability of"), "{recommended}");
    assert!(recommended.contains("<dt>mass</dt>"), "{recommended}");
}

#[test]
fn studies_with_different_goals_are_compared_in_plots_of_their_own() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let goals = ["direction = 'minimize'", "direction = 'maximize'", "direction = 'minimize'"];
    for (name, goal) in ["a", "b", "c"].into_iter().zip(goals) {
        let mut study = create(&server.storage, name, goal);
        let job = study.ask(None).unwrap();
        study.tell(job.trial, 1.0, None).unwrap();
    }
    let compare = |query: &str| server.call(&admin, "GET", &format!("/compare?{query}"), None).body;
    let same = compare("study=a&study=c");
    assert_eq!((same.matches("<figure").count(), same.contains("different goals")), (1, false), "{same}");
    let different = compare("study=a&study=b&study=c");
    assert_eq!(different.matches("<figure").count(), 2, "{different}");
    assert!(
        different.contains("a plot of its own") && different.contains("<h2>maximize</h2>"),
        "{different}"
    );
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
