//! Who runs a trial, so that others can tell when it is gone.
//!
//! A process that was killed leaves its leases behind, and they would have to run out. On the same machine there is no
//! need to wait: the owner of a lease names its process, and whether that still exists can be seen, where there is a `/proc`.
//! Elsewhere leases run out.

use std::fs;
use std::path::Path;

/// Where the system shows its processes.
const PROC: &str = "/proc";

/// A process on a machine, as leases name it: enough to find out whether it has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// For people: `host/pid`.
    pub name: String,
    /// For leases: the boot of the machine, the namespace of process ids, the id, and when the process began. Ids are used
    /// again, all four together are not.
    pub owner: String,
}

impl Identity {
    /// The identity of the current process.
    pub fn current() -> Self {
        let (host, pid) = (host(), pid());
        let name = format!("{host}/{pid}");
        let owner = match (here(), look(Path::new(PROC), pid)) {
            (Some(here), ProcessStatus::Runs { started }) => format!("{here}:{pid}:{started}"),
            _ => name.clone(),
        };
        Self { name, owner }
    }
}

/// Whether the process that owns a lease has certainly ended. `false` if it cannot be known from here.
pub fn is_gone(owner: &str) -> bool {
    let gone = || {
        let (rest, began) = owner.rsplit_once(':')?;
        let (place, pid) = rest.rsplit_once(':')?;
        let pid: u32 = pid.parse().ok()?;
        (here()? == place).then(|| match look(Path::new(PROC), pid) {
            ProcessStatus::Runs { started } => started != began,
            ProcessStatus::Ended => true,
            ProcessStatus::Hidden => false,
        })
    };
    gone().unwrap_or(false)
}

/// Sees to it that nothing is left of what the commands of a process that has ended have started.
pub fn end_orphans(owner: &str) {
    #[cfg(feature = "command")]
    crate::command::orphans::end(owner);
    #[cfg(not(feature = "command"))]
    let _ = owner;
}

/// The name of the machine.
#[cfg(feature = "command")]
fn host() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// As far as the standard library can know it.
#[cfg(not(feature = "command"))]
fn host() -> String {
    let by_variable = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let by_kernel = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    by_kernel.or_else(by_variable).map_or_else(|| "localhost".to_owned(), |name| name.trim().to_owned())
}

/// The number of this process; 0 where there are no processes.
fn pid() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// Where process ids mean the same as here.
fn here() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}:{namespace}", boot.trim()))
}

/// What can be seen of a process.
#[derive(Debug, PartialEq)]
enum ProcessStatus {
    /// It runs, since this many ticks after the boot.
    Runs { started: String },
    /// There is none, or it waits to be reaped.
    Ended,
    /// There is one that we may not look at: that of another user, where `/proc` hides those.
    Hidden,
}

fn look(proc: &Path, pid: u32) -> ProcessStatus {
    let stat = match fs::read_to_string(proc.join(pid.to_string()).join("stat")) {
        Ok(stat) => stat,
        // Read while it ended, or not there at all; it may also be hidden from us.
        Err(_) if !may_exist(proc, pid) => return ProcessStatus::Ended,
        Err(_) => return ProcessStatus::Hidden,
    };
    // The name of the program stands in parentheses, and may hold anything.
    let mut fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    match (fields.next(), fields.nth(18)) {
        (Some("Z" | "X"), _) => ProcessStatus::Ended,
        (_, Some(started)) => ProcessStatus::Runs { started: started.to_owned() },
        _ => ProcessStatus::Hidden,
    }
}

/// Whether there may be a process of this number: a signal could be sent to it, or is only not allowed.
#[cfg(feature = "command")]
fn may_exist(_: &Path, pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// The same as far as files tell: where processes of others are hidden, none is known to have ended.
#[cfg(not(feature = "command"))]
fn may_exist(proc: &Path, pid: u32) -> bool {
    let hides =
        fs::read_to_string(proc.join("self/mounts")).map_or(true, |mounts| mounts.contains("hidepid="));
    hides || proc.join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_gone_when_it_has_ended_and_not_before() {
        let me = Identity::current();
        assert!(!is_gone(&me.owner), "{me:?}");
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let ProcessStatus::Runs { started } = look(Path::new(PROC), child.id()) else { panic!("it runs") };
        let owner = format!("{}:{}:{started}", here().unwrap(), child.id());
        assert!(!is_gone(&owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&owner));
    }

    #[test]
    fn of_processes_elsewhere_nothing_is_known() {
        let me = Identity::current().owner;
        for owner in [format!("x{me}"), "host/17".to_owned(), String::new(), "::::".to_owned()] {
            assert!(!is_gone(&owner), "{owner}");
        }
        assert!(is_gone(&format!("{me}0")), "another process has this id now");
    }

    #[test]
    #[cfg(feature = "command")]
    fn a_process_that_cannot_be_looked_at_is_not_taken_for_dead() {
        let (hidden, me) = (tempfile::tempdir().unwrap(), std::process::id());
        assert_eq!(
            look(hidden.path(), me),
            ProcessStatus::Hidden,
            "as with hidepid=2: no entry, and yet it runs"
        );
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(look(hidden.path(), child.id()), ProcessStatus::Ended);
        // As with hidepid=1: an entry that cannot be read.
        fs::create_dir_all(hidden.path().join(format!("{me}/stat"))).unwrap();
        assert_eq!(look(hidden.path(), me), ProcessStatus::Hidden);
    }
}
