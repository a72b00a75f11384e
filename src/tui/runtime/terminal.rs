//! The terminal: taken over at the start, and restored whatever happens.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Stdout, Write};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{self, getpid, kill_process};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

use crate::base::fs::blocking::{self, BlockingIo};
use crate::base::lock;
use crate::tui::event::{Event, Message};

use super::Signal;

/// Alternate scroll: the wheel sends arrow keys, and the mouse can still select text.
const WHEEL_ON: &str = "\x1b[?1007h";

/// Has the terminal remember whether alternate scroll is on (XTSAVE). The answer to a question (DECRQM) would be
/// unknown to the reader of keys, which would take keys for the rest of it. A terminal that knows neither keeps the
/// mode on, which most have on anyway, and which shows only on the alternate screen.
const WHEEL_SAVE: &str = "\x1b[?1007s";

/// Has the terminal go back to what it remembers (XTRESTORE).
const WHEEL_RESTORE: &str = "\x1b[?1007r";

/// Has the terminal send the buttons, of which the wheel is two, with their places (SGR): nothing less sends the wheel.
const BUTTONS_ON: &str = "\x1b[?1000h\x1b[?1006h";
const BUTTONS_OFF: &str = "\x1b[?1006l\x1b[?1000l";

static HAS_BUTTONS: AtomicBool = AtomicBool::new(false);

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen. Each frame is drawn with one write. It is never dropped: ratatui shows the cursor then, and panics if
/// neither the terminal nor standard error, which may be that terminal, can be written. [`restore`] shows the cursor.
pub type TerminalScreen = ManuallyDrop<Terminal<CrosstermBackend<io::BufWriter<BlockingIo<Stdout>>>>>;

static LEFT: AtomicBool = AtomicBool::new(false);

#[derive(Debug)]
pub struct TerminalGuard;

/// The handler of signals that ask overspill to end. Once the screens are left, signals act as usual.
static ON_EXIT_SIGNAL: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// The signal that ends overspill, while the output still has to be completed; 0 for none.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// Returns the signal that ends the screens: one after `on_exit_signal`, or HUP once the terminal is closed.
pub fn ended_by() -> Option<i32> {
    match ENDED_BY.load(Ordering::SeqCst) {
        0 => is_closed().then_some(signal_hook::consts::SIGHUP),
        signal => Some(signal),
    }
}

/// Whether the terminal closed without a signal; HUP is ignored once the screens are left. True once.
pub fn take_missed_hangup() -> bool {
    let hup = signal_hook::consts::SIGHUP;
    is_closed() && ENDED_BY.compare_exchange(0, hup, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Sets the handler of signals that end overspill, once: it must make the screens quit.
pub fn on_exit_signal(act: impl Fn(i32) + Send + Sync + 'static) {
    let _ = ON_EXIT_SIGNAL.set(Box::new(act));
}

/// What a panic in a thread means for the screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadRole {
    /// The screens go on without the thread and report the panic.
    #[default]
    Helper,
    /// The same, but the code that started the thread reports it.
    Caught,
    /// The screens cannot go on: the terminal is restored, and the panic is printed.
    Vital,
}

thread_local! {
    pub(super) static ROLE: Cell<ThreadRole> = const { Cell::new(ThreadRole::Helper) };
}

/// Runs work that the screens cannot do without. A panic is handed over, so that the event loop ends with it.
pub fn run_vital(work: impl FnOnce(), hand_over: impl FnOnce(Box<dyn Any + Send>)) {
    ROLE.set(ThreadRole::Vital);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        hand_over(panic);
    }
}

/// Returns the role of a thread that panics. Before and after the screens, nothing else would print the panic.
fn role_on_panic(role: ThreadRole, is_taken: bool) -> ThreadRole {
    if is_taken { role } else { ThreadRole::Vital }
}

static PAINTING: Mutex<()> = Mutex::new(());

/// How often restoring looks whether a frame is still being written, 1 ms apart: a stuck terminal must not block it.
const LOOKS: u32 = 100;

/// A terminal that accepts nothing in two checks this far apart counts as unread.
const UNREAD_AFTER: Duration = Duration::from_millis(500);

/// Writes to the terminal while overspill has it; afterwards does nothing.
pub fn paint(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let _painting = lock(&PAINTING);
    if TAKEN.load(Ordering::SeqCst) { write() } else { Ok(()) }
}

/// Waits up to [`LOOKS`] ms for the frame being written. None begins while the returned guard is held.
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

