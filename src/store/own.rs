//! Our own store: where it lies, and what must be true of its directory before anything is done in it.

use std::path::PathBuf;

use super::expand::expand;
use super::{Env, Unset};

/// The directory of everything that overspill keeps: `$XDG_DATA_HOME/overspill`, by default under
/// `~/.local/share`, on Linux and macOS alike.
///
/// # Errors
/// If there is neither that variable nor a home directory.
pub fn own_home(env: &Env) -> Result<PathBuf, Unset> {
    expand("${XDG_DATA_HOME:-~/.local/share}/overspill", env)
}

/// The directory of our own spills, in [`own_home`].
///
/// # Errors
/// As for `own_home`.
pub fn own_root(env: &Env) -> Result<PathBuf, Unset> {
    Ok(own_home(env)?.join("tool-output"))
}
