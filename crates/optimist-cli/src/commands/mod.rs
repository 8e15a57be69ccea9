//! One file a command.

pub mod bench;
