//! Sums over the calls of a session: how many were cut, how many were never saved, and what their results cost.

use std::path::Path;

use super::copies::SeenCalls;
use super::counterpart::is_never_saved;
use super::list::ListedSession;
use super::model::{Call, CallStatus, CutState};
use super::reader::{ReadProgress, SessionResult};
use super::spill::{SpillState, state_of};
use super::transcript::{ReadReport, Transcript};
use super::{list, sent, text};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSums {
    pub calls: u64,
    /// The calls that were seen in another session, and count there.
    pub copied: u64,
    pub cut: u64,
    /// Those of them whose rest was never kept.
    pub never_saved: u64,
    /// Those of them whose spill was deleted since.
    pub deleted: u64,
    pub failed: u64,
    /// The bytes of the results, as the model first saw them.
    pub got_bytes: u64,
    /// Those of the calls of whose result it is not recorded whether it was cut.
    pub unsure: u64,
}

/// Reads a session whole: the second step of a list. Takes over its facts, and returns the sums, which are none if the format
/// of the records is unknown, and what was not understood. Leaves out the calls that are `seen` already, as those that were
/// copied from another session, and adds the session's calls to them. `uid` is the user. Costs what opening costs, and a look
/// at each result.
pub fn count_calls(
    session: &mut ListedSession,
    uid: u32,
    seen: &mut SeenCalls,
    progress: &dyn ReadProgress,
) -> SessionResult<(Option<CallSums>, ReadReport)> {
    let opened = list::open(&session.file, progress)?;
    let transcript = opened.transcript();
    let sums = tally(transcript, &session.file.path, uid, seen, progress)?;
    seen.add(transcript);
    session.learn(&transcript.facts);
    let unread = transcript.unread.clone();
    Ok(((!unread.is_format_unknown()).then_some(sums), unread))
}

/// Sums up the calls that are not `seen` already; fails if `progress` gave it up. Reads each text once.
pub fn tally(
    transcript: &Transcript,
    records: &Path,
    uid: u32,
    seen: &SeenCalls,
    progress: &dyn ReadProgress,
) -> SessionResult<CallSums> {
    let calls = transcript.calls.len() as u64;
    let mut tally = CallSums::default();
    for (number, call) in transcript.calls.iter().enumerate() {
        progress.try_step(number as u64, calls)?;
        if seen.has(call) {
            continue;
        }
        tally.calls += 1;
        tally.cut += u64::from(call.is_cut());
        tally.never_saved += u64::from(is_never_saved(transcript, call));
        tally.deleted += u64::from(is_deleted(call, records, uid));
        tally.failed += u64::from(call.status == CallStatus::Failed);
        tally.unsure += u64::from(call.cut == CutState::Unknown && call.first().is_some());
        tally.got_bytes += got_bytes(transcript, call);
    }
    tally.copied = calls - tally.calls;
    Ok(tally)
}

pub fn is_deleted(call: &Call, records: &Path, uid: u32) -> bool {
    call.cut == CutState::Spill && matches!(state_of(call, records, uid), None | Some(SpillState::Deleted))
}

/// Returns the length in UTF-8 bytes of a result as the model first saw it; 0 if the records cannot be read any more.
pub fn got_bytes(transcript: &Transcript, call: &Call) -> u64 {
    let first = sent::best(transcript, call).first;
    let facts = first.and_then(|first| text::decode(transcript, &first.pieces, &mut |_| true).ok());
    facts.map_or(0, |facts| facts.bytes)
}
