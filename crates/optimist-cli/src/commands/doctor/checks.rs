//! Common problems, and how to find them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use optimist::ENGINE_VERSION;
use optimist_study::objective::{Objective, STORAGE_VARIABLE};
use optimist_study::view::number::count;
use optimist_study::{Source, State, Storage, Study};
use rustix::fs::{Access, access, statvfs};
use serde::Serialize;

use crate::storage::{DEFAULT, names};

/// Less than this on a disk is trouble soon.
const LEAST_SPACE: u64 = 100 << 20;

/// Fewer open files than this are too few for a handful of workers.
const LEAST_FILES: u64 = 256;

/// File systems on which SQLite's locks do not hold.
const REMOTE: [&str; 11] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "fuse.sshfs", "fuse.glusterfs"];

/// Something that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    pub what: &'static str,
    #[serde(rename = "ok")]
    pub is_ok: bool,
    /// What was found; if that is trouble, also what to do.
    pub found: String,
}

/// What was looked at so far.
pub struct Checks {
    pub done: Vec<Check>,
}

impl Checks {
    /// Looks at everything.
    pub fn of(storage: anyhow::Result<Storage>) -> Self {
        let mut checks = Self { done: Vec::new() };
        checks.look_at_limits();
        let storage = match storage {
            Ok(storage) => storage,
            Err(error) => {
                checks.trouble("storage", format!("{error:#}"));
                return checks;
            }
        };
        let place = storage.to_string();
        let is_file = place != "memory" && !place.starts_with("postgres://") && !storage.is_remote();
        if is_file {
            if !checks.look_at_file(Path::new(&place)) {
                return checks;
            }
            checks.look_for_another(Path::new(&place));
        } else {
            checks.look_for_another(Path::new(""));
        }
        checks.look_at_studies(&storage, is_file);
        checks
    }

    fn ok(&mut self, what: &'static str, found: impl Into<String>) {
        self.done.push(Check { what, is_ok: true, found: found.into() });
    }

    fn trouble(&mut self, what: &'static str, found: impl Into<String>) {
        self.done.push(Check { what, is_ok: false, found: found.into() });
    }

    /// Trouble, or else that all is well.
    fn conclude(&mut self, what: &'static str, troubles: Vec<String>, well: impl Into<String>) {
        match troubles.is_empty() {
            true => self.ok(what, well),
            false => troubles.into_iter().for_each(|trouble| self.trouble(what, trouble)),
        }
    }

    fn look_at_limits(&mut self) {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let mut troubles = Vec::new();
        if let Some(bytes) = limit(&limits, "Max file size") {
            troubles.push(format!(
                "files can have at most {} (`ulimit -f`); the storage must be able to grow",
                size(bytes)
            ));
        }
        if let Some(files) = limit(&limits, "Max open files").filter(|files| *files < LEAST_FILES) {
            troubles
                .push(format!("at most {files} open files (`ulimit -n`); raise the limit to {LEAST_FILES}"));
        }
        self.conclude("limits", troubles, "file size and open-file limits are fine");
    }

    /// The file may be written, and lies where SQLite works. Whether its folder exists.
    fn look_at_file(&mut self, file: &Path) -> bool {
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let Ok(folder) = folder.canonicalize() else {
            self.trouble("storage", format!("there is no folder {}; create it", folder.display()));
            return false;
        };
        let mut troubles = Vec::new();
        for place in [folder.clone(), file.to_owned()] {
            if place.exists() && access(&place, Access::WRITE_OK).is_err() {
                troubles
                    .push(format!("{} is read-only: studies can be viewed but not changed", place.display()));
            }
        }
        if std::fs::metadata(file).is_ok_and(|found| found.mode() & 0o002 != 0) {
            let file = file.display();
            troubles
                .push(format!("{file} is world-writable: anyone can run commands here; `chmod o-w {file}`"));
        }
        self.conclude("permissions", troubles, "the file and its folder are writable");

        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        match file_system(&mounts, &folder) {
            Some(kind) if REMOTE.contains(&kind) => self.trouble(
                "file system",
                format!(
                    "{} is on {kind}, where SQLite's locks don't work; use a local disk or PostgreSQL",
                    folder.display()
                ),
            ),
            Some(kind) => self.ok("file system", kind),
            None => {}
        }
        if let Ok(disk) = statvfs(&folder) {
            let free = disk.f_bavail * disk.f_frsize;
            let found = format!("{} free", size(free));
            match free < LEAST_SPACE {
                true => self.trouble("disk", format!("{found}; runs wait when the disk is full")),
                false => self.ok("disk", found),
            }
        }
        true
    }

    /// Studies are often looked for in the wrong place.
    fn look_for_another(&mut self, file: &Path) {
        let is_set = std::env::var_os(STORAGE_VARIABLE).is_some_and(|place| !place.is_empty());
        let other = Path::new(DEFAULT);
        let is_same = |other: &Path| other.canonicalize().ok() == file.canonicalize().ok();
        if is_set && other.is_file() && !is_same(other) {
            self.trouble(
                "place",
                format!("there is also {DEFAULT} in this folder; {STORAGE_VARIABLE} is set, so it is only used with --storage {DEFAULT}"),
            );
        }
    }

