//! Studies of several outcomes at the command line.

mod common;

use common::{Folder, Output};
use serde_json::Value;

const NET: &str = "
name = 'net'
trials = 8
optimizer.name = 'sobol'
outcomes.accuracy = { goal = 'maximize' }
outcomes.latency_ms = { goal = 'minimize', reference = 50.0 }
outcomes.memory_gb = { at_most = 8.0 }
parameters.x = { type = 'float', low = 0, high = 1 }
";

fn json(output: &Output) -> Value {
    serde_json::from_str(output.stdout.lines().next().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {}", output.stdout))
}

/// A study with four trials: two on the front, one beaten, one that is not feasible.
fn net() -> Folder {
    let folder = Folder::new();
    folder.write("net.toml", NET);
    folder.run(&["create", "net.toml"]).expect_code(0);
    for (trial, values) in ["0.9 12 6", "0.8 10 6", "0.7 11 6", "0.99 1 9"].iter().enumerate() {
        let asked = folder.run(&["ask", "net"]).expect_code(0);
        let hint = format!("optimist tell net {trial} accuracy=… latency_ms=… memory_gb=…");
        assert!(asked.stderr.contains(&hint), "{}", asked.stderr);
        let values: Vec<&str> = values.split(' ').collect();
        let pairs = ["accuracy", "latency_ms", "memory_gb"].iter().zip(values);
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
        let trial = trial.to_string();
        let words = ["tell", "net", trial.as_str()].into_iter().chain(pairs.iter().map(String::as_str));
        folder.run(&words.collect::<Vec<_>>()).expect_code(0);
    }
    folder
}

#[test]
fn telling_says_what_it_means_and_what_is_wrong() {
    let folder = net();
    folder.run(&["ask", "net"]).expect_code(0);
    let told = |words: &[&str]| folder.run(&[&["tell", "net", "4"], words].concat());
    for (words, code, expected) in [
        (
            &["0.9"][..],
            1,
            "the study has named outcomes; tell accuracy=NUMBER latency_ms=NUMBER memory_gb=NUMBER",
        ),
        (&["accuracy=0.9"][..], 1, "trial 4: outcome `latency_ms` is missing"),
        (&["acuracy=0.9", "latency_ms=1", "memory_gb=1"][..], 1, "did you mean `accuracy`?"),
        (&["accuracy=0.9", "accuracy=0.8"][..], 1, "outcome `accuracy` is given twice"),
        (
            &["accuracy=nan", "latency_ms=1", "memory_gb=1"][..],
            1,
            "outcome `accuracy` must be a finite number",
        ),
        (&["accuracy=high"][..], 2, "expected NAME=NUMBER"),
    ] {
        let output = told(words).expect_code(code);
        assert!(output.stderr.contains(expected), "{expected}\n{}", output.stderr);
    }
    let values = ["accuracy=-0.5", "latency_ms=1", "memory_gb=8.5", "--noise-std", "accuracy=0.25", "--json"];
    let view = json(&told(&values).expect_code(0));
    assert_eq!(view["values"], serde_json::json!({ "accuracy": -0.5, "latency_ms": 1.0, "memory_gb": 8.5 }));
    assert_eq!(view["noise_std"], serde_json::json!({ "accuracy": 0.25 }));
    assert_eq!((&view["feasible"], &view["state"]), (&false.into(), &"complete".into()));
    let again = told(&["accuracy=0.5", "latency_ms=1", "memory_gb=8.5"]).expect_code(0).stdout;
    assert!(again.contains("trial 4 now has 2 measurements") && again.contains("accuracy 0,"), "{again}");
    assert!(again.contains("not feasible: memory_gb must be at most 8"), "{again}");
}

#[test]
fn a_failed_trial_keeps_what_was_measured_and_can_be_amended() {
    let folder = net();
    folder.run(&["ask", "net"]).expect_code(0);
    let wrong = folder.run(&["fail", "net", "4", "memroy_gb=3"]).expect_code(1);
    assert!(wrong.stderr.contains("did you mean `memory_gb`?"), "{}", wrong.stderr);
    let failed = folder.run(&["fail", "net", "4", "memory_gb=14.2", "--reason", "out of memory", "--json"]);
    let view = json(&failed.expect_code(0));
    assert_eq!((&view["state"], &view["values"]["memory_gb"]), (&"failed".into(), &14.2.into()));
    let amended = folder.run(&["amend", "net", "0", "accuracy=0.95"]).expect_code(0).stdout;
    let expected = "complete, with accuracy 0.95, latency_ms 12, memory_gb 6";
    assert!(
        amended.contains(expected) && amended.contains("it was complete, with accuracy 0.9,"),
        "{amended}"
    );
    folder.run(&["amend", "net", "4", "accuracy=0.5", "latency_ms=3"]).expect_code(0);
    let view: Vec<Value> = folder
        .run(&["trials", "net", "--json"])
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((&view[4]["state"], &view[4]["values"]["memory_gb"]), (&"complete".into(), &14.2.into()));
    assert_eq!(view[0]["amended"][0]["measurements"][0]["values"]["accuracy"], 0.9);
    let before = &view[4]["amended"][0];
    assert_eq!((&before["state"], &before["failure"]), (&"failed".into(), &"out of memory".into()));
    assert_eq!(before["measurements"][0]["values"]["memory_gb"], 14.2);
    let one = Folder::new();
    one.write("a.toml", "direction = 'minimize'\nparameters.x = { type = 'bool' }");
    one.run(&["create", "a.toml"]).expect_code(0);
    one.run(&["ask", "a"]).expect_code(0);
    assert!(one.run(&["tell", "a", "0", "loss=1"]).expect_code(1).stderr.contains("without a name"));
    assert!(
        one.run(&["fail", "a", "0", "loss=1"]).expect_code(1).stderr.contains("`fail` doesn't take a value")
    );
}

#[test]
fn what_a_failed_trial_had_measured_can_be_corrected() {
    let folder = net();
    folder.run(&["ask", "net"]).expect_code(0);
    let failed = folder.run(&["fail", "net", "4", "memory_gb=14.2", "--reason", "out of memory"]);
    assert_eq!(failed.expect_code(0).stdout, "trial 4 failed, with memory_gb 14.2\n");
    let missing = folder.run(&["amend", "net", "4", "memory_gb=13"]).expect_code(1).stderr;
    assert!(missing.contains("outcome `accuracy` is missing") && missing.contains("--failed"), "{missing}");
    let wrong = folder.run(&["amend", "net", "4", "memroy_gb=13", "--failed"]).expect_code(1).stderr;
    assert!(wrong.contains("trial 4: there is no outcome `memroy_gb`; did you mean `memory_gb`?"), "{wrong}");
    let amended = folder.run(&["amend", "net", "4", "memory_gb=13", "--failed"]).expect_code(0).stdout;
    assert!(amended.starts_with("trial 4 is failed, with memory_gb 13, at "), "{amended}");
    assert!(amended.contains("it was failed, with memory_gb 14.2"), "{amended}");
    folder.run(&["amend", "net", "4", "--failed", "--reason", "the card was too small"]).expect_code(0);
    folder.run(&["amend", "net", "4", "latency_ms=3", "--failed"]).expect_code(0);
    folder
        .run(&["amend", "net", "0", "memory_gb=5", "--failed", "--reason", "the wrong data"])
        .expect_code(0);
    let trials = folder.run(&["trials", "net", "--state", "failed", "--json"]).expect_code(0).stdout;
    let trials: Vec<Value> = trials.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(trials[0]["values"], serde_json::json!({ "memory_gb": 5.0 }), "the others were wrong, too");
    assert_eq!(trials[1]["values"], serde_json::json!({ "latency_ms": 3.0, "memory_gb": 13.0 }));
    assert_eq!(trials[1]["reason"], "the card was too small");
    assert!(folder.run(&["verify", "net"]).expect_code(0).stdout.contains("identical"));
}

#[test]
fn a_single_named_goal_has_an_expected_value_and_no_column_for_constraints() {
    let folder = Folder::new();
    folder.write(
        "a.toml",
        "trials = 8\noutcomes.loss = { goal = 'minimize' }\nparameters.x = { type = 'float', low = 0, high = 1 }",
    );
    folder.run(&["create", "a.toml"]).expect_code(0);
    for trial in 0..6 {
        let x = json(&folder.run(&["ask", "a", "--json"]).expect_code(0))["params"]["x"].as_f64().unwrap();
        let (trial, loss) = (trial.to_string(), format!("loss={}", (x - 0.3).powi(2)));
        folder.run(&["tell", "a", &trial, &loss]).expect_code(0);
    }
    let shown = folder.run(&["best", "a"]).expect_code(0).stdout;
    assert!(shown.contains("expected") && shown.contains(" ± "), "{shown}");
    let status = folder.run(&["show", "a"]).expect_code(0).stdout;
    assert!(status.contains(": loss ") && status.contains(" expected, loss "), "{status}");
    let ranking = folder.run(&["best", "a", "-n", "3"]).expect_code(0).stdout;
    let title: Vec<&str> = ranking.lines().next().unwrap().split_whitespace().collect();
    assert_eq!((title, ranking.lines().count()), (vec!["trial", "loss", "x"], 4), "{ranking}");
    assert_eq!(ranking.matches(" ± ").count(), 3, "{ranking}");
}

#[test]
fn best_shows_the_front_with_its_knee_and_hypervolume() {
    let folder = net();
    let shown = folder.run(&["best", "net"]).expect_code(0).stdout;
    let first: Vec<&str> = shown.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first, ["trial", "feasible", "accuracy", "latency_ms", "memory_gb", "x"]);
    assert_eq!(shown.matches("(knee)").count(), 1, "{shown}");
    assert!(shown.contains("hypervolume ") && shown.contains("latency_ms 50"), "{shown}");
    assert!(!shown.contains(" 0.99 "), "it is not feasible\n{shown}");
    let front = json(&folder.run(&["best", "net", "--json"]).expect_code(0));
    let trials: Vec<u64> =
        front["points"].as_array().unwrap().iter().map(|point| point["trial"].as_u64().unwrap()).collect();
    assert_eq!(trials, [0, 1]);
    assert_eq!(front["points"][0]["outcomes"]["latency_ms"]["value"], 12.0);
    assert_eq!(front["reference"]["latency_ms"], 50.0);
    // The reference of accuracy is a tenth of the front's range below its worst.
    let expected = (0.8 - 0.79) * 40.0 + (0.9 - 0.8) * 38.0;
    assert!((front["hypervolume"].as_f64().unwrap() - expected).abs() < 1e-9, "{front}");
    assert_eq!(folder.run(&["best", "net", "-n", "1", "--json"]).stdout.matches("\"trial\"").count(), 1);
}

