//! The base of all else: where things are, the file system, how people write numbers and times, provenance.

pub(crate) mod env;
pub(crate) mod fs;
pub(crate) mod human;
pub(crate) mod provenance;
pub(crate) mod toml_check;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also one whose holder panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
