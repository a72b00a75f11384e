//! The terminal: taken over at the start, given back whatever happens.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Stdout, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{QueueSelector, tcflush};

use crate::fs::patient::{self, Patient};
use crate::text::label::label;

use super::modes;

/// Alternate scroll: the wheel sends arrow keys, and text can still be selected with the mouse.
const WHEEL_ON: &str = "\x1b[?1007h";
const WHEEL_OFF: &str = "\x1b[?1007l";

/// Whether overspill has the terminal at this moment.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen, drawn in one write a frame.
pub type TerminalScreen = Terminal<CrosstermBackend<io::BufWriter<Patient<Stdout>>>>;

/// Whether the screens have been left for good.
static LEFT: AtomicBool = AtomicBool::new(false);

/// The terminal while overspill has it; dropping it gives it back.
#[derive(Debug)]
pub struct TerminalGuard;

/// What to do with a signal that asks overspill to end; after the screens are left, signals act as usual.
static AT_LAST: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// The signal that ends overspill, while what it ends has still to be seen to its end; 0 for none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// The signal that asked overspill to end, if [`at_last`] was set: nothing more is drawn then.
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

/// What befalls the screens from outside of their loop.
#[derive(Debug)]
pub enum Outside {
    /// Another process asks overspill to stop for a while.
    Pause,
    /// Another process lets overspill go on.
    GoesOn,
    /// A thread panicked that no other waits for: in words.
    Failed(String),
    /// A thread panicked without which there are no screens.
    Panicked(Panic),
}

/// What a panic carries.
pub type Panic = Box<dyn Any + Send>;

/// What a panic means for the screens, by the thread in which it happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadRole {
    /// The screens go on without it, and tell of it.
    #[default]
    Helper,
    /// The same, but whoever has started it tells of it.
    Caught,
    /// There are no screens without it: the terminal is given back, and the panic is printed.
    Vital,
}

thread_local! {
    static ROLE: Cell<ThreadRole> = const { Cell::new(ThreadRole::Helper) };
}

/// Sets the role of this thread.
pub fn play(role: ThreadRole) {
    ROLE.set(role);
}

/// Does what the screens cannot do without. A panic is handed over, for the loop to end with it.
pub fn vital(work: impl FnOnce(), hand_over: impl FnOnce(Panic)) {
    play(ThreadRole::Vital);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        hand_over(panic);
    }
}

/// What is done when a thread panics.
#[derive(Debug, PartialEq, Eq)]
enum OnPanic {
    /// The terminal is given back if overspill has it, and the panic is printed.
    Print,
    /// The screens tell.
    Tell,
    Nothing,
}

fn on_panic(role: ThreadRole, is_taken: bool) -> OnPanic {
    match (role, is_taken) {
        (ThreadRole::Vital, _) | (_, false) => OnPanic::Print,
        (ThreadRole::Helper, true) => OnPanic::Tell,
        (ThreadRole::Caught, true) => OnPanic::Nothing,
    }
}

/// Held while something is written to the screens, and from when the terminal has been given back for good.
static PAINTING: Mutex<()> = Mutex::new(());

/// How often giving the terminal back looks whether a frame is still being written, a millisecond apart. A terminal
/// that takes nothing any more must not hold it up.
const LOOKS: u32 = 100;

/// Nobody reads a terminal that takes nothing in two looks so far apart.
const UNREAD_AFTER: Duration = Duration::from_millis(500);

/// Writes to the terminal while overspill has it; once it has been given back, nothing.
///
/// # Errors
/// Those of writing.
pub fn paint(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let _painting = PAINTING.lock().unwrap_or_else(PoisonError::into_inner);
    if TAKEN.load(Ordering::SeqCst) { write() } else { Ok(()) }
}