/// Takes over the terminal, and makes sure that it is restored. Must be called on the thread of the event loop.
pub fn take(tell: impl Fn(Signal) + Clone + Send + Sync + 'static) -> io::Result<TerminalGuard> {
    ROLE.set(ThreadRole::Vital);
    let (earlier, told) = (std::panic::take_hook(), tell.clone());
    std::panic::set_hook(Box::new(move |info| {
        match role_on_panic(ROLE.get(), TAKEN.load(Ordering::SeqCst)) {
            ThreadRole::Vital => {
                restore();
                earlier(info);
            }
            ThreadRole::Helper => {
                told(Signal::App(Event::Message(Message::error(format!("a thread failed: {info}")))))
            }
            ThreadRole::Caught => {}
        }
    }));
    give_back_on_signals(tell)?;
    // From here on, dropping the guard on any error restores the terminal.
    let taken = TerminalGuard;
    enter()?;
    Ok(taken)
}

pub fn screen() -> io::Result<TerminalScreen> {
    let backend = CrosstermBackend::new(io::BufWriter::with_capacity(1 << 16, blocking::screen()));
    Ok(ManuallyDrop::new(Terminal::new(backend)?))
}

/// The modes found at the start. crossterm's own fail when no file descriptors are left.
static MODES: Mutex<Option<Termios>> = Mutex::new(None);

/// Sets the modes for the screens, even if another process has changed them in the meantime.
fn set_modes() -> io::Result<()> {
    // Otherwise crossterm assumes that raw mode is already set.
    disable_raw_mode()?;
    *lock(&MODES) = tcgetattr(io::stdout()).ok();
    enable_raw_mode()
}

/// Restores the modes found at the start; harmless if they are already set.
fn restore_modes() {
    if disable_raw_mode().is_err()
        && let Some(modes) = lock(&MODES).as_ref()
    {
        // If the terminal is gone, its modes do not matter.
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, modes);
    }
}

/// Enters raw mode and the alternate screen, at the start and after being stopped.
pub fn enter() -> io::Result<()> {
    set_modes()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = blocking::screen();
    out.write_all(WHEEL_SAVE.as_bytes())?;
    queue!(out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    turn_wheel_on(out)
}

/// Has the wheel sent from here on, for as long as overspill has the terminal.
pub fn take_wheel() -> io::Result<()> {
    HAS_BUTTONS.store(true, Ordering::SeqCst);
    paint(|| turn_wheel_on(blocking::screen()))
}

fn turn_wheel_on(mut out: impl Write) -> io::Result<()> {
    out.write_all(WHEEL_ON.as_bytes())?;
    if HAS_BUTTONS.load(Ordering::SeqCst) {
        out.write_all(BUTTONS_ON.as_bytes())?;
    }
    out.flush()
}

/// Clears the terminal after others have written to it, so that the next frame is drawn whole. `Terminal::clear` is no
/// use here: it asks the terminal for the cursor position, and fails if the terminal does not answer.
pub fn clear(screen: &mut TerminalScreen) -> io::Result<()> {
    let size = screen.size()?;
    screen.resize(Rect::new(0, 0, size.width, size.height))
}

pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = blocking::screen();
        if HAS_BUTTONS.load(Ordering::SeqCst) {
            let _ = out.write_all(BUTTONS_OFF.as_bytes());
        }
        let _ = out.write_all(WHEEL_RESTORE.as_bytes());
        let _ = execute!(out, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
        restore_modes();
    }
}

/// Restores the terminal before a signal ends overspill; nothing else paints while the guard is held. If the terminal
/// takes nothing even once what is pending is discarded, only its modes are restored: a write would block.
fn restore_at_last() -> Option<MutexGuard<'static, ()>> {
    let mut painting = between_frames(|| {});
    if painting.is_none() || !has_room() {
        drop_unread();
        // A frame that is still being written keeps filling the terminal.
        painting = painting.or_else(|| between_frames(drop_unread));
    }
    if painting.is_some() && has_room() {
        restore();
    } else if TAKEN.swap(false, Ordering::SeqCst) {
        restore_modes();
    }
    painting
}

fn drop_unread() {
    if !has_room() {
        let _ = tcflush(io::stdout(), QueueSelector::OFlush);
    }
}

/// Starts a thread that discards pending output nobody reads, so that messages after the screens cannot block.
fn discard_unread() {
    let work = || {
        let (mut was_full, mut is_unread) = (false, false);
        loop {
            std::thread::sleep(if is_unread { Duration::from_millis(1) } else { UNREAD_AFTER });
            let is_full = !has_room();
            is_unread |= is_full && was_full;
            was_full = is_full;
            if is_unread && is_full {
                drop_unread();
                // Discarding does not wake a thread that waits for room, but a signal does, and CONT has no other
                // effect here.
                let _ = kill_process(getpid(), process::Signal::CONT);
            }
        }
    };
    // If no thread can be started, such writes block.
    let _ = std::thread::Builder::new().name("unread".into()).spawn(work);
}

