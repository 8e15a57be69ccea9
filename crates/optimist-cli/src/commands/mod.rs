//! The commands, a file each.

pub mod bench;
pub mod run;
