//! Who runs a trial, so that others can tell when it is gone.
//!
//! A process that was killed leaves its leases behind, and they would have to run out. On the same machine there is no
//! need to wait: the owner of a lease names its process, and whether that still exists can be seen, where there is a `/proc`.
//! Elsewhere leases run out.

use std::fs;

/// This process.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// For people: `host/pid`.
    pub name: String,
    /// For leases: the boot of the machine, the namespace of process ids, the id, and when the process began. Ids are used
    /// again, all four together are not.
    pub owner: String,
}

impl Identity {
    /// That of the current process.
    pub fn current() -> Self {
        let (host, pid) = (host(), pid());
        let name = format!("{host}/{pid}");
        let owner = match (here(), started(pid)) {
            (Some(here), Some(started)) => format!("{here}:{pid}:{started}"),
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
        (here()? == place).then(|| started(pid).as_deref() != Some(began))
    };
    gone().unwrap_or(false)
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

/// When a process began, in ticks since the boot; `None` if there is none, or it waits to be reaped.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses, and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18).map(str::to_owned))?
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
        let owner = format!("{}:{}:{}", here().unwrap(), child.id(), started(child.id()).unwrap());
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
}
