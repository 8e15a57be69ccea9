//! The commands, a file each.

pub mod amend;
pub mod ask;
pub mod backup;
pub mod best;
pub mod completions;
pub mod create;
pub mod delete;
pub mod enqueue;
pub mod export;
pub mod fail;
pub mod import;
pub mod init;
pub mod list;
pub mod plot;
pub mod retry;
pub mod run;
pub mod salvage;
pub mod show;
pub mod tell;
pub mod trials;
pub mod verify;
pub mod worker;
