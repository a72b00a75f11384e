//! Lists sessions without reading them, and finds the form of a file's records.

use std::io;
use std::path::Path;

use crate::env::Env;

use super::agents::FORMATS;
use super::find;
use super::model::SessionFacts;
use super::reader::{OpenedSession, ReadProgress, SessionError, SessionFile, SessionFormat};

/// The sessions of an environment.
#[derive(Clone, Debug, Default)]
pub struct SessionListing {
    /// The sessions, the last changed first.
    pub sessions: Vec<SessionFile>,
    /// What could not be looked at, in words. The paths in them are not escaped.
    pub faults: Vec<String>,
}

/// Returns the agents whose records can be read, each once.
pub fn agents() -> Vec<&'static str> {
    let mut agents: Vec<_> = FORMATS.iter().map(|format| format.agent()).collect();
    agents.sort_unstable();
    agents.dedup();
    agents
}

/// Lists the sessions of all agents, or of one.
pub fn list(env: &Env, agent: Option<&str>) -> SessionListing {
    let mut listing = SessionListing::default();
    for format in FORMATS.iter().filter(|format| agent.is_none_or(|agent| agent == format.agent())) {
        let SessionListing { sessions, faults } = &mut listing;
        format.find(env, &mut |file| sessions.push(file), &mut |fault| faults.push(fault));
    }
    listing.sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    listing.sessions.dedup_by(|a, b| a.path == b.path && a.id == b.id);
    listing
}

/// Returns what a list shows of a session: what is known already, else what the ends of its file say.
///
/// # Errors
/// The file cannot be read.
pub fn facts(file: &SessionFile) -> io::Result<SessionFacts> {
    let Some(format) = format_of(file) else { return Ok(file.facts.clone()) };
    if !file.facts.id.is_empty() {
        return Ok(file.facts.clone());
    }
    let (head, tail) = find::ends(&file.path)?;
    let facts = format.glance(file, &head, &tail);
    Ok(SessionFacts { id: if facts.id.is_empty() { file.id.clone() } else { facts.id }, ..facts })
}

/// Reads a session whole, by places.
///
/// # Errors
/// As for [`SessionFormat::open`].
pub fn open(file: &SessionFile, progress: &dyn ReadProgress) -> Result<Box<dyn OpenedSession>, SessionError> {
    match format_of(file) {
        Some(format) => format.open(file, progress),
        None => Err(unknown(&file.path)),
    }
}

/// Finds out of which agent a file's records are.
///
/// # Errors
/// The file cannot be read, or no reader knows its form.
pub fn recognise(path: &Path) -> Result<SessionFile, SessionError> {
    let unreadable =
        |error: io::Error| SessionError::Unreadable { path: path.to_owned(), why: error.to_string() };
    let (head, _) = find::ends(path).map_err(unreadable)?;
    FORMATS.iter().find_map(|format| format.recognise(path, &head)).ok_or_else(|| unknown(path))
}

/// Returns the reader of a session.
pub fn format_of(file: &SessionFile) -> Option<&'static dyn SessionFormat> {
    FORMATS.iter().copied().find(|format| format.name() == file.format)
}

fn unknown(path: &Path) -> SessionError {
    let why = format!("is not a session of an agent that is known ({})", agents().join(", "));
    SessionError::Unreadable { path: path.to_owned(), why }
}
