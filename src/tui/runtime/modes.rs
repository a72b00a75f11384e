//! The terminal's modes: raw while the screens have it, otherwise as they were found.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The modes that were found. crossterm knows them too, but opens the terminal to set them, which fails where there
/// are no descriptors to be had.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

fn found() -> MutexGuard<'static, Option<Termios>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the modes of the screens, whatever another process has set meanwhile.
///
/// # Errors
/// Those of the terminal.
pub(super) fn take() -> io::Result<()> {
    // Otherwise crossterm takes them for set.
    disable_raw_mode()?;
    *found() = tcgetattr(io::stdout()).ok();
    enable_raw_mode()
}

/// Sets the modes that were found; harmless when they are set.
pub(super) fn give_back() {
    if disable_raw_mode().is_err()
        && let Some(modes) = found().as_ref()
    {
        // A terminal that is gone needs no modes.
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, modes);
    }
}
