//! Ctrl-C: the first asks the run to end after the trials at hand, the second to end now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What the user has asked for so far.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Listens for Ctrl-C, and for a request to terminate, which is urgent at once.
    pub fn listen() -> std::io::Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let requests = Arc::clone(&interrupt.0);
        std::thread::spawn(move || {
            for signal in signals.forever() {
                requests.fetch_add(if signal == SIGTERM { 2 } else { 1 }, Ordering::Relaxed);
                if requests.load(Ordering::Relaxed) == 1 {
                    eprintln!("\nstopping after the trials at hand; press Ctrl-C again to stop them now");
                }
            }
        });
        Ok(interrupt)
    }

    /// No new trial is wanted.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// Running trials are to be stopped, too.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}
