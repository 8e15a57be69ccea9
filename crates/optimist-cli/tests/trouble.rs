//! Storage in trouble: a full disk, files and folders that may only be read, damage. The real binary says which file, what is
//! wrong and what to do, loses nothing, and goes on where it can.

mod common;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use common::{Folder, Output};
use rustix::process::{Pid, Resource, Rlimit};

const STUDY: &str = r#"
    name = "roast"
    direction = "maximize"
    seed = 3
    trials = 120
    optimizer.name = "random"
    objective.command = ["sh", "-c", "echo $OPTIMIST_X"]
    parameters.x = { type = "float", low = -1, high = 1 }
"#;

/// What only looks.
const LOOKING: [&[&str]; 7] = [
    &["list"],
    &["show", "roast"],
    &["best", "roast", "-n", "3"],
    &["trials", "roast", "--format", "csv"],
    &["plot", "roast", "--kind", "history", "--json"],
    &["export", "roast", "-"],
    &["verify", "roast"],
];

fn done() -> Folder {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    folder.run(&["run", "study.toml", "--trials", "6"]).expect_code(0);
    folder
}

#[test]
fn a_run_waits_while_the_disk_is_full_and_then_goes_on() {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    // A limit on the size of files is a full disk that needs no disk of its own; blocks have 512 bytes.
    let script = "ulimit -S -f 112; exec \"$0\" run study.toml --json";
    let mut run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_optimist")])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let trouble = errors
        .find(|line| line.contains("cannot read or write"))
        .expect("the limit is too small for 120 trials");
    assert!(trouble.contains("cannot read or write optimist.db: disk I/O error"), "{trouble}");
    assert!(trouble.contains("`ulimit -f`"), "what to do: {trouble}");
    assert!(trouble.contains("trial") || trouble.contains("the run waits"), "what happens: {trouble}");
    let reader = thread::spawn(move || errors.collect::<Vec<String>>());
    assert!(run.try_wait().unwrap().is_none(), "it waits");
    folder.run(&["best", "roast"]).expect_code(0);

    let no_limit = Rlimit { current: None, maximum: None };
    let pid = i32::try_from(run.id()).ok().and_then(Pid::from_raw);
    rustix::process::prlimit(pid, Resource::Fsize, no_limit).unwrap();
    let status = run.wait().unwrap();
    assert!(status.success(), "{:?}", reader.join());
    let trials = folder.run(&["trials", "roast", "--json", "--state", "complete"]).expect_code(0).stdout;
    assert_eq!(trials.lines().count(), 120);
    let verified = folder.run(&["verify", "roast"]).expect_code(0).stdout;
    assert!(verified.starts_with("241 records intact; 120 suggestions"), "nothing twice: {verified}");
}

#[test]
fn a_study_that_may_only_be_read_can_be_looked_at() {
    let folder = done();
    let reader = Reader::of(&folder);
    for (file, of_folder) in [(0o444, 0o755), (0o444, 0o555), (0o644, 0o555)] {
        reader.permit(file, of_folder);
        for command in LOOKING {
            let output = reader.run(command).expect_code(0);
            assert!(!output.stdout.is_empty(), "{command:?}");
        }
        let trials = reader.run(&["trials", "roast", "--json"]).expect_code(0).stdout;
        assert_eq!(trials.lines().count(), 6);
        for command in [&["tell", "roast", "0", "7"][..], &["ask", "roast"], &["run", "study.toml"]] {
            let output = reader.run(command).expect_code(1);
            let expected = "error: optimist.db is read-only; change its permissions";
            assert!(output.stderr.starts_with(expected), "{command:?}: {}", output.stderr);
        }
    }
    reader.permit(0o644, 0o755);
    folder.run(&["run", "study.toml", "--trials", "8"]).expect_code(0);
}

#[test]
fn changes_that_cannot_be_taken_in_are_not_left_out_in_silence() {
    let folder = done();
    // As a crash leaves them: the last changes are in the log beside the file, and its index is lost.
    let writer = rusqlite::Connection::open(folder.path().join("optimist.db")).unwrap();
    writer.query_row("SELECT count(*) FROM linked", [], |_| Ok(())).unwrap();
    folder.run(&["run", "study.toml", "--trials", "8"]).expect_code(0);
    let copy = Folder::new();
    for file in ["optimist.db", "optimist.db-wal"] {
        fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
    }
    let reader = Reader::of(&copy);
    reader.permit(0o444, 0o555);
    let output = reader.run(&["trials", "roast"]).expect_code(1);
    assert!(output.stderr.contains("its latest changes are in optimist.db-wal"), "{}", output.stderr);
    assert!(output.stderr.contains("copy both files"), "{}", output.stderr);
    reader.permit(0o644, 0o755);
    let trials = copy.run(&["trials", "roast", "--json"]).expect_code(0).stdout;
    assert_eq!(trials.lines().count(), 8);
}

