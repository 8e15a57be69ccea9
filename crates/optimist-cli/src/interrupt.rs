//! Ctrl-C: the first asks the run to end after the trials at hand, the second to end now.

use optimist_study::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Listens for Ctrl-C, and for a request to terminate, which is urgent at once.
pub fn listen() -> std::io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let requested = interrupt.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTERM {
                requested.request();
            }
            if requested.request() == 1 {
                eprintln!("\nstopping after the trials at hand; press Ctrl-C again to stop them now");
            }
        }
    });
    Ok(interrupt)
}