/// Waits until one of these events or a hang-up is on the terminal, less than a second if there is a limit.
fn wait_for(events: PollFlags, limit: Option<Duration>) -> PollFlags {
    let stdout = io::stdout();
    let limit = limit.map(|limit| Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() });
    let mut ends = [PollFd::new(&stdout, events)];
    retry_on_intr(|| poll(&mut ends, limit.as_ref())).map_or(PollFlags::empty(), |_| ends[0].revents())
}

fn has_room() -> bool {
    !wait_for(PollFlags::OUT, Some(Duration::ZERO)).is_empty()
}

/// Waits for something to read on the terminal, for less than a second; whether there is.
pub fn awaits_reading(limit: Duration) -> bool {
    !wait_for(PollFlags::IN, Some(limit)).is_empty()
}

fn is_closed() -> bool {
    wait_for(PollFlags::empty(), Some(Duration::ZERO)).contains(PollFlags::HUP)
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
        LEFT.store(true, Ordering::SeqCst);
    }
}

/// Handles signals on a separate thread, so that a busy or stuck event loop cannot delay quitting.
fn give_back_on_signals(tell: impl Fn(Signal) + Clone + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals =
        signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    let told = tell.clone();
    let handle_signal = move || signals.forever().for_each(|signal| handle_signal(signal, &tell));
    let handle_signal = move || run_vital(handle_signal, |panic| told(Signal::Panicked(panic)));
    std::thread::Builder::new().name("signals".into()).spawn(handle_signal).map(drop)
}

fn handle_signal(signal: i32, tell: &impl Fn(Signal)) {
    use signal_hook::consts::{SIGCONT, SIGTSTP};
    match (LEFT.load(Ordering::SeqCst), ON_EXIT_SIGNAL.get()) {
        (true, _) if signal == SIGCONT => {}
        (false, _) if signal == SIGTSTP => tell(Signal::Pause),
        // If overspill does not have the terminal, it stopped itself, and takes the terminal back by itself.
        (false, _) if signal == SIGCONT => {
            if TAKEN.load(Ordering::SeqCst) {
                tell(Signal::Resumed);
            }
        }
        (true, Some(_)) => {}
        (true, None) => drop(signal_hook::low_level::emulate_default_handler(signal)),
        (false, Some(act)) => {
            ENDED_BY.store(signal, Ordering::SeqCst);
            drop(restore_at_last());
            discard_unread();
            act(signal);
        }
        (false, None) => {
            let _painting = restore_at_last();
            signal_hook::low_level::exit(128 + signal);
        }
    }
}

/// Asks the terminal something; the answer arrives among the keys.
pub fn ask(question: &[u8]) -> io::Result<()> {
    paint(|| {
        let mut out = blocking::screen();
        out.write_all(question)?;
        out.flush()
    })
}

/// Calls `tell` once the terminal has been closed. Signals are not enough: HUP reaches only the session leader, which
/// may ignore it, and a thread that waits for keys may not notice.
pub fn on_close(tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let watch = move || {
        // No events are requested: a hang-up is always reported.
        if wait_for(PollFlags::empty(), None).contains(PollFlags::HUP) {
            tell();
        }
    };
    std::thread::Builder::new().name("terminal".into()).spawn(watch).map(drop)
}

/// Stops the program, as Ctrl-Z does in others, and takes the terminal back when it continues.
pub fn suspend() -> io::Result<()> {
    restore();
    // Stops overspill, whichever thread handled the signal, and returns when it continues.
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
    enter()
}

/// Takes the terminal back after another process has used it, without entering the alternate screen.
pub fn reclaim() -> io::Result<()> {
    set_modes()?;
    paint(|| {
        let mut out = blocking::screen();
        execute!(out, EnableBracketedPaste, cursor::Hide)?;
        turn_wheel_on(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_printed_if_it_ends_the_screens_or_none_are_shown() {
        for is_taken in [true, false] {
            assert_eq!(role_on_panic(ThreadRole::Vital, is_taken), ThreadRole::Vital);
        }
        for role in [ThreadRole::Helper, ThreadRole::Caught] {
            assert_eq!(role_on_panic(role, true), role, "told by the screens, or by who started it");
            assert_eq!(role_on_panic(role, false), ThreadRole::Vital, "after the screens it is no secret");
        }
    }

    #[test]
    fn a_vital_thread_hands_its_panic_over() {
        let (give, taken) = std::sync::mpsc::channel();
        let work = move || run_vital(|| panic!("deaf"), |panic| give.send(panic).unwrap());
        std::thread::spawn(work).join().unwrap();
        assert_eq!(taken.recv().unwrap().downcast_ref(), Some(&"deaf"));
    }

    #[test]
    fn nothing_is_drawn_on_a_terminal_given_back() {
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
