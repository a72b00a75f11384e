//! Finds the call whose result names a stored output. A spill does not say whose it is, so the sessions near it in time are
//! looked through.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use memchr::memmem::Finder;

use crate::base::env::Env;

use super::command::command;
use super::list;
use super::model::Call;
use super::reader::{ReadProgress, SessionFile};
use super::spill::{SpillState, state_of};

/// The most sessions that are looked through for one output.
const MAX_SESSIONS: usize = 64;

/// The shortest name that is looked for, in bytes: a shorter one is in many records by chance.
const MIN_NAME: usize = 5;

/// How much earlier than its output a session may seem to have been written, for clocks that differ.
const SLACK: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitingCall {
    pub file: SessionFile,
    pub call: String,
    /// What the call did, as the model wrote it; empty if that is not recorded.
    pub command: String,
}

/// The sessions as they were listed last, and when, shared by all searches for calls.
#[derive(Debug, Default)]
pub struct SessionsCache(Mutex<Option<(Timestamp, Arc<Vec<SessionFile>>)>>);

impl SessionsCache {
    /// Finds the call that names an output, which was written at a time; `None` if there is none among the sessions near it.
    pub fn find(&self, path: &Path, written: Timestamp, env: &Env) -> Option<Box<CitingCall>> {
        find(&self.since(written, env), path, env.uid(), &()).map(Box::new)
    }

    /// Returns the sessions as they were at a time or later. A session begins before its outputs are written, so a list
    /// that is younger than an output has its session.
    fn since(&self, time: Timestamp, env: &Env) -> Arc<Vec<SessionFile>> {
        let mut listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sessions)) = listed.as_ref().filter(|(at, _)| *at > time) {
            return sessions.clone();
        }
        let at = crate::base::env::now();
        let sessions = Arc::new(list::list(env, None, &()).sessions);
        *listed = Some((at, sessions.clone()));
        sessions
    }
}

/// Looks through `sessions` for the call that names the file at `path`; `None` if there is none among those near it in time,
/// or `progress` gave up. `uid` owns the files that count.
pub fn find(
    sessions: &[SessionFile],
    path: &Path,
    uid: u32,
    progress: &dyn ReadProgress,
) -> Option<CitingCall> {
    let name = path.file_name().filter(|name| name.as_encoded_bytes().len() >= MIN_NAME)?;
    let written = path.symlink_metadata().ok()?.modified().ok();
    let finder = Finder::new(name.as_encoded_bytes());
    let mut room = Vec::new();
    for file in near(sessions, path, written) {
        let mut wanted = || progress.step(0, 1);
        if !wanted() {
            return None;
        }
        if list::may_hold(file, &finder, &mut room, &mut wanted)
            && let Some(found) = in_session(file, path, name, uid, progress)
        {
            return Some(found);
        }
    }
    None
}

/// Returns the sessions that may have written an output: first those whose id is in its path, then those that were changed
/// after it, the nearest first.
fn near<'a>(
    sessions: &'a [SessionFile],
    path: &Path,
    written: Option<SystemTime>,
) -> impl Iterator<Item = &'a SessionFile> {
    let text = path.to_string_lossy().into_owned();
    let named = |file: &SessionFile| !file.id.is_empty() && text.contains(&file.id);
    let (mut first, rest): (Vec<_>, Vec<_>) = sessions.iter().partition(|file| named(file));
    let after = |file: &&SessionFile| match (file.modified, written) {
        (Some(changed), Some(written)) => changed + SLACK >= written,
        _ => true,
    };
    let mut rest: Vec<_> = rest.into_iter().filter(after).collect();
    rest.sort_by_key(|file| file.modified);
    first.extend(rest);
    first.into_iter().take(MAX_SESSIONS)
}

fn in_session(
    file: &SessionFile,
    path: &Path,
    name: &OsStr,
    uid: u32,
    progress: &dyn ReadProgress,
) -> Option<CitingCall> {
    let opened = list::open(file, progress).ok()?;
    let transcript = opened.transcript();
    let cites = |call: &&Call| {
        let by_name = call.cites.iter().any(|cite| cite.path.file_name() == Some(name));
        by_name && matches!(state_of(call, &file.path, uid), Some(SpillState::Here(here)) if here == path)
    };
    let call = transcript.calls.iter().find(cites)?;
    Some(CitingCall { file: file.clone(), call: call.id.to_string(), command: command(transcript, call) })
}
