//! One model for all agents: sessions, calls, the texts that the model got, and what was done to these in its context.

use std::num::NonZero;
use std::path::PathBuf;

use jiff::Timestamp;
use smallvec::SmallVec;

use super::fate::{ContextChange, ContextState, FateEvidence};

/// A place in an agent's records. A session holds five for each call, so it takes 20 bytes, also as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordSpan {
    /// One more than the number of the source.
    source: NonZero<u32>,
    /// A record is shorter than 4 GiB.
    len: u32,
    /// The start in a file, or the number of a row, in two halves, so that it is not aligned to eight bytes.
    place: [u32; 2],
    /// The start in the row's record; [`IN_FILE`] in a file.
    in_row: u32,
}

/// A record in a row of a table is shorter than 4 GiB, so none starts there.
const IN_FILE: u32 = u32::MAX;

impl RecordSpan {
    /// The place of `len` bytes from byte `start` (0-based) of a file, for which `row` is 0, or of the record in a row.
    pub fn new(source: u32, row: i64, start: u64, len: u64) -> Self {
        let source = NonZero::<u32>::MIN.saturating_add(source);
        let (place, in_row) = match row {
            0 => (start, IN_FILE),
            row => (row as u64, u32::try_from(start).unwrap_or(IN_FILE).min(IN_FILE - 1)),
        };
        let place = [(place >> 32) as u32, place as u32];
        Self { source, len: len.try_into().unwrap_or(u32::MAX), place, in_row }
    }

    /// Returns which of the transcript's sources holds the record, as an index into [`Transcript::sources`].
    pub fn source(&self) -> u32 {
        self.source.get() - 1
    }

    /// Returns the row of a table; 0 in a file.
    pub fn row(&self) -> i64 {
        if self.in_row == IN_FILE { 0 } else { self.place() as i64 }
    }

    /// Returns the first byte of the value: in the file, or in the row's record. 0-based.
    pub fn start(&self) -> u64 {
        if self.in_row == IN_FILE { self.place() } else { self.in_row.into() }
    }

    fn place(&self) -> u64 {
        u64::from(self.place[0]) << 32 | u64::from(self.place[1])
    }

    /// Returns the length in bytes, as the value is written.
    pub fn len(&self) -> u64 {
        self.len.into()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the place after the last byte, 0-based.
    pub fn end(&self) -> u64 {
        self.start().saturating_add(self.len())
    }

    /// Returns the place of `len` bytes from byte `offset` of this one on.
    pub fn part(&self, offset: u64, len: u64) -> Self {
        Self::new(self.source(), self.row(), self.start().saturating_add(offset), len)
    }
}

words! {
    /// What the records say about a text, best first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Evidence {
        /// The request that carried it is in the records.
        Sent => "sent",
        /// The agent's history holds it.
        Recorded => "recorded",
        /// The history holds it, and a last step that is known was added.
        Rendered => "rendered",
    }
}

/// A piece of a text that the model got. The pieces, joined by nothing, are the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// A JSON string in the records, to be decoded.
    Json(RecordSpan),
    /// Bytes of the records as they are.
    Raw(RecordSpan),
    /// Text that is not in the records, and that the agent adds when it sends them.
    Added(Box<str>),
    Image,
}

impl TextPiece {
    pub fn span(&self) -> Option<RecordSpan> {
        match self {
            Self::Json(span) | Self::Raw(span) => Some(*span),
            Self::Added(_) | Self::Image => None,
        }
    }
}

/// The pieces of a text: nearly every text is one, which is kept in place.
pub type TextPieces = SmallVec<[TextPiece; 1]>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub evidence: Evidence,
    pub pieces: TextPieces,
    pub at: Option<Timestamp>,
    pub context: ContextState,
    pub record: Option<RecordSpan>,
}

impl CallResult {
    /// Creates a result as it went into the agent's history, where it still is.
    pub fn recorded(pieces: TextPieces, at: Option<Timestamp>, record: RecordSpan) -> Self {
        Self {
            evidence: Evidence::Recorded,
            pieces,
            at,
            context: ContextState::default(),
            record: Some(record),
        }
    }

