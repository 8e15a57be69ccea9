//! A child process whose pipes can never block us, and which never outlives us: in a group of its own it is under a
//! `guard`.
//!
//! Each pipe has a thread of its own, and one more waits for the exit; all report to one channel.
//! The benchmark runs its peers and classifiers with it, too.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::guard::Guard;
use crate::interrupt::Interrupt;

/// Longer lines are cut: nobody writes a value of this length.
const LONGEST_LINE: u64 = 1 << 20;
/// How much of standard error is kept.
const TAIL_BYTES: usize = 4096;
/// How many lines of it are shown.
const TAIL_LINES: usize = 12;

/// The process group that a command runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Its own, which is killed as a whole: what the command has started ends with it.
    Own,
    /// Ours: what stops us, such as Ctrl-C in a terminal, stops the command as well.
    Inherited,
}

/// A running command.
pub struct Process {
    child: Child,
    /// Ends the process group of the child with us, if it has one of its own. Dropped after the child was waited for.
    guard: Option<Guard>,
    /// `None` once the input is closed.
    input: Option<Sender<String>>,
    reports: Receiver<Report>,
    errors: Tail,
    /// Pipes that somebody may still write to.
    open_pipes: usize,
    /// Set when the process has exited: until then, its pipes are read to their ends.
    read_until: Option<Instant>,
    status: Option<ExitStatus>,
}

/// What comes next out of a process.
#[derive(Debug)]
pub enum Output {
    /// A line of standard output, without its end.
    Line(String),
    /// There will be no further line.
    Closed,
    /// The process has exited, and all it wrote has been read.
    Ended(ExitStatus),
    /// The deadline has passed.
    TimedOut,
    /// The user wants no more of this.
    Interrupted,
}

enum Report {
    Line(String),
    OutputClosed,
    ErrorsClosed,
    Exited,
}

impl Process {
    /// Starts `command` with all three pipes.
    ///
    /// # Errors
    /// If it cannot be started, or there is no shell to guard its group.
    pub fn start(mut command: Command, group: Group) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let guard = if group == Group::Own { Some(Guard::start()?) } else { None };
        if let Some(guard) = &guard {
            guard.admit(&mut command);
        }
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Bounded, so that a flood is held back in the pipe and not piled up here.
        let (report, reports) = mpsc::sync_channel(256);
        let (input, lines_to_write) = mpsc::channel::<String>();
        let (errors, input) = (Tail::default(), Some(input));
        // Complete before the threads are: if one cannot be started, dropping it ends the child.
        let process =
            Self { child, guard, input, reports, errors, open_pipes: 2, read_until: None, status: None };

        let pid = Pid::from_child(&process.child);
        spawn_thread(&report, move |report| {
            // Does not reap: until `end` does, nobody else can get this process id.
            while let Err(rustix::io::Errno::INTR) =
                rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {
            }
            let _ = report.send(Report::Exited);
        })?;
        if let Some(stdout) = stdout {
            spawn_thread(&report, move |report| read_lines(stdout, &report))?;
        }
        if let Some(stderr) = stderr {
            let errors = process.errors.clone();
            spawn_thread(&report, move |report| {
                errors.read(stderr);
                let _ = report.send(Report::ErrorsClosed);
            })?;
        }
        if let Some(mut stdin) = stdin {
            // A command need not read its input: if it cannot be written, its exit tells the story.
            thread::Builder::new().spawn(move || {
                lines_to_write
                    .iter()
                    .take_while(|text| stdin.write_all(text.as_bytes()).is_ok())
                    .for_each(drop)
            })?;
        }
        Ok(process)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes to standard input, sooner or later: never blocks.
    pub fn send(&self, text: String) {
        if let Some(input) = &self.input {
            let _ = input.send(text);
        }
    }

