//! The commands of a study, each by running the real binary in an empty folder: in words, in JSON, and with wrong input.

mod common;

use common::{Folder, Output};
use serde_json::{Value, json};

/// A study that a person measures.
const FILM: &str = r#"
name = "film"
direction = "maximize"
trials = 4

[parameters.temperature]
type = "float"
low = 100
high = 300

[parameters.minutes]
type = "int"
low = 10
high = 60
step = 10

[parameters.gas]
type = "categorical"
choices = ["argon", "nitrogen", 5]

[parameters.flow]
type = "float"
low = 0.1
high = 10
log = true
when = { gas = "argon" }
"#;

fn film() -> Folder {
    let folder = Folder::new();
    folder.write("film.toml", FILM);
    folder.run(&["create", "film.toml"]).expect_code(0);
    folder
}

/// Every line of what the command printed, as JSON.
#[track_caller]
fn json(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let output = folder.run(&[args, &["--json"]].concat()).expect_code(0);
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn expect_error(folder: &Folder, args: &[&str], code: i32, words: &[&str]) -> Output {
    let output = folder.run(args).expect_code(code);
    assert!(output.stderr.starts_with("error: ") && output.stdout.is_empty(), "{}", output.stderr);
    for word in words {
        assert!(output.stderr.contains(word), "{word} in {}", output.stderr);
    }
    output
}

/// Asks `n` times and tells 1, 2, 3, …
fn told(folder: &Folder, n: usize) {
    for trial in 0..n {
        folder.run(&["ask", "film"]).expect_code(0);
        folder.run(&["tell", "film", &trial.to_string(), &(trial + 1).to_string()]).expect_code(0);
    }
}

#[test]
fn a_study_that_a_person_measures_goes_from_create_to_best() {
    let folder = Folder::new();
    folder.write("film.toml", FILM);
    let created = folder.run(&["create", "film.toml"]).expect_code(0);
    assert_eq!(created.stdout, "study `film` is in optimist.db\n");
    assert!(created.stderr.contains("optimist ask film"), "{}", created.stderr);

    let asked = folder.run(&["ask", "film"]).expect_code(0);
    assert!(asked.stdout.starts_with("trial 0\n temperature  "), "{}", asked.stdout);
    assert!(asked.stderr.contains("optimist tell film 0 VALUE"), "{}", asked.stderr);
    let told = folder.run(&["tell", "film", "0", "-3.5"]).expect_code(0);
    assert_eq!(told.stdout, "trial 0 is complete, with -3.5: the best so far\n");

    let several = folder.run(&["ask", "-n", "2", "--worker", "anna"]).expect_code(0);
    assert_eq!(several.stdout.lines().count(), 3, "{}", several.stdout);
    let told = folder.run(&["tell", "film", "2", "-4"]).expect_code(0);
    assert_eq!(told.stdout, "trial 2 is complete, with -4; the best so far is trial 0, with -3.5\n");
    let best = folder.run(&["best", "film"]).expect_code(0);
    assert!(best.stdout.contains("observed value  -3.5"), "{}", best.stdout);
    folder.run(&["verify", "film"]).expect_code(0);
}

#[test]
fn a_study_is_created_once_and_again_only_with_another_plan() {
    let folder = film();
    let again = json(&folder, &["create", "film.toml"]);
    assert_eq!(again[0]["created"], false);
    folder.write("film.toml", &FILM.replace("trials = 4", "trials = 9"));
    let changed = folder.run(&["create", "film.toml"]).expect_code(0);
    assert!(changed.stdout.contains("its plan is now the one in film.toml"), "{}", changed.stdout);
    assert_eq!(json(&folder, &["list"])[0]["planned"], 9);

    folder.write("film.toml", &FILM.replace("high = 300", "high = 200"));
    expect_error(
        &folder,
        &["create", "film.toml"],
        1,
        &["the parameters of study `film` differ from those in the study file", "name"],
    );
    let named = json(&folder, &["create", "film.toml", "--name", "film-2"]);
    assert_eq!((&named[0]["study"], &named[0]["created"]), (&json!("film-2"), &json!(true)));
    expect_error(&folder, &["create", "flim.toml"], 2, &["cannot read the study file flim.toml"]);
    folder.write("film.toml", "direction = 'up'");
    expect_error(&folder, &["create", "film.toml"], 2, &["film.toml:1:13"]);
}

#[test]
fn without_an_objective_run_and_worker_say_what_to_do() {
    let folder = film();
    expect_error(
        &folder,
        &["run", "film.toml"],
        2,
        &["has no `objective`", "`optimist ask` and `optimist tell`"],
    );
    expect_error(&folder, &["worker", "film"], 1, &["has no command to run", "`optimist ask`"]);
}

#[test]
fn an_ask_in_json_has_the_trial_and_its_parameters() {
    let folder = film();
    let asked = json(&folder, &["ask", "film", "-n", "3"]);
    let numbers: Vec<&Value> = asked.iter().map(|job| &job["trial"]).collect();
    assert_eq!(numbers, [&json!(0), &json!(1), &json!(2)]);
    assert!(asked[0]["params"]["temperature"].is_f64() && asked[0]["source"] == "suggested", "{asked:?}");
    assert!(asked[0]["params"] != asked[1]["params"], "what is pending is not suggested again");
}

#[test]
fn a_trial_without_a_lease_is_kept_for_ever_and_one_with_a_lease_is_given_to_the_next() {
    let folder = film();
    let first = json(&folder, &["ask", "film"]);
    let second = json(&folder, &["ask", "film", "--lease", "0.001"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let third = json(&folder, &["ask", "film", "--lease", "100000"]);
    assert_eq!(third[0]["trial"], 1);
    assert_eq!(third[0]["params"], second[0]["params"]);
    let fourth = json(&folder, &["ask", "film"]);
    assert_eq!(fourth[0]["trial"], 2, "the lease is not bound to the process that asked");
    let shown = &json(&folder, &["show", "film"])[0];
    let leases: Vec<&Value> =
        shown["running"].as_array().unwrap().iter().map(|trial| &trial["lease"]).collect();
    assert_eq!(leases, [&json!("none"), &json!("held"), &json!("none")]);
    assert_eq!(shown["running"][0]["params"], first[0]["params"]);
    for lease in ["0", "-1", "soon", "1e300"] {
        expect_error(&folder, &["ask", "film", "--lease", lease], 2, &["--lease"]);
    }
    let beyond = folder.run(&["ask", "film", "-n", "2"]).expect_code(0);
    assert!(beyond.stderr.contains("beyond the 4 planned trials"), "{}", beyond.stderr);
}

#[test]
fn a_value_told_twice_is_stored_once_and_another_value_is_a_further_measurement() {
    let folder = film();
    folder.run(&["ask"]).expect_code(0);
    let metrics = r#"{"thickness": 3}"#;
    let tell = ["tell", "film", "0", "2.5", "--noise-std", "0.1", "--note", "warm", "--metrics", metrics];
    let told = &json(&folder, &tell)[0];
    assert_eq!(
        (&told["state"], &told["value"], &told["noise_std"], &told["note"], &told["metrics"]["thickness"]),
        (&json!("complete"), &json!(2.5), &json!(0.1), &json!("warm"), &json!(3))
    );
    let again = folder.run(&["tell", "film", "0", "2.5"]).expect_code(0);
    assert_eq!(again.stdout, "trial 0 already has the value 2.5; nothing was stored\n");
    let other = folder.run(&["tell", "film", "0", "3.5"]).expect_code(0);
    assert!(
        other.stdout.contains("now has 2 values, the last is 3.5; it counts with their mean, 3"),
        "{}",
        other.stdout
    );
    assert_eq!(json(&folder, &["trials"])[0]["values"], json!([2.5, 3.5]));
}

#[test]
fn a_late_value_completes_a_trial_that_was_given_up() {
    let folder = film();
    folder.run(&["ask", "-n", "3"]).expect_code(0);
    folder.run(&["fail", "film", "0", "--reason", "it peeled off"]).expect_code(0);
    folder.run(&["fail", "film", "1", "--cancel"]).expect_code(0);
    folder.run(&["fail", "film", "2", "--retry"]).expect_code(0);
    for (trial, state) in [("0", "failed"), ("1", "cancelled"), ("2", "waiting")] {
        let told = folder.run(&["tell", "film", trial, "7"]).expect_code(0);
        assert!(
            told.stdout.contains(&format!("trial {trial} was {state} and is now complete")),
            "{}",
            told.stdout
        );
    }
}

#[test]
fn values_and_trials_that_cannot_be_are_refused() {
    let folder = film();
    expect_error(
        &folder,
        &["tell", "film", "0", "1"],
        1,
        &["study `film` has no trial 0; it has no trials yet"],
    );
    folder.run(&["ask"]).expect_code(0);
    expect_error(&folder, &["tell", "film", "3", "1"], 1, &["has no trial 3; it only has trial 0"]);
    expect_error(&folder, &["tell", "film", "0", "nan"], 1, &["must be a finite number, got NaN"]);
    expect_error(&folder, &["tell", "film", "0", "1", "--noise-std", "-1"], 1, &["noise", "got -1"]);
    for wrong in [&["tell", "film", "0", "high"][..], &["tell", "film", "first", "1"], &["tell", "film", "0"]]
    {
        expect_error(&folder, wrong, 2, &[]);
    }
    expect_error(&folder, &["tell", "film", "0", "1", "--metrics", "[1]"], 2, &["expected a JSON object"]);
    assert_eq!(json(&folder, &["trials"])[0]["state"], "running", "nothing was stored");
}

#[test]
fn a_failure_is_final_put_back_or_cancelled() {
    let folder = film();
    folder.run(&["ask", "-n", "3"]).expect_code(0);
    let failed = folder.run(&["fail", "film", "0", "--reason", "it peeled off"]).expect_code(0);
    assert_eq!(failed.stdout, "trial 0 failed\n");
    let again = folder.run(&["fail", "film", "0"]).expect_code(0);
    assert_eq!(again.stdout, "trial 0 is already failed; nothing was stored\n");
    assert_eq!(json(&folder, &["fail", "film", "2", "--cancel"])[0]["state"], "cancelled");

    let params = json(&folder, &["trials"])[1]["params"].clone();
    for attempt in [2, 3] {
        let back = folder.run(&["fail", "film", "1", "--retry"]).expect_code(0);
        assert_eq!(back.stdout, format!("trial 1 is back in the queue: attempt {attempt} of 3\n"));
        assert_eq!(json(&folder, &["ask", "film"])[0]["params"], params);
    }
    let last = folder.run(&["fail", "film", "1", "--retry"]).expect_code(0);
    assert_eq!(last.stdout, "trial 1 failed on attempt 3\n");

    folder.run(&["ask"]).expect_code(0);
    folder.run(&["tell", "film", "3", "1"]).expect_code(0);
    expect_error(&folder, &["fail", "film", "3"], 1, &["trial 3 is already complete"]);
    expect_error(&folder, &["fail", "film", "3", "--cancel"], 1, &["trial 3 is already complete"]);
    expect_error(&folder, &["fail", "film", "9"], 1, &["study `film` has no trial 9"]);
    expect_error(&folder, &["fail", "film", "3", "--retry", "--cancel"], 2, &["cannot be used with"]);
    let shown = folder.run(&["show"]).expect_code(0).stdout;
    assert!(shown.contains("1 failure (trial 0): it peeled off"), "{shown}");
}

#[test]
fn a_mistyped_value_is_taken_back_and_the_log_keeps_it() {
    let folder = film();
    told(&folder, 1);
    folder.run(&["tell", "film", "0", "715"]).expect_code(0);
    let output = folder.run(&["amend", "film", "0", "71.5", "--reason", "mistyped"]).expect_code(0);
    assert!(output.stdout.contains("trial 0 is complete, with 71.5, at temperature="), "{}", output.stdout);
    let trial = &json(&folder, &["trials", "film"])[0];
    assert_eq!((&trial["value"], &trial["values"]), (&json!(71.5), &Value::Null));
    assert_eq!(trial["amended"][0]["reason"], "mistyped");
    let table = folder.run(&["trials", "film"]).expect_code(0).stdout;
    assert!(table.contains("complete (amended)"), "{table}");
    let shown = folder.run(&["show", "film"]).expect_code(0).stdout;
    assert!(shown.contains("1 amended"), "{shown}");

    folder.run(&["amend", "film", "0", "--with", "temperature=186"]).expect_code(0);
    assert_eq!(json(&folder, &["trials", "film"])[0]["params"]["temperature"], 186.0);
    folder.run(&["amend", "film", "0", "--failed", "--reason", "wrong gas"]).expect_code(0);
    let output = folder.run(&["retry", "film", "--failed"]).expect_code(0);
    assert!(output.stdout.starts_with("1 trial put back"), "{}", output.stdout);
    assert_eq!(json(&folder, &["ask", "film"])[0]["trial"], 0);
    folder.run(&["tell", "film", "0", "3", "--with", "temperature=120"]).expect_code(0);
    let trial = &json(&folder, &["amend", "film", "0", "--cancelled"])[0];
    assert_eq!((&trial["state"], trial["amended"].as_array().map(Vec::len)), (&json!("cancelled"), Some(6)));
    folder.run(&["verify", "film"]).expect_code(0);

    expect_error(&folder, &["amend", "film", "0"], 2, &["--with", "--failed"]);
    expect_error(&folder, &["amend", "film", "9", "1"], 1, &["has no trial 9"]);
    expect_error(&folder, &["amend", "film", "0", "--with", "temperature=900"], 1, &["temperature", "900"]);
    expect_error(&folder, &["retry", "film"], 2, &["--failed"]);
}

#[test]
fn a_wider_space_is_taken_over_and_shown() {
    let folder = film();
    told(&folder, 2);
    folder.write("film.toml", &FILM.replace("high = 300", "high = 350"));
    let output = folder.run(&["create", "film.toml"]).expect_code(0);
    let expected = "study `film` now has a wider space and keeps its 2 trials; temperature: from 100 to 350 (was 100 to 300)";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    let shown = folder.run(&["show", "film"]).expect_code(0).stdout;
    assert!(shown.contains("after 2 trials: temperature: from 100 to 350"), "{shown}");
    folder.run(&["ask", "film"]).expect_code(0);
    folder.run(&["verify", "film"]).expect_code(0);
    folder.write("film.toml", &FILM.replace("high = 300", "high = 200"));
    let narrower = "`temperature` ranges from 100 to 350, and would only range from 100 to 200";
    expect_error(&folder, &["create", "film.toml"], 1, &[narrower]);
}

#[test]
fn an_enqueued_point_is_tried_next() {
    let folder = film();
    let pairs = ["enqueue", "film", "gas=argon", "flow=1", "minutes=20", "temperature=150"];
    let queued = folder.run(&pairs).expect_code(0);
    assert_eq!(queued.stdout, "temperature=150 minutes=20 gas=argon flow=1 is next\n");
    let object = r#"{"temperature": 200, "minutes": 30, "gas": 5}"#;
    assert_eq!(json(&folder, &["enqueue", "film", object])[0]["queued"], 2);
    folder.run(&["enqueue", "film", "temperature=1e2", "minutes=10", "gas=5"]).expect_code(0);
    let asked = json(&folder, &["ask", "-n", "4"]);
    let sources: Vec<&str> = asked.iter().filter_map(|job| job["source"].as_str()).collect();
    assert_eq!(sources, ["enqueued", "enqueued", "enqueued", "suggested"]);
    assert_eq!(asked[0]["params"], json!({"temperature": 150.0, "minutes": 20, "gas": "argon", "flow": 1.0}));
    assert_eq!(asked[2]["params"], json!({"temperature": 100.0, "minutes": 10, "gas": 5}));
}

#[test]
fn a_point_that_is_not_in_the_space_is_refused_with_the_nearest_spelling() {
    let folder = film();
    let cases: [(&[&str], &str); 9] = [
        (&["temprature=150"], "parameter `temprature` is not in the space; did you mean `temperature`?"),
        (&["gas=argn"], "did you mean `argon`?"),
        (&["temperature=900"], "900.0 is outside its range; give a value from 100.0 to 300.0"),
        (&["minutes=25"], "25 is between its steps"),
        (&["temperature=hot"], "must be a number, got `hot`"),
        (&["temperature=150", "minutes=20", "gas=argon"], "parameter `flow` has no value"),
        (&["temperature=150", "minutes=20", "gas=5", "flow=1"], "active only when `gas` = argon"),
        (&["gas=5", "gas=5"], "parameter `gas` is given twice"),
        (&["temperature"], "expected name=value for each parameter, or one JSON object, got `temperature`"),
    ];
    for (point, expected) in cases {
        expect_error(&folder, &[&["enqueue", "film"], point].concat(), 1, &[expected]);
    }
    expect_error(
        &folder,
        &["enqueue", "film", "{\"gas\": []}"],
        1,
        &["not a JSON object of names and values"],
    );
    assert_eq!(json(&folder, &["show"])[0]["queue"], json!([]));
}

#[test]
fn studies_are_listed_and_the_only_one_need_not_be_named() {
    let folder = Folder::new();
    let none = folder.run(&["list"]).expect_code(0);
    assert!(
        none.stdout.is_empty() && none.stderr.contains("no studies in optimist.db yet"),
        "{}",
        none.stderr
    );
    expect_error(&folder, &["show"], 1, &["there are no studies in optimist.db yet", "optimist create FILE"]);
    assert!(!folder.path().join("optimist.db").exists(), "looking makes nothing");

    folder.write("film.toml", FILM);
    folder.run(&["create", "film.toml"]).expect_code(0);
    expect_error(
        &folder,
        &["show", "flim"],
        1,
        &["study `flim` is not in optimist.db; the only study is `film`"],
    );
    told(&folder, 2);
    folder.run(&["create", "film.toml", "--name", "second"]).expect_code(0);
    let listed = folder.run(&["list"]).expect_code(0).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let listed = json(&folder, &["list"]);
    assert_eq!(
        (&listed[0]["study"], &listed[0]["done"], &listed[0]["best_value"], &listed[1]["best_value"]),
        (&json!("film"), &json!(2), &json!(2.0), &Value::Null)
    );
    for command in ["show", "best", "trials", "ask"] {
        expect_error(
            &folder,
            &[command],
            1,
            &["there are 2 studies in optimist.db; say which one: film, second"],
        );
    }
    expect_error(&folder, &["tell", "flim", "0", "1"], 1, &["`optimist list` lists all 2"]);
}

#[test]
fn show_tells_progress_best_space_and_what_is_under_way() {
    let folder = film();
    let empty = folder.run(&["show"]).expect_code(0).stdout;
    assert!(empty.contains("0 of 4 trials done") && empty.contains("no value yet"), "{empty}");
    told(&folder, 3);
    folder.run(&["ask", "--worker", "anna"]).expect_code(0);
    folder.run(&["enqueue", "film", "temperature=150", "minutes=20", "gas=5"]).expect_code(0);
    let shown = folder.run(&["show", "film"]).expect_code(0).stdout;
    for part in [
        "3 of 4 trials done, 1 running, 1 enqueued, finished: all planned trials done",
        "none: `optimist ask` and `optimist tell`",
        "go-ucb, seed 0",
        "minutes      int          10 to 60, step 10",
        "argon, nitrogen, 5",
        "0.1 to 10, log scale; when gas = argon",
        "trial 3 running  anna",
        "temperature=150 minutes=20 gas=5",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let shown = &json(&folder, &["show", "film"])[0];
    assert_eq!((&shown["done"], &shown["running"][0]["worker"]), (&json!(3), &json!("anna")));
    assert_eq!(shown["space"]["parameters"][1]["step"], 10);
    assert!(shown["best"]["expected"].is_f64(), "{shown}");
}

#[test]
fn best_is_by_expected_value_all_the_way() {
    let folder = film();
    expect_error(&folder, &["best"], 1, &["study `film` has no value yet"]);
    told(&folder, 4);
    let best = json(&folder, &["best", "-n", "3"]);
    assert_eq!(best.len(), 3);
    assert!(best.iter().all(|best| best["std"].is_f64() && best["value"].is_f64()), "{best:?}");
    let expected: Vec<f64> = best.iter().filter_map(|best| best["expected"].as_f64()).collect();
    assert!(expected.len() == 3 && expected.is_sorted_by(|a, b| a >= b), "{best:?}");
    assert!(best[1]["trial"] != best[0]["trial"], "{best:?}");
    let table = folder.run(&["best", "-n", "10"]).expect_code(0).stdout;
    assert_eq!(table.lines().count(), 5, "{table}");
    expect_error(&folder, &["best", "-n", "0"], 2, &[]);
}

#[test]
fn trials_are_filtered_sorted_and_cut() {
    let folder = film();
    told(&folder, 3);
    folder.run(&["ask", "-n", "2"]).expect_code(0);
    folder.run(&["fail", "film", "3", "--reason", "said \"no\", twice"]).expect_code(0);
    let numbers = |args: &[&str]| -> Vec<u64> {
        json(&folder, &[&["trials", "film"], args].concat())
            .iter()
            .filter_map(|trial| trial["trial"].as_u64())
            .collect()
    };
    assert_eq!(numbers(&[]), [0, 1, 2, 3, 4]);
    assert_eq!(numbers(&["--sort", "value", "-n", "2"]), [2, 1]);
    assert_eq!(numbers(&["--state", "failed,running"]), [3, 4]);
    assert_eq!(numbers(&["--state", "cancelled"]), [0; 0]);
    let table = folder.run(&["trials"]).expect_code(0).stdout;
    assert!(table.starts_with(" trial  state     value  temperature"), "{table}");
    let none = folder.run(&["trials", "--state", "waiting"]).expect_code(0);
    assert!(none.stdout.is_empty() && none.stderr.contains("no trials to show"), "{}", none.stderr);
    expect_error(&folder, &["trials", "--state", "done"], 2, &["complete"]);

    let csv = folder.run(&["trials", "--format", "csv"]).expect_code(0).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let column = |name: &str, reader: &mut csv::Reader<&[u8]>| {
        reader
            .headers()
            .unwrap()
            .iter()
            .position(|header| header == name)
            .unwrap_or_else(|| panic!("{name} in {csv}"))
    };
    let (temperature, reason) = (column("temperature", &mut reader), column("reason", &mut reader));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), &rows[3][reason]), (5, "said \"no\", twice"));
    let exact = json(&folder, &["trials"])[0]["params"]["temperature"].as_f64().unwrap();
    assert_eq!(rows[0][temperature].parse::<f64>().unwrap().to_bits(), exact.to_bits());
}

#[test]
fn csv_keeps_metrics_and_parameters_apart_from_its_own_columns() {
    let folder = Folder::new();
    folder
        .write("s.toml", "direction = 'minimize'\nparameters.value = { type = 'float', low = 0, high = 1 }");
    folder.run(&["create", "s.toml"]).expect_code(0);
    folder.run(&["ask"]).expect_code(0);
    folder.run(&["tell", "s", "0", "3", "--metrics", "{\"value\": 9}"]).expect_code(0);
    let csv = folder.run(&["trials", "--format", "csv"]).expect_code(0).stdout;
    assert!(csv.lines().next().unwrap().ends_with(",note,params.value,metrics.value"), "{csv}");
    assert!(
        csv.lines().nth(1).unwrap().starts_with("0,complete,suggested,3,") && csv.ends_with(",9\n"),
        "{csv}"
    );
}

#[test]
fn an_exported_study_is_the_same_elsewhere() {
    let folder = film();
    told(&folder, 3);
    let exported = folder.run(&["export", "film", "film.jsonl"]).expect_code(0);
    assert_eq!(exported.stdout, "exported study `film` to film.jsonl: 7 records\n");
    expect_error(&folder, &["export", "film", "film.jsonl"], 1, &["already exists", "--force"]);
    let again = &json(&folder, &["export", "film", "film.jsonl", "--force"])[0];
    assert_eq!(again, &json!({"study": "film", "file": "film.jsonl", "records": 7}));
    let piped = folder.run(&["export", "film", "-"]).expect_code(0);
    assert_eq!(piped.stdout, folder.read("film.jsonl"));
    expect_error(&folder, &["export", "film", "nowhere/film.jsonl"], 1, &["cannot write nowhere/film.jsonl"]);

    let restored = folder.run(&["create", "film.jsonl", "--storage", "other.db"]).expect_code(0);
    assert_eq!(restored.stdout, "study `film` is in other.db, with 3 trials\n");
    let elsewhere = folder.run(&["export", "film", "-", "--storage", "other.db"]).expect_code(0);
    assert_eq!(elsewhere.stdout, piped.stdout);
    let next = json(&folder, &["ask", "film"]);
    assert_eq!(json(&folder, &["ask", "film", "--storage", "other.db"]), next, "the next suggestion, too");
    expect_error(&folder, &["create", "film.jsonl"], 1, &["study `film` is already in optimist.db"]);

    let text = folder.read("film.jsonl");
    let broken: Vec<&str> = text.lines().enumerate().filter(|(i, _)| *i != 2).map(|(_, line)| line).collect();
    folder.write("broken.jsonl", &broken.join("\n"));
    let args = ["create", "broken.jsonl", "--name", "broken"];
    expect_error(
        &folder,
        &args,
        1,
        &["broken.jsonl cannot be restored: record ", "some are missing; export the study again"],
    );
    assert_eq!(json(&folder, &["list"]).len(), 1);
}

#[test]
fn a_study_is_deleted_only_if_it_is_meant() {
    let folder = film();
    told(&folder, 1);
    expect_error(&folder, &["delete", "film"], 1, &["pass --yes to skip it"]);
    folder.run(&["ask"]).expect_code(0);
    expect_error(
        &folder,
        &["delete", "film", "--yes"],
        1,
        &["1 trial is running in study `film`", "--force"],
    );
    folder.run(&["fail", "film", "1", "--cancel"]).expect_code(0);
    expect_error(&folder, &["delete", "flim", "--yes"], 1, &["study `flim` is not in optimist.db"]);
    let deleted = folder.run(&["delete", "film", "--yes"]).expect_code(0);
    assert_eq!(deleted.stdout, "deleted study `film` with its 2 trials\n");
    assert!(json(&folder, &["list"]).is_empty());

    folder.run(&["create", "film.toml"]).expect_code(0);
    folder.run(&["ask"]).expect_code(0);
    let deleted = json(&folder, &["delete", "film", "--yes", "--force"]);
    assert_eq!(deleted[0], json!({"study": "film", "deleted": true, "trials": 1}));
}

#[test]
fn storage_is_said_by_an_option_or_a_variable() {
    let folder = Folder::new();
    folder.write("film.toml", FILM);
    let made = folder.optimist(&["create", "film.toml"]).env("OPTIMIST_STORAGE", "lab.db").output().unwrap();
    assert!(made.status.success() && folder.path().join("lab.db").exists());
    assert_eq!(json(&folder, &["list", "--storage", "lab.db"]).len(), 1);
    assert!(!folder.path().join("optimist.db").exists());
    folder.write("text.db", "this is no database, but a text that somebody wrote by hand");
    expect_error(&folder, &["list", "--storage", "text.db"], 1, &["text.db is not a study database"]);
}

#[test]
fn a_place_where_nothing_can_be_is_an_error() {
    let folder = Folder::new();
    expect_error(&folder, &["list", "--storage", "nonexistent/a.db"], 1, &["there is no folder nonexistent"]);
    expect_error(&folder, &["list", "--storage", ":memory:"], 1, &["give `memory` to store nothing"]);
    folder.run(&["list", "--storage", "a.db"]).expect_code(0);
}

#[test]
fn the_study_that_init_writes_runs() {
    let folder = Folder::new();
    let written = folder.run(&["init", "--yes"]).expect_code(0);
    assert_eq!(written.stdout, "wrote study.toml and objective.py; next: optimist run study.toml\n");
    folder.run(&["run", "study.toml", "--trials", "4"]).expect_code(0);
    assert_eq!(json(&folder, &["show"])[0]["complete"], 4);

    expect_error(&folder, &["init"], 1, &["study.toml already exists", "--force"]);
    expect_error(
        &folder,
        &["init", "--yes", "other.toml"],
        1,
        &["objective.py already exists; use another folder"],
    );
    assert!(folder.read("other.toml").is_empty(), "all or nothing");
    let forced = json(&folder, &["init", "--yes", "--force"]);
    assert_eq!(forced[0]["files"], json!(["study.toml", "objective.py"]));
}

#[test]
fn the_former_bench_command_says_what_to_type_instead() {
    let folder = Folder::new();
    for typed in [&["bench"][..], &["bench", "--help"], &["bench", "paper", "-o", "report/"]] {
        expect_error(&folder, typed, 2, &["`cargo run --release -p optimist-bench -- --help`"]);
    }
    assert!(!folder.run(&["help"]).expect_code(0).stdout.contains("bench"));
}

#[test]
fn every_command_has_help_with_examples_and_is_completed() {
    let folder = Folder::new();
    let script = folder.run(&["completions", "bash"]).expect_code(0).stdout;
    let help = folder.run(&["help"]).expect_code(0).stdout;
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Descriptions go on in lines that are indented further.
    let commands: Vec<&str> = lines
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        assert!(script.contains(&format!("optimist,{command})")), "{command} is not completed");
        if command != "help" {
            let help = folder.run(&[command, "--help"]).expect_code(0).stdout;
            assert!(help.contains("Example"), "{command}: {help}");
        }
    }
    for shell in ["zsh", "fish"] {
        assert!(!folder.run(&["completions", shell]).expect_code(0).stdout.is_empty());
    }
}
