//! `optimist plot`, by running it.

mod common;

use common::Folder;
use serde_json::Value;

const EVERYTHING: &str = r#"
    name = "tune"
    direction = "minimize"
    trials = 14
    optimizer.name = "sobol"
    objective.command = ["sh", "-c", 'case "$OPTIMIST_KIND" in bad) exit 1;; *) echo "$OPTIMIST_RATE";; esac']
    parameters.rate = { type = "float", low = 1e-4, high = 1.0, log = true }
    parameters.kind = { type = "categorical", choices = ["deep", "flat", "bad"] }
    parameters.depth = { type = "int", low = 1, high = 9, when = { kind = "deep" } }
    parameters.fast = { type = "bool" }
"#;

/// A folder with a study that was run.
fn ran(study: &str) -> Folder {
    let folder = Folder::new();
    folder.write("study.toml", study);
    folder.run(&["run", "study.toml"]);
    folder
}

fn data(folder: &Folder, kind: &str) -> Value {
    let output = folder.run(&["plot", "tune", "--kind", kind, "--json"]).expect_code(0);
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn a_page_has_every_plot_and_needs_nothing_else() {
    let folder = ran(EVERYTHING);
    folder.run(&["plot", "tune", "-o", "tune.html"]).expect_code(0);
    let page = folder.read("tune.html");
    for kind in ["history", "slices", "parallel", "importance", "surrogate", "contour", "edf", "timeline"] {
        assert!(page.contains(&format!("id=\"{kind}\"")), "{kind} is missing");
    }
    assert!(page.contains("Predicted against observed") && page.contains("Importance of each parameter"));
    let links = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http") && !links.contains("src="), "it must work without a network");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("name=\"viewport\""));
}

#[test]
fn how_each_suggestion_was_found_is_told_by_show_by_trials_and_on_the_page() {
    let folder = ran(&EVERYTHING.replace("sobol", "go-ucb").replace("random", "go-ucb"));
    let shown = folder.run(&["show", "tune"]).expect_code(0).stdout;
    assert!(shown.contains(" by exploration; ") && shown.contains(" by optimism under "), "{shown}");
    let trials = folder.run(&["trials", "tune", "--json"]).expect_code(0).stdout;
    let why: Vec<Value> =
        trials.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["why"].clone()).collect();
    assert_eq!(why[0]["phase"], "explore");
    let last = why.last().unwrap();
    assert!(
        last["phase"] == "optimism" && last["family"].is_string() && last["radius"].is_number(),
        "{last}"
    );
    folder.run(&["plot", "tune", "-o", "tune.html"]).expect_code(0);
    let page = folder.read("tune.html");
    assert!(page.contains(" (exploration)\n") && page.contains(" (optimism under "));
}

#[test]
fn the_ending_of_the_file_says_what_it_is() {
    let folder = ran(EVERYTHING);
    for kind in ["all", "history", "slices,parallel"] {
        folder.run(&["plot", "tune", "--kind", kind, "-o", "a.svg"]).expect_code(0);
        assert!(folder.read("a.svg").starts_with("<svg"));
        folder.run(&["plot", "tune", "--kind", kind, "-o", "a.PNG"]).expect_code(0);
        let png = std::fs::read(folder.path().join("a.PNG")).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
    }
    let wrong = folder.run(&["plot", "tune", "-o", "a.pdf"]).expect_code(1);
    assert!(wrong.stderr.contains("use a name that ends in .svg, .png or .html"), "{}", wrong.stderr);
}

#[test]
fn a_contour_is_of_the_parameters_that_are_named() {
    let folder = ran(EVERYTHING);
    let names = |args: &[&str]| {
        let args = [&["plot", "tune", "--kind", "contour", "--json"], args].concat();
        let data: Value = serde_json::from_str(&folder.run(&args).expect_code(0).stdout).unwrap();
        let [x, y] = ["x", "y"].map(|name| data["contour"][name].as_str().unwrap().to_owned());
        let means = data["contour"]["means"].as_array().unwrap();
        assert_eq!(means.len(), data["contour"]["x_values"].as_array().unwrap().len());
        (x, y)
    };
    let (x, y) = names(&[]);
    assert_eq!(names(&["--of", &format!("{y},{x}")]), (y, x));
    let wrong =
        folder.run(&["plot", "tune", "--kind", "contour", "--of", "rate,speed", "--json"]).expect_code(1);
    assert!(wrong.stderr.contains("there is no parameter `speed`; the study has "), "{}", wrong.stderr);
}

