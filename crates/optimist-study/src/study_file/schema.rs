//! The study file as a JSON schema (draft 7), with which editors complete and check it.
//!
//! It says what a key may hold by itself. What needs more than one key (low below high, a condition that can be met, placeholders
//! in the command) is checked when the file is read. `tests/schema.rs` compares its keys with those that reading knows.

use optimist::Method;
use serde_json::{Map, Value, json};

use crate::worker::MAX_WORKERS;

/// What a study file may say.
pub fn schema() -> Value {
    let parameters = json!({
        "description": "One table for each parameter.",
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "oneOf": [numeric("float", "number"), numeric("int", "integer"), switch(), categorical()],
        },
    });
    let Value::Object(mut keys) = plan() else { unreachable!("it is an object") };
    let further = [
        ("direction", words("Which way is better.", &["maximize", "minimize"])),
        ("outcomes", outcomes()),
        ("name", text("What the study is called; unique in its storage. Default: the name of the file.")),
        ("optimizer", optimizer()),
        ("objective", objective()),
        ("parameters", parameters),
        ("constraints", constraints()),
    ];
    keys.extend(further.map(|(key, value)| (key.to_owned(), value)));
    let mut schema =
        table("A study of Optimist: what to vary, how to measure it, and how long to search.", keys);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Optimist study file");
    schema["required"] = json!(["parameters"]);
    schema["oneOf"] = json!([{ "required": ["direction"] }, { "required": ["outcomes"] }]);
    schema
}

/// Keys about how long to search and what to do about noise and lost workers.
fn plan() -> Value {
    let workers = json!({
        "description": "How many trials run at the same time. Default: 1.",
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_WORKERS,
    });
    let seed = json!({
        "description": "The same seed gives the same suggestions. Default: 0.",
        "type": "integer",
        "minimum": 0,
    });
    json!({
        "trials": count("How many trials to run in all. Default: 50."),
        "workers": workers,
        "seed": seed,
        "max_attempts": count("How often a trial is started before a lost worker makes it fail. Default: 3."),
        "max_failures": count("A run stops after this many failed trials in a row. Default: no limit."),
        "replicates": count("How often the best point is measured before the search relies on it. Default: 1."),
        "lease": positive("Seconds without a sign of life from a worker until its trial is put back. Default: 60."),
        "max_time": positive("Seconds after which a run starts no further trial. Default: no limit."),
        "target": number("A value that is good enough: the study is finished when it is reached."),
        "min_gain": positive("The study is finished when five suggestions in a row are expected to gain less than this."),
    })
}

/// Several outcomes in place of a direction.
fn outcomes() -> Value {
    let goal = of([
        ("goal", words("Which way is better.", &["maximize", "minimize"])),
        ("reference", number("Values worse than this are worth nothing. Only with several goals.")),
    ]);
    let aims = [
        ("goal", goal),
        ("at_most", of([("at_most", number("No more than this is allowed."))])),
        ("at_least", of([("at_least", number("No less than this is allowed."))])),
    ];
    let aims = aims.map(|(required, keys)| {
        let mut aim = table("What to do with an outcome.", keys);
        aim["required"] = json!([required]);
        aim
    });
    json!({
        "description": "The outcomes: a goal or a constraint for each name, up to eight.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 8,
        "additionalProperties": { "oneOf": aims },
    })
}

fn objective() -> Value {
    let command = json!({
        "description": "The program and its arguments; {NAME} stands for the value of a parameter.",
        "type": "array",
        "minItems": 1,
        "items": { "type": "string" },
    });
    let keys = [
        ("command", command),
        (
            "mode",
            words(
                "Whether it is started for each trial, or once for each worker. Default: once.",
                &["once", "serve"],
            ),
        ),
        ("timeout", positive("Seconds that a trial may take. Default: no limit.")),
    ];
    let mut objective =
        table("How a trial is measured. Without it, measure by hand with `ask` and `tell`.", of(keys));
    objective["required"] = json!(["command"]);
    objective
}

fn constraints() -> Value {
    json!({
        "description": "What must hold between parameters, such as \"copper + zinc <= 1\".",
        "type": "array",
        "items": { "type": "string" },
    })
}

fn numeric(word: &str, of_type: &str) -> Value {
    let bound = |description: &str| json!({ "description": description, "type": of_type });
    let step = json!({
        "description": "The distance between neighbouring values.",
        "type": of_type,
        "exclusiveMinimum": 0,
    });
    parameter(
        word,
        &["low", "high"],
        [
            ("low", bound("The lowest value.")),
            ("high", bound("The highest value.")),
            ("log", yes_or_no("Whether to search on a log scale, where ratios matter. Default: false.")),
            ("step", step),
        ],
    )
}

fn switch() -> Value {
    parameter("bool", &[], [])
}

fn categorical() -> Value {
    let choices = json!({
        "description": "Its values, which have no order.",
        "type": "array",
        "minItems": 1,
        "items": { "type": ["string", "number", "boolean"] },
    });
    parameter("categorical", &["choices"], [("choices", choices)])
}

