//! What README.md, ARCHITECTURE.md and docs/ say is there is there: files, options, study files, Rust code. `guides.rs` follows the
//! guides step by step.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Folder, Output};
use optimist_study::StudyFile;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names in a folder, without those that begin with a dot.
fn names(folder: impl AsRef<Path>) -> BTreeSet<String> {
    let folder = repository().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    entries.map(name).filter(|name| !name.starts_with(['.', '_']) || name.ends_with(".py")).collect()
}

/// The pages for users and researchers, by path.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for page in ["README.md", "CONTRIBUTING.md", "SECURITY.md"] {
        pages.insert(page.to_owned(), read(page));
    }
    for folder in ["docs", "docs/guides", "docs/tutorials", "docs/explanations", "docs/reference"] {
        for name in names(folder).iter().filter(|name| name.ends_with(".md")) {
            let page = format!("{folder}/{name}");
            pages.insert(page.clone(), read(&page));
        }
    }
    for name in names("crates") {
        let page = format!("crates/{name}/README.md");
        if repository().join(&page).exists() {
            pages.insert(page.clone(), read(&page));
        }
    }
    assert!(pages.len() > 25, "{:?}", pages.keys());
    pages
}

/// The fenced blocks of a language, without the indent that those in tabs have.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for line in page.lines() {
        let text = line.trim_start();
        if let Some((indent, of, block)) = &mut open {
            if text == "```" {
                if of == language {
                    blocks.push(std::mem::take(block));
                }
                open = None;
            } else {
                block.push_str(line.get(*indent..).unwrap_or_default());
                block.push('\n');
            }
        } else if let Some(of) = text.strip_prefix("```") {
            open = Some((line.len() - text.len(), of.to_owned(), String::new()));
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

#[test]
fn architecture_names_every_module_and_script() {
    let architecture = read("ARCHITECTURE.md");
    let section = |title: &str| {
        let (_, rest) = architecture.split_once(&format!("\n## {title}")).expect("each crate has a section");
        rest.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let mut missing = Vec::new();
    for name in names("crates") {
        let part = section(&format!("`crates/{name}`"));
        for module in names(format!("crates/{name}/src")) {
            let folder = format!("{}/", module.trim_end_matches(".rs"));
            if module != "lib.rs" && !part.contains(&module) && !part.contains(&folder) {
                missing.push(format!("crates/{name}/src/{module}"));
            }
        }
    }
    let python = section("`crates/optimist-py`");
    for folder in ["", "skopt", "sklearn", "optuna"] {
        for module in names(format!("python/optimist/{folder}")) {
            if module != "__init__.py" && module != "py.typed" && !python.contains(&format!("`{module}")) {
                missing.push(format!("python/optimist/{folder}/{module}"));
            }
        }
    }
    let elsewhere = section("Elsewhere");
    for script in names("scripts") {
        if !elsewhere.contains(&format!("`{script}`")) {
            missing.push(format!("scripts/{script}"));
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:#?}");
}

/// All files below a folder of the repository, by name.
fn files_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files_below(&entry.path(), found);
        }
        found.insert(name);
    }
}

#[test]
fn architecture_names_no_module_that_is_gone() {
    let mut files = BTreeSet::new();
    for folder in ["crates", "python", "scripts", "docs", "examples"] {
        files_below(&repository().join(folder), &mut files);
    }
    let architecture = read("ARCHITECTURE.md");
    let words: Vec<&str> = architecture.split('`').skip(1).step_by(2).collect();
    let is_file = |word: &&&str| [".rs", ".py", ".pyi", ".md"].iter().any(|end| word.ends_with(end));
    let gone: Vec<&&str> = words
        .iter()
        .filter(is_file)
        .filter(|word| {
            word.rsplit('/').next().is_none_or(|name| !files.contains(name)) && !word.contains('*')
        })
        .filter(|word| !repository().join(word).exists())
        .collect();
    assert!(words.len() > 300, "{} words", words.len());
    assert!(gone.is_empty(), "ARCHITECTURE.md names {gone:?}");
}

#[test]
fn the_paper_map_names_files_and_functions_of_the_core() {
    let (core, map) = (repository().join("crates/optimist"), read("docs/paper-map.md"));
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        sources_below(&core.join(folder), &mut files);
    }
    let code: String = files.iter().map(read).collect();
    let ends = |at: usize| !code[at..].starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let is_defined = |name: &str| {
        ["fn", "struct", "enum", "trait", "mod", "pub"].iter().any(|kind| {
            let definition = format!("{kind} {name}");
            code.match_indices(&definition).any(|(at, _)| ends(at + definition.len()))
        }) || code.contains(&format!("\n    {name} {{\n")) // a variant
    };
    let words: Vec<&str> = map.split('`').skip(1).step_by(2).collect();
    let gone: Vec<&&str> = words
        .iter()
        .filter(|word| {
            let path = word.split(' ').next().unwrap_or_default();
            match path.ends_with(".rs") || path.ends_with('/') {
                true => {
                    ![&core.join("src"), &core, &repository()].iter().any(|root| root.join(path).exists())
                }
                false => !path.split("::").all(is_defined),
            }
        })
        .collect();
    assert!(words.len() > 100, "{} words", words.len());
    assert!(gone.is_empty(), "docs/paper-map.md names {gone:?}");
}

