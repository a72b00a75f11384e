//! `overspill clean --session`: removes a session's directory with the spills in it.

use crate::capture::{EndError, EndedSession, end_session};
use crate::cli::{CommandResult, Failure, say};
use crate::config::Config;
use crate::human::{count, size};
use crate::text::label::label;

pub(super) fn end(config: &Config, name: &str) -> CommandResult {
    let ended = end_session(name, &config.env).map_err(|error| match error {
        EndError::Name(error) => Failure::Usage(error.to_string()),
        error @ EndError::NoSession(_) => {
            Failure::Failed(format!("{error}; NAME is the one that was given with `run --session`"))
        }
        error => Failure::Failed(error.to_string()),
    })?;
    let EndedSession { path, files, bytes, left } = ended;
    let place = label(path.as_os_str().as_encoded_bytes());
    say(&format!("removed {} ({}) from {place}", count(files, "spill"), size(bytes)));
    if left.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = left.iter().map(|name| label(name.as_bytes())).collect();
    let words = format!(
        "{place} was kept, because it holds files that are not finished spills: {}",
        names.join(", ")
    );
    Err(Failure::Failed(words).into())
}
