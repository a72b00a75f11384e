//! Calls that several sessions hold, because one was forked from another, or resumed in a new file.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::SystemTime;

use crate::base::env::Env;

use super::find;
use super::list::{format_of, list, open};
use super::model::{Call, SessionFacts, TextPiece};
use super::reader::{GLANCE, ReadProgress, SessionFile};
use super::transcript::Transcript;

/// How many lines at the start of a session's file show from which one it was copied.
const LINES: usize = 16;
/// The most related sessions that are opened to look for copies of calls.
const MAX_RELATED: usize = 100;

/// Groups sessions that may hold copies of each other's calls; most groups are of one. In a group the first is the one
/// whose file was created first. The numbers are places in `sessions`.
pub fn families(sessions: &[(&SessionFile, &SessionFacts)]) -> Vec<Vec<usize>> {
    let mut heads: Vec<usize> = (0..sessions.len()).collect();
    let mut known: HashMap<(Option<&str>, &str), usize> = HashMap::new();
    for (n, (file, facts)) in sessions.iter().enumerate() {
        let agent = format_of(file).map(|format| format.info.agent);
        let names = [Some(file.id.as_str()), facts.origin.as_deref()];
        for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
            let first = *known.entry((agent, name)).or_insert(n);
            let (a, b) = (head_of(&heads, first), head_of(&heads, n));
            heads[a.max(b)] = a.min(b);
        }
    }
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    (0..sessions.len()).for_each(|n| groups.entry(head_of(&heads, n)).or_default().push(n));
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_unstable();
    for group in groups.iter_mut().filter(|group| group.len() > 1) {
        group.sort_by_cached_key(|n| (created(&sessions[*n].0.path), sessions[*n].0.path.clone()));
    }
    groups
}

fn head_of(heads: &[usize], of: usize) -> usize {
    let mut at = of;
    while heads[at] != at {
        at = heads[at];
    }
    at
}

/// Returns when a file was created; where that is not known, when it was last changed.
fn created(path: &Path) -> Option<SystemTime> {
    let meta = path.metadata().ok()?;
    meta.created().or_else(|_| meta.modified()).ok()
}

#[derive(Clone, Debug, Default)]
pub struct SeenCalls {
    keys: HashSet<u64>,
}

impl SeenCalls {
    pub fn add(&mut self, transcript: &Transcript) {
        self.keys.extend(transcript.calls.iter().map(key));
    }

    /// Whether one of those sessions has the same call: with the same id, and a result of the same length.
    pub fn has(&self, call: &Call) -> bool {
        self.keys.contains(&key(call))
    }
}

/// Whether two calls are one, which a session took over from the other: with the same id, and a result of the same length.
pub fn is_same(a: &Call, b: &Call) -> bool {
    key(a) == key(b)
}

fn key(call: &Call) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.id.hash(&mut hasher);
    for piece in call.first().into_iter().flat_map(|first| &first.pieces) {
        match piece {
            TextPiece::Json(span) | TextPiece::Raw(span) => span.len().hash(&mut hasher),
            TextPiece::Added(text) => text.hash(&mut hasher),
            TextPiece::Image => 0.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// Returns the calls of each of the sessions that may hold copies of one session's. Reads the first lines of the agent's
/// other sessions in the same directory (in all, if it has one a day), and opens those that are related.
/// `progress` may give it up; then what was found so far counts.
pub fn related_calls(env: &Env, file: &SessionFile, progress: &dyn ReadProgress) -> Vec<SeenCalls> {
    let Some(format) = format_of(file).filter(|_| begins_with_origin(file).is_some()) else {
        return Vec::new();
    };
    let mut candidates = list(env, Some(format.info.agent), progress).sessions;
    candidates.retain(|other| {
        other.format == file.format && (format.info.is_by_day || other.path.parent() == file.path.parent())
    });
    let is_own = |other: &SessionFile| other.path == file.path && other.id == file.id;
    if !candidates.iter().any(is_own) {
        return Vec::new();
    }
    let facts: Vec<_> =
        candidates.iter().map(|other| begins_with_origin(other).unwrap_or_default()).collect();
    let all: Vec<_> = candidates.iter().zip(&facts).collect();
    let mut families = families(&all).into_iter();
    let family = families.find(|family| family.iter().any(|n| is_own(&candidates[*n]))).unwrap_or_default();
    let related = family.into_iter().map(|n| &candidates[n]).filter(|other| !is_own(other)).take(MAX_RELATED);
    let opened = related.filter_map(|other| open(other, progress).ok());
    opened.map(|opened| SeenCalls { keys: opened.transcript().calls.iter().map(key).collect() }).collect()
}

pub fn count_copies(related: &[SeenCalls], call: &Call) -> u64 {
    related.iter().filter(|seen| seen.has(call)).count() as u64
}

/// Finds out which other sessions have the same calls, while the session is looked at.
#[derive(Debug)]
pub struct CopySearch {
    search: Option<JoinHandle<Vec<SeenCalls>>>,
    found: Vec<SeenCalls>,
    /// The number of calls that were looked for in the other sessions.
    reported: usize,
}

impl CopySearch {
    pub fn start(env: &Env, file: &SessionFile, progress: impl ReadProgress + Send + 'static) -> Self {
        let (env, file) = (env.clone(), file.clone());
        let search = move || related_calls(&env, &file, &progress);
        let search = std::thread::Builder::new().name("copies".into()).spawn(search).ok();
        Self { search, found: Vec::new(), reported: 0 }
    }

    /// Returns how many sessions have each call that others have, by its index, when that is known or has changed.
    pub fn news(&mut self, transcript: &Transcript) -> Option<Vec<(usize, u64)>> {
        if let Some(done) = self.search.take_if(|search| search.is_finished()) {
            self.found = done.join().unwrap_or_default();
        }
        if self.search.is_some() || self.reported == transcript.calls.len() {
            return None;
        }
        self.reported = transcript.calls.len();
        let counts = transcript.calls.iter().map(|call| count_copies(&self.found, call)).enumerate();
        Some(counts.filter(|(_, copies)| *copies > 0).collect())
    }
}

/// Returns what the first lines of a session's file say; `None` if they do not show from which one it could be copied.
fn begins_with_origin(file: &SessionFile) -> Option<SessionFacts> {
    // All is known of a session in a database.
    if !file.facts.id.is_empty() {
        return Some(file.facts.clone()).filter(|facts| facts.origin.is_some());
    }
    let head = find::head(&file.path, GLANCE).ok()?;
    let end = memchr::memchr_iter(b'\n', &head).take(LINES).last().map_or(head.len(), |at| at + 1);
    let facts = (format_of(file)?.glance)(file, head.get(..end)?, &[]);
    facts.origin.is_some().then_some(facts)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn session(format: &'static str, id: &str, origin: &str) -> (SessionFile, SessionFacts) {
        let facts = SessionFacts { origin: Some(origin.into()), ..SessionFacts::default() };
        let path = PathBuf::from(format!("/nowhere/{id}"));
        let (id, size, modified) = (id.to_owned(), 0, None);
        (SessionFile { format, path, id, size, modified, facts: SessionFacts::default() }, facts)
    }

    #[test]
    fn forks_of_forks_are_of_one_family() {
        let sessions = [
            session("codex", "c", "b"),
            session("codex", "x", "x"),
            session("codex", "b", "a"),
            session("pi", "a", "1"),
            session("codex", "a", "a"),
        ];
        let all: Vec<_> = sessions.iter().map(|(file, facts)| (file, facts)).collect();
        assert_eq!(families(&all), [vec![4, 2, 0], vec![1], vec![3]]);
    }
}
