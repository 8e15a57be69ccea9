//! A process group that ends with us, however we end.
//!
//! Its leader is a small shell that reads from a pipe which only we hold. When we are gone, even by SIGKILL, the system
//! closes the pipe, and the shell kills the whole group, itself included. A command is born into the group, so there is no
//! moment at which it could be missed. No `unsafe` is needed, which a parent-death signal would: that reaches neither
//! grandchildren nor a command whose starting thread has ended.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};

/// Signals to the group that a command sends to stop itself and its children must not take the guard away.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM; read -r _; kill -s KILL 0";

/// The leader of a process group. The group is killed when this is dropped.
pub(super) struct Guard(Child);

impl Guard {
    /// Starts a group with nobody else in it.
    ///
    /// # Errors
    /// If there is no shell.
    pub fn start() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).env_clear().current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self(shell.spawn()?))
    }

    /// Has `command` started in the group.
    pub fn admit(&self, command: &mut Command) {
        command.process_group(self.group().as_raw_pid());
    }

    /// Kills everybody in the group. Until the guard is dropped, nobody else can get its number.
    pub fn kill(&self) {
        let _ = rustix::process::kill_process_group(self.group(), Signal::KILL); // fails only if nobody is left
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.wait();
    }
}
