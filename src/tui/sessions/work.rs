//! The workers of the list of sessions: one finds them and looks for changes, one sums up their calls.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::corpus::{Corpus, TuneOutputs};
use crate::session::copies::{SeenCalls, families};
use crate::session::exposure::Exposure;
use crate::session::list;
use crate::session::model::SessionFacts;
use crate::session::reader::SessionFile;
use crate::session::tally;
use crate::store::{self, StoreSpec};
use crate::text::label::SafeText;
use crate::tui::calls::lost::LostInCall;
use crate::tui::job::JobContext;
use crate::tui::list::column::SlowFigure;

use super::rows::{SessionRow, SessionWords};
use super::{FoundSessions, SessionsEvent};

/// How many sessions are described before what is known is sent.
const BATCH: usize = 128;

/// The shortest time between two looks at all sessions.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Looks are rarer where they take long: at least this many times as long apart.
const REST: u32 = 20;

/// How long a job that rests takes to notice that it is no longer wanted.
const NOTICE: Duration = Duration::from_millis(100);

/// Finds the sessions and reads the ends of their files, then goes on looking for changes.
pub(crate) fn find(context: &JobContext) {
    let mut known: Option<Vec<SessionFile>> = None;
    loop {
        let began = Instant::now();
        let listing = list::list(context.env(), None, &context.ticket);
        if !context.is_wanted() {
            return;
        }
        if known.as_ref() == Some(&listing.sessions) {
            context.send(SessionsEvent::Looked(crate::env::now()));
        } else {
            known = Some(listing.sessions.clone());
            if !report(listing, context) {
                return;
            }
        }
        let until = Instant::now() + LOOK_EVERY.max(began.elapsed() * REST);
        while Instant::now() < until {
            std::thread::sleep(NOTICE);
            if !context.is_wanted() {
                return;
            }
        }
    }
}

/// Reports the sessions, then what the ends of their files say. Returns false if it is no longer wanted.
fn report(listing: list::SessionListing, context: &JobContext) -> bool {
    let row = |file: SessionFile| {
        let agent = list::format_of(&file).map_or("", |format| format.agent());
        let words = (!file.facts.id.is_empty()).then(|| words(&file.facts));
        SessionRow {
            file: Arc::new(file),
            agent,
            words,
            sums: SlowFigure::default(),
            lost: SlowFigure::default(),
            expires: SlowFigure::default(),
            earlier: Arc::default(),
        }
    };
    let rows: Vec<SessionRow> = listing.sessions.into_iter().map(row).collect();
    let files: Vec<Arc<SessionFile>> = rows.iter().map(|row| row.file.clone()).collect();
    let faults = listing.faults.into_iter().map(SafeText::from).collect();
    let found = FoundSessions { now: crate::env::now(), rows, faults };
    if !context.send(SessionsEvent::Listed(found)) {
        return false;
    }
    let (mut described, mut exposure) = (Vec::new(), Exposure::default());
    let mut origins = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let listed = list::listed(SessionFile::clone(file), &mut exposure);
        let origin = listed.as_ref().ok().and_then(|listed| listed.facts.origin.clone());
        origins.push(SessionFacts { origin, ..SessionFacts::default() });
        let described_as = listed.map(|listed| SessionWords {
            is_open_to_others: listed.is_open_to_others,
            ..words(&listed.facts)
        });
        described.push((n, described_as.unwrap_or_default()));
        // The first are sent soon, because the screen is waiting.
        if described.len() == BATCH || n + 1 == BATCH / 4 {
            let some = std::mem::take(&mut described);
            if !context.send(SessionsEvent::Described(some)) {
                return false;
            }
        }
    }
    context.send(SessionsEvent::Described(described));
    let all: Vec<_> = files.iter().map(|file| &**file).zip(&origins).collect();
    let related = families(&all).into_iter().filter(|family| family.len() > 1).collect();
    context.send(SessionsEvent::Related(related))
}

fn words(facts: &SessionFacts) -> SessionWords {
    let text = |text: &Option<String>| {
        SafeText::from(text.as_deref().unwrap_or_default().lines().next().unwrap_or_default())
    };
    SessionWords {
        version: text(&facts.version),
        project: text(&facts.cwd),
        title: text(&facts.title),
        is_open_to_others: false,
    }
}

