//! Signals that are meant for the command that we run, rather than for us.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::capture::Control;

/// The signals that ask a program to stop, taken from now on; they wait until there is a command.
pub struct Passing {
    signals: Signals,
}

impl Passing {
    /// Takes them, but for those that whoever started us has set aside, as `nohup` does.
    pub fn begin() -> io::Result<Passing> {
        let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
        let signals = Signals::new(all.into_iter().filter(|signal| !is_ignored(*signal)))?;
        Ok(Passing { signals })
    }

    /// Passes them to a command, those that have come meanwhile first. Once it is over they are for
    /// us again.
    pub fn to(mut self, control: Control) {
        std::thread::spawn(move || {
            for signal in self.signals.forever() {
                if !control.ask(signal) {
                    // What it cannot do would have been done to us long ago.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        });
    }
}

/// Lets the first Ctrl-C pass; a second one ends us.
pub fn ignore_once() -> io::Result<()> {
    if is_ignored(SIGINT) {
        return Ok(());
    }
    let came = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&came))?;
    signal_hook::flag::register(SIGINT, came)?;
    Ok(())
}

/// Whether we were started with this signal ignored. Only Linux tells without unsafe code.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_mask(&status) & (1 << (signal - 1)) != 0
}

fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignored_mask(status), 1 << (SIGHUP - 1) | 1 << 12);
        assert_eq!(ignored_mask(""), 0);
    }
}