#[test]
fn show_list_and_trials_know_all_outcomes() {
    let folder = net();
    let shown = folder.run(&["show", "net"]).expect_code(0).stdout;
    for words in [
        "accuracy: maximize",
        "latency_ms: minimize, reference 50",
        "memory_gb: at most 8",
        "3 of 4 complete trials",
        "2 points, hypervolume",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    let view = json(&folder.run(&["show", "net", "--json"]).expect_code(0));
    assert_eq!((&view["best"], &view["feasible"]), (&Value::Null, &3.into()));
    assert_eq!(view["front"]["points"].as_array().unwrap().len(), 2);
    assert_eq!(view["outcomes"][2], serde_json::json!({ "name": "memory_gb", "at_most": 8.0 }));
    assert!(view.get("direction").is_none());
    let listed = folder.run(&["list"]).expect_code(0).stdout;
    assert!(listed.contains("2 goals, 1 constraint") && listed.contains("a front of 2"), "{listed}");
    let table = folder.run(&["trials", "net", "--sort", "value"]).expect_code(0).stdout;
    let numbers: Vec<&str> =
        table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers, ["0", "1", "2", "3"], "{table}");
    assert!(table.contains("complete, not feasible"), "{table}");
    let csv = folder.run(&["trials", "net", "--format", "csv"]).expect_code(0).stdout;
    let header = "trial,state,source,accuracy,latency_ms,memory_gb,feasible,noise_std.accuracy,noise_std.latency_ms,noise_std.memory_gb,seconds,attempts,worker,reason,note,x";
    assert_eq!(csv.lines().next().unwrap(), header);
    assert!(csv.contains("3,complete,suggested,0.99,1,9,false,,,,"), "{csv}");
    folder.write("net.csv", &csv).write("again.toml", &NET.replace("'net'", "'again'"));
    folder.run(&["create", "again.toml"]).expect_code(0);
    let imported = folder.run(&["import", "again", "net.csv"]).expect_code(0).stdout;
    assert!(imported.contains("4 rows imported"), "{imported}");
    let fronts =
        ["net", "again"].map(|name| json(&folder.run(&["best", name, "--json"]))["hypervolume"].clone());
    assert_eq!(fronts[0], fronts[1]);
}

