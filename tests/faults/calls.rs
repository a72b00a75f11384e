//! Stands in for libc's calls, in this test program only, and fails the one that it is told to fail.
//!
//! A symbol that an executable defines goes before libc's, for std and for rustix alike, so nothing in the program
//! under test is changed for the tests' sake.
#![allow(unsafe_code, reason = "calls of libc are stood in for")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use libc::{mode_t, off64_t, size_t, ssize_t};

use super::CHANGED;
use super::plan::{KINDS, Kind, Order, REWRITE, REWRITE_ALWAYS, SHORT};

/// What is counted, and what is failed. Shared with the test that started us, by a file.
#[repr(C)]
pub struct Counts {
    /// Calls of each kind.
    pub calls: [AtomicU32; KINDS],
    /// Whether the fault has been given.
    pub given: AtomicU32,
}

static IS_ARMED: AtomicBool = AtomicBool::new(false);
static COUNTS: AtomicPtr<Counts> = AtomicPtr::new(std::ptr::null_mut());
static KIND: AtomicUsize = AtomicUsize::new(KINDS);
static NTH: AtomicU32 = AtomicU32::new(0);
static FAULT: AtomicU32 = AtomicU32::new(0);

/// From now on calls are counted, and the one that is ordered fails.
pub fn arm(counts: &File, order: Option<Order>) {
    let (protection, size) = (libc::PROT_READ | libc::PROT_WRITE, size_of::<Counts>());
    // SAFETY: a new mapping of a file that is long enough; it is never unmapped.
    let shared = unsafe {
        libc::mmap64(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, counts.as_raw_fd(), 0)
    };
    assert_ne!(shared, libc::MAP_FAILED, "the counts can be shared");
    COUNTS.store(shared.cast(), Ordering::SeqCst);
    if let Some(order) = order {
        KIND.store(order.kind as usize, Ordering::SeqCst);
        NTH.store(order.nth, Ordering::SeqCst);
        FAULT.store(order.fault.cast_unsigned(), Ordering::SeqCst);
    }
    IS_ARMED.store(true, Ordering::SeqCst);
}

/// Counts a call; the error that it is to fail with, if it is.
fn fault(kind: Kind) -> Option<c_int> {
    if !IS_ARMED.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: set before it was armed, and mapped for good.
    let counts = unsafe { &*COUNTS.load(Ordering::Relaxed) };
    let nth = counts.calls[kind as usize].fetch_add(1, Ordering::Relaxed) + 1;
    let (from, fault) = (NTH.load(Ordering::Relaxed), FAULT.load(Ordering::Relaxed).cast_signed());
    let is_it = from == nth || fault == REWRITE_ALWAYS && from < nth;
    if !is_it || KIND.load(Ordering::Relaxed) != kind as usize {
        return None;
    }
    counts.given.store(1, Ordering::Relaxed);
    match fault {
        REWRITE | REWRITE_ALWAYS => {
            rewrite(nth - from);
            None
        }
        fault => Some(fault),
    }
}

/// Gives the file that is read another content, the first one for an even number, in one write and without cutting it:
/// a file that is cut first is empty for a moment, which another thread is right to report.
fn rewrite(number: u32) {
    IS_ARMED.store(false, Ordering::SeqCst);
    if let Some(path) = std::env::var_os(CHANGED).map(std::path::PathBuf::from) {
        let content = std::fs::read(path.with_file_name((number % 2).to_string())).expect("a content");
        let file = File::options().write(true).open(&path).expect("a file to rewrite");
        file.write_all_at(&content, 0).expect("room for as many bytes");
    }
    IS_ARMED.store(true, Ordering::SeqCst);
}

fn set_errno(errno: c_int) {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = errno }
}

/// The call in libc itself.
fn real(known: &AtomicUsize, name: &CStr) -> usize {
    let address = known.load(Ordering::Relaxed);
    if address != 0 {
        return address;
    }
    // SAFETY: a name that libc has.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    if found == 0 {
        // Nothing better can be done within a call of libc.
        std::process::abort();
    }
    known.store(found, Ordering::Relaxed);
    found
}

/// The bytes to ask for: half as many, at least one, for a short read or write.
fn half(count: size_t) -> size_t {
    (count / 2).max(count.min(1))
}

macro_rules! call {
    ($name:ident($($arg:expr => $ty:ty),*) -> $ret:ty) => {{
        static REAL: AtomicUsize = AtomicUsize::new(0);
        let name = concat!(stringify!($name), "\0");
        // SAFETY: the name ends with the one zero.
        let address = real(&REAL, unsafe { CStr::from_bytes_with_nul_unchecked(name.as_bytes()) });
        // SAFETY: libc's function of this name has these types.
        let real: unsafe extern "C" fn($($ty),*) -> $ret = unsafe { std::mem::transmute(address) };
        // SAFETY: passed on as it came.
        unsafe { real($($arg),*) }
    }};
}

/// Calls that fail with -1 or a null pointer.
macro_rules! stand_in {
    ($($kind:expr, $fail:expr, $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            let kind: Option<Kind> = $kind;
            match kind.and_then(fault) {
                Some(errno) => {
                    set_errno(errno);
                    $fail
                }
                None => call!($name($($arg => $ty),*) -> $ret),
            }
        }
    )*};
}

