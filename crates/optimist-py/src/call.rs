//! Calls from Python: other Python threads run meanwhile, Ctrl-C interrupts, a forked child gets its own thread pool, and a panic
//! becomes an exception.
//!
//! The pool's threads never wait for a lock: the caller takes it first. While a thread of the pool waits for part of its work, it may
//! start another caller's work, and would then wait for itself.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error;

/// How long Ctrl-C may take to be noticed.
const TICK: Duration = Duration::from_millis(20);

/// Does `work` while other Python threads run. If a signal such as Ctrl-C raises an exception, the call returns it at once; `work`
/// runs on to its end, and `undo` gets its result.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    undo: impl FnOnce(T) + Send + 'static,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return run_here(py, work);
    }
    heard(py, || catch_unwind(AssertUnwindSafe(work)), undo)?.map_err(|panic| mistake(py, &*panic))
}

/// The same for work that takes about a millisecond: Ctrl-C takes effect right after it.
pub fn run_here<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| mistake(py, &*panic))
}

/// Whether this is Python's main thread, the only one that handles signals.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
}

type Done<T> = Result<T, Box<dyn Any + Send>>;

/// Work in another thread, and how to undo it if its caller has stopped waiting.
struct Task<T, U> {
    progress: Mutex<Progress<T>>,
    changed: Condvar,
    undo: Mutex<Option<U>>,
}

enum Progress<T> {
    Working,
    Done(Done<T>),
    Abandoned,
}

fn heard<T: Send + 'static, U: FnOnce(T) + Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Done<T> + Send + 'static,
    undo: U,
) -> PyResult<Done<T>> {
    let (progress, changed) = (Mutex::new(Progress::Working), Condvar::new());
    let task = Arc::new(Task { progress, changed, undo: Mutex::new(Some(undo)) });
    let worker = Arc::clone(&task);
    let begun = thread::Builder::new().name("optimist".to_owned()).spawn(move || worker.end(work()));
    begun.map_err(|problem| error::internal(py, problem))?;
    loop {
        if let Some(done) = py.detach(|| task.wait()) {
            return Ok(done);
        }
        py.check_signals().inspect_err(|_| py.detach(|| task.abandon()))?;
    }
}

impl<T, U: FnOnce(T)> Task<T, U> {
    /// Hands the result to the caller, or undoes the work if the caller has stopped waiting.
    fn end(&self, done: Done<T>) {
        let mut progress = lock(&self.progress);
        if matches!(*progress, Progress::Abandoned) {
            drop(progress);
            return self.undo(done);
        }
        *progress = Progress::Done(done);
        self.changed.notify_one();
    }

    /// The result, if the work is done within a tick.
    fn wait(&self) -> Option<Done<T>> {
        let is_working = |progress: &mut Progress<T>| matches!(progress, Progress::Working);
        let waited = self.changed.wait_timeout_while(lock(&self.progress), TICK, is_working);
        let mut progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        match std::mem::replace(&mut *progress, Progress::Working) {
            Progress::Done(done) => Some(done),
            Progress::Working | Progress::Abandoned => None,
        }
    }

    /// The caller stops waiting: undoes the work, now or when it's done.
    fn abandon(&self) {
        let known = std::mem::replace(&mut *lock(&self.progress), Progress::Abandoned);
        if let Progress::Done(done) = known {
            self.undo(done);
        }
    }

    fn undo(&self, done: Done<T>) {
        if let (Ok(done), Some(undo)) = (done, lock(&self.undo).take()) {
            let _ = catch_unwind(AssertUnwindSafe(|| undo(done)));
        }
    }
}

/// Where the last panic happened, which its payload doesn't say.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics from being printed: the exceptions that they become say where they happened.
pub fn quieten_panics() {
    std::panic::set_hook(Box::new(|panic| {
        *lock(&LAST_PANIC) = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
    }));
}

/// The exception for a panic.
fn mistake(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text =
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned());
    let place = lock(&LAST_PANIC).take().unwrap_or_else(|| "an unknown place".to_owned());
    error::internal(py, format!("{text} (at {place})"))
}

/// Locks a mutex, even if a thread panicked while holding it: users of what it guards check it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, but `None` if the lock isn't free within `patience`: after a fork, the thread that held it may not exist.
pub fn try_lock<T>(mutex: &Mutex<T>, patience: Duration) -> Option<MutexGuard<'_, T>> {
    let start = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if start.elapsed() > patience => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(100)),
        }
    }
}

/// The thread pool and the process it belongs to: a forked child has none of its parent's threads.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does `work` with the threads of this process's pool.
pub fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(), // no threads available: rayon uses this one
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let make =
        || ThreadPoolBuilder::new().thread_name(|i| format!("optimist-{i}")).build().ok().map(Arc::new);
    // A thread that no longer exists may have held the lock when this process was forked.
    let Some(mut known) = try_lock(&POOL, Duration::from_millis(50)) else { return make() };
    let pid = std::process::id();
    match &*known {
        Some((owner, pool)) if *owner == pid => Some(Arc::clone(pool)),
        _ => {
            // The parent's pool is left as it is: ending it would wait for threads that are not there.
            std::mem::forget(known.take());
            let pool = make()?;
            *known = Some((pid, Arc::clone(&pool)));
            Some(pool)
        }
    }
}
