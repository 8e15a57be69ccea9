//! `optimist import`, by running it.

mod common;

use common::{Folder, Output};
use serde_json::Value;

const STUDY: &str = r#"
    name = "coating"
    direction = "maximize"
    trials = 1
    objective.command = ["echo", "0"]
    parameters.temperature = { type = "float", low = 20, high = 90 }
    parameters.base = { type = "categorical", choices = ["water", "oil"] }
    parameters.passes = { type = "int", low = 1, high = 5, when = { base = "oil" } }
"#;

const TABLE: &str = "day,temp,base,passes,thickness\n\
    mon,40.5,water,,1.5\n\
    tue,60,oil,3,2.5\n\
    tue,60,oil,3,2.5\n\
    wed,90,oil,5.0,failed\n";

const OPTUNA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../optimist-study/tests/fixtures/optuna.db");

fn coating() -> Folder {
    let folder = Folder::new();
    folder.write("study.toml", STUDY).write("notebook.csv", TABLE);
    folder.run(&["run", "study.toml"]).expect_code(0);
    folder
}

fn import(folder: &Folder, args: &[&str]) -> Output {
    let columns = ["--value", "thickness", "--map", "temp=temperature"];
    folder.run(&[&["import", "coating", "notebook.csv"], &columns[..], args].concat())
}

/// The history that a study has: the trial that was run, then what was imported.
fn history(folder: &Folder, study: &str) -> Vec<Value> {
    let output = folder.run(&["plot", study, "--kind", "history", "--json"]).expect_code(0);
    let data: Value = serde_json::from_str(&output.stdout).unwrap();
    data["history"].as_array().unwrap().clone()
}

#[test]
fn a_table_becomes_trials_once() {
    let folder = coating();
    let dry = import(&folder, &["--dry-run"]).expect_code(0);
    assert!(dry.stdout.contains("4 rows would be imported"), "{}", dry.stdout);
    assert_eq!(history(&folder, "coating").len(), 1);
    import(&folder, &[]).expect_code(0);
    let values: Vec<Value> = history(&folder, "coating").iter().map(|row| row["value"].clone()).collect();
    assert_eq!(values[1..], [Value::from(1.5), Value::from(2.5), Value::from(2.5), Value::Null]);

    let again = import(&folder, &[]).expect_code(0);
    assert!(again.stdout.contains("0 rows imported") && again.stdout.contains("4 skipped: already there"));
    folder.write("notebook.csv", &format!("{TABLE}thu,21,water,,0.5\n"));
    let grown = import(&folder, &["--json"]).expect_code(0);
    let grown: Value = serde_json::from_str(&grown.stdout).unwrap();
    assert_eq!((&grown["added"], &grown["known"]), (&Value::from(1), &Value::from(4)));
    assert_eq!(history(&folder, "coating").len(), 6);
}

#[test]
fn one_bad_row_and_nothing_is_imported() {
    let folder = coating();
    let bad = format!("{TABLE}thu,200,water,,1\nfri,30,milk,,1\nsat,30,water,,\nsun,30,water,,x\n");
    folder.write("notebook.csv", &bad);
    let refused = import(&folder, &[]).expect_code(1);
    for part in [
        "4 rows cannot",
        "line 6: ",
        "200",
        "line 7: ",
        "milk",
        "line 8: ",
        "is empty",
        "line 9: ",
        "not a number",
        "--skip-bad",
    ] {
        assert!(refused.stderr.contains(part), "{part} in {}", refused.stderr);
    }
    assert_eq!(history(&folder, "coating").len(), 1);
    import(&folder, &["--skip-bad"]).expect_code(0);
    assert_eq!(history(&folder, "coating").len(), 5);
}

