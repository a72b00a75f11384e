//! The binary: parse, run, exit status.

use std::sync::atomic::Ordering;

use overspill::internals::{CLOSED, cli};

/// Notes which streams are closed, before Rust's runtime opens /dev/null in their place.
extern "C" fn look() {
    for (fd, closed) in (0..).zip(&CLOSED) {
        // SAFETY: it asks for the flags of a number, open or not, and touches no memory.
        #[allow(unsafe_code)]
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
        closed.store(flags == -1, Ordering::Relaxed);
    }
}

// SAFETY: what stands in this section is called with no thread running yet, and `look` needs no runtime.
#[allow(unsafe_code)]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

fn main() -> std::process::ExitCode {
    cli::main()
}
