//! Lists sessions without reading them: by their paths, then by the ends of their files. Finds the form of a file's records.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::base::env::Env;
use crate::source::OpenError;

use super::agents::FORMATS;
use super::database::Database;
use super::find::{self, Exposure};
use super::format::SessionFormat;
use super::model::SessionFacts;
use super::reader::{OpenedSession, ReadProgress, SessionError, SessionFile, SessionResult};
use super::record::LogSearch;

/// A session that was changed within this time counts as live: most agents write nothing while a command runs.
pub const LIVE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFilter<'a> {
    pub agent: Option<&'a str>,
    /// Only those changed at this time or later.
    pub since: Option<Timestamp>,
    /// Only those in this directory or below: an absolute path.
    pub project: Option<&'a Path>,
}

/// What a list shows of a session before anything is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSession {
    pub file: SessionFile,
    /// What the ends of the file say. The title is one line.
    pub facts: SessionFacts,
    pub is_open_to_others: bool,
}

/// Whether a session was changed within [`LIVE`] before `now`. A time in the future counts, too.
pub fn is_live(session: &SessionFile, now: SystemTime) -> bool {
    session.modified.is_some_and(|time| now.duration_since(time).map_or(true, |age| age < LIVE))
}

#[derive(Clone, Debug, Default)]
pub struct SessionListing {
    pub sessions: Vec<SessionFile>,
    /// Messages about what could not be looked at. Paths in them are not escaped.
    pub faults: Vec<String>,
}

/// Returns the agents whose records can be read, each once.
pub fn agents() -> Vec<&'static str> {
    let mut agents: Vec<_> = FORMATS.iter().map(|format| format.info.agent).collect();
    agents.sort_unstable();
    agents.dedup();
    agents
}