#[test]
fn json_is_read_too_and_so_is_what_trials_print() {
    let folder = coating();
    folder.write("rows.json", r#"[{"temperature": 30, "base": "water", "value": 1, "noise_std": 0.1}]"#);
    folder.write("rows.jsonl", "{\"trial\": 3, \"params\": {\"temperature\": 31.0, \"base\": \"oil\", \"passes\": 2}, \"state\": \"complete\", \"value\": 2}\n\
                                {\"trial\": 4, \"params\": {\"temperature\": 31.0, \"base\": \"water\"}, \"state\": \"running\"}\n");
    for file in ["rows.json", "rows.jsonl"] {
        let output = folder.run(&["import", "coating", file]).expect_code(0);
        assert!(output.stdout.contains("1 row imported"), "{file}: {}", output.stdout);
    }
}

#[test]
fn a_missing_column_is_named() {
    let folder = coating();
    let output = folder.run(&["import", "coating", "notebook.csv", "--value", "thickness"]).expect_code(1);
    assert!(
        output.stderr.contains("no column `temperature`") && output.stderr.contains("temp"),
        "{}",
        output.stderr
    );
}

#[test]
fn an_optuna_study_is_made_anew_with_all_its_trials() {
    let folder = Folder::new();
    let args = ["import", "tune", OPTUNA, "--optuna-study", "tune", "--create"];
    folder.run(&[&args[..], &["--dry-run"]].concat()).expect_code(0);
    folder.run(&["plot", "tune", "--json"]).expect_code(1);
    let output = folder.run(&args).expect_code(0);
    assert!(output.stdout.contains("16 rows imported") && output.stdout.contains("1 skipped: unfinished"));
    let history = history(&folder, "tune");
    let states: Vec<&str> = history.iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states.iter().filter(|state| **state == "failed").count(), 3, "pruned, failed and infinite");
    assert_eq!((states[3], states[5], states[7]), ("failed", "failed", "failed"));
    assert_eq!(history[0]["value"], 7.546172119471592);
    let again = folder.run(&args).expect_code(0);
    assert!(again.stdout.contains("0 rows imported"), "{}", again.stdout);
    folder.run(&["plot", "tune", "-o", "tune.html"]).expect_code(0);
}

#[test]
fn an_optuna_study_must_be_named_and_fit() {
    let folder = coating();
    let message =
        |args: &[&str]| folder.run(&[&["import", "coating", OPTUNA], args].concat()).expect_code(1).stderr;
    let several = message(&[]);
    assert!(several.contains("several studies") && several.contains("tune, other, trade, two"), "{several}");
    assert!(message(&["--optuna-study", "tune"]).contains("is minimized, and `coating` is maximized"));
    assert!(message(&["--optuna-study", "two"]).contains("has 2 objectives"));
    assert!(message(&["--optuna-study", "other"]).contains("trial 0"));
}

/// What the command says of this file, which it refuses.
fn refused(folder: &Folder, file: &str, text: &str, args: &[&str]) -> String {
    folder.write(file, text);
    let output = folder.run(&[&["import", "coating", file], args].concat()).expect_code(1);
    assert_eq!((output.stdout.as_str(), history(folder, "coating").len()), ("", 1), "{text}");
    output.stderr
}

#[test]
fn rubbish_is_an_error() {
    let folder = coating();
    for (text, words) in [
        ("", "rows.csv is empty"),
        (" \n\n", "rows.csv is empty"),
        ("not json", "has no rows below `not json`"),
        ("{not json", "is not JSON lines: line 1"),
        ("[]", "has no rows; expected a header"),
        ("temperature,base,value\n", "has no rows below `temperature`, `base`, `value`"),
        ("temperature;base;value\n;;\n", "has no rows below"),
        ("a,b\n1,2\n", "the columns are a, b; if another column holds it, use --value COLUMN"),
        ("value,base\n1,water\n", "there is no column `temperature`"),
        ("value,base\n1,water\n", "if another column holds it, use --map COLUMN=temperature"),
        ("[1, 2]", "is not a JSON array of objects: row 1: it is 1, not an object"),
        ("Temperatur,base,value\n1,water,2\n", "did you mean `Temperatur`? Use --map Temperatur=temperature"),
        ("temperature,base,Value\n1,water,2\n", "did you mean `Value`? Use --value Value"),
    ] {
        let stderr = refused(&folder, "rows.csv", text, &[]);
        assert!(stderr.contains(words), "{text}: {stderr}");
    }
    for name in ["rows.json", "rows.JSONL"] {
        let stderr = refused(&folder, name, "not json", &[]);
        assert!(stderr.contains(&format!("{name} is not JSON: it starts with neither")), "{stderr}");
    }
    std::fs::write(folder.path().join("latin.csv"), b"temperature,base,value\n30,w\xe4ssrig,2\n").unwrap();
    let stderr = folder.run(&["import", "coating", "latin.csv"]).expect_code(1).stderr;
    assert!(stderr.contains("is not text in UTF-8") && stderr.contains("as \"CSV UTF-8\""), "{stderr}");
}

