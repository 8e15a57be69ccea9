//! The JSON schema says of study files what reading them says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use optimist::Method;
use optimist_study::StudyFile;
use optimist_study::study_file::schema;
use serde_json::{Value, json};

fn accepts(file: &str) -> bool {
    let table: toml::Table = file.parse().unwrap_or_else(|error| panic!("{error} in {file}"));
    let validator = jsonschema::validator_for(&schema()).expect("it is a schema");
    validator.is_valid(&serde_json::to_value(table).expect("a table is an object"))
}

/// Every study file of the examples.
fn examples(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.chain(folders.iter().flat_map(|folder| examples(folder))).collect()
}

#[test]
fn every_example_is_accepted_and_no_example_with_a_slip() {
    let examples = examples(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
    assert!(examples.len() >= 4, "{examples:?}");
    for path in examples {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(StudyFile::parse(&text).is_ok() && accepts(&text), "{}", path.display());
        for (right, wrong) in [
            ("direction =", "directon ="),
            ("type =", "tpye ="),
            ("low =", "lwo ="),
            ("\"float\"", "\"flaot\""),
            ("imize\"", "imise\""),
        ] {
            if text.contains(right) {
                assert!(!accepts(&text.replacen(right, wrong, 1)), "{right} in {}", path.display());
            }
        }
    }
}

#[test]
fn what_one_key_may_hold_is_what_reading_allows() {
    let x = "parameters.x = { type = 'float', low = 0, high = 1 }";
    let study = |line: &str| {
        format!("direction = 'maximize'\n{line}\n{}", if line.contains("parameters") { "" } else { x })
    };
    for (line, is_good) in [
        ("", true),
        ("trials = 0", false),
        ("trials = 2.5", false),
        ("workers = 1000", true),
        ("workers = 1001", false),
        ("lease = 0", false),
        ("target = -1.5", true),
        ("constraints = ['x <= 0.5']", true),
        ("constraints = 'x <= 0.5'", false),
        ("objective = { command = ['true'], mode = 'serve', timeout = 2.5 }", true),
        ("objective = { command = [] }", false),
        ("objective = { mode = 'once' }", false),
        ("optimizer = { name = 'go-ucb', family = ['anova', 'mlp'], hidden = [3], aim = 'regret' }", true),
        ("optimizer = { name = 'go-ucb', preset = 'theory', constants = { curvature = 0.5 } }", true),
        ("optimizer = { name = 'go-ucb', family = 'anowa' }", false),
        ("optimizer = { name = 'go-ucb', exploration = -1 }", false),
        ("optimizer = { name = 'gp-ucb', beta = 'srinivas' }", true),
        ("optimizer = { name = 'gp-ei', beta = 0.3 }", false),
        ("parameters.a = { type = 'int', low = 1, high = 9, step = 2, log = false }", true),
        ("parameters.a = { type = 'int', low = 1.5, high = 9 }", false),
        ("parameters.a = { type = 'int', low = 1 }", false),
        ("parameters.a = { type = 'bool', low = 1 }", false),
        ("parameters.a = { type = 'categorical', choices = ['a', 1, true] }", true),
        ("parameters.a = { type = 'categorical', choices = [] }", false),
        ("parameters.a = { type = 'categorical', choices = [[1]] }", false),
        ("parameters = {}", false),
    ] {
        let read = StudyFile::parse(&study(line));
        assert_eq!((accepts(&study(line)), read.is_ok()), (is_good, is_good), "{line}");
    }
}

/// The keys that reading knows beside `nonsense`, as its message lists them.
fn known_beside(nonsense: &str) -> BTreeSet<String> {
    let message = StudyFile::parse(nonsense).unwrap_err().to_string();
    let line =
        message.lines().find(|line| line.contains("^ expected ")).unwrap_or_else(|| panic!("{message}"));
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn keys(table: &Value) -> BTreeSet<String> {
    table["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn it_has_every_key_that_reading_knows() {
    let schema = schema();
    let x = "parameters.x = { type = 'bool' }\ndirection = 'maximize'\n";
    assert_eq!(keys(&schema), known_beside(&format!("{x}qqqq = 1")));
    let objective = "objective = { command = ['true'], qqqq = 1 }";
    assert_eq!(keys(&schema["properties"]["objective"]), known_beside(&format!("{x}{objective}")));
    for parameter in schema["properties"]["parameters"]["additionalProperties"]["oneOf"].as_array().unwrap() {
        let of_type = parameter["properties"]["type"]["const"].as_str().unwrap();
        let needed = match of_type {
            "float" | "int" => "low = 0, high = 1, ",
            "categorical" => "choices = ['a'], ",
            _ => "",
        };
        let file =
            format!("direction = 'maximize'\nparameters.x = {{ type = '{of_type}', {needed}qqqq = 1 }}");
        assert_eq!(keys(parameter), known_beside(&file), "{of_type}");
    }
    let optimizers = schema["properties"]["optimizer"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> =
        optimizers.iter().filter_map(|o| o["properties"]["name"]["const"].as_str()).collect();
    assert_eq!(names, Method::NAMES);
    for optimizer in optimizers {
        let (name, mut known) = (&optimizer["properties"]["name"]["const"], keys(optimizer));
        known.remove("name");
        if !known.is_empty() {
            let file = format!("{x}optimizer = {{ name = {name}, qqqq = 1 }}");
            assert_eq!(known, known_beside(&file), "{name}");
        }
    }
    let constants = &optimizers[0]["properties"]["constants"];
    let file = format!("{x}optimizer = {{ name = 'go-ucb', preset = 'theory', constants = {{ qqqq = 1 }} }}");
    assert_eq!(keys(constants), known_beside(&file));
}

#[test]
fn everything_is_described_for_editors_to_show() {
    fn check(place: &str, schema: &Value) {
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{key}");
            let is_described = value["description"].as_str().is_some_and(|text| text.len() > 10);
            assert!(is_described || place.contains(".constants."), "{place}");
            check(&place, value);
        }
        for alternative in schema["oneOf"].as_array().into_iter().flatten() {
            check(place, alternative);
        }
    }
    check("", &schema());
    assert_eq!(schema()["$schema"], json!("http://json-schema.org/draft-07/schema#"));
}
