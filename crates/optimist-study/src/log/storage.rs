//! Where studies are kept, and how to connect to it.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

#[cfg(feature = "http")]
use super::http::HttpServer;
use super::memory::Memory;
#[cfg(feature = "postgres")]
use super::postgres::{PostgresDatabase, is_key_value};
#[cfg(feature = "sqlite")]
use super::sqlite::SqliteFile;
use super::{Log, StorageError};

/// Where studies are kept: `optimist.db`, `postgres://user@host/database`, `https://host:8150`, `memory`, or a [`Backend`] of your own.
#[derive(Clone)]
pub struct Storage {
    backend: Arc<dyn Backend>,
    notify: Notify,
}

/// Makes connections to one storage. How it displays itself is what users read in messages: no passwords.
pub trait Backend: Display + Send + Sync {
    /// Opens a connection, and creates the storage if there is none. `notify` is for trouble that the connection deals with
    /// by itself.
    ///
    /// # Errors
    /// If there is no storage there and none can be made, or it is not ours.
    fn connect(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError>;

    /// Opens a connection for reading what is left of a storage that may be too damaged for [`Backend::connect`].
    ///
    /// # Errors
    /// If nothing is there that could be read.
    fn connect_to_salvage(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
        self.connect(notify)
    }

    /// Whether it is a server that others decide about: commands do not come from there, and are not sent there.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether anything is there to read.
    ///
    /// # Errors
    /// If what is there was once a storage and is none now.
    fn exists(&self) -> Result<bool, StorageError> {
        Ok(true)
    }
}

/// Told, in a sentence, of trouble that is being dealt with, such as a server that has gone away.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

impl Storage {
    /// Whatever `backend` connects to.
    pub fn new(backend: impl Backend + 'static) -> Self {
        Self { backend: Arc::new(backend), notify: Arc::new(|_| ()) }
    }

    /// In memory: gone with the program, shared by its clones.
    pub fn memory() -> Self {
        Self::new(Memory::default())
    }

    /// A SQLite file, made if it is not there.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(path: impl Into<std::path::PathBuf>) -> Self {
        Self::new(SqliteFile(path.into()))
    }

    /// A PostgreSQL database, as `postgres://user:password@host:port/database` or `host=… dbname=…`. What is not said comes
    /// from where `libpq` looks: the variables `PG…`, `~/.pg_service.conf`, `~/.pgpass`.
    #[cfg(feature = "postgres")]
    pub fn postgres(address: impl AsRef<str>) -> Self {
        Self::new(PostgresDatabase::new(address.as_ref()))
    }

    /// A server, `optimist serve`, at `http://host:port` or `https://…`, which the token lets us in to.
    ///
    /// # Errors
    /// If the address cannot be meant.
    #[cfg(feature = "http")]
    pub fn http(address: &str, token: Option<String>) -> Result<Self, StorageError> {
        Ok(Self::new(HttpServer::new(address, token)?))
    }

    /// The same storage, which calls `notify` when there is trouble with it.
    #[must_use]
    pub fn with_notify(self, notify: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { notify: Arc::new(notify), ..self }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If there is no storage there and none can be made, or it is not ours.
    pub fn connect(&self) -> Result<Box<dyn Log>, StorageError> {
        if let Err(error @ StorageError::Empty { .. }) = self.exists() {
            (self.notify)(&format!("starting a new database: {error}"));
        }
        self.backend.connect(&self.notify)
    }

    /// Opens a connection for reading what is left of a storage that may be damaged.
    ///
    /// # Errors
    /// If nothing is there that could be read.
    pub(crate) fn connect_to_salvage(&self) -> Result<Box<dyn Log>, StorageError> {
        self.backend.connect_to_salvage(&self.notify)
    }

    /// Whether it is a server that others decide about: commands do not come from there, and are not sent there.
    pub fn is_remote(&self) -> bool {
        self.backend.is_remote()
    }

    /// Passes a sentence on to `notify`.
    pub(crate) fn notify(&self, sentence: &str) {
        (self.notify)(sentence);
    }

    /// Whether anything is there to read. Of our own backends only a file can be missing.
    ///
    /// # Errors
    /// If there is a file with nothing in it: there may have been studies.
    pub fn exists(&self) -> Result<bool, StorageError> {
        self.backend.exists()
    }
}

impl FromStr for Storage {
    type Err = StorageError;