#[test]
fn short_and_long_rows_are_skipped_by_name() {
    let folder = coating();
    let table = "temperature,base,passes,value\n30,water,,1\n31,water\n32,water,,2,9\n33,water,,3\n";
    let stderr = refused(&folder, "rows.csv", table, &[]);
    assert!(stderr.contains("2 rows cannot be imported, so nothing was:"), "{stderr}");
    let output = folder.run(&["import", "coating", "rows.csv", "--skip-bad"]).expect_code(0);
    for words in [
        "2 rows imported",
        "2 skipped: bad",
        "line 3: it has 2 cells, the header has 4",
        "line 4: it has 5 cells",
    ] {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
    let all_bad = refused(&coating(), "rows.csv", "temperature,base,value\n31\n", &["--skip-bad"]);
    assert!(all_bad.contains("no row can be imported"), "{all_bad}");
}

#[test]
fn broken_lines_and_rows_of_json_are_skipped_by_name() {
    let folder = coating();
    let broken = "{\"temperature\": 30, \"base\": \"water\", \"value\": 1}\n7\n{\"temperature\": 31,\n";
    let stderr = refused(&folder, "rows.jsonl", broken, &[]);
    assert!(stderr.contains("2 rows cannot be imported, so nothing was:"), "{stderr}");
    let output = folder.run(&["import", "coating", "rows.jsonl", "--skip-bad"]).expect_code(0);
    for words in ["1 row imported", "line 2: it is 7, not an object", "line 3: EOF while parsing"] {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
}

#[test]
fn a_european_table_is_recognised_and_an_unclear_one_asked_about() {
    let folder = coating();
    folder.write("rows.csv", "temperature;base;passes;value\n30,5;water;;1,25\n60;oil;3;\"2,5\"\n");
    let output = folder.run(&["import", "coating", "rows.csv"]).expect_code(0);
    assert!(output.stdout.contains("(columns separated by `;`, decimals by commas)"), "{}", output.stdout);
    let values: Vec<Value> = history(&folder, "coating").iter().map(|row| row["value"].clone()).collect();
    assert_eq!(values[1..], [Value::from(1.25), Value::from(2.5)]);

    let folder = coating();
    let unclear = "temperature\tbase\tvalue\n30\twater\t1,234\n";
    let stderr = refused(&folder, "rows.tsv", unclear, &[]);
    assert!(stderr.contains("use --decimal comma"), "{stderr}");
    let args = ["import", "coating", "rows.tsv", "--decimal", "comma", "--separator", "tab"];
    folder.run(&args).expect_code(0);
    assert_eq!(history(&folder, "coating")[1]["value"], 1.234);
}

/// What `optimist trials` prints, in a format, goes into a new study of the same file; the trials of both.
fn there_and_back(study: &str, format: &str) -> [Vec<Value>; 2] {
    let folder = Folder::new();
    folder.write("s.toml", study);
    folder.run(&["run", "s.toml"]).expect_code(0);
    let file = format!("s.{format}");
    folder.write(&file, &folder.run(&["trials", "s", "--format", format]).expect_code(0).stdout);
    folder.run(&["create", "s.toml", "--name", "again"]).expect_code(0);
    folder.run(&["import", "again", &file]).expect_code(0);
    ["s", "again"].map(|name| {
        let trials = folder.run(&["trials", name, "--json"]).expect_code(0).stdout;
        trials.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    })
}

#[test]
fn what_trials_prints_can_be_imported_whatever_parameters_and_outcomes_are_called() {
    let one = r#"
        name = "s"
        direction = "minimize"
        trials = 3
        objective.command = ["echo", "5"]
        parameters.value = { type = "float", low = 0.0, high = 9.0 }
        parameters.trial = { type = "float", low = 0.0, high = 9.0 }
        parameters.state = { type = "categorical", choices = ["failed", "complete"] }"#;
    let several = r#"
        name = "s"
        trials = 3
        objective.command = ["echo", '{"values": {"value": 1, "seconds": 2, "state": 3}}']
        outcomes = { value = { goal = "minimize" }, seconds = { goal = "minimize" }, state = { at_most = 4 } }
        parameters.feasible = { type = "float", low = 0.0, high = 9.0 }
        parameters.worker = { type = "int", low = 0, high = 9 }"#;
    for study in [one, several] {
        for format in ["csv", "jsonl"] {
            let [there, back] = there_and_back(study, format);
            assert_eq!((there.len(), back.len()), (3, 3), "{format}");
            for (there, back) in there.iter().zip(&back) {
                for key in ["params", "state", "value", "values"] {
                    assert_eq!(there[key], back[key], "{key} in {format}");
                }
            }
        }
    }
}
