//! Wrong study files: every message names the file, the line, the key, what was expected, and the
//! nearest valid spelling.

mod common;

use common::Folder;

const OBJECTIVE: &str = "[objective]\ncommand = [\"true\"]\n";
const X: &str = "[parameters.x]\ntype = \"float\"\nlow = 0\nhigh = 1\n";

/// Parts of the message for the study file `text`.
#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    let folder = Folder::new();
    folder.write("study.toml", text);
    let output = folder.run(&["run", "study.toml"]).expect_code(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    for part in parts {
        assert!(output.stderr.contains(part), "no `{part}` for\n{text}\nin\n{}", output.stderr);
    }
}

/// A mistake at the top of an otherwise good file.
#[track_caller]
fn top(line: &str, parts: &[&str]) {
    let direction = if line.contains("direct") { "" } else { "direction = \"maximize\"" };
    expect(&format!("{direction}\n{line}\n{OBJECTIVE}{X}"), parts);
}

/// A mistake in `[objective]`, from line 3 on.
#[track_caller]
fn objective(lines: &str, parts: &[&str]) {
    expect(&format!("direction = \"maximize\"\n[objective]\n{lines}\n{X}"), parts);
}

/// A mistake in the parameters, from line 4 on.
#[track_caller]
fn parameters(lines: &str, parts: &[&str]) {
    expect(&format!("direction = \"maximize\"\n{OBJECTIVE}{lines}"), parts);
}

#[test]
fn a_file_that_is_not_there_or_not_toml() {
    let output = Folder::new().run(&["run", "none.toml"]).expect_code(2);
    assert!(output.stderr.contains("cannot read the study file none.toml"), "{}", output.stderr);
    top("name = coffee", &["study.toml:2:8", "not TOML", "name = coffee"]);
    top("seed = 1\nseed = 2", &["study.toml:3:1", "duplicate key"]);
}

#[test]
fn keys_of_the_study() {
    top(
        "directon = \"maximize\"",
        &["study.toml:2:1", "unknown key `directon`", "did you mean `direction`?"],
    );
    top("worker = 2", &["study.toml:2:1", "unknown key `worker`", "did you mean `workers`?"]);
    top(
        "direction = \"maximise\"",
        &["study.toml:2:13", "`direction`", "`maximize` or `minimize`", "did you mean `maximize`?"],
    );
    top("direction = \"min\"", &["did you mean `minimize`?"]);
    top("trials = 0", &["study.toml:2:10", "`trials`", "expected a whole number, 1 or more"]);
    top(
        "trials = \"many\"",
        &["study.toml:2:10", "cannot be the string \"many\"", "a whole number, 1 or more"],
    );
    top("seed = 1.5", &["study.toml:2:8", "`seed`", "a whole number, 0 or more"]);
    top("name = 3", &["study.toml:2:8", "`name`", "expected a string"]);
    expect(
        &format!("{OBJECTIVE}{X}"),
        &["study.toml:1:1", "the study has no `direction`", "`maximize` or `minimize`"],
    );
    expect(&format!("direction = \"maximize\"\n{X}"), &["the study has no `objective`"]);
    expect(&format!("direction = \"maximize\"\n{OBJECTIVE}"), &["the study has no `parameters`"]);
}

#[test]
fn the_objective() {
    objective("mode = \"once\"", &["study.toml:2:2", "`[objective]` has no `command`", "a list of strings"]);
    objective("command = \"python3 a.py\"", &["study.toml:3:11", "`command`", "[\"python3\", \"train.py\"]"]);
    objective("command = []", &["study.toml:3:11", "`command`", "an empty list"]);
    objective("comand = [\"true\"]", &["study.toml:3:1", "unknown key `comand`", "did you mean `command`?"]);
    objective(
        "command = [\"true\"]\nmode = \"server\"",
        &["study.toml:4:8", "`once` or `serve`", "did you mean `serve`?"],
    );
    objective(
        "command = [\"true\"]\ntimeout = -1",
        &["study.toml:4:11", "`timeout`", "a number of seconds above 0"],
    );
    objective(
        "command = [\"a\", \"{x}\"]\nmode = \"serve\"",
        &["study.toml:3:11", "`{x}`", "read the parameters from standard input"],
    );
    let near = "direction = \"minimize\"\n[objective]\ncommand = [\"a\", \"--lr={rat}\"]\n[parameters.rate]\ntype = \"bool\"";
    expect(near, &["study.toml:3:11", "`{rat}` in `command` is not a parameter", "did you mean `{rate}`?"]);
}

