//! Finds the session or the call that an argument means.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use memchr::memmem::Finder;

use crate::cli::{Failure, input, say, suggest};
use crate::config::Config;
use crate::session::copies::{families, is_same};
use crate::session::list;
use crate::session::model::Call;
use crate::session::reader::{OpenedSession, SessionFile};
use crate::session::transcript::ReadReport;
use crate::text::label::label;

/// How many candidates are listed if an argument means several.
const MOST_CANDIDATES: usize = 8;

/// A session, and one of its calls if the argument names one.
pub(crate) struct SelectedSession {
    pub file: SessionFile,
    pub opened: Box<dyn OpenedSession>,
    pub call: Option<usize>,
    /// In how many other sessions the call is, if all were looked through for it.
    pub copies: Option<u64>,
}

/// Lists sessions; says what cannot be looked at.
///
/// # Errors
/// There is no such agent.
pub(crate) fn listed(
    config: &Config,
    agent: Option<&str>,
    since: Option<SignedDuration>,
) -> Result<Vec<SessionFile>, Failure> {
    known(agent)?;
    let listing = list::list(&config.env, agent, &());
    listing.faults.iter().for_each(|fault| say(fault));
    let mut sessions = listing.sessions;
    let earliest = earliest(since);
    sessions.retain(|session| earliest.is_none_or(|earliest| list::changed(session) >= Some(earliest)));
    Ok(sessions)
}

/// Checks the name of an agent.
///
/// # Errors
/// No sessions of this agent can be read.
pub(crate) fn known(agent: Option<&str>) -> Result<(), Failure> {
    let Some(agent) = agent.filter(|agent| !list::agents().contains(agent)) else { return Ok(()) };
    let instead = suggest::name(agent, &list::agents(), "those of these agents can:");
    Err(Failure::Usage(format!("no sessions of `{}` can be read; {instead}", safe(agent))))
}

/// Returns the time that lies this long ago.
pub(crate) fn earliest(since: Option<SignedDuration>) -> Option<Timestamp> {
    since.and_then(|since| crate::env::now().checked_sub(since).ok())
}

/// Opens a session.
///
/// # Errors
/// It cannot be read.
pub(crate) fn open(file: &SessionFile) -> Result<Box<dyn OpenedSession>, Failure> {
    let opened = list::open(file, &()).map_err(|error| Failure::Failed(error.to_string()))?;
    let words = unread_in_words(file, &opened.transcript().unread);
    if !words.is_empty() {
        say(&words);
    }
    Ok(opened)
}

/// Returns what of a session's file was not understood; empty if all was.
pub(crate) fn unread_in_words(file: &SessionFile, unread: &ReadReport) -> String {
    let (path, words) = (file.path.display(), unread.in_words());
    match (unread.is_format_unknown(), words.is_empty()) {
        (true, true) => format!("{path}: format not understood"),
        (true, false) => format!("{path}: format not understood: {words}"),
        (false, true) => String::new(),
        (false, false) if !unread.has_unknown() => format!("{path}: {words}"),
        (false, false) => {
            let seen = list::format_of(file).map_or("", |format| format.seen());
            format!("{path}: {words}; read up to version {seen}")
        }
    }
}

/// Finds the session of an argument: a path, an id, or a prefix of just one; with `:CALL` a call of it.
///
/// # Errors
/// There is none, or there are several.
pub(crate) fn session(config: &Config, word: &OsStr) -> anyhow::Result<SelectedSession> {
    if let Some(path) = input::path(word)? {
        let path: PathBuf = std::path::absolute(&path).unwrap_or(path);
        let file = list::recognise(&path).map_err(|error| Failure::Failed(error.to_string()))?;
        let opened = open(&file)?;
        return Ok(SelectedSession { file, opened, call: None, copies: None });
    }
    let word = word.to_string_lossy();
    let (name, call) = match word.split_once(':') {
        Some((name, call)) => (name.to_owned(), Some(call.to_owned())),
        None => (word.into_owned(), None),
    };
    let file = by_id(listed(config, None, None)?, &name)?;
    let opened = open(&file)?;
    let call = match call {
        None => None,
        Some(id) => Some(the_call_in(&*opened, &name, &id)?),
    };
    Ok(SelectedSession { file, opened, call, copies: None })
}

fn by_id(sessions: Vec<SessionFile>, name: &str) -> Result<SessionFile, Failure> {
    let mut found: Vec<SessionFile> =
        sessions.into_iter().filter(|session| session.id.starts_with(name)).collect();
    if found.iter().any(|session| session.id == name) {
        found.retain(|session| session.id == name);
    }
    match found.len() {
        0 => Err(Failure::Usage(format!("no session has the id `{}`; see `overspill sessions`", safe(name)))),
        1 => Ok(found.remove(0)),
        _ => Err(several(name, "sessions", found.iter().map(|session| session.id.clone()).collect())),
    }
}