/// Waits a moment for a frame that is being written, doing something meanwhile; none is begun while what is returned
/// is held.
fn between_frames(meanwhile: impl Fn()) -> Option<MutexGuard<'static, ()>> {
    for _ in 0..LOOKS {
        match PAINTING.try_lock() {
            Ok(painting) => return Some(painting),
            Err(TryLockError::Poisoned(painting)) => return Some(painting.into_inner()),
            Err(TryLockError::WouldBlock) => {
                meanwhile();
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    None
}

/// Takes over the terminal, and makes sure that a panic or a signal gives it back. `tell` hears of what befalls the
/// screens meanwhile. The thread that calls this must be that of the loop.
pub fn take(
    tell: impl Fn(Outside) + Clone + Send + Sync + 'static,
) -> io::Result<(TerminalGuard, TerminalScreen)> {
    play(ThreadRole::Vital);
    let (earlier, told) = (std::panic::take_hook(), tell.clone());
    std::panic::set_hook(Box::new(move |info| match on_panic(ROLE.get(), TAKEN.load(Ordering::SeqCst)) {
        OnPanic::Print => {
            restore();
            earlier(info);
        }
        OnPanic::Tell => told(Outside::Failed(label(format!("a thread failed: {info}").as_bytes()))),
        OnPanic::Nothing => {}
    }));
    give_back_on_signals(tell)?;
    // Whatever fails from here on gives it back.
    let taken = TerminalGuard;
    enter()?;
    let backend = CrosstermBackend::new(io::BufWriter::with_capacity(1 << 16, patient::screen()));
    Ok((taken, Terminal::new(backend)?))
}

/// Raw mode and the alternate screen; again after having been stopped.
pub fn enter() -> io::Result<()> {
    modes::take()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(patient::screen(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    patient::screen().write_all(WHEEL_ON.as_bytes())?;
    patient::screen().flush()
}

/// Clears the terminal, on which others have written, so that the next frame is drawn whole. `Terminal::clear` asks
/// the terminal where its cursor is, and one that does not answer would end the screens.
pub fn forget(screen: &mut TerminalScreen) -> io::Result<()> {
    let size = screen.size()?;
    screen.resize(Rect::new(0, 0, size.width, size.height))
}

/// Gives the terminal back; harmless when it is not taken.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = patient::screen();
        let _ = out.write_all(WHEEL_OFF.as_bytes());
        let _ = execute!(out, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
        modes::give_back();
    }
}

/// Gives the terminal back before a signal ends overspill; what is returned keeps all others from painting. A terminal that
/// takes nothing any more loses what it has not taken yet; if that does not help, it gets its modes back and no more:
/// to write would be to wait for it.
fn restore_at_last() -> Option<MutexGuard<'static, ()>> {
    let mut painting = between_frames(|| {});
    if painting.is_none() || !has_room() {
        drop_unread();
        // A frame that is under way fills the terminal again and again.
        painting = painting.or_else(|| between_frames(drop_unread));
    }
    if painting.is_some() && has_room() {
        restore();
    } else if TAKEN.swap(false, Ordering::SeqCst) {
        modes::give_back();
    }
    painting
}

/// Takes back what the terminal has not taken, if it takes nothing.
fn drop_unread() {
    if !has_room() {
        let _ = tcflush(io::stdout(), QueueSelector::OFlush);
    }
}

/// From now on a terminal that takes nothing for a while loses what it has not taken, so that what overspill still
/// says of an output after its screens holds nobody up. It ends with the program.
fn never_wait() {
    let work = || {
        let (mut was_full, mut is_unread) = (false, false);
        loop {
            std::thread::sleep(if is_unread { Duration::from_millis(1) } else { UNREAD_AFTER });
            let is_full = !has_room();
            is_unread |= is_full && was_full;
            was_full = is_full;
            if is_unread && is_full {
                drop_unread();
                // Who waits for room is not woken by that, but is by a signal, which means nothing here.
                let _ = kill_process(getpid(), Signal::CONT);
            }
        }
    };
    // Without a thread it waits.
    let _ = std::thread::Builder::new().name("unread".into()).spawn(work);
}

/// Whether the terminal takes some bytes at once.
fn has_room() -> bool {
    let stdout = io::stdout();
    let mut ends = [PollFd::new(&stdout, PollFlags::OUT)];
    poll(&mut ends, Some(&Timespec::default())).is_ok_and(|count| count > 0)
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
        LEFT.store(true, Ordering::SeqCst);
    }
}

/// A thread of its own, so that a busy or stuck loop cannot hold up leaving.
fn give_back_on_signals(tell: impl Fn(Outside) + Clone + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals =
        signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    let told = tell.clone();
    let heed = move || signals.forever().for_each(|signal| heed(signal, &tell));
    let heed = move || vital(heed, |panic| told(Outside::Panicked(panic)));
    std::thread::Builder::new().name("signals".into()).spawn(heed).map(drop)
}

fn heed(signal: i32, tell: &impl Fn(Outside)) {
    use signal_hook::consts::{SIGCONT, SIGTSTP};
    match (LEFT.load(Ordering::SeqCst), AT_LAST.get()) {
        (true, _) if signal == SIGCONT => {}
        (false, _) if signal == SIGTSTP => tell(Outside::Pause),
        // Where overspill does not have the terminal, it stopped itself, and takes the terminal again itself.
        (false, _) if signal == SIGCONT => {
            if TAKEN.load(Ordering::SeqCst) {
                tell(Outside::GoesOn);
            }
        }
        (true, Some(_)) => {}
        (true, None) => drop(signal_hook::low_level::emulate_default_handler(signal)),
        (false, Some(act)) => {
            ENDED_BY.store(signal, Ordering::SeqCst);
            drop(restore_at_last());
            never_wait();
            act(signal);
        }
        (false, None) => {
            let _painting = restore_at_last();
            signal_hook::low_level::exit(128 + signal);
        }
    }
}

/// Calls once the terminal has been closed. No signal need tell of that: HUP goes to the session's leader only, which
/// may ignore it; and whoever waits for keys may not notice.
///
/// # Errors
/// There is no thread to be had.
pub fn on_close(tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let watch = move || {
        let stdout = io::stdout();
        loop {
            // Nothing is asked for: what is told unasked is that no one holds the other end.
            let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
            match poll(&mut ends, None) {
                Err(Errno::INTR) => {}
                Ok(_) if ends[0].revents().contains(PollFlags::HUP) => return tell(),
                _ => return,
            }
        }
    };
    std::thread::Builder::new().name("terminal".into()).spawn(watch).map(drop)
}

/// Stops the program as Ctrl-Z stops others, and takes the terminal again when it goes on.
pub fn suspend() -> io::Result<()> {
    restore();
    // It stops overspill, whoever took the signal, and is over when overspill goes on.
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
    enter()
}

/// Takes the terminal again that another process took: its modes, but not its other screen, which it
/// still shows.
pub fn reclaim() -> io::Result<()> {
    modes::take()?;
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
    fn a_panic_is_printed_where_the_screens_end_with_it_or_are_not_shown() {
        for is_taken in [true, false] {
            assert_eq!(on_panic(ThreadRole::Vital, is_taken), OnPanic::Print);
        }
        for role in [ThreadRole::Helper, ThreadRole::Caught] {
            assert_eq!(on_panic(role, false), OnPanic::Print, "after the screens it is no secret");
        }
        assert_eq!(on_panic(ThreadRole::Helper, true), OnPanic::Tell);
        assert_eq!(on_panic(ThreadRole::Caught, true), OnPanic::Nothing);
    }

    #[test]
    fn what_the_screens_cannot_do_without_hands_its_panic_over() {
        let (give, taken) = std::sync::mpsc::channel();
        let work = move || vital(|| panic!("deaf"), |panic| give.send(panic).unwrap());
        std::thread::spawn(work).join().unwrap();
        assert_eq!(taken.recv().unwrap().downcast_ref(), Some(&"deaf"));
    }

    #[test]
    fn nothing_is_painted_on_a_terminal_that_is_not_ours() {
        let mut painted = false;
        paint(|| {
            painted = true;
            Ok(())
        })
        .unwrap();
        assert!(!painted);
        let held = between_frames(|| {});
        assert!(held.is_some() && PAINTING.try_lock().is_err());
    }
}
