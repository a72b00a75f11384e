//! The terminal's modes: raw while the screens are shown, otherwise as found at the start.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The modes found at the start. crossterm stores them too, but it opens the terminal to set them, which fails when no
/// file descriptors are left.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

fn found() -> MutexGuard<'static, Option<Termios>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the modes for the screens, even if another process has changed them in the meantime.
///
/// # Errors
/// If the terminal's modes cannot be read or set.
pub(super) fn take() -> io::Result<()> {
    // Otherwise crossterm assumes that raw mode is already set.
    disable_raw_mode()?;
    *found() = tcgetattr(io::stdout()).ok();
    enable_raw_mode()
}

/// Restores the modes found at the start; harmless if they are already set.
pub(super) fn give_back() {
    if disable_raw_mode().is_err()
        && let Some(modes) = found().as_ref()
    {
        // If the terminal is gone, its modes do not matter.
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, modes);
    }
}
