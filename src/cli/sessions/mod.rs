//! The commands that read agents' own records, and the session or the call that an argument means.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod verify;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::anyhow;
use jiff::{SignedDuration, Timestamp};

use crate::config::Config;
use crate::corpus::examiner;
use crate::preview::Policy;
use crate::session::copies::{families, is_same};
use crate::session::examine::{CallInspector, Examiner, OutputPlace, Paths, RestOfOutput};
use crate::session::model::Call;
use crate::session::reader::{OpenedSession, SessionFile};
use crate::session::record::LogSearch;
use crate::session::transcript::ReadReport;
use crate::session::{list as all_sessions, spill, text};
use crate::source;
use crate::store::RecordedFile;

use super::{safe, say, suggest, usage};

pub(crate) struct SelectedSession {
    pub file: SessionFile,
    pub opened: Rc<dyn OpenedSession>,
    pub call: Option<usize>,
    /// In how many other sessions the call is, if all were looked through for it.
    pub copies: Option<u64>,
    pub examiner: Examiner,
    /// The kept copy that was named, if its call is meant.
    pub copy: Option<PathBuf>,
}

impl SelectedSession {
    fn new(config: &Config, file: SessionFile, opened: Rc<dyn OpenedSession>, call: Option<usize>) -> Self {
        let examiner = examiner(config, opened.transcript().agent, Paths::Known);
        Self { file, opened, call, copies: None, examiner, copy: None }
    }

    fn say_unread(self) -> Self {
        let words = describe_unread(&self.file, &self.opened.transcript().unread);
        if !words.is_empty() {
            say(&words);
        }
        self
    }

    pub(crate) fn call(&self) -> Option<&Call> {
        self.opened.transcript().calls.get(self.call?)
    }

    pub(crate) fn inspector(&self) -> CallInspector<'_> {
        let Self { file, examiner, copy, opened, .. } = self;
        CallInspector { examiner, file, transcript: opened.transcript(), copy: copy.as_deref() }
    }

    /// Returns its id, or that of the call as SESSION:CALL.
    pub(crate) fn id(&self) -> String {
        self.call().map_or_else(|| self.file.id.clone(), |call| format!("{}:{}", self.file.id, call.id))
    }

    pub(crate) fn require_call(&self) -> anyhow::Result<&Call> {
        let id = safe(&self.file.id);
        self.call().ok_or_else(|| anyhow!("{id} is a session; `overspill sessions {id}` lists its calls"))
    }

    /// Returns what is left of the call's output: its spill in a known place, else a whole copy, else its text.
    pub(crate) fn output(&self) -> anyhow::Result<(OutputPlace, RestOfOutput)> {
        Ok(self.inspector().output(self.require_call()?, &self.text()?, Paths::Known)?)
    }

    /// Returns the policy that cut the call, or that comes closest, with its parameters; `None` if that is not known.
    pub(crate) fn policy(&self) -> Option<Policy> {
        let (call, inspector) = (self.call()?, self.inspector());
        inspector.examiner.verifier.policy_of(inspector.transcript, call, Some(&inspector.verify(call)))
    }

    pub(crate) fn text(&self) -> anyhow::Result<String> {
        let best = self.inspector().best(self.require_call()?);
        let first = best.first.as_ref().ok_or_else(|| anyhow!("the call has no result"))?;
        Ok(text::to_text(self.opened.transcript(), &first.pieces, usize::MAX)?.0)
    }
}

pub(crate) fn check_agent(agent: Option<&str>) -> anyhow::Result<()> {
    let Some(agent) = agent.filter(|agent| !all_sessions::agents().contains(agent)) else { return Ok(()) };
    let instead = suggest::name(agent, &all_sessions::agents(), "those of these agents can:");
    Err(usage(format!("no sessions of `{}` can be read; {instead}", safe(agent))))
}

pub(crate) fn earliest(since: Option<SignedDuration>) -> Option<Timestamp> {
    since.and_then(|since| crate::base::env::now().checked_sub(since).ok())
}

/// Returns what of a session's file was not understood; empty if all was.
pub(crate) fn describe_unread(file: &SessionFile, unread: &ReadReport) -> String {
    let (path, words) = (file.path.display(), unread.describe());
    match (unread.is_format_unknown(), words.is_empty()) {
        (true, true) => format!("{path}: format not understood"),
        (true, false) => format!("{path}: format not understood: {words}"),
        (false, true) => String::new(),
        (false, false) if unread.broken == 0 && unread.kinds.is_empty() => format!("{path}: {words}"),
        (false, false) => {
            let made_for = all_sessions::format_of(file).map_or("", |format| format.info.made_for);
            format!("{path}: {words}; the reader was made for {made_for}")
        }
    }
}

pub(crate) fn open_file(config: &Config, path: &Path) -> anyhow::Result<SelectedSession> {
    source::metadata(path)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    open(config, all_sessions::recognise(&path)?, None)
}

