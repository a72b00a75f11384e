//! The rows of the list of calls, and what columns, filter and details say. All texts are safe to show.

use std::cmp::Reverse;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base::human::{NamedFact, count, local_time, size, thousands, tokens, utc};
use crate::compare::describe_excess;
use crate::session::command::{command, one_line};
use crate::session::copies::{SeenCalls, count_copies};
use crate::session::examine::CallInspector;
use crate::session::fate::{ContextChange, ContextState};
use crate::session::model::{Call, CallStatus, CutState, Evidence};
use crate::session::spill::SpillState;
use crate::session::text;
use crate::session::transcript::Transcript;
use crate::session::verdict::{Counterpart, NoVerdict, describe_check};
use crate::session::verify::{Difference, Verdict};
use crate::text::label::SafeText;

use super::column::CellSide::{Left, Right};
use super::column::{
    ID, LARGEST_FIRST, ListColumn, ListSpec, MOST_FIRST, RowCell, RowLook, SlowFigure, Tone, joined, key_of,
};
use super::lost::{KeptShare, LostCounts, ModelShare};

/// What takes a while to find out about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSizes {
    /// The length of what the model first got, in UTF-8 bytes.
    pub got: Option<u64>,
    /// The size of the whole output in bytes, if it is known.
    pub whole: Option<u64>,
    /// What is at the place that its result names.
    pub spill: Option<SpillState>,
    pub command: SafeText,
    /// The same as it was written.
    pub written: Box<str>,
    /// What the records prove of the result.
    pub evidence: Option<Evidence>,
    /// What became of the result, by the requests too.
    pub context: Option<ContextState>,
}

#[derive(Debug, Clone, Default)]
pub struct CallRow {
    pub id: SafeText,
    /// Who called: the name of the conversation; empty for the main one.
    pub thread: SafeText,
    pub tool: SafeText,
    pub at: Option<Timestamp>,
    pub status: CallStatus,
    pub cut: CutState,
    pub is_window: bool,
    /// What became of the result, by the records alone; `None` if there is none.
    pub context: Option<ContextState>,
    pub sizes: Option<CallSizes>,
    /// Whether a policy makes the same text; of calls that were cut.
    pub verdict: Option<Verdict>,
    /// What the model got of the output, if it was cut.
    pub share: SlowFigure<ModelShare>,
    /// The number of other sessions that have the same call, as far as is known.
    pub copies: u64,
}

impl CallSizes {
    /// Also hands the text that the model first got to `take`, piece by piece.
    pub(crate) fn find(inspector: &CallInspector, call: &Call, take: &mut dyn FnMut(&str)) -> Self {
        let command = command(inspector.transcript, call);
        let best = inspector.best(call);
        let mut take_all = |piece: &str| {
            take(piece);
            true
        };
        let got =
            best.first.as_ref().map(|first| text::decode(inspector.transcript, &first.pieces, &mut take_all));
        Self {
            got: got.and_then(Result::ok).map(|facts| facts.bytes),
            evidence: best.first.as_ref().map(|first| first.evidence),
            context: best.first.as_ref().map(|first| first.context),
            whole: inspector.whole_bytes(call),
            spill: inspector.spill(call),
            command: SafeText::from(one_line(&command)),
            written: command.into(),
        }
    }
}

impl CallRow {
    /// Returns what a look at the records tells of a call.
    pub(crate) fn new(transcript: &Transcript, call: &Call) -> Self {
        let thread = transcript.thread(call).filter(|_| call.thread > 0);
        Self {
            id: SafeText::from(&*call.id),
            thread: thread.map_or_else(SafeText::default, |thread| SafeText::from(&*thread.name)),
            tool: SafeText::from(transcript.tool(call)),
            at: call.at,
            status: call.status,
            cut: call.cut,
            is_window: call.is_window,
            context: call.first().map(|first| first.context),
            ..Self::default()
        }
    }

    /// Returns what is known of a call without reading its whole output, and hands the text that the model first got to `take`.
    pub(crate) fn find(inspector: &CallInspector, call: &Call, take: &mut dyn FnMut(&str)) -> Self {
        let mut row = Self::new(inspector.transcript, call);
        row.sizes = Some(CallSizes::find(inspector, call, take));
        row.verdict = row.is_partial().then(|| inspector.verify(call));
        row
    }

    /// Whether the model got only a part, so that a policy can be held against it.
    pub fn is_partial(&self) -> bool {
        self.is_window || self.is_cut()
    }

