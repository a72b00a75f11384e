//! The workers of the list of sessions: one finds them and looks for changes, one sums up their calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::corpus::{Corpus, TuneOutputs};
use crate::rows::lost::LostInCall;
use crate::rows::sessions::{SessionRow, SessionTexts};
use crate::session::copies::{SeenCalls, families};
use crate::session::examine::CallInspector;
use crate::session::find::Exposure;
use crate::session::list;
use crate::session::model::SessionFacts;
use crate::session::reader::{SessionError, SessionFile};
use crate::session::tally;
use crate::store;
use crate::text::label::SafeText;
use crate::tui::job::JobContext;

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
            context.send(SessionsEvent::Looked(crate::base::env::now()));
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
    let rows: Vec<SessionRow> = listing.sessions.into_iter().map(SessionRow::new).collect();
    let files: Vec<Arc<SessionFile>> = rows.iter().map(|row| row.file.clone()).collect();
    let faults = listing.faults.into_iter().map(SafeText::from).collect();
    let found = FoundSessions { now: crate::base::env::now(), rows, faults };
    if !context.send(SessionsEvent::Listed(found)) {
        return false;
    }
    let (mut described, mut exposure) = (Vec::new(), Exposure::default());
    let mut origins = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let listed = list::read_listed(SessionFile::clone(file), &mut exposure);
        let origin = listed.as_ref().ok().and_then(|listed| listed.facts.origin.clone());
        origins.push(SessionFacts { origin, ..SessionFacts::default() });
        let words = listed.map(|listed| SessionTexts::new(&listed.facts, listed.is_open_to_others));
        described.push((n, words.unwrap_or_default()));
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
        let sums = tally::count_calls(file, uid, &mut seen, &context.ticket).ok().map(|counted| counted.sums);
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
    let paths = spills.iter().flat_map(|(_, own)| own).map(PathBuf::as_path).collect();
    let (stores, goes_on) = (&context.services.stores, || context.is_wanted());
    let entries = store::entries_at(&paths, stores, context.env(), crate::base::env::now(), &goes_on);
    for (session, own) in &spills {
        let first = own.iter().filter_map(|spill| entries.get(spill)?.expires.at()).min();
        if !context.send(SessionsEvent::Expires(session.file.clone(), first)) {
            return;
        }
    }
}

/// Counts the errors in the outputs of a session that were cut, as far as those are at hand; `None` if none is. Adds
/// their spills to `spills`.
fn lost(session: &SessionRow, spills: &mut Vec<PathBuf>, context: &JobContext) -> Option<LostInCall> {
    let severities = &context.services.severities;
    let count = |inspector: CallInspector| {
        LostInCall::count_all(&inspector, severities, spills, &|| context.is_wanted())
    };
    inspect(&session.file, context, count).ok()?
}

/// Lists the outputs that the results of a session name and that are there, in the order of its calls.
pub(super) fn outputs_of(file: &SessionFile, context: &JobContext) -> Result<TuneOutputs, String> {
    let paths = inspect(file, context, |inspector| {
        let spills = inspector.transcript.calls.iter().filter_map(|call| inspector.spill(call));
        let paths = spills.filter_map(|spill| spill.path().map(Path::to_path_buf));
        paths.filter(|path| inspector.is_known(path)).collect::<Vec<_>>()
    });
    paths
        .map(|paths| TuneOutputs::Listed(Arc::new(Corpus::from_paths(&paths))))
        .map_err(|error| error.to_string())
}

fn inspect<T>(
    file: &SessionFile,
    context: &JobContext,
    look: impl FnOnce(CallInspector) -> T,
) -> Result<T, SessionError> {
    let opened = list::open(file, &context.ticket)?;
    let transcript = opened.transcript();
    let examiner = (context.services.examiner)(transcript.agent);
    Ok(look(CallInspector { examiner: &examiner, file, transcript }))
}
