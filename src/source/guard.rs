//! The SIGBUS guard: a lost page of a registered mapping reads as zeros instead of killing the program.
//!
//! The handler finds the mapping in a fixed table of atomics and replaces everything from the faulting page to its end
//! by zero pages, in one call (one per page would hit the kernel's limit of 65,530 mappings).
#![allow(unsafe_code)]

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// Maximum number of mappings at a time.
const SLOTS: usize = 256;
const FREE: usize = 0;
const INTACT: usize = usize::MAX;

/// One mapping's address range. `sequence` is odd while it is being written: the handler then ignores it.
#[derive(Debug)]
struct Slot {
    sequence: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicUsize,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        sequence: AtomicUsize::new(0),
        start: AtomicUsize::new(FREE),
        end: AtomicUsize::new(FREE),
        lost: AtomicUsize::new(INTACT),
    }
}; SLOTS];

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// A mapping's slot in the table; the mapping must outlive it.
#[derive(Debug)]
pub(super) struct Guard {
    slot: &'static Slot,
}

impl Guard {
    /// Guards `len` bytes (not 0) at address `start`, which must be page-aligned. Call it before the first byte is
    /// touched. Fails if the handler cannot be installed or the table is full.
    pub(crate) fn register(start: usize, len: usize) -> io::Result<Guard> {
        install()?;
        let page = PAGE.load(Ordering::Relaxed);
        let end = start + len.div_ceil(page) * page;
        let slot = TABLE
            .iter()
            .find(|slot| slot.claim(start, end))
            .ok_or_else(|| io::Error::other("too many files are mapped at once"))?;
        Ok(Guard { slot })
    }

    /// Returns the offset in bytes of the first page known to be lost; bytes from there on read as zeros.
    pub(crate) fn lost_at(&self) -> Option<u64> {
        match self.slot.lost.load(Ordering::Acquire) {
            INTACT => None,
            offset => Some(offset as u64),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.slot.write(FREE, FREE);
    }
}

impl Slot {
    fn claim(&self, start: usize, end: usize) -> bool {
        let before = self.sequence.load(Ordering::Acquire);
        if !before.is_multiple_of(2) || self.start.load(Ordering::Acquire) != FREE {
            return false;
        }
        if self.sequence.compare_exchange(before, before + 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        self.finish(start, end);
        true
    }

    fn write(&self, start: usize, end: usize) {
        self.sequence.fetch_add(1, Ordering::AcqRel);
        self.finish(start, end);
    }

    fn finish(&self, start: usize, end: usize) {
        fence(Ordering::Release);
        self.lost.store(INTACT, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
        self.start.store(start, Ordering::Relaxed);
        self.sequence.fetch_add(1, Ordering::Release);
    }

    /// Returns the range if it is complete: one that is just being written is not this thread's.
    fn range(&self) -> Option<(usize, usize)> {
        let before = self.sequence.load(Ordering::Acquire);
        let range = (self.start.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let whole = before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before;
        (whole && range.0 != FREE).then_some(range)
    }
}

fn install() -> io::Result<()> {
    INSTALLED.get_or_init(install_once).map_err(io::Error::from_raw_os_error)
}

fn install_once() -> Result<(), i32> {
    // SAFETY: sysconf has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).map_err(|_| libc::EINVAL)?, Ordering::Relaxed);
    // SAFETY: plain sigaction calls on zeroed, then fully set, structures. The earlier action is
    // stored before the new one is installed, so the handler always finds it.
    unsafe {
        let mut previous: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut previous) != 0 {
            return Err(last_errno());
        }
        let _ = PREVIOUS.set(previous);
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        match libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(last_errno()),
        }
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Runs on the thread that touched a lost page. Only atomics, mmap and sigaction are used here.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to a handler installed with SA_SIGINFO; errno
    // is this thread's own.
    let (address, from_kernel, errno) =
        unsafe { ((*info).si_addr() as usize, (*info).si_code > 0, *errno_location()) };
    if !(from_kernel && zero_lost_pages(address)) {
        chain(signal, info, context);
    }
    // SAFETY: as above; the interrupted code must not see the errno of these calls.
    unsafe { *errno_location() = errno };
}

/// Replaces the pages from `address` to the end of its mapping by zeros; false if it is in none.
fn zero_lost_pages(address: usize) -> bool {
    let found = TABLE.iter().find_map(|slot| {
        let (start, end) = slot.range()?;
        (start <= address && address < end).then_some((slot, start, end))
    });
    let Some((slot, start, end)) = found else { return false };
    let page = address - address % PAGE.load(Ordering::Relaxed);
    slot.lost.fetch_min(page - start, Ordering::AcqRel);
    // SAFETY: [page, end) lies inside a mapping that is registered, hence alive (its owner removes
    // it from the table before unmapping, and this thread is reading it), so MAP_FIXED replaces
    // only pages of registered maps.
    let mapped = unsafe {
        libc::mmap(
            page as *mut libc::c_void,
            end - page,
            libc::PROT_READ,
            libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON,
            -1,
            0,
        )
    };
    mapped != libc::MAP_FAILED
}

fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(previous) = PREVIOUS.get() else { return };
    let handler = previous.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: restoring the default action; the fault repeats on return and ends the process.
        unsafe {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &default, std::ptr::null_mut());
        }
    } else if previous.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the flag says that the stored address is a three-argument handler.
        let call: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            unsafe { std::mem::transmute(handler) };
        call(signal, info, context);
    } else {
        // SAFETY: without the flag it is a one-argument handler.
        let call: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
        call(signal);
    }
}

#[cfg(target_os = "linux")]
unsafe fn errno_location() -> *mut libc::c_int {
    // SAFETY: always valid for the calling thread.
    unsafe { libc::__errno_location() }
}

#[cfg(target_os = "macos")]
unsafe fn errno_location() -> *mut libc::c_int {
    // SAFETY: always valid for the calling thread.
    unsafe { libc::__error() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_claimed_once_and_freed() {
        let slot = Slot {
            sequence: AtomicUsize::new(0),
            start: AtomicUsize::new(FREE),
            end: AtomicUsize::new(FREE),
            lost: AtomicUsize::new(7),
        };
        assert!(slot.claim(4096, 8192));
        assert!(!slot.claim(12288, 16384));
        assert_eq!(slot.range(), Some((4096, 8192)));
        assert_eq!(slot.lost.load(Ordering::Relaxed), INTACT);
        slot.write(FREE, FREE);
        assert_eq!(slot.range(), None);
        assert!(slot.claim(12288, 16384));
    }

    #[test]
    fn a_fault_outside_all_mappings_is_not_handled() {
        assert!(!zero_lost_pages(8));
    }
}