    /// Returns how many bytes the text takes in the records: of one that the same program wrote again, as many.
    pub fn recorded_len(&self) -> u64 {
        self.pieces.iter().filter_map(TextPiece::span).map(|span| span.len()).sum()
    }
}

/// A copy for the agent's own screen. The model never got it, and it sometimes holds more than the model got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayCopy {
    /// The agent's name for it: `toolUseResult.stdout`.
    pub name: &'static str,
    pub text: TextPiece,
    /// The length in bytes from which it may not be whole; `None` if it always is.
    pub most: Option<u32>,
}

impl DisplayCopy {
    pub fn new(name: &'static str, text: RecordSpan, most: Option<u32>) -> Self {
        Self { name, text: TextPiece::Json(text), most }
    }
}

words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CallStatus {
        Ok => "ok",
        /// It failed, by the agent's own words or by its exit status.
        Failed => "failed",
        /// The user did not let it run, or stopped it.
        Denied => "denied",
        #[default]
        NoResult => "no result",
    }
}

words! {
    /// Whether the agent cut a call's output before the model got it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CutState {
        No => "no",
        /// It did, and kept the whole in a spill.
        Spill => "spill",
        /// It did, and kept the rest in no spill.
        NoSpill => "never-saved",
        /// It is not recorded, or there is no result.
        #[default]
        Unknown => "unknown",
    }
}

/// A spill that a result names. The path is a claim of the records; nothing was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub path: PathBuf,
    /// The size in bytes that the records claim.
    pub bytes: Option<u64>,
    /// Whether that is the size of the text that the agent decodes from the file.
    pub is_decoded: bool,
}

impl Citation {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes: None, is_decoded: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The agent's id of the call; unique in the session only.
    pub id: Box<str>,
    /// Who called: an index into `Transcript::threads`.
    pub thread: u32,
    /// Which tool: an index into `Transcript::tools`.
    pub tool: u32,
    /// The arguments: a JSON value, or a string that holds one.
    pub input: Option<RecordSpan>,
    pub at: Option<Timestamp>,
    pub status: CallStatus,
    pub exit: Option<i32>,
    /// What the model got for it first.
    pub result: Option<CallResult>,
    /// How many texts stood in its place later.
    pub later: u32,
    pub display: SmallVec<[DisplayCopy; 1]>,
    pub cites: Vec<Citation>,
    pub cut: CutState,
    /// Whether it was cut by a rule that no policy describes, such as a limit of all results of a turn.
    pub has_unmodelled_cut: bool,
    /// How many lines of a file it asked for, 0 for all from one on; `None` if its arguments name no window.
    pub asked_lines: Option<u32>,
    /// Whether the result is a part of a file by a policy, which can be held against the file.
    pub is_window: bool,
    /// One more than the number of its version in the transcript; 0 if the records of it do not tell it.
    pub version: u16,
    /// The tokens of the result, where the agent records them.
    pub tokens: Option<u64>,
    pub record: Option<RecordSpan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLines {
    pub count: u32,
    /// Whether it goes up to the last line of the file.
    pub is_end: bool,
}

impl Call {
    pub fn new(id: impl Into<Box<str>>, thread: u32, tool: u32) -> Self {
        Self { id: id.into(), thread, tool, ..Self::default() }
    }

    /// Notes how it ended: whether it failed by the agent's own words, or by its exit status.
    pub fn end(&mut self, is_error: bool) {
        let failed = is_error || self.exit.is_some_and(|code| code != 0);
        self.status = if failed { CallStatus::Failed } else { CallStatus::Ok };
    }

    /// Notes the spills that the result names, and whether anything was cut.
    pub fn note_cut(&mut self, cites: impl IntoIterator<Item = Citation>, is_cut: bool) {
        self.cites = cites.into_iter().collect();
        self.cut = match (self.cites.is_empty(), is_cut) {
            (false, _) => CutState::Spill,
            (true, true) => CutState::NoSpill,
            (true, false) => CutState::No,
        };
    }

    /// Whether the model got less of a file than it asked for, given that it was told of more; `shown` is what it got,
    /// if that is known.
    pub fn gives_less(&self, shown: Option<ShownLines>) -> bool {
        self.asked_lines.is_none_or(|asked| shown.is_some_and(|shown| shown.count < asked && !shown.is_end))
    }