#[test]
fn one_goal_with_constraints_says_how_likely_it_is_feasible() {
    let folder = Folder::new();
    folder.write(
        "a.toml",
        "
        optimizer.name = 'sobol'
        outcomes.yield = { goal = 'maximize' }
        outcomes.impurity = { at_most = 0.02 }
        parameters.x = { type = 'float', low = 0, high = 1 }",
    );
    folder.run(&["create", "a.toml"]).expect_code(0);
    for (trial, values) in [["yield=0.9", "impurity=0.05"], ["yield=0.7", "impurity=0.01"]].iter().enumerate()
    {
        folder.run(&["ask", "a"]).expect_code(0);
        folder.run(&["tell", "a", &trial.to_string(), values[0], values[1]]).expect_code(0);
    }
    let best = json(&folder.run(&["best", "a", "--json"]).expect_code(0));
    assert_eq!((&best["trial"], &best["feasible"], &best["value"]), (&1.into(), &1.0.into(), &0.7.into()));
    assert_eq!(best["outcomes"]["impurity"]["value"], 0.01);
    let shown = folder.run(&["best", "a"]).expect_code(0).stdout;
    assert!(shown.contains("feasible") && shown.contains("100 %") && shown.contains("impurity"), "{shown}");
    let ranking = folder.run(&["best", "a", "-n", "2"]).expect_code(0).stdout;
    assert_eq!(ranking.lines().count(), 3, "{ranking}");
    let history = folder.run(&["plot", "a"]).expect_code(0).stdout;
    assert!(history.contains("yield; the line is the best that is feasible"), "{history}");
}