    fn from_str(word: &str) -> Result<Self, StorageError> {
        match word.split_once("://").filter(|_| !is_key_value(word)) {
            _ if word == "memory" => Ok(Self::memory()),
            _ if word == ":memory:" => Err(StorageError::NoFile { word: word.to_owned() }),
            Some(("postgres" | "postgresql", _)) => database(word),
            Some(("http" | "https", _)) => server(word),
            Some((scheme, _)) => Err(StorageError::UnknownScheme { scheme: scheme.to_owned() }),
            None if word.is_empty() => Err(StorageError::NoPlace),
            None if is_key_value(word) => database(word),
            None => file(word),
        }
    }
}

#[cfg(feature = "sqlite")]
fn file(path: &str) -> Result<Storage, StorageError> {
    Ok(Storage::sqlite(path))
}

#[cfg(not(feature = "sqlite"))]
fn file(_: &str) -> Result<Storage, StorageError> {
    Err(StorageError::NotBuiltIn { what: "SQLite files", feature: "sqlite" })
}

#[cfg(feature = "postgres")]
fn database(url: &str) -> Result<Storage, StorageError> {
    Ok(Storage::postgres(url))
}

#[cfg(feature = "http")]
fn server(address: &str) -> Result<Storage, StorageError> {
    Storage::http(address, std::env::var(crate::objective::TOKEN_VARIABLE).ok())
}

#[cfg(not(feature = "http"))]
fn server(_: &str) -> Result<Storage, StorageError> {
    Err(StorageError::NotBuiltIn { what: "servers", feature: "http" })
}

#[cfg(not(feature = "postgres"))]
fn is_key_value(_: &str) -> bool {
    false
}

#[cfg(not(feature = "postgres"))]
fn database(_: &str) -> Result<Storage, StorageError> {
    Err(StorageError::NotBuiltIn { what: "PostgreSQL databases", feature: "postgres" })
}

/// Without the password.
impl Display for Storage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.backend.fmt(f)
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_by_how_it_looks() {
        let shown = |word: &str| word.parse::<Storage>().unwrap().to_string();
        assert_eq!(shown("memory"), "memory");
        #[cfg(feature = "sqlite")]
        assert_eq!(shown("runs/optimist.db"), "runs/optimist.db");
        #[cfg(feature = "postgres")]
        for (word, expected) in [
            ("postgres://me:secret@host:5433/lab", "postgres://me@host:5433/lab"),
            ("postgresql://host/lab", "postgres://host/lab"),
            ("host=h dbname='lab' password=secret", "postgres://h/lab"),
        ] {
            assert_eq!(shown(word), expected);
        }
        let error = "mysql://host/lab".parse::<Storage>().unwrap_err().to_string();
        assert!(error.contains("`mysql://`") && error.contains("postgres://"), "{error}");
        assert!("".parse::<Storage>().is_err());
        let error = ":memory:".parse::<Storage>().unwrap_err().to_string();
        assert!(error.contains("`memory`"), "{error}");
    }

    #[test]
    #[cfg(not(any(feature = "sqlite", feature = "postgres")))]
    fn what_was_left_out_of_the_program_says_what_brings_it() {
        let error = |word: &str| word.parse::<Storage>().unwrap_err().to_string();
        assert!(error("optimist.db").contains("SQLite files: build it with the feature `sqlite`"));
        let error = error("postgres://me:secret@host/lab");
        assert!(error.contains("PostgreSQL") && error.contains("feature `postgres`"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert_eq!("memory".parse::<Storage>().unwrap().to_string(), "memory");
    }
}