    /// Whether a policy made the result of more than the model got: the output was cut, or is a window of a file.
    pub fn is_partial(&self) -> bool {
        self.is_window || self.is_cut()
    }

    pub fn is_cut(&self) -> bool {
        matches!(self.cut, CutState::Spill | CutState::NoSpill)
    }

    pub fn first(&self) -> Option<&CallResult> {
        self.result.as_ref()
    }

    /// Adds what the model got: the first text is kept, later ones are counted.
    pub fn add(&mut self, result: CallResult) {
        match self.result {
            Some(_) => self.later += 1,
            None => self.result = Some(result),
        }
    }
}

/// What is known of where a change of the model's context came from. By default it is recorded, and no more is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeOrigin {
    /// The first request of the thread that is made so, 1-based; `None` if that is unknown.
    pub request: Option<u32>,
    pub evidence: FateEvidence,
}

/// A change of the model's context. The events of a transcript, taken in their order, give the fate of each result after
/// the last request; those up to a request give it for that request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEvent {
    pub change: ContextChange,
    pub origin: ChangeOrigin,
    /// The calls of the results: indexes into `calls` of the transcript.
    pub calls: Vec<u32>,
}

impl ContextEvent {
    /// Returns the state of one of its results after the event. A result that is gone changes only by `Restore`, or by
    /// `Leave` if its branch is left. A repeated change keeps its first request.
    pub fn applied_to(&self, state: ContextState) -> ContextState {
        use ContextChange::{Clear, Leave, Replace, Restore};
        let (change, ChangeOrigin { request, evidence }) = (self.change, self.origin);
        let is_there = matches!(state.change, Restore | Clear | Replace);
        match change {
            change if state.change == change => state,
            Restore => ContextState { evidence, ..ContextState::default() },
            change if !is_there && change != Leave => state,
            change => ContextState { change, evidence, since: request.and_then(NonZero::new) },
        }
    }
}

/// A conversation inside of a session: the main one, or a sub-agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The agent's id of the sub-agent; empty for the main conversation.
    pub id: Box<str>,
    /// What the agent calls it, such as the kind of sub-agent.
    pub name: Box<str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    pub id: String,
    /// The agent's version: the last that wrote.
    pub version: Option<String>,
    pub cwd: Option<String>,
    /// The title, or the first words of the user.
    pub title: Option<String>,
    /// The id of the session from which this one was forked, or whose sub-agent it is.
    pub parent: Option<String>,
    /// What copies of the session share: the id of its first record, or that of the session it was forked from.
    pub origin: Option<String>,
    pub model: Option<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
}

impl SessionFacts {
    pub fn note_time(&mut self, at: Option<Timestamp>) {
        self.started = self.started.or(at);
        self.ended = self.ended.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of 2 GB holds over 100,000 calls, each with a result and a copy for the screen: 64 MB in all.
    #[test]
    fn a_call_takes_few_bytes() {
        assert_eq!(
            [size_of::<RecordSpan>(), size_of::<Option<RecordSpan>>(), size_of::<TextPiece>()],
            [20, 20, 24]
        );
        // A call has its result with a text, and a copy for the screen, in place.
        let of_call = size_of::<Call>();
        assert!(of_call <= 336, "{of_call} bytes: {} {}", size_of::<CallResult>(), size_of::<DisplayCopy>());
    }

    #[test]
    fn a_part_of_a_span_is_in_the_same_source() {
        let whole = RecordSpan::new(3, 7, 100, 50);
        let part = whole.part(10, 5);
        assert_eq!((part.source(), part.row(), part.start(), part.len(), part.end()), (3, 7, 110, 5, 115));
        assert_eq!(RecordSpan::new(0, 0, 0, u64::MAX).len(), u64::from(u32::MAX));
    }

    #[test]
    fn any_place_is_stored_exactly() {
        for (row, start) in
            [(0, 0), (0, u64::from(u32::MAX)), (0, u64::MAX), (-1, 5), (i64::MIN, 0), (i64::MAX, 256 << 20)]
        {
            let span = RecordSpan::new(u32::MAX - 1, row, start, 1);
            assert_eq!((span.source(), span.row(), span.start(), span.len()), (u32::MAX - 1, row, start, 1));
        }
    }
}