/// The paths of all files of Rust below a folder.
fn sources_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// A block that shows a part of a study file, with what it leaves out: a direction, parameters, those that constraints are about.
fn completed(block: &str) -> String {
    let has = |key: &str| block.lines().any(|line| line.trim_start().starts_with(key));
    let mut head = String::new();
    if !has("direction") && !has("[outcomes") {
        head.push_str("direction = \"minimize\"\n");
    }
    let mut tail = String::new();
    if has("constraints") {
        let words = block.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names: BTreeSet<&str> = ["copper", "zinc", "tin", "lathes", "mills", "presses"].into();
        for name in words.filter(|word| names.contains(word)).collect::<BTreeSet<&str>>() {
            tail.push_str(&format!("[parameters.{name}]\ntype = \"float\"\nlow = 0.0\nhigh = 30.0\n"));
        }
    } else {
        for (parent, choices) in [("drum", "\"steel\", \"cast-iron\"")] {
            if block.contains(&format!("{parent} = ")) {
                tail.push_str(&format!(
                    "[parameters.{parent}]\ntype = \"categorical\"\nchoices = [{choices}]\n"
                ));
            }
        }
        if !has("[parameters") && !has("parameters.") {
            tail.push_str("[parameters.x]\ntype = \"float\"\nlow = 0.0\nhigh = 1.0\n");
        }
    }
    format!("{head}{block}{tail}")
}

#[test]
fn study_files_on_pages_can_be_read() {
    let mut n = 0;
    for (page, text) in pages() {
        for block in blocks(&text, "toml") {
            let text = completed(&block);
            let file = StudyFile::parse(&text);
            assert!(
                file.is_ok(),
                "{page}: {}\n{text}",
                file.map_or_else(|error| error.to_string(), |_| String::new())
            );
            n += 1;
        }
    }
    assert!(n >= 9, "{n} blocks");
}

/// Lines of code that the tests compile: examples of crates, and those in the documentation of libraries.
fn compiled() -> Vec<Vec<String>> {
    let mut sources = Vec::new();
    for name in names("crates") {
        let lib = read(format!("crates/{name}/src/lib.rs"));
        let shown = lib.lines().filter_map(|line| line.strip_prefix("//!")).map(str::trim);
        sources.push(
            shown.filter(|line| !line.is_empty() && !line.starts_with("# ")).map(str::to_owned).collect(),
        );
    }
    for example in names("crates/optimist/examples") {
        let code = read(format!("crates/optimist/examples/{example}"));
        sources
            .push(code.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect());
    }
    sources
}

#[test]
fn rust_on_pages_is_code_that_the_tests_compile() {
    let compiled = compiled();
    let mut n = 0;
    for (page, text) in pages() {
        for block in blocks(&text, "rust") {
            let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let is_there =
                compiled.iter().any(|source| source.windows(lines.len()).any(|part| part == lines));
            assert!(is_there, "{page}: no test compiles\n{block}");
            n += 1;
        }
    }
    assert!(n >= 4, "{n} blocks");
}

/// Commands of `optimist`, as a page shows them: in lines of blocks, or between backticks. Words after a comment or a pipe are not theirs.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let mut commands = Vec::new();
    let mut is_fenced = false;
    for line in page.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        let parts: Vec<&str> = if is_fenced || line.starts_with("    ") {
            line.split(" # ").take(1).flat_map(|code| code.split([';', '&'])).collect()
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        for part in parts {
            let part = part.split(" | ").next().unwrap_or_default();
            let words: Vec<&str> = part.split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "optimist") {
                let is_start = words[..at].iter().all(|word| *word == "$" || word.contains('='));
                if is_start && words.len() > at + 1 {
                    commands.push(words[at + 1..].to_vec());
                }
            }
        }
    }
    commands
}

/// What `--help` says of each command, and of those below it.
struct Help(BTreeMap<Vec<String>, String>);

impl Help {
    fn of(&mut self, command: &[&str]) -> &str {
        let key: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        self.0.entry(key).or_insert_with(|| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_optimist"));
            Output::of(program.args(command).arg("--help")).expect_code(0).stdout
        })
    }
}

/// The options in words, as `--json` in `[--json]` and in `--sort=value`.
fn options<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let option = |word: &'w str| {
        let word = word.trim_start_matches(['[', '(']);
        let end = word.find(|c| !is_of_name(c)).unwrap_or(word.len());
        (word.starts_with("--") && end > 2).then(|| &word[..end])
    };
    words.iter().filter_map(|word| option(word)).collect()
}

