//! The wish to stop: the first asks a run to end after the trials at hand, the second to end now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was asked for so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Asks to stop; how often that was done now.
    pub fn request(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// No new trial is wanted.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// Whether running trials are stopped, too.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}
