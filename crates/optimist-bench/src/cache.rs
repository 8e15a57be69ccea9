//! Values that took long to get, kept in a file: JSON lines `{"params": {…}, "value": 0.97}`, appended to.
//!
//! Any number of threads and processes may add to a file. A line that cannot be read, because its process died
//! in the middle of it, is passed over: what is lost is only got once more.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use optimist::space::Assignment;
use serde::{Deserialize, Serialize};

/// Values by the parameters that they were got for.
pub struct Cache {
    path: PathBuf,
    file: Mutex<File>,
    /// By the parameters as JSON. A slot is locked while its value is being got.
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

type Slot = Mutex<Option<f64>>;

#[derive(Serialize, Deserialize)]
struct Line<P> {
    params: P,
    value: f64,
}

/// A cache that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct CacheError {
    /// The file that could not be used.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl Cache {
    /// Opens the file, or makes it with the folders above it, and reads what is there.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn open(path: &Path) -> Result<Cache, CacheError> {
        let fail = |source| CacheError { path: path.to_owned(), source };
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(fail)?;
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(fail)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        let text = String::from_utf8_lossy(&bytes);
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(fail)?; // a torn line spoils no other
        }
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line<Assignment>>(line).ok());
        let slots = lines.map(|line| (key(&line.params), Arc::new(Mutex::new(Some(line.value))))).collect();
        Ok(Cache { path: path.to_owned(), file: Mutex::new(file), slots: Mutex::new(slots) })
    }

    /// The value for `params`: from the file, or else from `get`, which is then asked once whoever else
    /// wants it at the same time. A failure is not kept.
    ///
    /// # Errors
    /// Those of `get`, and if the value cannot be written.
    pub fn value<E: From<CacheError>>(
        &self,
        params: &Assignment,
        get: impl FnOnce() -> Result<f64, E>,
    ) -> Result<f64, E> {
        let slot = Arc::clone(lock(&self.slots).entry(key(params)).or_default());
        let mut slot = lock(&slot);
        if let Some(value) = *slot {
            return Ok(value);
        }
        let value = get()?;
        self.append(params, value)?;
        *slot = Some(value);
        Ok(value)
    }

    /// One write a line, so that lines of several processes do not mix.
    fn append(&self, params: &Assignment, value: f64) -> Result<(), CacheError> {
        let line = serde_json::to_string(&Line { params, value }).expect("names, numbers and text are JSON");
        let written = lock(&self.file).write_all(format!("{line}\n").as_bytes());
        written.map_err(|source| CacheError { path: self.path.clone(), source })
    }
}

/// Parameters are always given in the same order.
fn key(params: &Assignment) -> String {
    serde_json::to_string(params).expect("names, numbers and text are JSON")
}

/// A thread that panicked while it held the lock left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn params(x: f64) -> Assignment {
        Assignment::from_iter([("kind", "rf".into()), ("x", optimist::space::Value::Float(x))])
    }

    fn keep(cache: &Cache, x: f64, value: f64) -> f64 {
        cache.value(&params(x), || Ok::<_, CacheError>(value)).unwrap()
    }

    #[test]
    fn a_value_is_got_once_and_kept_for_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/cache.jsonl");
        let third = 1.0 / 3.0;
        assert_eq!(keep(&Cache::open(&path).unwrap(), third, 0.1 + 0.2), 0.1 + 0.2);
        let again = Cache::open(&path).unwrap();
        assert_eq!(keep(&again, third, 7.0), 0.1 + 0.2);
        assert_eq!(keep(&again, 1.0, 7.0), 7.0, "another configuration has a value of its own");
        assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_torn_line_loses_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.jsonl");
        let cache = Cache::open(&path).unwrap();
        keep(&cache, 1.0, 1.0);
        keep(&cache, 2.0, 2.0);
        let whole = fs::read_to_string(&path).unwrap();
        let first = whole.find('\n').unwrap() + 1;
        for length in first..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            keep(&Cache::open(&path).unwrap(), 3.0, 3.0);
            let mended = Cache::open(&path).unwrap();
            assert_eq!((keep(&mended, 1.0, 0.0), keep(&mended, 3.0, 0.0)), (1.0, 3.0), "cut at {length}");
        }
    }

    #[test]
    fn threads_that_want_the_same_value_wait_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache.jsonl")).unwrap();
        let asked = AtomicUsize::new(0);
        let get = || {
            asked.fetch_add(1, Ordering::SeqCst);
            std::thread::yield_now();
            Ok::<_, CacheError>(0.5)
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(cache.value(&params(1.0), get).unwrap(), 0.5));
            }
        });
        assert_eq!(asked.into_inner(), 1);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.jsonl");
        let cache = Cache::open(&path).unwrap();
        let fail = || Err(CacheError { path: path.clone(), source: std::io::Error::other("no luck") });
        assert!(cache.value(&params(1.0), fail).is_err());
        assert_eq!(keep(&cache, 1.0, 0.5), 0.5);
    }
}