    pub fn is_cut(&self) -> bool {
        matches!(self.cut, CutState::Spill | CutState::NoSpill)
    }

    /// Whether there is a result, of which it is not recorded whether it was cut.
    pub(crate) fn is_unsure(&self) -> bool {
        self.cut == CutState::Unknown && self.context.is_some()
    }

    /// Returns what the model still has of the result; `None` if there is none.
    pub(crate) fn still_has(&self) -> Option<ContextState> {
        self.sizes.as_ref().and_then(|sizes| sizes.context).or(self.context)
    }

    pub(crate) fn spill_path(&self) -> Option<&Path> {
        self.sizes.as_ref()?.spill.as_ref()?.path()
    }

    /// Returns what is left of an output that was cut; `None` if it was not cut, or nobody has looked yet.
    pub(crate) fn left(&self) -> Option<&'static str> {
        let sizes = self.sizes.as_ref()?;
        match (self.cut, &sizes.spill) {
            (CutState::NoSpill, _) if sizes.whole.is_some() => Some("in the record"),
            (CutState::NoSpill, _) => Some("never saved"),
            (CutState::Spill, Some(SpillState::Here(_))) => Some("saved"),
            (CutState::Spill, Some(SpillState::Other(_))) => Some("another file"),
            (CutState::Spill, _) => Some("deleted"),
            _ => None,
        }
    }

    /// Returns the words that matter most about a call, the most important first.
    pub fn state(&self) -> String {
        let differs = self.verdict.as_ref().and_then(differs);
        let status = (self.status != CallStatus::Ok).then(|| self.status.as_str().to_owned());
        let copies = (self.copies > 0).then(|| format!("also in {}", count(self.copies, "session")));
        let words = [differs, status, self.left().map(str::to_owned), copies];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn differs(&self) -> bool {
        self.verdict.as_ref().and_then(differs).is_some()
    }

    /// Whether something about the call needs a look: it failed, differs from its policy, or its output is nowhere.
    pub(crate) fn is_bad(&self) -> bool {
        self.status == CallStatus::Failed
            || self.differs()
            || matches!(self.left(), Some("never saved" | "another file" | "deleted"))
    }

    /// Returns the errors in the output, if it was cut.
    fn lost(&self) -> SlowFigure<LostCounts> {
        self.share.and_then(|share| share.lost)
    }
}

type Column = ListColumn<CallRow>;

pub(crate) static SPEC: ListSpec<CallRow> = ListSpec {
    noun: "call",
    columns: COLUMNS,
    groups: &[],
    words: &[
        ("cut", |row, _| row.is_cut()),
        ("errors", |row, _| row.lost().value.is_some_and(|lost| lost.errors.all > 0)),
        ("lost", |row, _| row.lost().value.is_some_and(|lost| lost.errors.lost > 0)),
        ("deleted", |row, _| row.left() == Some("deleted")),
        ("differs", |row, _| row.differs()),
        ("failed", |row, _| row.status == CallStatus::Failed),
        ("today", |row, look| row.at.is_some_and(|at| look.is_today(at))),
    ],
    known: |row| format!("{} {}", row.thread, row.id),
    key: |row| key_of(&*row.id),
    sum: |_| String::new(),
    mark: |row| RowCell::new(if row.differs() { "≠" } else { " " }, Tone::Warning),
};

/// Columns for the state of a call: `DIFFERS from claude-code/bash` fits.
const STATE: usize = 32;

const COLUMNS: &[Column] = &[
    Column::new("when", Left, 11, when)
        .sorts('w', ["oldest first", "newest first"], |a, b| {
            (a.at.is_none(), a.at).cmp(&(b.at.is_none(), b.at))
        })
        .with_time(|row| row.at)
        .yields(4),
    Column::new("tool", Left, 18, |row, _| dim_unless_cut(row, row.tool.clone())),
    Column::new("command", Left, 0, |row, _| match &row.sizes {
        Some(sizes) => dim_unless_cut(row, sizes.command.clone()),
        None => RowCell::dim("…"),
    }),
    Column::new("size", Right, 8, whole).yields(1).sorts('b', LARGEST_FIRST, |a, b| {
        let size = |row: &CallRow| Reverse(row.sizes.as_ref().and_then(|sizes| whole_size(row, sizes)));
        size(a).cmp(&size(b))
    }),
    Column::new("model got", Right, 14, got).sorts('g', ["least first", "most first"], |a, b| {
        let rank = |row: &CallRow| (uncut(row), row.share.value.as_ref().map(|share| share.got.rank()));
        rank(a).cmp(&rank(b))
    }),
    Column::new("errors lost", Right, 11, lost).sorts('e', MOST_FIRST, |a, b| {
        uncut(a).cmp(&uncut(b)).then_with(|| LostCounts::compare(a.lost().value, b.lost().value))
    }),
    Column::new("still has", Left, 14, still_has).yields(2),
    Column::new("state", Left, STATE, |row, _| {
        RowCell::new(row.state(), if row.is_bad() { Tone::Warning } else { Tone::Dim })
    })
    .yields(3),
];