    /// Ends standard input after all that was sent.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for whatever comes first.
    pub fn next_output(&mut self, deadline: Option<Instant>, interrupt: &Interrupt) -> Output {
        const TICK: Duration = Duration::from_millis(50);
        loop {
            if let Some(status) = self.status {
                return Output::Ended(status);
            }
            let now = Instant::now();
            if let Some(until) = self.read_until {
                if self.open_pipes == 0 || now >= until {
                    match self.end() {
                        Some(status) => return Output::Ended(status),
                        None => return Output::TimedOut,
                    }
                }
            } else if interrupt.is_urgent() {
                return Output::Interrupted;
            } else if deadline.is_some_and(|deadline| now >= deadline) {
                return Output::TimedOut;
            }
            let next = self.read_until.or(deadline);
            let wait = next.map_or(TICK, |next| next.saturating_duration_since(now).min(TICK));
            match self.reports.recv_timeout(wait) {
                Ok(Report::Line(line)) => return Output::Line(line),
                Ok(Report::OutputClosed) => {
                    self.open_pipes -= 1;
                    return Output::Closed;
                }
                Ok(Report::ErrorsClosed) => self.open_pipes -= 1,
                Ok(Report::Exited) => self.exited(),
                Err(RecvTimeoutError::Timeout) => {}
                // All threads are gone: everything has been read.
                Err(RecvTimeoutError::Disconnected) => {
                    self.open_pipes = 0;
                    self.exited();
                }
            }
        }
    }

    /// Whether it is alive and has written nothing since the last line that was taken.
    pub fn is_quiet(&mut self) -> bool {
        loop {
            match self.reports.try_recv() {
                Ok(Report::ErrorsClosed) => self.open_pipes -= 1,
                report => return report.is_err(),
            }
        }
    }

    /// Kills the process, with its group if that is its own, and says how it ended.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.kill();
            self.status = self.child.wait().ok();
        }
        self.status
    }

    /// Forgets what was written to standard error so far.
    pub fn forget_errors(&self) {
        self.errors.clear();
    }

    /// The last that was written to standard error.
    pub fn last_errors(&self) -> Option<String> {
        self.errors.text()
    }

    /// What the process left running in a group of its own goes with it; what it wrote is still read.
    fn exited(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        self.kill();
        self.read_until = Some(Instant::now() + PATIENCE);
    }

    fn kill(&self) {
        // Fails only if nobody is left. A command may have left its group.
        let _ = rustix::process::kill_process(Pid::from_child(&self.child), Signal::KILL);
        if let Some(guard) = &self.guard {
            guard.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// "the command exited with status 3".
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the command exited with status {code}"),
        (None, Some(signal)) => format!("the command was killed by signal {signal}"),
        (None, None) => format!("the command ended: {status}"),
    }
}

fn spawn_thread(
    report: &SyncSender<Report>,
    work: impl FnOnce(SyncSender<Report>) + Send + 'static,
) -> std::io::Result<()> {
    let report = report.clone();
    thread::Builder::new().spawn(move || work(report)).map(drop)
}

fn read_lines(stdout: impl Read, report: &SyncSender<Report>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    while stdout.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let is_cut = line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n");
        let mut text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        if is_cut {
            text.push_str("... (longer than 1 MiB)"); // nobody takes what is left for a whole line
            skip_line(&mut stdout);
        }
        if report.send(Report::Line(text)).is_err() {
            return;
        }
        line.clear();
    }
    let _ = report.send(Report::OutputClosed);
}

/// Reads on to the end of the line.
fn skip_line(stdout: &mut impl BufRead) {
    while let Ok(buffer @ [_, ..]) = stdout.fill_buf() {
        let (n, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), false),
        };
        stdout.consume(n);
        if is_end {
            return;
        }
    }
}

/// The last that was written to standard error.
#[derive(Clone, Default)]
struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn read(&self, mut stderr: impl Read) {
        let mut buffer = [0; TAIL_BYTES];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend(&buffer[..read]);
            let excess = bytes.len().saturating_sub(TAIL_BYTES);
            bytes.drain(..excess);
        }
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn text(&self) -> Option<String> {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        (!tail.is_empty()).then_some(tail)
    }
}