#[test]
fn a_run_takes_answers_by_name_and_keeps_what_a_command_knew_before_it_failed() {
    let folder = Folder::new();
    folder.write(
        "study.toml",
        &format!(
            "{}\n[objective]\ncommand = ['sh', 'objective.sh']",
            NET.replace("trials = 8", "trials = 6")
        ),
    );
    folder.write(
        "objective.sh",
        r#"n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n
        case $n in
        0) echo '{"values": {"memory_gb": 14.2}}'; echo 'out of memory' >&2; exit 1;;
        1) echo '{"values": {"accuracy": 0.9, "latency_ms": 1}}';;
        2) echo '{"values": {"memory_gb": 3}, "error": "it diverged"}';;
        3) echo '{"values": {"accuracy": NaN, "latency_ms": 1, "memory_gb": 3}}';;
        4) echo '0.9';;
        *) echo '{"values": {"accuracy": 0.9, "latency_ms": 1, "memory_gb": 3}, "noise_std": {"accuracy": 0.1}, "note": "warm"}';;
        esac"#,
    );
    let output = folder.run(&["run", "study.toml", "--json"]).expect_code(0);
    let trials: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reasons: Vec<&str> = trials.iter().filter_map(|trial| trial["reason"].as_str()).collect();
    assert_eq!(reasons[0], "the command exited with status 1");
    assert_eq!(
        reasons[1],
        "outcome `memory_gb` is missing; the outcomes are `accuracy`, `latency_ms`, `memory_gb`"
    );
    assert_eq!(reasons[2], "the command reported: it diverged");
    assert_eq!(reasons[3], "outcome `accuracy` must be a finite number, got NaN, an infinity or nothing");
    assert_eq!(reasons[4], "the study has named outcomes: give `accuracy` and so on, not a single value");
    assert_eq!(trials[0]["values"], serde_json::json!({ "memory_gb": 14.2 }));
    assert_eq!(trials[0]["feasible"], false);
    assert_eq!(trials[2]["values"], serde_json::json!({ "memory_gb": 3.0 }));
    assert_eq!(trials[3]["values"], serde_json::json!({ "latency_ms": 1.0, "memory_gb": 3.0 }));
    assert_eq!((&trials[5]["noise_std"]["accuracy"], &trials[5]["note"]), (&0.1.into(), &"warm".into()));
    assert!(folder.run(&["verify", "net"]).expect_code(0).stdout.contains("6"));
}