/// Returns the columns of tables: with what other commands take.
pub(crate) fn table_columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().chain(IN_TABLES)
}

const IN_TABLES: &[Column] = &[
    Column::new("thread", Left, 18, |row, _| RowCell::plain(row.thread.clone())).yields(0),
    Column::new("check", Left, 5, |row, _| RowCell::plain(row.verdict.as_ref().map_or("", Verdict::mark)))
        .yields(0),
    Column::new("id", Left, ID, |row, _| RowCell::plain(row.id.clone())),
];

/// Returns the fields of a call in `--json`: those of the row, and texts as they are recorded. Times are RFC 3339, UTC, to
/// the second; sizes are bytes of UTF-8.
pub(crate) fn json(of: CallInspector, call: &Call, related: &[SeenCalls]) -> Value {
    let CallInspector { file, transcript, .. } = of;
    let mut hash = Sha256::new();
    let row = CallRow::find(&of, call, &mut |piece| hash.update(piece));
    let sizes = row.sizes.clone().unwrap_or_default();
    let context = sizes.context.filter(|context| !context.is_unknown());
    json!({
        "id": &*call.id,
        "session": file.id,
        "agent": transcript.agent,
        "agent_version": transcript.version_of(call),
        "thread": transcript.thread(call).map_or("", |thread| &thread.name),
        "tool": transcript.tool(call),
        "command": text::mask(&sizes.written),
        "at": row.at.map(utc),
        "status": row.status.as_str(),
        "exit": call.exit,
        "evidence": sizes.evidence.map(Evidence::as_str),
        "got_bytes": sizes.got,
        "got_sha256": sizes.got.map(|_| format!("{:x}", hash.finalize())),
        "tokens_estimate": call.tokens.or_else(|| sizes.got.map(|bytes| bytes.div_ceil(4))),
        "cut": if row.left() == Some("in the record") { "in-record" } else { row.cut.as_str() },
        "cut_by": row.verdict.as_ref().and_then(Verdict::cut_by).map(|(by, _)| by.as_str()),
        "spill": call.cites.first().map(|cite| cite.path.to_string_lossy()),
        "spill_state": sizes.spill.as_ref().map(SpillState::as_str),
        "form": context.map(|context| form(context.change)),
        "fate": context.map(|context| context.change.as_str()),
        "fate_since": context.and_then(|context| context.since),
        "fate_evidence": sizes.context.map(|context| context.evidence.as_str()),
        "verify": row.verdict.as_ref().map(Verdict::as_str),
        "verify_against": row.verdict.as_ref().and_then(Verdict::counterpart).map(Counterpart::as_str),
        "also_in": count_copies(related, call),
    })
}

/// Names what the model has in the place of a result.
fn form(change: ContextChange) -> &'static str {
    match change {
        ContextChange::Restore => "whole",
        ContextChange::Replace => "edited",
        ContextChange::Clear => "placeholder",
        ContextChange::Compact => "summary",
        ContextChange::Checkpoint => "checkpoint",
        ContextChange::Drop | ContextChange::Rewind | ContextChange::Leave => "gone",
    }
}

/// Orders cut results before those that may be cut, and these before the rest. An unknown loss may be the largest.
fn uncut(row: &CallRow) -> u8 {
    u8::from(!row.is_cut()) + u8::from(!row.is_cut() && !row.is_unsure())
}

/// Dims a text unless it was cut.
fn dim_unless_cut(row: &CallRow, text: SafeText) -> RowCell {
    RowCell::new(text, if row.is_cut() { Tone::Plain } else { Tone::Dim })
}

/// Returns the time of a call; with its date if that is over a day ago.
fn when(row: &CallRow, look: &RowLook) -> RowCell {
    let Some(at) = row.at else { return RowCell::dim("–") };
    let is_old = look.now.duration_since(at) > SignedDuration::from_hours(24);
    let format = if is_old { "%m-%d %H:%M" } else { "%H:%M:%S" };
    RowCell::dim(local_time(at, format))
}

