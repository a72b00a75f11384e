//! Runs a command: how it starts, what it writes to, and how it is supervised until it ends.

pub(crate) mod command;
pub(crate) mod escalation;
pub(crate) mod exit;
pub(crate) mod follow;
pub(crate) mod options;
pub(crate) mod pipe;
pub(crate) mod pty;
pub(crate) mod stdin;
pub(crate) mod supervise;