#[test]
fn the_distribution_and_the_timeline_have_every_trial() {
    let folder = ran(EVERYTHING);
    let edf = data(&folder, "edf");
    let steps = edf["edf"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["part"], 1.0);
    assert!(steps.windows(2).all(|two| two[0]["value"].as_f64() >= two[1]["value"].as_f64()), "worst first");
    let timeline = data(&folder, "timeline");
    let rows = timeline["timeline"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    assert!(
        rows.iter()
            .all(|row| row["worker"].is_string() && row["ended_at"].as_u64() >= row["started_at"].as_u64())
    );
}

#[test]
fn without_a_file_the_history_is_drawn_in_the_terminal() {
    let folder = ran(EVERYTHING);
    let output = folder.run(&["plot", "tune"]).expect_code(0);
    assert!(output.stdout.contains("best so far"), "{}", output.stdout);
}

#[test]
fn the_history_goes_the_way_of_the_direction() {
    for (direction, better) in [("minimize", f64::le as fn(&f64, &f64) -> bool), ("maximize", f64::ge)] {
        let folder = ran(&EVERYTHING.replace("minimize", direction));
        let history = data(&folder, "history");
        let rows = history["history"].as_array().unwrap();
        assert_eq!(rows.len(), 14);
        let best: Vec<f64> = rows.iter().filter_map(|row| row["best"].as_f64()).collect();
        assert!(best.windows(2).all(|pair| better(&pair[1], &pair[0])), "{direction}: {best:?}");
        assert!(rows.iter().any(|row| row["state"] == "failed" && row["value"].is_null()));
    }
}

#[test]
fn the_parameter_that_is_the_value_is_the_important_one() {
    // Without failures: they count as the worst value, so the choice that fails would matter too.
    let folder = ran(&EVERYTHING.replace("exit 1", "echo \"$OPTIMIST_RATE\""));
    let importance = data(&folder, "importance");
    let rows = importance["importance"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["parameter"], "rate", "{rows:?}");
}

#[test]
fn partial_dependence_and_predictions_are_in_the_direction_of_the_user() {
    let folder = ran(EVERYTHING);
    let surrogate = &data(&folder, "surrogate")["surrogate"];
    let along_rate = surrogate["partial_dependence"][0]["points"].as_array().unwrap();
    let mean = |point: &Value| point["mean"].as_f64().unwrap();
    assert!(mean(along_rate.last().unwrap()) > mean(&along_rate[0]), "the value is the rate");
    for row in surrogate["leave_one_out"].as_array().unwrap() {
        assert!(row["observed"].as_f64().unwrap() > 0.0 && row["std"].as_f64().unwrap() >= 0.0, "{row}");
    }
}

#[test]
fn the_page_opens_with_what_to_take_home_and_ends_with_all_trials() {
    let folder = ran(EVERYTHING);
    folder.run(&["plot", "-o", "tune.html"]).expect_code(0); // the only study
    let page = folder.read("tune.html");
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no `{words}`"));
    assert!(at("id=\"summary\"") < at("id=\"history\"") && at("id=\"surrogate\"") < at("id=\"trials\""));
    let card = &page[at("id=\"summary\"")..at("id=\"history\"")];
    let best = folder.run(&["best", "tune", "--json"]).expect_code(0).stdout;
    let best: Value = serde_json::from_str(&best).unwrap();
    for words in [
        "Minimize: 14 of 14 trials done, ".to_owned(),
        "<th>recommended</th>".to_owned(),
        format!("<th>trial</th><td>{}</td>", best["trial"]),
        format!("<td>{}</td>", best["params"]["kind"].as_str().unwrap()),
        "The model predicts ".to_owned(),
        "(leave-one-out)".to_owned(),
    ] {
        assert!(card.contains(&words), "no `{words}` in {card}");
    }
    let table = &page[at("id=\"trials\"")..];
    assert_eq!(table.matches("<tr").count(), 14 + 1, "a title and the trials");
    assert!(
        table.contains("<th>rate</th>") && table.contains("class=\"sortable\"") && table.contains("<script>")
    );
}

#[test]
fn metrics_are_drawn_where_there_are_some() {
    let folder = Folder::new();
    folder.write(
        "study.toml",
        "name = 'tune'\ndirection = 'minimize'\ntrials = 3\noptimizer.name = 'sobol'\n\
         objective.command = ['sh', 'objective.sh']\nparameters.rate = { type = 'float', low = 0, high = 1 }",
    );
    folder.write(
        "objective.sh",
        r#"echo "{\"value\": $OPTIMIST_RATE, \"metrics\": {\"loss\": $OPTIMIST_RATE, \"tag\": \"a\"}}""#,
    );
    folder.run(&["run", "study.toml"]).expect_code(0);
    let metrics = data(&folder, "metrics");
    let [loss] = &metrics["metrics"].as_array().unwrap()[..] else { panic!("{metrics}") };
    assert_eq!((&loss["metric"], loss["points"].as_array().unwrap().len()), (&Value::from("loss"), 3));
    for point in loss["points"].as_array().unwrap() {
        assert_eq!(point["metric"], point["value"]);
    }
    folder.run(&["plot", "tune", "-o", "tune.html"]).expect_code(0);
    assert!(folder.read("tune.html").contains("id=\"metrics\""));
    let none = ran(EVERYTHING);
    assert!(data(&none, "metrics")["metrics"].as_array().unwrap().is_empty());
    none.run(&["plot", "-o", "tune.html"]).expect_code(0);
    assert!(!none.read("tune.html").contains("id=\"metrics\""));
}

#[test]
fn every_choice_has_its_label_however_narrow_its_axis() {
    let parameters: String =
        (0..20).map(|i| format!("parameters.p{i} = {{ type = 'float', low = 0, high = 1 }}\n")).collect();
    let study = format!(
        "name = 'tune'\ndirection = 'minimize'\ntrials = 2\noptimizer.name = 'random'\n\
         objective.command = ['echo', '1']\n{parameters}\
         parameters.model = {{ type = 'categorical', choices = ['tree', 'forest', 'svm', 'sqrt', 'log2'] }}"
    );
    let folder = ran(&study);
    folder.run(&["plot", "tune", "--kind", "parallel", "-o", "a.svg"]).expect_code(0);
    let svg = folder.read("a.svg");
    for label in ["tree", "forest", "svm", "sqrt", "log2"] {
        assert!(svg.contains(&format!(">{label}<")), "{label}");
    }
}

#[test]
fn the_legend_speaks_of_failures_only_where_there_are_some() {
    let has_failed = |folder: Folder| {
        folder.run(&["plot", "tune", "--kind", "history", "-o", "a.svg"]).expect_code(0);
        folder.read("a.svg").contains(">failed<")
    };
    assert!(has_failed(ran(EVERYTHING)));
    assert!(!has_failed(ran(&EVERYTHING.replace("exit 1", "echo 0.5"))));
}

#[test]
fn little_or_nothing_to_draw_is_no_trouble() {
    let objectives = ["echo 1", "exit 1"]; // all the same, all failed
    for objective in objectives {
        for trials in ["1", "2", "5"] {
            let folder = Folder::new();
            let study = format!(
                "name = 'tune'\ndirection = 'maximize'\nobjective.command = ['sh', '-c', '{objective}']\n\
                 parameters.x = {{ type = 'float', low = 0, high = 1 }}"
            );
            folder.write("study.toml", &study);
            folder.run(&["run", "study.toml", "--trials", trials]);
            for file in ["a.svg", "a.png", "a.html"] {
                folder.run(&["plot", "tune", "-o", file]).expect_code(0);
            }
            data(&folder, "all");
        }
    }
}

/// A study of a goal and a constraint, with what was measured of each trial.
fn told(measured: &[(f64, f64)]) -> Folder {
    let folder = Folder::new();
    let study = "name = 's'\nparameters.x = { type = 'float', low = 0.0, high = 1.0 }\n[outcomes]\n\
                 gain = { goal = 'maximize' }\ncost = { at_most = 1.0 }\n";
    folder.write("s.toml", study);
    folder.run(&["create", "s.toml"]).expect_code(0);
    for (trial, (gain, cost)) in measured.iter().enumerate() {
        folder.run(&["ask", "s"]).expect_code(0);
        let values = [format!("gain={gain}"), format!("cost={cost}")];
        folder.run(&["tell", "s", &trial.to_string(), &values[0], &values[1]]).expect_code(0);
    }
    folder.run(&["plot", "s", "--kind", "history", "-o", "s.svg"]).expect_code(0);
    folder
}

#[test]
fn the_legend_of_the_history_has_what_is_drawn_and_no_more() {
    let feasible = told(&[(1.0, 0.5), (2.0, 0.7)]).read("s.svg");
    assert!(feasible.contains(">trial<") && !feasible.contains("not feasible"), "{feasible}");
    let both = told(&[(1.0, 0.5), (2.0, 1.7)]).read("s.svg");
    assert!(both.contains("not feasible") && both.contains("best so far"), "{both}");
    let infeasible = told(&[(1.0, 1.5), (2.0, 1.7)]).read("s.svg");
    assert!(infeasible.contains("not feasible") && !infeasible.contains("best so far"), "{infeasible}");
}

#[test]
fn the_trial_axis_has_no_half_trials() {
    let folder = Folder::new();
    folder.write("s.toml", "name = 's'\ndirection = 'minimize'\nparameters.x = { type = 'bool' }");
    folder.run(&["create", "s.toml"]).expect_code(0);
    for value in ["7", "8"] {
        folder.run(&["ask", "s"]).expect_code(0);
        folder.run(&["tell", "s", if value == "7" { "0" } else { "1" }, value]).expect_code(0);
    }
    folder.run(&["plot", "s", "--kind", "history", "-o", "s.svg"]).expect_code(0);
    let picture = folder.read("s.svg");
    // Values are 7 and 8, so a 0.5 could only be of the trials.
    assert!(picture.contains(">1<") && !picture.contains(">0.5<"), "{picture}");
}

#[test]
fn huge_values_are_short_in_the_table_of_trials() {
    let folder = told(&[(1e308, 0.5), (-1e308, 0.7)]);
    folder.run(&["plot", "s", "-o", "s.html"]).expect_code(0);
    let page = folder.read("s.html");
    assert!(page.contains("data-v=\"1e308\"") && page.contains("data-v=\"-1e308\""));
    assert!(!page.contains("00000000000000000000"), "no number has all its zeros");
}
