//! Nothing outlives its owner: however `optimist` ends, what it started ends with it, and no trial is measured twice at
//! the same time.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::Folder;
use rustix::process::{Pid, Signal};

/// A study whose objective notes its process id and that of a child, and then hangs.
fn hanging_study(folder: &Folder, mode: &str) {
    let study = format!(
        r#"
        name = "hang"
        direction = "maximize"
        trials = 2
        optimizer.name = "random"
        objective.command = ["sh", "-c", "sleep 1000 & echo $! $$ > pids.new; mv pids.new pids; wait"]
        objective.mode = "{mode}"
        parameters.x = {{ type = "float", low = -1, high = 1 }}
        "#
    );
    folder.write("study.toml", &study);
}

fn start(folder: &Folder) -> Child {
    let _ = fs::remove_file(folder.path().join("pids"));
    let mut run = folder.optimist(&["run", "study.toml"]);
    run.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn().unwrap()
}

/// The processes of the objective, once it has noted them.
fn pids(folder: &Folder) -> Vec<u32> {
    eventually("the objective starts", || !folder.read("pids").is_empty());
    folder.read("pids").split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let is_so = (0..600).any(|_| {
        sleep(Duration::from_millis(20));
        is_so()
    });
    assert!(is_so, "{what}");
}

/// A zombie is as good as gone, and where nobody reaps orphans it is all that is left.
fn is_gone(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn objectives_end_when_optimist_is_killed() {
    for mode in ["once", "serve"] {
        for signal in [Signal::KILL, Signal::ABORT] {
            let folder = Folder::new();
            hanging_study(&folder, mode);
            let mut run = start(&folder);
            let pids = pids(&folder);
            assert!(pids.iter().all(|pid| !is_gone(*pid)));
            send(&run, signal);
            run.wait().unwrap();
            eventually(&format!("{mode}, {signal:?}"), || pids.iter().all(|pid| is_gone(*pid)));
        }
    }
}

#[test]
fn a_closed_terminal_stops_the_run_like_a_request_to_terminate() {
    let folder = Folder::new();
    hanging_study(&folder, "once");
    // Whoever started the tests may have had hang-ups ignored (`nohup`), which children inherit.
    let mut run = Command::new("env");
    run.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_optimist"), "run", "study.toml"]);
    let run = run.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut run = run.spawn().unwrap();
    let pids = pids(&folder);
    send(&run, Signal::HUP);
    eventually("the run ends", || run.try_wait().unwrap().is_some());
    let output = run.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("stopped after 0 of 2 trials"), "{stderr}");
    assert!(pids.iter().all(|pid| is_gone(*pid)));
    let trials = folder.run(&["trials", "hang", "--json"]).expect_code(0).stdout;
    assert!(trials.contains(r#""state":"waiting""#), "{trials}");
}

#[test]
fn nohup_is_heeded() {
    let folder = Folder::new();
    hanging_study(&folder, "once");
    let mut run = Command::new("sh");
    run.args(["-c", "trap '' HUP; exec \"$0\" run study.toml", env!("CARGO_BIN_EXE_optimist")]);
    let mut run = run.current_dir(folder.path()).stderr(Stdio::null()).spawn().unwrap();
    pids(&folder);
    send(&run, Signal::HUP);
    sleep(Duration::from_millis(300));
    assert!(run.try_wait().unwrap().is_none(), "it goes on");
    send(&run, Signal::TERM);
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_trial_is_not_started_again_beside_its_orphan() {
    let folder = Folder::new();
    // The objective leaves its process group, so that only its environment tells whose it is. The second time it is quick.
    let script = r#"
        if [ -e first ]; then
            case "$(cat /proc/$(cat first)/stat 2>/dev/null)" in ""|*") Z "*) echo gone;; *) echo alive;; esac > verdict
            echo 1; exit
        fi
        exec setsid sh -c 'echo $$ > first; sleep 1000'
    "#;
    let study = format!(
        r#"
        name = "hang"
        direction = "maximize"
        trials = 1
        optimizer.name = "random"
        objective.command = ["sh", "-c", '''{script}''']
        parameters.x = {{ type = "float", low = -1, high = 1 }}
        "#
    );
    folder.write("study.toml", &study);
    let mut run = start(&folder);
    eventually("the objective starts", || folder.read("first").ends_with('\n'));
    send(&run, Signal::KILL);
    run.wait().unwrap();
    let orphan: u32 = folder.read("first").trim().parse().unwrap();
    assert!(!is_gone(orphan), "it has left the group");
    folder.run(&["run", "study.toml"]).expect_code(0);
    assert!(is_gone(orphan));
    assert_eq!(folder.read("verdict"), "gone\n");
}

#[test]
fn what_has_left_its_group_ends_with_the_run() {
    for ending in ["sleep 1000", "echo 1"] {
        let folder = Folder::new();
        let study = format!(
            r#"
            name = "hang"
            direction = "maximize"
            trials = 1
            optimizer.name = "random"
            objective.command = ["sh", "-c", "setsid sh -c 'echo $$ > left; exec sleep 1000' & while ! [ -s left ]; do sleep 0.01; done; {ending}"]
            parameters.x = {{ type = "float", low = -1, high = 1 }}
            "#
        );
        folder.write("study.toml", &study);
        let mut run = start(&folder);
        eventually("the objective starts", || folder.read("left").ends_with('\n'));
        if ending != "echo 1" {
            send(&run, Signal::TERM);
        }
        eventually("the run ends", || run.try_wait().unwrap().is_some());
        assert!(is_gone(folder.read("left").trim().parse().unwrap()), "{ending}");
    }
}

#[test]
fn far_too_many_workers_are_refused_in_a_sentence() {
    let folder = Folder::new();
    hanging_study(&folder, "once");
    let output = folder.run(&["run", "study.toml", "--workers", "40000"]).expect_code(2);
    assert!(output.stderr.contains("a process can have 1 to 1000 workers"), "{}", output.stderr);
    folder.write("study.toml", &format!("workers = 40000\n{}", folder.read("study.toml")));
    let output = folder.run(&["run", "study.toml"]).expect_code(2);
    assert!(output.stderr.contains("expected a whole number from 1 to 1000"), "{}", output.stderr);
    assert!(!folder.path().join("optimist.db").exists(), "nothing was created");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_a_full_disk() {
    let folder = Folder::new();
    hanging_study(&folder, "once");
    let script = "ulimit -f 8; exec \"$0\" create study.toml";
    let mut run = Command::new("sh");
    let output = run.args(["-c", script, env!("CARGO_BIN_EXE_optimist")]).current_dir(folder.path()).output();
    let output = output.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.status.signal()), (Some(1), None), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot read or write optimist.db: ") && stderr.contains("`ulimit -f`"),
        "{stderr}"
    );
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_refused_in_words() {
    let folder = Folder::new();
    hanging_study(&folder, "once");
    let inner = folder.path().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&inner).unwrap();
    fs::rename(folder.path().join("study.toml"), inner.join("study.toml")).unwrap();
    let mut run = folder.optimist(&["run", "study.toml"]);
    let output = common::Output::of(run.current_dir(&inner)).expect_code(2);
    assert!(output.stderr.contains("the name is not UTF-8"), "{}", output.stderr);
    assert!(output.stderr.contains("rename the folder"), "{}", output.stderr);
}
