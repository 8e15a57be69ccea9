//! Optimizers to compare GO-UCB with. It uses none of them.

mod random;

pub use random::Random;