/// Calls that may also do less than they were asked to do: `count` is what they were asked.
macro_rules! stand_in_by_halves {
    ($($kind:expr, $name:ident($($before:ident: $bty:ty),* ; $count:ident ; $($after:ident: $aty:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($before: $bty,)* $count: size_t $(, $after: $aty)*) -> ssize_t {
            let kind: Option<Kind> = $kind;
            let $count = match kind.and_then(fault) {
                Some(SHORT) => half($count),
                Some(errno) => {
                    set_errno(errno);
                    return -1;
                }
                None => $count,
            };
            call!($name($($before => $bty,)* $count => size_t $(, $after => $aty)*) -> ssize_t)
        }
    )*};
}

/// What is said to a person, or given to a program, is told from what is written into files.
fn writing(fd: c_int) -> Option<Kind> {
    match fd {
        1 => Some(Kind::Print),
        2 => None,
        _ => Some(Kind::Write),
    }
}

/// Only a new file can find no room.
fn opening(flags: c_int) -> Option<Kind> {
    Some(if flags & libc::O_CREAT != 0 { Kind::Create } else { Kind::Open })
}

/// Memory that is no file's is std's and libc's own.
fn mapping(fd: c_int) -> Option<Kind> {
    (fd >= 0).then_some(Kind::Map)
}

fn duplicating(command: c_int) -> Option<Kind> {
    (command == libc::F_DUPFD_CLOEXEC).then_some(Kind::Descriptor)
}

// The third or fourth argument of those that open is variable in C; on Linux it is passed as any other.
stand_in! {
    opening(flags), -1, open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    opening(flags), -1, open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    opening(flags), -1, openat64(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    opening(flags), -1, openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    duplicating(command), -1, fcntl(fd: c_int, command: c_int, arg: usize) -> c_int;
    Some(Kind::Descriptor), -1, pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    Some(Kind::Stat), -1, fstat64(fd: c_int, stat: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, fstat(fd: c_int, stat: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, stat64(path: *const c_char, stat: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, lstat64(path: *const c_char, stat: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, fstatat64(at: c_int, path: *const c_char, stat: *mut c_void, flags: c_int) -> c_int;
    Some(Kind::Stat), -1, fstatat(at: c_int, path: *const c_char, stat: *mut c_void, flags: c_int) -> c_int;
    Some(Kind::Stat), -1, statx(at: c_int, path: *const c_char, flags: c_int, mask: c_uint, stat: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, lseek64(fd: c_int, offset: off64_t, whence: c_int) -> off64_t;
    Some(Kind::Stat), -1, statvfs64(path: *const c_char, space: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, fstatvfs64(fd: c_int, space: *mut c_void) -> c_int;
    Some(Kind::Stat), -1, readlinkat(at: c_int, path: *const c_char, room: *mut c_char, count: size_t) -> ssize_t;
    Some(Kind::List), std::ptr::null_mut(), opendir(path: *const c_char) -> *mut c_void;
    Some(Kind::List), std::ptr::null_mut(), fdopendir(fd: c_int) -> *mut c_void;
    Some(Kind::List), std::ptr::null_mut(), readdir64(dir: *mut c_void) -> *mut c_void;
    Some(Kind::Change), -1, mkdir(path: *const c_char, mode: mode_t) -> c_int;
    Some(Kind::Change), -1, mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int;
    Some(Kind::Change), -1, unlink(path: *const c_char) -> c_int;
    Some(Kind::Change), -1, unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int;
    Some(Kind::Change), -1, rename(from: *const c_char, to: *const c_char) -> c_int;
    Some(Kind::Change), -1, renameat2(at: c_int, from: *const c_char, there: c_int, to: *const c_char, flags: c_uint) -> c_int;
    Some(Kind::Change), -1, linkat(at: c_int, from: *const c_char, there: c_int, to: *const c_char, flags: c_int) -> c_int;
    Some(Kind::Change), -1, fchmod(fd: c_int, mode: mode_t) -> c_int;
    Some(Kind::Change), -1, fchmodat(at: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int;
    Some(Kind::Change), -1, ftruncate64(fd: c_int, size: off64_t) -> c_int;
    Some(Kind::Change), -1, fsync(fd: c_int) -> c_int;
    Some(Kind::Lock), -1, flock(fd: c_int, how: c_int) -> c_int;
    mapping(fd), libc::MAP_FAILED, mmap64(at: *mut c_void, size: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off64_t) -> *mut c_void;
    Some(Kind::Wait), -1, poll(fds: *mut c_void, count: libc::nfds_t, timeout: c_int) -> c_int;
    Some(Kind::Wait), -1, ppoll(fds: *mut c_void, count: libc::nfds_t, timeout: *const c_void, mask: *const c_void) -> c_int;
    Some(Kind::Wait), -1, waitid(what: c_uint, id: c_uint, info: *mut c_void, options: c_int) -> c_int;
}

stand_in_by_halves! {
    Some(Kind::Read), read(fd: c_int, room: *mut c_void; count;);
    Some(Kind::Read), pread64(fd: c_int, room: *mut c_void; count; offset: off64_t);
    writing(fd), write(fd: c_int, bytes: *const c_void; count;);
    Some(Kind::Write), pwrite64(fd: c_int, bytes: *const c_void; count; offset: off64_t);
    Some(Kind::Write), copy_file_range(from: c_int, at: *mut off64_t, to: c_int, there: *mut off64_t; count; flags: c_uint);
    writing(to), sendfile64(to: c_int, from: c_int, at: *mut off64_t; count;);
}
