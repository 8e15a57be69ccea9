//! What README.md and docs/ say of `optimist-bench` holds: commands, their options, names of tasks and optimizers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use optimist::encode::Domain;
use optimist_bench::{optimizers, peer, task};

/// README.md and every page below docs/.
fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, pages: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), pages);
            } else if entry.path().extension().is_some_and(|end| end == "md") {
                pages.push(entry.path());
            }
        }
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![repository.join("README.md")];
    below(&repository.join("docs"), &mut pages);
    pages
}

/// What follows `optimist-bench` in the lines of a page, continued ones joined; a comment ends it, and so does a backtick.
fn commands(page: &str) -> Vec<String> {
    let page = page.replace("\\\n", " ");
    let ends = |line: &str| line.find(['`', '#', '(']).unwrap_or(line.len());
    let after = |line: &str| {
        let command = line
            .strip_prefix("    optimist-bench ")
            .or(line.split_once("`optimist-bench ").map(|(_, rest)| rest));
        command.map(|command| command[..ends(command)].trim().to_owned())
    };
    page.lines().filter_map(after).filter(|command| !command.is_empty()).collect()
}

/// The words after an option, split at commas.
fn listed<'c>(words: &[&'c str], option: &str) -> Vec<&'c str> {
    let at = words.iter().position(|word| *word == option);
    at.and_then(|at| words.get(at + 1))
        .map_or(Vec::new(), |list| list.split(',').filter(|name| !name.is_empty()).collect())
}

#[test]
fn commands_on_pages_exist_with_their_options_tasks_and_optimizers() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let (mut wrong, mut n) = (Vec::new(), 0);
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            // A hidden command of our own: `speed` starts it.
            if words[0] == "speed-cell" {
                continue;
            }
            n += 1;
            let help = helps.entry(words[0].to_owned()).or_insert_with(|| {
                let mut program = Command::cargo_bin("optimist-bench").unwrap();
                let output = program.args([words[0], "--help"]).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            });
            let known: Vec<&str> =
                help.split_whitespace().map(|word| word.trim_matches([',', '[', ']'])).collect();
            let options = words.iter().filter(|word| word.starts_with('-') && word.len() > 1);
            let unknown: Vec<&&str> = options.filter(|option| !known.contains(option)).collect();
            if help.is_empty() || !unknown.is_empty() {
                wrong.push(format!("{}: optimist-bench {command}: {unknown:?}", page.display()));
            }
            if words[0] == "run" {
                if let Err(error) = task::select(&listed(&words, "--tasks")) {
                    wrong.push(format!("{}: {command}: {error}", page.display()));
                }
                // Peers are known by name: whether they answer depends on what is installed.
                let ours =
                    listed(&words, "--optimizers").into_iter().filter(|name| !peer::NAMES.contains(name));
                for error in ours.filter_map(|name| optimizers::build(name, &Domain::cube(1), 1, 0).err()) {
                    wrong.push(format!("{}: {command}: {error}", page.display()));
                }
            }
        }
    }
    assert!(n > 25, "{n} commands");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