#[test]
fn pictures_tell_feasible_infeasible_and_beaten_trials_apart() {
    let folder = net();
    folder.run(&["plot", "net", "-o", "net.html"]).expect_code(0);
    let page = folder.read("net.html");
    for words in ["id=\"front\"", "Hypervolume", "accuracy: value of each trial", "memory_gb: x"] {
        assert!(page.contains(words), "{words}");
    }
    folder.run(&["plot", "net", "-o", "front.svg", "--kind", "front"]).expect_code(0);
    let picture = folder.read("front.svg");
    assert!(
        picture.contains("not feasible")
            && picture.contains("dominated")
            && picture.contains("trial 3: accuracy 0.99, latency_ms 1")
    );
    let data = json(&folder.run(&["plot", "net", "--json"]).expect_code(0));
    let standings: Vec<&str> = data["front"]["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["standing"].as_str().unwrap())
        .collect();
    assert_eq!(standings, ["front", "front", "beaten", "infeasible"]);
    assert_eq!(data["history"][3]["best"], data["front"]["hypervolume"]);
    assert_eq!(data["slices"].as_array().unwrap().len(), 3, "one for each outcome");
    for kind in ["importance", "surrogate"] {
        assert_eq!(
            data[kind].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["accuracy", "latency_ms", "memory_gb"]
        );
    }
    let terminal = folder.run(&["plot", "net"]).expect_code(0).stdout;
    assert!(
        terminal.contains("hypervolume") && terminal.lines().all(|line| line.chars().count() <= 80),
        "{terminal}"
    );
    let one = Folder::new();
    one.write("a.toml", "direction = 'minimize'\nparameters.x = { type = 'bool' }");
    one.run(&["create", "a.toml"]).expect_code(0);
    let data = json(&one.run(&["plot", "a", "--json"]).expect_code(0));
    assert!(data.get("front").is_none(), "{data}");
}

#[test]
fn an_optimizer_that_knows_one_goal_refuses_several_with_a_sentence() {
    let folder = Folder::new();
    folder.write("a.toml", &NET.replace("'sobol'", "'cma-es'"));
    let refused = folder.run(&["create", "a.toml"]).expect_code(2).stderr;
    assert!(refused.contains("cma-es") && refused.contains("one goal"), "{refused}");
}
