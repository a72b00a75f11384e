//! Every call of the system that the program makes of files fails once, in each way of bars 3 and 22: nothing is
//! lost, nothing is half, nothing panics, and what went wrong is said.
//!
//! This program is the tests and, with [`ORDER`] set, the program under test with libc's calls failing.

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "../it/common/mod.rs"]
#[allow(dead_code, reason = "each test program uses its own share")]
mod common;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod calls;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod changing;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod plan;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod scenes;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod screens;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "../it/stores_cli/stocked.rs"]
#[allow(dead_code, reason = "each test program uses its own share")]
mod stocked;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod trial;

/// Which call is to fail, as [`plan::Order`] writes it; empty for none.
const ORDER: &str = "OVERSPILL_TEST_FAULT";
/// The file in which calls are counted.
const COUNTS: &str = "OVERSPILL_TEST_FAULT_COUNTS";
/// The file that is rewritten; beside it are its contents, `0` and `1`.
const CHANGED: &str = "OVERSPILL_TEST_FAULT_CHANGED";

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn main() -> ExitCode {
    match std::env::var(ORDER) {
        Ok(order) => {
            let path = std::env::var_os(COUNTS).expect("a file for the counts");
            let counts = std::fs::File::options().read(true).write(true).open(path).expect("the counts");
            calls::arm(&counts, plan::Order::parse(&order));
            overspill::internals::cli::main()
        }
        Err(_) => trial::main(),
    }
}

/// Other systems' libraries have other names for their calls.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() -> ExitCode {
    let _ = (ORDER, COUNTS, CHANGED);
    ExitCode::SUCCESS
}