/// Sums up the calls of sessions, then counts the errors that they lost, one session after the other, and finds out how
/// long their spills are kept. A call that was copied counts in the session that was created first.
pub(crate) fn sum(sessions: &[SessionRow], context: &JobContext) {
    let uid = context.env().uid();
    let mut cut = Vec::new();
    for session in sessions {
        let SessionRow { file, earlier, .. } = session;
        let mut seen = SeenCalls::default();
        earlier
            .iter()
            .filter_map(|file| list::open(file, &context.ticket).ok())
            .for_each(|opened| seen.add(opened.transcript()));
        let sums = tally::count_new(file, uid, &mut seen, &context.ticket).ok().map(|counted| counted.sums);
        cut.extend(sums.filter(|sums| sums.cut > 0).map(|_| session));
        if !context.send(SessionsEvent::Summed(file.clone(), sums)) {
            return;
        }
    }
    let mut spills = Vec::new();
    for session in cut {
        let mut own = Vec::new();
        let lost = lost(session, &mut own, context);
        if !context.send(SessionsEvent::Lost(session.file.clone(), lost)) {
            return;
        }
        spills.push((session, own));
    }
    let expiries = expiries(&spills.iter().flat_map(|(_, own)| own).collect(), context);
    for (session, own) in spills {
        let first = own.iter().filter_map(|spill| expiries.get(spill)).min().copied();
        if !context.send(SessionsEvent::Expires(session.file.clone(), first)) {
            return;
        }
    }
}

/// Finds out when these spills are deleted, by the rules of the stores in which they lie.
fn expiries(spills: &HashSet<&PathBuf>, context: &JobContext) -> HashMap<PathBuf, Timestamp> {
    let (env, mut found) = (context.env(), HashMap::new());
    let names: HashSet<&OsStr> = spills.iter().filter_map(|spill| spill.file_name()).collect();
    let holds_some = |spec: &&Arc<StoreSpec>| {
        let is_of = |spill: &&PathBuf| {
            let of = context.services.stores.store_of(spill, env);
            of.is_some_and(|(found, _)| Arc::ptr_eq(found, spec))
        };
        spills.iter().any(is_of)
    };
    for spec in context.services.stores.specs.iter().filter(holds_some) {
        store::scan(spec, env, crate::env::now(), &mut |entry| {
            if names.contains(entry.name())
                && let Some(at) = entry.expires.at()
                && spills.contains(&entry.path())
            {
                found.insert(entry.path(), at);
            }
            if context.is_wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    found
}

/// Counts the errors in the outputs of a session that were cut, as far as those are at hand; `None` if none is. Adds
/// their spills to `spills`.
fn lost(session: &SessionRow, spills: &mut Vec<PathBuf>, context: &JobContext) -> Option<LostInCall> {
    let opened = list::open(&session.file, &context.ticket).ok()?;
    let (transcript, agent) = (opened.transcript(), list::format_of(&session.file)?.agent());
    let examiner = (context.services.examiner)(agent);
    let mut sum: Option<LostInCall> = None;
    for call in transcript.calls.iter().filter(|call| call.is_cut()) {
        if !context.is_wanted() {
            return None;
        }
        let spill = examiner.spill(&session.file, call);
        spills.extend(spill.and_then(|spill| spill.path().map(Path::to_path_buf)));
        let of = (&*session.file, transcript, call);
        if let Some(lost) = LostInCall::count(&examiner, of, &context.services.severities) {
            sum.get_or_insert_default().add(lost);
        }
    }
    sum
}

/// Lists the outputs that the results of a session name and that are there, in the order of its calls.
pub(super) fn outputs_of(file: &SessionFile, context: &JobContext) -> Result<TuneOutputs, String> {
    let agent = list::format_of(file).map_or("", |format| format.agent());
    let examiner = (context.services.examiner)(agent);
    let opened = list::open(file, &context.ticket).map_err(|error| error.to_string())?;
    let spills = opened.transcript().calls.iter().filter_map(|call| examiner.spill(file, call));
    let mut paths: Vec<PathBuf> = spills.filter_map(|spill| spill.path().map(Path::to_path_buf)).collect();
    paths.retain(|path| examiner.is_known(file, path));
    Ok(TuneOutputs::Listed(Arc::new(Corpus::of_paths(&paths))))
}
