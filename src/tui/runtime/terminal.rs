//! The terminal: taken over at the start, given back whatever happens.

use std::io::{self, Stdout, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

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

/// Takes over the terminal, and makes sure that a panic or a signal gives it back.
pub fn take() -> io::Result<(Taken, Screen)> {
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let main = std::thread::current().name() == Some("main");
        if main {
            restore();
            earlier(info);
        }
    }));
    give_back_on_signals()?;
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
fn give_back_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            match (LEFT.load(Ordering::SeqCst), AT_LAST.get()) {
                (true, Some(_)) => {}
                (true, None) => drop(signal_hook::low_level::emulate_default_handler(signal)),
                (false, Some(act)) => {
                    ENDED_BY.store(signal, Ordering::SeqCst);
                    restore();
                    act(signal);
                }
                (false, None) => {
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
    signal_hook::low_level::raise(signal_hook::consts::SIGTSTP)?;
    enter()
}
