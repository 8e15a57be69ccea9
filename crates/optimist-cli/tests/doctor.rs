//! `optimist doctor`, `schema`, `man` and `completions`, by running them.

mod common;

use common::{Folder, Output};
use serde_json::Value;

const FILM: &str =
    "name = 'film'\ndirection = 'maximize'\nparameters.x = { type = 'float', low = 0, high = 1 }\n";

fn doctor(folder: &Folder, args: &[&str]) -> Output {
    let mut command = folder.optimist(&[&["doctor"], args].concat());
    Output::of(command.env_remove("OPTIMIST_STORAGE"))
}

fn film(objective: &str) -> Folder {
    let folder = Folder::new();
    folder.write("film.toml", &format!("{FILM}{objective}"));
    folder.run(&["create", "film.toml"]).expect_code(0);
    folder
}

#[test]
fn where_all_is_well_the_doctor_reports_and_changes_nothing() {
    let folder = Folder::new();
    let output = doctor(&folder, &[]).expect_code(0);
    for words in [
        "optimist",
        "engine ",
        "CPU features",
        "optimist.db: 0 studies, does not exist yet",
        "no problems found",
    ] {
        assert!(output.stdout.contains(words), "no `{words}` in {}", output.stdout);
    }
    assert!(!folder.path().join("optimist.db").exists());

    let folder = film("objective.command = ['true']");
    let report = doctor(&folder, &["--json"]).expect_code(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["machine"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["machine"]["engine"], optimist::ENGINE_VERSION);
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() >= 8 && checks.iter().all(|check| check["ok"] == true), "{report}");
}

#[test]
fn usual_trouble_is_found_and_says_what_to_do() {
    let troubled = |folder: &Folder, words: &[&str]| {
        let output = doctor(folder, &[]).expect_code(1);
        assert!(output.stdout.contains("1 problem found"), "{}", output.stdout);
        for word in words {
            assert!(output.stdout.contains(word), "no `{word}` in {}", output.stdout);
        }
    };
    troubled(
        &film("objective.command = ['no-such-program']"),
        &["study `film`", "`no-such-program`", "install it"],
    );
    troubled(&film("objective.command = ['./train.sh']"), &["`./train.sh`"]);

    let folder = film("");
    folder.run(&["ask", "film", "--lease", "0.01"]).expect_code(0);
    std::thread::sleep(std::time::Duration::from_millis(50));
    troubled(&folder, &["the worker of 1 trial is gone"]);

    let folder = film("");
    std::fs::write(folder.path().join("optimist.db"), "not a database at all").unwrap();
    troubled(&folder, &["optimist.db is not a study database"]);

    let folder = film("");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(folder.path().join("optimist.db"), mode).unwrap();
    troubled(&folder, &["is world-writable", "chmod o-w"]);
}

#[test]
fn a_study_that_is_looked_for_in_the_wrong_place_is_found() {
    let folder = film("");
    let output = Output::of(folder.optimist(&["doctor"]).env("OPTIMIST_STORAGE", "other.db")).expect_code(1);
    assert!(output.stdout.contains("OPTIMIST_STORAGE is set"), "{}", output.stdout);
    assert!(output.stdout.contains("--storage optimist.db"), "{}", output.stdout);
    let output = doctor(&folder, &["--storage", "nowhere/a.db"]).expect_code(1).stdout;
    assert!(output.contains("there is no folder nowhere; create it"), "{output}");
    assert!(output.ends_with(" 1 problem found\n"), "{output}");
}

#[test]
fn a_report_has_no_passwords() {
    let folder = Folder::new();
    let place = "postgres://me:SECRET@127.0.0.1:1/lab?connect_timeout=1";
    for args in
        [vec!["doctor", "--storage", place], vec!["doctor", "--json", "--storage", place], vec!["doctor"]]
    {
        let output = Output::of(folder.optimist(&args).env("OPTIMIST_STORAGE", place)).expect_code(1);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains("postgres://me@127.0.0.1:1/lab") && !all.contains("SECRET"), "{all}");
    }
}

#[test]
fn the_schema_is_printed_as_json() {
    let output = Folder::new().run(&["schema"]).expect_code(0);
    let schema: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(schema, optimist_study::study_file::schema());
}

#[test]
fn every_command_has_a_manual_page_and_is_completed() {
    let folder = Folder::new();
    folder.run(&["man", "--folder", "man1"]).expect_code(0);
    let commands = commands_below(&folder, &[]);
    for expected in ["doctor", "serve", "token create"] {
        assert!(commands.iter().any(|c| c == expected), "{expected} is not among {commands:?}");
    }
    let completions = folder.run(&["completions", "bash"]).expect_code(0).stdout;
    for command in &commands {
        let page = folder.read(&format!("man1/optimist-{}.1", command.replace(' ', "-")));
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(&format!("\\fBoptimist {command}\\fR")),
            "{command}: {page}"
        );
        let completed = match command.split_once(' ') {
            None => format!("optimist,{command})"),
            Some((above, below)) => format!("optimist__subcmd__{above},{below})"),
        };
        assert!(completions.contains(&completed), "{completed}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("man1")).unwrap().count(), commands.len() + 1);
    assert!(folder.read("man1/optimist.1").contains("optimist\\-run"));
    let page = folder.run(&["man", "run"]).expect_code(0).stdout;
    assert_eq!(page, folder.read("man1/optimist-run.1"));
    let unknown = folder.run(&["man", "fly"]).expect_code(2);
    assert!(unknown.stderr.contains("there is no command `fly`"), "{}", unknown.stderr);
}

/// The commands that `optimist help ABOVE` lists, and those below them: `run`, `user`, `user add`, …
fn commands_below(folder: &Folder, above: &[&str]) -> Vec<String> {
    let help = folder.run(&[&["help"], above].concat()).expect_code(0).stdout;
    let Some((_, listed)) = help.split_once("Commands:\n") else { return Vec::new() };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let mut all = Vec::new();
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let command = [above, &[name]].concat();
        all.push(command.join(" "));
        all.extend(commands_below(folder, &command));
    }
    all
}
