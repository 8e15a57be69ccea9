//! Study files with comments, for `optimist init`.

use optimist::space::{Kind, Parameter, Value};
use optimist_study::Direction;

use super::interview::Answers;

/// What the example is measured with, beside its study file.
pub const OBJECTIVE_NAME: &str = "objective.py";

/// A tiny objective: replace it by your own.
pub const OBJECTIVE: &str = "\
# Measures one trial. Parameters come as OPTIMIST_NAME variables (and as JSON on standard input); the last line
# that is printed is the value.
import math
import os

lr = float(os.environ[\"OPTIMIST_LR\"])
layers = int(os.environ[\"OPTIMIST_LAYERS\"])
activation = os.environ[\"OPTIMIST_ACTIVATION\"]

# Stands in for training a model: the loss is lowest at lr = 0.01, 4 layers and gelu.
loss = (math.log10(lr) + 2) ** 2 + 0.1 * (layers - 4) ** 2 + {\"relu\": 0.1, \"tanh\": 0.3, \"gelu\": 0}[activation]
print(loss)
";

/// A study of [`OBJECTIVE`].
pub fn example(name: &str) -> String {
    let choices = ["relu", "tanh", "gelu"].map(Value::from).to_vec();
    study(&Answers {
        name: name.to_owned(),
        direction: Direction::Minimize,
        trials: 30,
        command: vec!["python3".to_owned(), OBJECTIVE_NAME.to_owned()],
        parameters: vec![
            Parameter::new("lr", Kind::Float { low: 1e-5, high: 1.0, log: true, step: None }),
            Parameter::new("layers", Kind::Int { low: 1, high: 8, log: false, step: None }),
            Parameter::new("activation", Kind::Categorical { choices }),
        ],
    })
}

/// A study file that says what was answered.
pub fn study(answers: &Answers) -> String {
    let Answers { name, direction, trials, command, parameters } = answers;
    let study = [
        commented(&format!("name = {}", quoted(name)), "what other commands call it"),
        commented(&format!("direction = {}", quoted(direction.word())), "which values are better"),
        commented(&format!("trials = {trials}"), "in all; raise it later to continue"),
        commented("workers = 1", "trials at the same time"),
        commented("# seed = 0", "same seed, same suggestions"),
        commented("# target = 0.5", "stop when a value is this good"),
        commented("# max_time = 3600", "start no trial after this many seconds"),
    ];
    let mut parts =
        vec!["# A study for Optimist. docs/study-file.md explains every key.\n".to_owned(), study.concat()];
    parts.push(objective(command));
    parts.extend(parameters.iter().map(parameter));
    parts.join("\n")
}

fn objective(command: &[String]) -> String {
    if command.is_empty() {
        return "\
# A person measures: `optimist create` this file, then `optimist ask` and `optimist tell`.
# [objective]
# command = [\"python3\", \"measure.py\"]
"
        .to_owned();
    }
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    [
        "# Runs in the folder of this file. The last line that it prints is the value.\n[objective]\n"
            .to_owned(),
        format!("command = [{}]\n", words.join(", ")),
        commented("# mode = \"serve\"", "start it once: a line of JSON in and out for each trial"),
        commented("# timeout = 600", "seconds for a trial"),
    ]
    .concat()
}

fn commented(line: &str, comment: &str) -> String {
    format!("{line:<24} # {comment}\n")
}

fn parameter(Parameter { name, kind, .. }: &Parameter) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if is_bare { name.clone() } else { quoted(name) };
    let mut text = format!("[parameters.{key}]\ntype = {}\n", quoted(type_word(kind)));
    match kind {
        Kind::Float { low, high, log, step } => {
            text +=
                &range(&format!("{low:?}"), &format!("{high:?}"), *log, step.map(|step| format!("{step:?}")));
        }
        Kind::Int { low, high, log, step } => {
            text += &range(&low.to_string(), &high.to_string(), *log, step.map(|step| step.to_string()));
        }
        Kind::Bool => {}
        Kind::Categorical { choices } => {
            let choices: Vec<String> = choices.iter().map(choice).collect();
            text += &format!("choices = [{}]\n", choices.join(", "));
        }
    }
    text
}

fn range(low: &str, high: &str, log: bool, step: Option<String>) -> String {
    let log = if log { "log = true\n" } else { "" };
    let step = step.map(|step| format!("step = {step}\n")).unwrap_or_default();
    format!("low = {low}\nhigh = {high}\n{log}{step}")
}

fn type_word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Float { .. } => "float",
        Kind::Int { .. } => "int",
        Kind::Bool => "bool",
        Kind::Categorical { .. } => "categorical",
    }
}

fn choice(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A TOML string: JSON escapes are a part of TOML's, but for the delete character, which it wants escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