#[test]
fn the_optimizer() {
    top("optimizer = 3", &["study.toml:2:13", "`optimizer` is not a table"]);
    let optimizer = |lines: &str| format!("direction = \"maximize\"\n[optimizer]\n{lines}\n{OBJECTIVE}{X}");
    expect(
        &optimizer("name = \"rndom\""),
        &["study.toml:3:8", "unknown optimizer `rndom`", "did you mean `random`?"],
    );
    expect(&optimizer("name = \"go-ucb\"\nnonsense = 3"), &["study.toml:4:1", "unknown key `nonsense`"]);
}

#[test]
fn the_parameters() {
    parameters("[parameters]", &["study.toml:4:2", "the study has no parameters"]);
    parameters("[parameters]\nx = 3", &["study.toml:5:5", "parameter `x` is not a table"]);
    parameters(
        "[parameters.x]\nlow = 1",
        &["study.toml:4:13", "parameter `x` has no `type`", "`categorical`"],
    );
    parameters("[parameters.x]\ntype = \"flaot\"", &["study.toml:5:8", "`type`", "did you mean `float`?"]);
    parameters(
        "[parameters.x]\ntype = \"float\"\nlow = 1",
        &["study.toml:4:13", "parameter `x` has no `high`"],
    );
    parameters(
        "[parameters.x]\ntype = \"int\"\nlow = 1\nhigh = 2.5",
        &["study.toml:7:8", "`high`", "a whole number"],
    );
    parameters(
        "[parameters.x]\ntype = \"bool\"\nlow = 0",
        &["study.toml:6:1", "unknown key `low` in parameter `x`"],
    );
    parameters(
        "[parameters.x]\ntype = \"float\"\nlow = 2\nhigh = 1",
        &["study.toml:4:13", "`x`", "low", "swap the bounds"],
    );
    parameters(
        "[parameters.x]\ntype = \"float\"\nlow = 0\nhigh = 1\nlog = true",
        &["study.toml:4:13", "log scale", "raise low"],
    );
    parameters(
        "[parameters.x]\ntype = \"float\"\nlow = 0\nhigh = 1\nlog = 1",
        &["study.toml:8:7", "`log`", "`true` or `false`"],
    );
    parameters(
        "[parameters.x]\ntype = \"categorical\"",
        &["study.toml:4:13", "has no `choices`", "a list of strings"],
    );
    parameters(
        "[parameters.x]\ntype = \"categorical\"\nchoices = [\"a\", \"a\"]",
        &["study.toml:4:13", "`a`", "twice"],
    );
    parameters(
        "[parameters.x]\ntype = \"categorical\"\nchoice = [\"a\"]",
        &["study.toml:6:1", "did you mean `choices`?"],
    );
    parameters(
        "[parameters.a-b]\ntype = \"bool\"\n[parameters.a_b]\ntype = \"bool\"",
        &["study.toml:6:13", "`a-b` and `a_b`", "OPTIMIST_A_B"],
    );
}

#[test]
fn the_conditions() {
    let kind = "[parameters.kind]\ntype = \"categorical\"\nchoices = [\"deep\", \"flat\"]\n[parameters.x]\ntype = \"bool\"\n";
    let when = |when: &str| format!("{kind}{when}");
    parameters(&when("when = { knd = \"deep\" }"), &["study.toml:9:10", "`knd`", "did you mean `kind`?"]);
    parameters(
        &when("when = { kind = \"dep\" }"),
        &["study.toml:9:17", "`dep`", "`deep` or `flat`", "did you mean `deep`?"],
    );
    parameters(&when("when = { kind = [\"deep\"] }"), &["study.toml:9:17", "`kind`", "a string, a number"]);
    parameters(&when("when = \"deep\""), &["study.toml:9:8", "`when`", "expected a table"]);
    parameters(&when("when = { x = true }"), &["study.toml:7:13", "depends on itself"]);
}

#[test]
fn all_independent_mistakes_are_reported_at_once() {
    let text = "direction = \"up\"\ntrails = 3\n[objective]\ncommand = 1\n[parameters.x]\ntype = \"int\"\nlow = 3\nhigh = 1\n";
    let lines = [
        "study.toml:1:13",
        "study.toml:2:1",
        "study.toml:4:11",
        "study.toml:5:13",
        "4 mistakes in study.toml",
    ];
    expect(text, &lines);
}