#[test]
fn a_damaged_database_is_named_with_what_to_do_and_is_left_alone() {
    let folder = done();
    let path = folder.path().join("optimist.db");
    let sound = fs::read(&path).unwrap();
    let flipped = |at: usize| [&sound[..at], &[sound[at] ^ 1], &sound[at + 1..]].concat();
    let last_byte_of_a_record = sound.windows(2).rposition(|pair| pair == b"}}").unwrap();
    let damages = [
        (Vec::new(), "is an empty file; restore a copy"),
        (b"not a database at all\n".repeat(400), "is not a study database, or its beginning is damaged"),
        (sound[..5000].to_vec(), "is damaged: "),
        (flipped(0), "is not a study database, or its beginning is damaged"),
        (flipped(100), "is damaged: "),
        (flipped(last_byte_of_a_record), "is not what was written; restore a copy"),
    ];
    for (damaged, expected) in damages {
        fs::write(&path, &damaged).unwrap();
        for command in
            [&["show", "roast"][..], &["trials", "roast"], &["tell", "roast", "0", "7"], &["verify", "roast"]]
        {
            let output = folder.run(command).expect_code(1);
            assert!(output.stderr.starts_with("error: optimist.db "), "{command:?}: {}", output.stderr);
            assert!(output.stderr.contains(expected), "{command:?}: {expected} in {}", output.stderr);
        }
        assert_eq!(fs::read(&path).unwrap(), damaged, "it may still be recovered");
    }
}

/// Somebody for whom permissions hold, which they do not for root.
struct Reader<'f> {
    folder: &'f Folder,
    /// A place that somebody else can get to.
    programs: Folder,
}

impl<'f> Reader<'f> {
    fn of(folder: &'f Folder) -> Self {
        let programs = Folder::new();
        if is_root() {
            fs::copy(env!("CARGO_BIN_EXE_optimist"), programs.path().join("optimist")).unwrap();
            fs::set_permissions(programs.path(), Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, programs }
    }

    /// Sets the permissions of the files and of their folder.
    fn permit(&self, file: u32, of_folder: u32) {
        fs::set_permissions(self.folder.path(), Permissions::from_mode(0o755)).unwrap();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            fs::set_permissions(entry.unwrap().path(), Permissions::from_mode(file)).unwrap();
        }
        fs::set_permissions(self.folder.path(), Permissions::from_mode(of_folder)).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        const NOBODY: u32 = 65534;
        let mut command = if is_root() {
            let mut command = Command::new(self.programs.path().join("optimist"));
            command.uid(NOBODY).gid(NOBODY);
            command
        } else {
            Command::new(env!("CARGO_BIN_EXE_optimist"))
        };
        Output::of(command.args(args).current_dir(self.folder.path()).stdin(Stdio::null()))
    }
}

/// The folder can be removed again.
impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.folder.path(), Permissions::from_mode(0o755));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_backup_is_a_storage_with_every_study_and_what_is_sound_of_a_damaged_one_is_saved() {
    let folder = done();
    folder.write("other.toml", &STUDY.replace("roast", "brew"));
    folder.run(&["create", "other.toml"]).expect_code(0);
    let output = folder.run(&["backup", "copy.db"]).expect_code(0);
    assert!(output.stdout.starts_with("2 studies with 14 records copied to copy.db"), "{}", output.stdout);
    let trials = |storage: &str| {
        folder.run(&["trials", "roast", "--json", "--storage", storage]).expect_code(0).stdout
    };
    assert_eq!(trials("copy.db"), trials("optimist.db"));
    folder.run(&["verify", "roast", "--storage", "copy.db"]).expect_code(0);
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!files.iter().any(|file| file.to_string_lossy().contains("partial")), "{files:?}");
    let again = folder.run(&["backup", "copy.db"]).expect_code(1);
    assert!(again.stderr.contains("copy.db already exists"), "{}", again.stderr);
    folder.run(&["backup", "none.db", "--storage", "nowhere.db"]).expect_code(1);
    let nowhere = folder.run(&["backup", "nowhere/copy.db"]).expect_code(1);
    assert_eq!(nowhere.stderr, "error: cannot create nowhere/copy.db: there is no folder nowhere\n");

    let writer = rusqlite::Connection::open(folder.path().join("optimist.db")).unwrap();
    writer.execute("DELETE FROM linked WHERE study = 1 AND seq = 6", []).unwrap();
    drop(writer);
    let output = folder.run(&["show", "roast"]).expect_code(1);
    for words in ["record 6 of study 1 is missing", "optimist salvage", "optimist backup"] {
        assert!(output.stderr.contains(words), "{words}: {}", output.stderr);
    }
    let list = folder.run(&["list"]).expect_code(0);
    assert!(
        list.stdout.contains("brew") && list.stdout.lines().all(|line| line.len() < 120),
        "{}",
        list.stdout
    );
    assert!(list.stderr.starts_with("study `roast` cannot be opened: "), "{}", list.stderr);
    folder.run(&["backup", "damaged.db"]).expect_code(1);
    assert!(!folder.path().join("damaged.db").exists());
    let output = folder.run(&["salvage", "roast", "saved.db"]).expect_code(0);
    assert!(output.stdout.contains("kept the first 5 records unchanged"), "{}", output.stdout);
    let saved = folder.run(&["trials", "roast", "--json", "--storage", "saved.db"]).expect_code(0).stdout;
    let is_complete = |line: &&str| line.contains("\"state\":\"complete\"");
    assert_eq!(saved.lines().filter(is_complete).count(), 5, "{saved}");
    folder.run(&["verify", "roast", "--storage", "saved.db"]).expect_code(0);

    // What was saved can take the place of the damaged study.
    let output = folder.run(&["delete", "roast", "--yes"]).expect_code(1);
    assert!(
        output.stderr.contains("`optimist delete roast --force` deletes it as it is"),
        "{}",
        output.stderr
    );
    let output = folder.run(&["delete", "roast", "--yes", "--force"]).expect_code(0);
    assert_eq!(output.stdout, "deleted study `roast`, which was damaged\n");
    folder.run(&["salvage", "roast", "optimist.db", "--storage", "saved.db"]).expect_code(0);
    folder.run(&["verify", "roast"]).expect_code(0);
}