/// Finds a call by its id or a prefix of just one id, in all sessions or in the one before the colon.
///
/// # Errors
/// There is none, or there are several.
pub(crate) fn call(config: &Config, id: &str) -> anyhow::Result<SelectedSession> {
    call_or(config, id, || no_call("", id))
}

/// The same with another error if there is none.
pub(crate) fn call_or(
    config: &Config,
    id: &str,
    none: impl FnOnce() -> Failure,
) -> anyhow::Result<SelectedSession> {
    if id.contains(':') {
        return session(config, OsStr::new(id));
    }
    input::refuse_empty(OsStr::new(id))?;
    let (mut found, mut begun) = (Vec::new(), BTreeSet::new());
    let (finder, mut room) = (Finder::new(id), Vec::new());
    let mut may_hold = |file: &SessionFile| list::may_hold(file, &finder, &mut room, &mut || true);
    for file in listed(config, None, None)?.into_iter().filter(|file| may_hold(file)) {
        let Ok(opened) = list::open(&file, &()) else { continue };
        match call_in(&*opened, id) {
            Some(call) => found.push(SelectedSession { file, opened, call: Some(call), copies: None }),
            None => begun.extend(begun_with(&*opened, id)),
        }
    }
    let copies = Some((found.len() as u64).saturating_sub(1));
    match found.len() {
        0 => match Vec::from_iter(begun).as_slice() {
            [] => Err(none().into()),
            [whole] => call_or(config, whole, none),
            several_ids => Err(several(id, "calls", several_ids.to_vec()).into()),
        },
        1 => Ok(SelectedSession { copies, ..found.remove(0) }),
        _ => match oldest_copy(&found) {
            Some(oldest) => Ok(SelectedSession { copies, ..found.swap_remove(oldest) }),
            None => {
                let names = found.iter().map(|found| format!("{}:{id}", found.file.id)).collect();
                Err(several(id, "calls", names).into())
            }
        },
    }
}

/// Returns the session from which the others took over the call; `None` if the calls are different ones.
fn oldest_copy(found: &[SelectedSession]) -> Option<usize> {
    let calls: Vec<&Call> =
        found.iter().filter_map(|found| found.opened.transcript().calls.get(found.call?)).collect();
    let sessions: Vec<_> =
        found.iter().map(|found| (&found.file, &found.opened.transcript().facts)).collect();
    let families = families(&sessions);
    let is_one = families.len() == 1 && calls.windows(2).all(|pair| is_same(pair[0], pair[1]));
    families.first()?.first().copied().filter(|_| is_one)
}

/// Returns the call with this id; of several threads, the first.
fn call_in(opened: &dyn OpenedSession, id: &str) -> Option<usize> {
    opened.transcript().calls.iter().position(|call| &*call.id == id)
}

/// Returns the ids of a session that begin so.
fn begun_with(opened: &dyn OpenedSession, id: &str) -> BTreeSet<String> {
    let ids = opened.transcript().calls.iter().map(|call| call.id.to_string());
    ids.filter(|of| of.starts_with(id)).collect()
}

/// Returns the call of a session with this id, or with the only id that begins so.
fn the_call_in(opened: &dyn OpenedSession, session: &str, id: &str) -> Result<usize, Failure> {
    if let Some(call) = call_in(opened, id) {
        return Ok(call);
    }
    let begun = Vec::from_iter(begun_with(opened, id));
    match begun.as_slice() {
        [whole] if !id.is_empty() => call_in(opened, whole).ok_or_else(|| no_call(session, id)),
        [_, _, ..] if !id.is_empty() => Err(several(id, "calls", begun)),
        _ => Err(no_call(session, id)),
    }
}

fn no_call(session: &str, id: &str) -> Failure {
    let place = if session.is_empty() { String::new() } else { format!(" in session {}", safe(session)) };
    Failure::Usage(format!("no call has the id `{}`{place}; see `overspill sessions SESSION`", safe(id)))
}

fn several(name: &str, what: &str, candidates: Vec<String>) -> Failure {
    let shown: Vec<String> = candidates.iter().take(MOST_CANDIDATES).map(|name| safe(name)).collect();
    let more = candidates.len().saturating_sub(MOST_CANDIDATES);
    let more = if more > 0 { format!(" and {more} more; give more of the id") } else { String::new() };
    Failure::Usage(format!("{} matches {} {what}: {}{more}", safe(name), candidates.len(), shown.join(", ")))
}

fn safe(text: &str) -> String {
    label(OsStr::new(text).as_bytes())
}
