//! Ctrl-C: the first asks the run to end after the trials at hand, the second to end now.

use optimist_study::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::show::say;

/// Listens for Ctrl-C, and for a request to terminate or a terminal that is closed, which are urgent at once.
pub fn listen() -> std::io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_hangup_ignored() {
        signals.add_signal(SIGHUP)?;
    }
    let requested = interrupt.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal != SIGINT {
                requested.request();
            }
            if requested.request() == 1 {
                say("\nstopping after the running trials; press Ctrl-C again to stop them now");
            }
        }
    });
    Ok(interrupt)
}

/// Whether to keep running when the terminal closes, as under `nohup`: the signals that a process ignores are a mask in its status.
/// Where that cannot be read we do not listen, and a closed terminal ends us at once.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 << (SIGHUP - 1) != 0)
}