    fn look_at_studies(&mut self, storage: &Storage, is_file: bool) {
        let names = match names(storage) {
            Ok(names) => names,
            Err(error) => return self.trouble("storage", error.to_string()),
        };
        let kind = match is_file {
            true => std::fs::metadata(storage.to_string())
                .map_or("does not exist yet".to_owned(), |file| size(file.len())),
            false => "reachable".to_owned(),
        };
        self.ok("storage", format!("{storage}: {}, {kind}", studies(names.len())));
        let (mut damaged, mut lost, mut absent, mut ahead, mut other) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
        for name in &names {
            let mut study = match Study::open(storage, name) {
                Ok(study) => study,
                Err(error) => {
                    damaged.push(format!("study `{name}` cannot be opened: {error}"));
                    continue;
                }
            };
            let expired =
                study.leases().map_or(0, |leases| leases.iter().filter(|lease| lease.has_expired).count());
            let state = study.state();
            if expired > 0 {
                let trials = count(expired, "trial");
                let them = if expired == 1 { "it" } else { "them" };
                lost.push(format!(
                    "study `{name}`: the worker of {trials} is gone; the next worker runs {them} again"
                ));
            }
            let objective = state.plan().objective.as_ref();
            absent.extend(objective.and_then(missing).map(|missing| format!("study `{name}`: {missing}")));
            other += usize::from(by_other_engines(state) > 0);
            let created = UNIX_EPOCH + Duration::from_millis(state.created_at());
            if created.duration_since(SystemTime::now()).is_ok_and(|ahead| ahead > Duration::from_secs(60)) {
                ahead.push(format!(
                    "study `{name}`: the start time is in the future; check the clocks of your machines"
                ));
            }
        }
        if !names.is_empty() {
            self.conclude("studies", damaged, "all can be opened");
            self.conclude("workers", lost, "every running trial has its worker");
            self.conclude("objectives", absent, "all commands found");
            self.conclude("clock", ahead, "no start time is in the future");
            self.ok(
                "engine",
                match other {
                    0 => format!("all suggestions were made by engine {ENGINE_VERSION}"),
                    n => format!(
                        "{} with suggestions of other engines, which `verify` cannot compare",
                        studies(n)
                    ),
                },
            );
        }
    }
}

/// What an objective lacks on this machine.
fn missing(objective: &Objective) -> Option<String> {
    if !objective.folder.is_dir() {
        let folder = objective.folder.display();
        return Some(format!(
            "its objective runs in {folder}, which does not exist here; use `optimist worker --folder`"
        ));
    }
    let program = objective.command.first()?;
    let is_there = match program.contains('/') {
        true => is_program(&objective.folder.join(program)),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder: PathBuf| is_program(&folder.join(program)))
        }
    };
    (!is_there).then(|| {
        format!(
            "its objective runs `{program}`, which is not on this machine; install it, or correct `command`"
        )
    })
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

fn by_other_engines(state: &State) -> usize {
    let is_other = |source: &Source| match source {
        Source::Suggested { engine, .. } => engine.unwrap_or(state.engine()) != ENGINE_VERSION,
        _ => false,
    };
    state.trials().iter().filter(|trial| is_other(&trial.source)).count()
}

/// The soft limit of that name in `/proc/self/limits`; `None` if there is none.
fn limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The kind of file system that `folder` is on: that of the longest mount point above it, in `/proc/self/mountinfo`.
fn file_system<'m>(mounts: &'m str, folder: &Path) -> Option<&'m str> {
    let mount = |line: &'m str| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        folder.starts_with(&point).then_some((point.len(), after.split(' ').next()?))
    };
    // Of two at the same place the later is on top, and `max_by_key` gives the last.
    mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

fn studies(n: usize) -> String {
    if n == 1 { "1 study".to_owned() } else { format!("{n} studies") }
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1000.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_is_that_of_the_nearest_mount_point() {
        let mounts = "22 1 0:20 / / rw,relatime - ext4 /dev/sda1 rw\n\
                      40 22 0:36 / /home rw shared:1 - nfs4 server:/home rw\n\
                      41 40 0:37 / /home/me/my\\040disk rw - ext4 /dev/sdb1 rw\n";
        let of = |folder: &str| file_system(mounts, Path::new(folder));
        assert_eq!(of("/var/lib"), Some("ext4"));
        assert_eq!(of("/home/me/lab"), Some("nfs4"));
        assert_eq!(of("/homes"), Some("ext4"));
        assert_eq!(of("/home/me/my disk/lab"), Some("ext4"));
        assert_eq!(file_system("", Path::new("/")), None);
    }

    #[test]
    fn limits_are_read_and_no_limit_is_none() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max file size             unlimited            unlimited            bytes     \n\
                      Max open files            128                  4096                 files     \n";
        assert_eq!((limit(limits, "Max file size"), limit(limits, "Max open files")), (None, Some(128)));
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(
            (size(999), size(1_500), size(2_000_000_000)),
            ("999 B".into(), "1.5 kB".into(), "2.0 GB".into())
        );
    }
}