/// Opens the call that FILE:CALL names; `None` if there is no session in such a file.
pub(crate) fn open_call(config: &Config, word: &str) -> anyhow::Result<Option<SelectedSession>> {
    let mut parts = word.match_indices(':').map(|(at, _)| (&word[..at], &word[at + 1..]));
    let found =
        |(path, call)| Some((all_sessions::recognise(&std::path::absolute(path).ok()?).ok()?, (path, call)));
    parts.find_map(found).map(|(file, named)| open(config, file, Some(named))).transpose()
}

/// Opens a session, or one of its calls: `named` is what named the session, and the call's id.
pub(crate) fn open(
    config: &Config,
    file: SessionFile,
    named: Option<(&str, &str)>,
) -> anyhow::Result<SelectedSession> {
    let opened = all_sessions::open(&file, &())?;
    let mut found = SelectedSession::new(config, file, opened.into(), None).say_unread();
    found.call = named.map(|(session, id)| require_call_in(&*found.opened, session, id)).transpose()?;
    Ok(found)
}

/// Finds the call that names an output.
pub(crate) fn find_citing(config: &Config, output: RecordedFile) -> Option<SelectedSession> {
    let (file, opened, call) = spill::SessionsCache::default().find(&output, &config.env)?;
    let found = SelectedSession::new(config, file, opened, Some(call));
    Some(SelectedSession { copy: output.copy, ..found }.say_unread())
}

/// Returns the session with an id, or those whose ids begin so; what follows a colon is a call's.
pub(crate) fn find_by_prefix(config: &Config, word: &str) -> Vec<SessionFile> {
    let name = word.split_once(':').map_or(word, |(name, _)| name);
    let mut found = all_sessions::list(&config.env, None, &()).sessions;
    found.retain(|session| session.id.starts_with(name));
    if found.iter().any(|session| session.id == name) {
        found.retain(|session| session.id == name);
    }
    found
}

/// Finds a call in all sessions by its id or a prefix of just one id; `None` if there is none.
pub(crate) fn find_call(config: &Config, id: &str) -> anyhow::Result<Option<SelectedSession>> {
    let (mut found, mut begun) = (Vec::new(), BTreeSet::new());
    let mut search = LogSearch::new([OsStr::new(id)].into_iter());
    let mut may_hold = |file: &SessionFile| all_sessions::may_hold(file, &mut search, &mut || true);
    let listing = all_sessions::list(&config.env, None, &());
    listing.faults.iter().for_each(|fault| say(fault));
    for file in listing.sessions.into_iter().filter(|file| may_hold(file)) {
        let Ok(opened) = all_sessions::open(&file, &()) else { continue };
        match call_in(&*opened, id) {
            Some(call) => found.push(SelectedSession::new(config, file, opened.into(), Some(call))),
            None => begun.extend(call_ids_with_prefix(&*opened, id)),
        }
    }
    let copies = Some((found.len() as u64).saturating_sub(1));
    match found.len() {
        0 => match Vec::from_iter(begun).as_slice() {
            [] => Ok(None),
            [whole] => find_call(config, whole),
            several => Err(several_calls(id, several.to_vec())),
        },
        _ => match oldest_copy(&found) {
            Some(oldest) => Ok(Some(SelectedSession { copies, ..found.swap_remove(oldest) })),
            None => Err(several_calls(id, found.iter().map(SelectedSession::id).collect())),
        },
    }
}

/// Returns the session from which the others took over the call; `None` if the calls are different ones.
fn oldest_copy(found: &[SelectedSession]) -> Option<usize> {
    let calls: Vec<&Call> = found.iter().filter_map(SelectedSession::call).collect();
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

fn call_ids_with_prefix(opened: &dyn OpenedSession, id: &str) -> BTreeSet<String> {
    let ids = opened.transcript().calls.iter().map(|call| call.id.to_string());
    ids.filter(|of| of.starts_with(id)).collect()
}

/// Returns the call of a session with this id, or with the only id that begins so.
fn require_call_in(opened: &dyn OpenedSession, session: &str, id: &str) -> anyhow::Result<usize> {
    if let Some(call) = call_in(opened, id) {
        return Ok(call);
    }
    let begun = Vec::from_iter(call_ids_with_prefix(opened, id));
    let whole = match begun.as_slice() {
        [_, _, ..] if !id.is_empty() => return Err(several_calls(id, begun)),
        [whole] if !id.is_empty() => call_in(opened, whole),
        _ => None,
    };
    let (id, session) = (safe(id), safe(session));
    let words =
        format!("no call of session {session} has the id `{id}`; `overspill sessions {session}` lists them");
    whole.ok_or(anyhow!(words))
}

fn several_calls(id: &str, names: Vec<String>) -> anyhow::Error {
    let names: Vec<String> = names.iter().map(|name| safe(name)).collect();
    suggest::several(OsStr::new(id), &format!("matches {} calls", names.len()), names)
}
