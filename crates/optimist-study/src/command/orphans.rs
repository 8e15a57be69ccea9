//! What the commands of a worker that has ended have left behind on this machine.
//!
//! Given: the owner of a lease. Each command carries it in its environment, and so does all that the command starts. Gives:
//! nobody who carries it is left. A [`guard`](super::guard) sees to that as soon as a worker is gone; this is for what
//! left its group, and for the moments in between. Where there is no `/proc` nothing is found.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// The variable that names the owner. No parameter can be called so: theirs begin with `OPTIMIST_`.
pub const VARIABLE: &str = "_OPTIMIST_OWNER";

/// Kills what the commands of `owner` left running, and waits until it is gone, within reason.
pub fn end(owner: &str) {
    const PATIENCE: Duration = Duration::from_secs(5);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left: Vec<Pid> = of(owner);
        for pid in &left {
            let _ = rustix::process::kill_process(*pid, Signal::KILL); // it may have ended meanwhile
        }
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that carry `owner`, but for this one. Those of other users cannot be looked into.
fn of(owner: &str) -> Vec<Pid> {
    let entry = format!("{VARIABLE}={owner}");
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| {
            let pid: i32 = process.file_name().to_str()?.parse().ok()?;
            let is_left = carries(&process.path(), &entry) && pid.cast_unsigned() != std::process::id();
            is_left.then(|| Pid::from_raw(pid))?
        })
        .collect()
}

/// A process that waits to be reaped has no environment any more.
fn carries(process: &Path, entry: &str) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn only_what_carries_the_owner_is_killed() {
        let start = |owner: &str| {
            let child = Command::new("sleep").arg("100").env(VARIABLE, owner).spawn().unwrap();
            // `spawn` returns a moment before the kernel shows the new program's environment.
            let (process, entry) = (format!("/proc/{}", child.id()), format!("{VARIABLE}={owner}"));
            while !carries(Path::new(&process), &entry) {
                std::thread::yield_now();
            }
            child
        };
        let owner = format!("here:{}", std::process::id());
        let (mut orphan, mut other) = (start(&owner), start(&format!("{owner}0")));
        end(&owner);
        assert_eq!(orphan.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
