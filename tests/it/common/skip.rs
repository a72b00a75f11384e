//! Tests that this machine or this user does not allow.

/// Says that a test, or the rest of it, shows nothing here, and why.
pub(crate) fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Whether root runs the tests. Without root the test is skipped: only root can do what is said.
pub(crate) fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skipped(&format!("only root can {what}"));
    }
    is_root
}

/// Whether an ordinary user runs the tests. As root the test is skipped: what is said does not hold then.
pub(crate) fn is_ordinary(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        skipped(&format!("run by root, for whom {what}"));
    }
    !is_root
}
