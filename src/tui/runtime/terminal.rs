//! The terminal: taken over at the start, given back whatever happens.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;

use crate::fs::patient::{self, Patient};

/// Alternate scroll: the wheel sends arrow keys, and text can still be selected with the mouse.
const WHEEL_ON: &str = "\x1b[?1007h";
const WHEEL_OFF: &str = "\x1b[?1007l";

/// Whether the terminal is ours at this moment.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen, drawn in one write a frame.
pub type Screen = Terminal<CrosstermBackend<io::BufWriter<Patient<Stdout>>>>;

/// Whether the screens have been left for good.
static LEFT: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours; dropping it gives it back.
#[derive(Debug)]
pub struct Taken;

/// What is done with a signal that asks us to end; once the screens are left signals are not for us then.
static AT_LAST: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// The signal that ends us, while what it ends has still to be seen to its end; 0 for none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// The signal that asked us to end, if [`at_last`] was set: nothing more is drawn then.
pub fn ended_by() -> Option<i32> {
    match ENDED_BY.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// Sets what is done with a signal instead of ending at once: it must make the screens leave. Only once.
pub fn at_last(act: impl Fn(i32) + Send + Sync + 'static) {
    let _ = AT_LAST.set(Box::new(act));
}

/// What another process does with us while the screens are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It asks us to stop for a while.
    Pause,
    /// It lets us go on.
    GoesOn,
}

/// Held while something is written to the screens, and from when the terminal has been given back for good.
static PAINTING: Mutex<()> = Mutex::new(());

/// How often giving the terminal back looks whether a frame is still being written, a millisecond apart. A terminal
/// that takes nothing any more must not hold it up.
const LOOKS: u32 = 100;

/// Writes to the terminal while it is ours; once it has been given back, nothing.
///
/// # Errors
/// Those of writing.
pub fn paint(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let _painting = PAINTING.lock().unwrap_or_else(PoisonError::into_inner);
    if TAKEN.load(Ordering::SeqCst) { write() } else { Ok(()) }
}

/// Waits a moment for a frame that is being written; none is begun while what is returned is held.
fn between_frames() -> Option<MutexGuard<'static, ()>> {
    for _ in 0..LOOKS {
        match PAINTING.try_lock() {
            Ok(painting) => return Some(painting),
            Err(TryLockError::Poisoned(painting)) => return Some(painting.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Takes over the terminal, and makes sure that a panic or a signal gives it back. `tell` hears of what others do
/// with us meanwhile.
pub fn take(tell: impl Fn(Outside) + Send + 'static) -> io::Result<(Taken, Screen)> {
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let main = std::thread::current().name() == Some("main");
        if main {
            restore();
            earlier(info);
        }
    }));
    give_back_on_signals(tell)?;
    enter()?;
    let backend = CrosstermBackend::new(io::BufWriter::with_capacity(1 << 16, patient::screen()));
    Ok((Taken, Terminal::new(backend)?))
}

/// Raw mode and the alternate screen; again after having been stopped.
pub fn enter() -> io::Result<()> {
    terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(patient::screen(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    patient::screen().write_all(WHEEL_ON.as_bytes())?;
    patient::screen().flush()
}

/// Clears the terminal, on which others have written, so that the next frame is drawn whole. `Terminal::clear` asks
/// the terminal where its cursor is, and one that does not answer would end the screens.
pub fn forget(screen: &mut Screen) -> io::Result<()> {
    let size = screen.size()?;
    screen.resize(Rect::new(0, 0, size.width, size.height))
}

/// Gives the terminal back; harmless when it is not taken.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = patient::screen();
        let _ = out.write_all(WHEEL_OFF.as_bytes());
        let _ = execute!(out, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        restore();
        LEFT.store(true, Ordering::SeqCst);
    }
}

/// A thread of its own, so that a busy or stuck loop cannot hold up leaving.
fn give_back_on_signals(tell: impl Fn(Outside) + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals =
        signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            match (LEFT.load(Ordering::SeqCst), AT_LAST.get()) {
                (true, _) if signal == SIGCONT => {}
                (false, _) if signal == SIGTSTP => tell(Outside::Pause),
                // Where the terminal is not ours we have stopped ourselves, and take it again ourselves.
                (false, _) if signal == SIGCONT => {
                    if TAKEN.load(Ordering::SeqCst) {
                        tell(Outside::GoesOn);
                    }
                }
                (true, Some(_)) => {}
                (true, None) => drop(signal_hook::low_level::emulate_default_handler(signal)),
                (false, Some(act)) => {
                    ENDED_BY.store(signal, Ordering::SeqCst);
                    let painting = between_frames();
                    restore();
                    drop(painting);
                    act(signal);
                }
                (false, None) => {
                    let _painting = between_frames();
                    restore();
                    signal_hook::low_level::exit(128 + signal);
                }
            }
        }
    })?;
    Ok(())
}

/// Stops the program as Ctrl-Z stops others, and takes the terminal again when it goes on.
pub fn suspend() -> io::Result<()> {
    restore();
    // It stops us, whoever has taken the signal; and it is over when we go on.
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
    enter()
}

/// Takes the terminal again that was taken from us without our doing: its modes, but not its other screen, which it
/// still shows.
pub fn reclaim() -> io::Result<()> {
    terminal::disable_raw_mode()?;
    terminal::enable_raw_mode()?;
    paint(|| {
        let mut out = patient::screen();
        execute!(out, EnableBracketedPaste, cursor::Hide)?;
        out.write_all(WHEEL_ON.as_bytes())?;
        out.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_painted_on_a_terminal_that_is_not_ours() {
        let mut painted = false;
        paint(|| {
            painted = true;
            Ok(())
        })
        .unwrap();
        assert!(!painted);
        let held = between_frames();
        assert!(held.is_some() && PAINTING.try_lock().is_err());
    }
}
