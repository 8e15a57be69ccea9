//! The commands, a file each.

pub mod bench;
pub mod import;
pub mod plot;
pub mod run;
pub mod verify;
pub mod worker;