/// Lists the sessions of all agents, or of one. If `progress` gives it up, those found so far.
pub fn list(env: &Env, agent: Option<&str>, progress: &dyn ReadProgress) -> SessionListing {
    let (mut sessions, mut faults) = (Vec::new(), Vec::new());
    let of_agent = FORMATS.iter().filter(|format| agent.is_none_or(|agent| agent == format.info.agent));
    for format in of_agent.take_while(|_| progress.step(0, 1)) {
        format.find(env, progress, &mut |file| sessions.push(file), &mut |fault| {
            // Two forms may lie in one database.
            faults.extend(fault.filter(|fault| !faults.contains(fault)));
            progress.step(0, 1)
        });
    }
    drop_repeated(&mut sessions);
    sessions.sort_by(|a: &SessionFile, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    SessionListing { sessions, faults }
}

/// Keeps one session of each agent and id: one path of several to a file, and the first of several formats, as for
/// opencode, whose database takes over what was in files.
fn drop_repeated(sessions: &mut Vec<SessionFile>) {
    let key = |file: &SessionFile| (format_of(file).map(|format| format.info.agent), file.id.clone());
    let mut first: HashMap<_, (&'static str, u32)> = HashMap::new();
    for file in &*sessions {
        first.entry(key(file)).or_insert((file.format, 0)).1 += 1;
    }
    let mut seen = HashSet::new();
    sessions.retain(|file| match first.get(&key(file)) {
        Some((format, count)) if *count > 1 => {
            let meta = file.path.metadata().ok();
            let place = meta.map(|meta| (meta.dev(), meta.ino()));
            file.format == *format && (place.is_none() || seen.insert((place, file.id.clone())))
        }
        _ => true,
    });
}

/// Finds sessions by path and time, then reads the ends of their files. Those changed last come first. Paths in the messages
/// to `fault` are not escaped.
pub fn read_all(env: &Env, wanted: &SessionFilter, fault: &mut dyn FnMut(String)) -> Vec<ListedSession> {
    let listing = list(env, wanted.agent, &());
    listing.faults.into_iter().for_each(&mut *fault);
    let is_recent = |file: &SessionFile| wanted.since.is_none_or(|since| changed(file) >= Some(since));
    // The agent may have come by another path, and so may the path that was asked for.
    let real = wanted.project.and_then(|dir| dir.canonicalize().ok());
    let is_below = |cwd: &Path| real.as_ref().is_some_and(|dir| cwd.starts_with(dir));
    let is_there = |cwd: &Path| {
        let is_real = || is_below(cwd) || cwd.canonicalize().is_ok_and(|cwd| is_below(&cwd));
        wanted.project.is_none_or(|dir| cwd.starts_with(dir) || is_real())
    };
    let mut exposure = Exposure::default();
    let read = |file| read_listed(file, &mut exposure).map_err(&mut *fault).ok();
    let listed = listing.sessions.into_iter().filter(is_recent).filter_map(read);
    listed.filter(|session| is_there(Path::new(session.facts.cwd.as_deref().unwrap_or_default()))).collect()
}

impl ListedSession {
    /// Takes over what all of its records say, which is more than their ends do.
    pub fn learn(&mut self, read: &SessionFacts) {
        let facts = &mut self.facts;
        learn(&mut facts.version, &read.version);
        learn(&mut facts.cwd, &read.cwd);
        learn(&mut facts.title, &read.title.as_deref().and_then(one_line));
        learn(&mut facts.model, &read.model);
        learn(&mut facts.started, &read.started);
        learn(&mut facts.ended, &read.ended);
    }
}

/// Leaves what is known already as it is: to free what another thread made, threads would wait for each other.
fn learn<T: Clone + PartialEq>(known: &mut Option<T>, read: &Option<T>) {
    if read.is_some() && known != read {
        known.clone_from(read);
    }
}

/// Returns the first line of a title in which there is something.
fn one_line(title: &str) -> Option<String> {
    title.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns what a list shows of a session: reads the ends of its file.
///
/// # Errors
/// The file cannot be read; the message has its path, which is not escaped.
pub fn read_listed(file: SessionFile, exposure: &mut Exposure) -> Result<ListedSession, String> {
    let facts = facts(&file).map_err(|error| format!("{}: cannot be read: {error}", file.path.display()))?;
    let title = facts.title.as_deref().and_then(one_line);
    let is_open_to_others = exposure.is_open_to_others(&file.path);
    Ok(ListedSession { facts: SessionFacts { title, ..facts }, file, is_open_to_others })
}

pub fn changed(session: &SessionFile) -> Option<Timestamp> {
    session.modified.and_then(|time| Timestamp::try_from(time).ok())
}

/// Returns what a list shows of a session: what is known already, else what the ends of its file say.
pub fn facts(file: &SessionFile) -> io::Result<SessionFacts> {
    let format = format_of(file).filter(|_| file.facts.id.is_empty());
    let Some(format) = format else { return Ok(file.facts.clone()) };
    let (head, tail) = find::ends(&file.path)?;
    let mut facts = (format.glance)(file, &head, &tail);
    // If the last line is longer, the end does not tell when it was written.
    let is_one_line = !tail.is_empty() && memchr::memchr(b'\n', tail.trim_ascii_end()).is_none();
    if is_one_line && !format.logs(file).is_empty() {
        facts.ended = facts.ended.and(changed(file));
    }
    Ok(SessionFacts { id: if facts.id.is_empty() { file.id.clone() } else { facts.id }, ..facts })
}

pub fn open(file: &SessionFile, progress: &dyn ReadProgress) -> SessionResult<Box<dyn OpenedSession>> {
    format_of(file).ok_or_else(|| unknown(&file.path))?.open(file, progress)
}

/// Whether a session may hold what is searched for, by the bytes of its logs: far quicker to see than to read it. One with
/// other records always may. `is_wanted` says whether to go on.
pub fn may_hold(file: &SessionFile, search: &mut LogSearch, is_wanted: &mut dyn FnMut() -> bool) -> bool {
    let logs = format_of(file).map(|format| format.logs(file)).unwrap_or_default();
    logs.is_empty() || logs.iter().any(|log| search.is_in(log, is_wanted))
}

/// Identifies the agent of a file's records; fails if the file cannot be read, or no reader knows its form.
pub fn recognise(path: &Path) -> SessionResult<SessionFile> {
    let (head, _) = find::ends(path).map_err(|error| OpenError::new(path, error))?;
    let found = FORMATS.iter().find_map(|format| format.recognise(path, &head));
    if found.is_none() && Database::is_one(&head) {
        // Why none of them could look at it.
        let tables: Vec<_> = FORMATS.iter().flat_map(|format| format.tables()).copied().collect();
        Database::open(path, &tables, &()).map_err(|error| error.at(path))?;
    }
    found.ok_or_else(|| unknown(path))
}

pub fn format_of(file: &SessionFile) -> Option<&'static SessionFormat> {
    FORMATS.iter().copied().find(|format| format.info.name == file.format)
}

fn unknown(path: &Path) -> SessionError {
    let why = format!("is not a session of an agent that is known ({})", agents().join(", "));
    SessionError::Unreadable { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn stops_listing_directories_when_the_search_is_cancelled() {
        let home = tempfile::tempdir().unwrap();
        for n in 0..50 {
            let project = home.path().join(format!(".claude/projects/{n}"));
            std::fs::create_dir_all(&project).unwrap();
            std::fs::write(project.join("s.jsonl"), "").unwrap();
        }
        let (env, asked) = (Env::hermetic(home.path()), AtomicUsize::new(0));
        let listed = find::LISTED.get();
        let found = list(&env, None, &|| asked.fetch_add(1, Ordering::Relaxed) < 20).sessions.len();
        assert!((1..20).contains(&found), "{found} sessions");
        assert!((1..20).contains(&(find::LISTED.get() - listed)));
        assert_eq!(list(&env, None, &()).sessions.len(), 50);
    }
}