fn whole_size(row: &CallRow, sizes: &CallSizes) -> Option<u64> {
    if row.cut == CutState::No { sizes.got } else { sizes.whole }
}

fn whole(row: &CallRow, _: &RowLook) -> RowCell {
    let Some(sizes) = &row.sizes else { return RowCell::dim("…") };
    dim_unless_cut(row, whole_size(row, sizes).map_or("–".to_owned(), size).into())
}

fn got(row: &CallRow, look: &RowLook) -> RowCell {
    match (row.cut, &row.sizes) {
        (_, None) => RowCell::dim("…"),
        (CutState::No, Some(_)) => RowCell::dim("all"),
        (CutState::Unknown, Some(_)) => unknown_cut(row),
        _ => KeptShare::cell(&row.share.and_then(|share| Some((share.got, share.is_past))), look),
    }
}

fn lost(row: &CallRow, _: &RowLook) -> RowCell {
    match row.cut {
        CutState::No => RowCell::default(),
        CutState::Unknown => unknown_cut(row),
        CutState::Spill | CutState::NoSpill => LostCounts::cell(&row.lost()),
    }
}

/// Says that it is not recorded whether a result was cut; nothing if there is none.
fn unknown_cut(row: &CallRow) -> RowCell {
    RowCell::dim(if row.is_unsure() { "–" } else { "" })
}

fn still_has(row: &CallRow, _: &RowLook) -> RowCell {
    let Some(state) = row.still_has() else { return RowCell::default() };
    RowCell::new(state.describe(), if state.is_whole() { Tone::Dim } else { Tone::Plain })
}

pub(crate) fn details(row: &CallRow) -> [SafeText; 2] {
    let sizes = row.sizes.clone().unwrap_or_default();
    let evidence = row.still_has().map_or("no result recorded", |_| "recorded");
    let got = sizes.got.map(|got| format!("got {} ({} tokens)", size(got), tokens(got)));
    let (thread, verdict) = (row.thread.to_string(), row.verdict.as_ref().and_then(describe_verdict));
    let parts = [Some(evidence.to_owned()), got, Some(thread), Some(row.state()), verdict];
    [joined(parts), format!("{} {}", row.tool, sizes.command).into()]
}

/// Returns what is known of a call, by name; `known` is what its records tell.
pub(crate) fn facts(row: &CallRow, known: Vec<NamedFact>) -> Vec<NamedFact> {
    let check = row.is_partial().then(|| ("compared", describe_check(row.verdict.as_ref())));
    let spill = row.spill_path().map(|path| ("spill", path.to_string_lossy().into_owned()));
    check.into_iter().chain(spill).chain(known).collect()
}

/// Says from which policy a text differs, unless one of another version makes it.
pub(crate) fn differs(verdict: &Verdict) -> Option<String> {
    let Verdict::Differs(Difference { policy, fits: None, .. }) = verdict else { return None };
    Some(format!("DIFFERS from {policy}"))
}

/// Describes what a comparison with the policies found, besides a difference, which the state says.
fn describe_verdict(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Equal { policy, counterpart: Counterpart::Witness, .. } => {
            Some(format!("plausible: {policy}"))
        }
        Verdict::Equal { policy, .. } => {
            let over = verdict.cut_by().and_then(describe_excess).map(|over| format!(", {over}"));
            Some(format!("verified: {policy}{}", over.unwrap_or_default()))
        }
        Verdict::Differs(Difference { fits: Some(fits), .. }) => {
            Some(format!("as {fits} of another version"))
        }
        Verdict::Differs(difference) => Some(format!("from byte {}", thousands(difference.at + 1))),
        Verdict::Unchecked(why @ NoVerdict::Outside) => Some(why.to_string()),
        Verdict::Unchecked(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A summary and a checkpoint have one fate.
    #[test]
    fn each_fate_has_a_form() {
        use ContextChange::{Checkpoint, Clear, Compact, Drop, Leave, Replace, Restore, Rewind};
        let all = [Clear, Replace, Compact, Checkpoint, Drop, Rewind, Leave, Restore];
        let forms = all.map(|change| format!("{} {}", change.as_str(), form(change)));
        let expected = "cleared placeholder, replaced edited, compacted summary, compacted checkpoint, dropped gone, \
                        rewound gone, off-branch gone, in-context whole";
        assert_eq!(forms.join(", "), expected);
    }
}