#[test]
fn commands_on_pages_exist_with_their_options() {
    let mut help = Help(BTreeMap::new());
    let top = help.of(&[]).to_owned();
    let known = |name: &str| top.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
    let (mut wrong, mut n) = (Vec::new(), 0);
    for (page, text) in pages() {
        for words in commands(&text) {
            let name = words[0];
            if name == "help" || name.starts_with('-') || !name.chars().all(|c| c.is_ascii_lowercase()) {
                continue;
            }
            n += 1;
            if !known(name) {
                wrong.push(format!("{page}: there is no `optimist {name}`"));
                continue;
            }
            let below = matches!(name, "user" | "token") && words.get(1).is_some_and(|word| word.len() > 3);
            let text = help.of(&words[..1 + usize::from(below)]).to_owned();
            for option in options(&words) {
                if !text.split_whitespace().any(|word| word.trim_matches([',', '[', ']', '=']) == option) {
                    wrong.push(format!("{page}: `optimist {}` has no {option}", words.join(" ")));
                }
            }
        }
    }
    assert!(n > 150, "{n} commands");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_reference_of_commands_has_every_command_and_option() {
    let page = read("docs/commands.md");
    let mut help = Help(BTreeMap::new());
    let top = help.of(&[]).to_owned();
    let (_, list) = top.split_once("Commands:\n").expect("the help lists commands");
    let names: Vec<&str> = list
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 25, "{names:?}");
    // Those with a page of their own say there what their options are.
    let others = format!(
        "{}{}{}",
        read("docs/study-file.md"),
        read("docs/guides/simulator.md"),
        read("docs/plots.md")
    );
    let mut missing = Vec::new();
    for name in names {
        if !page.contains(&format!("`{name}")) && !page.contains(&format!(", `{name}`")) {
            missing.push(format!("`optimist {name}`"));
        }
        let text = help.of(&[name]).to_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let found = options(&pair[1..]);
            let [long] = found[..] else { continue };
            // `-n, --number`: the short one is enough.
            let short = pair[0].strip_suffix(',').filter(|word| word.len() == 2);
            let is_there = |text: &str, option: &str| {
                text.match_indices(option).any(|(at, _)| {
                    let next = text[at + option.len()..].chars().next();
                    next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-')
                })
            };
            let is_described = |option: &str| is_there(&page, option) || is_there(&others, option);
            if long != "--help" && !is_described(long) && !short.is_some_and(is_described) {
                missing.push(format!("`optimist {name} {long}`"));
            }
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "docs/commands.md lacks {missing:#?}");
}

#[test]
fn the_reference_of_python_has_every_public_name() {
    let package = read("python/optimist/__init__.py");
    let (_, list) = package.split_once("__all__ = [").expect("the package lists its names");
    let list = list.split(']').next().unwrap_or_default();
    let public: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(public.len() > 30, "{public:?}");
    let page = read("docs/reference/python.md");
    let shown: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("::: optimist.")).collect();
    let missing: Vec<&&str> =
        public.iter().filter(|name| **name != "__version__" && !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/reference/python.md lacks {missing:?}");
}

#[test]
fn the_plots_of_the_page_about_plots_are_drawn() {
    let folder = Folder::new();
    for file in ["film.toml", "notebook.csv"] {
        folder.write(file, &read(format!("examples/laboratory/{file}")));
    }
    folder.run(&["create", "film.toml"]).expect_code(0);
    let import = "import film notebook.csv --value Transmission --map Temperatur=temperature --map Minuten=minutes --map Gas=gas --map Fluss=flow";
    folder.run(&import.split(' ').collect::<Vec<_>>()).expect_code(0);
    let page = read("docs/plots.md");
    let shown = page.lines().filter(|line| line.starts_with("    optimist plot "));
    let mut n = 0;
    for line in shown {
        // The comment beside a command is set off by several spaces.
        let command = line.trim_start().split("   ").next().unwrap_or_default();
        let command = command.replace("STUDY", "film").replace("x,y", "temperature,minutes");
        let args: Vec<&str> = command.split_whitespace().skip(1).collect();
        let output = folder.run(&args).expect_code(0);
        match args.iter().position(|word| *word == "-o") {
            Some(at) => assert!(folder.path().join(args[at + 1]).exists(), "{command}"),
            None => assert!(!output.stdout.is_empty(), "{command}"),
        }
        n += 1;
    }
    assert!(n >= 5, "{n} commands");
    let help = folder.run(&["plot", "--help"]).expect_code(0).stdout;
    let kinds: Vec<&str> =
        help.lines().filter_map(|line| line.trim_start().strip_prefix("- ")?.split(':').next()).collect();
    assert!(kinds.contains(&"history") && kinds.len() > 9, "{kinds:?}");
    for kind in kinds {
        assert!(page.contains(&format!("`{kind}`")), "docs/plots.md does not mention {kind}");
    }
}

#[test]
fn first_study_files_run_with_a_program_that_prints_a_number() {
    for page in ["README.md", "docs/index.md", "docs/study-file.md", "crates/optimist-cli/README.md"] {
        let folder = Folder::new();
        folder.write("train.py", "import sys\nprint(float(sys.argv[1].removeprefix('--lr=')) ** 2)\n");
        folder.write("study.toml", &blocks(&read(page), "toml")[0]);
        let trials = folder.trials(&["--trials", "3"]);
        assert_eq!(trials.len(), 3, "{page}");
        assert!(trials.iter().all(|trial| trial["state"] == "complete"), "{page}: {trials:?}");
    }
}
