//! Why storage cannot be used, and what to do about it.

/// Why storage cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// An address that is not one of ours.
    #[error(
        "storage cannot be `{scheme}://`; give a file such as optimist.db, postgres://user@host/database, or https://host:8150"
    )]
    UnknownScheme {
        /// What stood before `://`.
        scheme: String,
    },
    /// An address of a backend that was left out of this program.
    #[error("this program cannot open {what}: build it with the feature `{feature}` of optimist-study")]
    NotBuiltIn {
        /// The kind of storage, such as "PostgreSQL databases".
        what: &'static str,
        /// What brings them.
        feature: &'static str,
    },
    /// An empty word.
    #[error(
        "the name of the storage is empty; give a file such as optimist.db, or postgres://user@host/database"
    )]
    NoPlace,
    /// A name that SQLite would not take for a file's.
    #[error("`{word}` is not a file name; give `memory` to store nothing, or a file such as optimist.db")]
    NoFile {
        /// What was given.
        word: String,
    },
    /// The file cannot be opened or made.
    #[error("cannot open {place}: {reason}; check that the folder is there and that you may write to it")]
    CannotOpen {
        /// Where studies are stored, without passwords.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// The file is something else.
    #[error(
        "{place} is not a study database, or its beginning is damaged; give another file to --storage, move this one away, \
         or restore a copy"
    )]
    NotOurs {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// There is nothing in the file.
    #[error(
        "{place} is an empty file; restore a copy if there were studies in it, or delete it to start over"
    )]
    Empty {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// What was written last cannot be read without writing.
    #[error(
        "{place} cannot be read: its latest changes are in {place}-wal, and applying them needs a writable folder; \
         copy both files to one"
    )]
    Unmerged {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// Written by a later version.
    #[error(
        "{place} was written by a newer version of optimist (format {version}, this one knows {known}); update optimist"
    )]
    Newer {
        /// Where studies are stored, without passwords.
        place: String,
        /// Format version of the file or database.
        version: i64,
        /// The last one known here.
        known: i64,
    },
    /// It may not be written.
    #[error("{place} is read-only; change its permissions and those of its folder, or copy it")]
    ReadOnly {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// There is no room left.
    #[error("cannot write {place}: the disk is full; free some space (nothing stored so far is lost)")]
    Full {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// The system could not do it.
    #[error(
        "cannot read or write {place}: {reason}; check the disk, your quota and the limit on file sizes (`ulimit -f`); \
         nothing stored so far is lost"
    )]
    Disk {
        /// Where studies are stored, without passwords.
        place: String,
        /// What was said.
        reason: String,
    },
    /// Another program has held a lock for too long.
    #[error("{place} is locked by another program; end that program, then try again")]
    Busy {
        /// Where studies are stored, without passwords.
        place: String,
    },
    /// What is there is not what was written.
    #[error(
        "{place} is damaged: {problem}; restore a copy (`optimist backup` makes one), or recover what is intact with `optimist \
         salvage`"
    )]
    Damaged {
        /// Where studies are stored, without passwords.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// The server cannot be reached.
    #[error(
        "cannot reach {place}: {reason}; check the address, and that the server is running and accepts your login"
    )]
    Unreachable {
        /// Where studies are stored, without passwords.
        place: String,
        /// What was said.
        reason: String,
    },
    /// The address of a database is invalid.
    #[error(
        "this database address cannot be used: {reason}; expected an address like postgres://user@host/database"
    )]
    BadAddress {
        /// What is wrong with it, without any part that may be secret.
        reason: String,
    },
    /// The address of a server is invalid.
    #[error("this server address cannot be used: {reason}; expected an address like https://host:8150")]
    BadServer {
        /// What is wrong with it, without any part that may be secret.
        reason: String,
    },
    /// The server denies access, or this particular request.
    #[error("{place} refuses: {reason}")]
    Refused {
        /// Where studies are stored, without passwords.
        place: String,
        /// Why, and what to do.
        reason: String,
    },
    /// What no other variant describes.
    #[error("{place}: {reason}")]
    Other {
        /// Where studies are stored, without passwords.
        place: String,
        /// What was said.
        reason: String,
    },
}

impl StorageError {
    /// Whether retrying may help, without restarting the program.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Full { .. }
                | Self::Disk { .. }
                | Self::Busy { .. }
                | Self::Unreachable { .. }
                | Self::ReadOnly { .. }
        )
    }
}