#[test]
fn no_mistake_hides_another() {
    // Beside a wrong type, a misspelt key and a wrong value.
    parameters(
        "[parameters.x]\ntype = \"flaot\"\nhihg = 1\nlow = \"0\"\nlog = 1",
        &[
            "study.toml:5:8",
            "study.toml:6:1",
            "did you mean `high`?",
            "study.toml:7:7",
            "study.toml:8:7",
            "4 mistakes",
        ],
    );
    parameters("[parameters.x]\ntype = 3\nchoice = [1]", &["did you mean `choices`?", "2 mistakes"]);
    // Three conditions, each wrong in its own way, two of them of one parameter; and a parameter that is wrong itself.
    let when =
        |name: &str, when: &str| format!("[parameters.{name}]\ntype = \"bool\"\nwhen = {{ {when} }}\n");
    let all = [
        "[parameters.n]\ntype = \"int\"\nlow = 1\nhigh = 3\n".to_owned(),
        "[parameters.f]\ntype = \"float\"\nlow = 1\nhigh = 3\n".to_owned(),
        "[parameters.bad]\ntype = \"int\"\nlow = 3\nhigh = 1\n".to_owned(),
        when("a", "n = 4, f = 2"),
        when("b", "b = true"),
        when("c", "m = 2, bad = 2"),
    ];
    parameters(
        &all.concat(),
        &[
            "parameter `bad`: low 3 is above high 1",
            "`a` depends on `n` = 4",
            "`a` depends on a value of `f`, which is continuous",
            "`b` depends on itself",
            "refers to `m`, which is not a parameter",
            "5 mistakes in study.toml",
        ],
    );
    // Constraints, beside a parameter that is wrong.
    let wrong = "[parameters.y]\ntype = \"float\"\nlow = 2\nhigh = 1\n";
    expect(
        &format!(
            "direction = \"maximize\"\nconstraints = [\"x + y <= 1\", \"x + z <= 1\"]\n{OBJECTIVE}{X}{wrong}"
        ),
        &["there is no parameter `z`", "low 2 is above high 1", "2 mistakes in study.toml"],
    );
    // Settings, beside a name that is nearly right.
    top(
        "optimizer = { name = \"go-ucp\", wrap = true, exploration = \"high\" }",
        &["did you mean `go-ucb`?", "did you mean `warp`?", "study.toml:2:59", "3 mistakes in study.toml"],
    );
    // What is not TOML at all.
    top(
        "name = coffee\nseed = 1\nseed = 2",
        &["study.toml:2:8", "study.toml:4:1", "2 mistakes in study.toml"],
    );
}

#[test]
fn one_mistake_is_not_reported_as_two() {
    let folder = Folder::new();
    // What waits for `kind` is right as soon as that has choices.
    let parameters = "[parameters.kind]\ntype = \"categorical\"\nchoices = []\n\
                      [parameters.deep]\ntype = \"bool\"\nwhen = { kind = \"a\" }\n";
    folder.write("study.toml", &format!("direction = \"maximize\"\n{OBJECTIVE}{parameters}"));
    let stderr = folder.run(&["run", "study.toml"]).expect_code(2).stderr;
    assert!(stderr.contains("`kind` has no choices") && !stderr.contains("`when`"), "{stderr}");
}

#[test]
fn constraints_between_parameters() {
    let y = "[parameters.y]\ntype = \"float\"\nlow = 1e-3\nhigh = 1\nlog = true\n[parameters.copper]\ntype = \"bool\"\n";
    let constraints = |list: &str, parts: &[&str]| {
        expect(&format!("direction = \"maximize\"\nconstraints = {list}\n{OBJECTIVE}{X}{y}"), parts);
    };
    constraints("\"x <= 1\"", &["study.toml:2:15", "`constraints` is not a list"]);
    constraints("[1]", &["study.toml:2:16", "a constraint is not a string"]);
    constraints(
        "[\"2*coper <= 1\"]",
        &["study.toml:2:16", "there is no parameter `coper`", "help: did you mean `copper`?"],
    );
    constraints("[\"x < 1\"]", &["study.toml:2:16", "`<` is not known", "help: use `<=`"]);
    constraints("[\"x + y <= 1\"]", &["study.toml:2:16", "`y` is on a log scale", "help: drop its `log`"]);
    constraints(
        "[\"x >= 0.6\", \"x <= 0.5\"]",
        &["study.toml:2:28", "no values satisfy `x >= 0.6` and `x <= 0.5`", "help: loosen one of them"],
    );
    constraints(
        "[\"x >\", \"z <= 1\"]",
        &["2 mistakes in study.toml", "`>` is not known", "no parameter `z`"],
    );
}