fn parameter<const N: usize>(of_type: &str, required: &[&str], keys: [(&str, Value); N]) -> Value {
    let when = json!({
        "description": "The parameter is active only while others have these values.",
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    });
    let mut keys = of(keys);
    keys.insert("type".to_owned(), json!({ "description": "What its values are.", "const": of_type }));
    keys.insert("when".to_owned(), when);
    let mut parameter = table("A parameter.", keys);
    parameter["required"] = ["type"].iter().chain(required).copied().collect();
    parameter
}

fn optimizer() -> Value {
    let explore = || count("Evenly spread trials before the first that a model chooses.");
    let named = |name: &str, keys: Map<String, Value>| {
        let mut keys = keys;
        keys.insert("name".to_owned(), json!({ "description": "Which optimizer.", "const": name }));
        let mut named = table("An optimizer and its settings.", keys);
        named["required"] = json!(["name"]);
        named
    };
    let settings = |name: &str| match name {
        "go-ucb" => go_ucb(),
        "gp-ei" | "gp-pi" | "turbo" => of([("explore_trials", explore())]),
        "gp-ucb" => {
            let beta = json!({
                "description": "β in mean + √β std, or \"srinivas\" for their schedule. Default: 0.3.",
                "anyOf": [{ "type": "number" }, { "const": "srinivas" }],
            });
            of([("explore_trials", explore()), ("beta", beta)])
        }
        _ => Map::new(),
    };
    let optimizers: Vec<Value> = Method::NAMES.into_iter().map(|name| named(name, settings(name))).collect();
    json!({ "description": "What suggests the next trial. Default: go-ucb.", "oneOf": optimizers })
}

fn go_ucb() -> Map<String, Value> {
    const FAMILIES: [&str; 8] =
        ["linear", "additive", "quadratic", "anova", "fourier", "anova+fourier", "mlp", "matern"];
    let family = json!({
        "description": "The models among which the evidence chooses. Default: auto.",
        "anyOf": [
            { "enum": ["auto"] },
            { "enum": FAMILIES },
            { "type": "array", "minItems": 1, "items": { "enum": FAMILIES } },
        ],
    });
    let hidden = json!({
        "description": "Units of each hidden layer of the family mlp. Default: [25].",
        "type": "array",
        "minItems": 1,
        "items": { "type": "integer", "minimum": 1 },
    });
    let constants = [
        "range",
        "gradient",
        "curvature",
        "strong_convexity",
        "noise_std",
        "failure",
        "growth",
        "growth_power",
        "concordance",
        "loss_curvature",
        "oracle_factor",
        "distance_factor",
        "drift_factor",
    ];
    let constants = constants.map(|key| (key, json!({ "type": "number" })));
    let oracle_rate = json!({
        "description": "The oracle's learning rate, or \"fitted\"; preset paper only. Default: 1e-11.",
        "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "const": "fitted" }],
    });
    let mut exploration = number("A factor on the squared radius of the confidence ball. Default: 1.");
    exploration["minimum"] = json!(0);
    of([
        ("preset", words("Where the defaults come from. Default: default.", &["default", "paper", "theory"])),
        (
            "aim",
            words(
                "The best point in the end, or a small loss on the way. Default: answer.",
                &["answer", "regret"],
            ),
        ),
        ("family", family),
        ("explore_trials", count("Spread trials before the first that is chosen. Default: about √trials.")),
        ("exploration", exploration),
        ("trust_region", yes_or_no("Whether to search around the best point. Default: true.")),
        ("warp", yes_or_no("Whether a monotone curve of the values may be learnt. Default: true.")),
        ("hidden", hidden),
        ("activation", words("Of the family mlp. Default: sigmoid.", &["sigmoid", "tanh"])),
        ("range", positive("The paper's F; preset paper only. Default: 1.")),
        ("oracle_rate", oracle_rate),
        ("ascent_rate", positive("Of the ascent over x and w; preset paper only. Default: 1e-4.")),
        ("from_best", yes_or_no("Whether that ascent starts at the best point; preset paper only.")),
        ("scaled", yes_or_no("Whether x and y are scaled; preset paper only. Default: false.")),
        ("constants", table("The theorem's constants; preset theory only.", of(constants))),
    ])
}

/// A table that has these keys and no others.
fn table(description: &str, keys: Map<String, Value>) -> Value {
    json!({
        "description": description,
        "type": "object",
        "additionalProperties": false,
        "properties": keys,
    })
}

fn of<const N: usize>(keys: [(&str, Value); N]) -> Map<String, Value> {
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn words(description: &str, words: &[&str]) -> Value {
    json!({ "description": description, "enum": words })
}

fn text(description: &str) -> Value {
    json!({ "description": description, "type": "string" })
}

fn yes_or_no(description: &str) -> Value {
    json!({ "description": description, "type": "boolean" })
}

fn number(description: &str) -> Value {
    json!({ "description": description, "type": "number" })
}

fn positive(description: &str) -> Value {
    json!({ "description": description, "type": "number", "exclusiveMinimum": 0 })
}

fn count(description: &str) -> Value {
    json!({ "description": description, "type": "integer", "minimum": 1 })
}
