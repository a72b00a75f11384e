//! Skips tests that this machine or this user does not allow.

/// Reports that a test, or the rest of it, is skipped, and why.
pub(crate) fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Whether root runs the tests. Otherwise reports a skip: only root can do `what`.
pub(crate) fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skipped(&format!("only root can {what}"));
    }
    is_root
}

/// Whether an ordinary user runs the tests. As root, reports a skip: `what` does not apply then.
pub(crate) fn is_ordinary(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        skipped(&format!("run by root, for whom {what}"));
    }
    !is_root
}
