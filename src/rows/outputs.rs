//! The rows of the list of stored outputs, and what columns, groups, filter and details say of them.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::base::human::{local_time, size, span, span_left, utc};
use crate::session::spill::CitingCall;
use crate::store::{
    self, Entry, EntryStatus, Env, Expiry, Record, Rule, RunRecord, SortBy, TimeLeft, first_line, record,
};
use crate::text::label::SafeText;

use super::RowTable;
use super::column::CellSide::{Left as ToLeft, Right};
use super::column::{
    ID, LARGEST_FIRST, ListColumn, ListSpec, MOST_FIRST, NAMES, RowCell, RowLook, RowOrder, SlowFigure,
    SlowState, Tone, joined, key_of,
};
use super::lost::{KeptShare, LostCounts, ModelShare};

#[derive(Debug, Clone)]
pub struct OutputRow {
    pub entry: Entry,
    /// Whether it is kept forever: itself in overspill's own store, an agent's as a copy there.
    pub is_kept: bool,
    pub facts: Option<Arc<OutputFacts>>,
}

/// What a scan does not tell of an output.
#[derive(Debug, Clone, Default)]
pub struct OutputFacts {
    pub peek: SlowFigure<Peek>,
    pub share: SlowFigure<ModelShare>,
    /// The call that it is of; not to be had if no session near it in time names it.
    pub call: SlowFigure<CitingCall>,
    /// The policy that the recorded text of that call differs from, in words.
    pub differs: Option<String>,
}

/// One of these, once it was found out; none if it cannot be had.
#[derive(Debug)]
pub enum OutputFact {
    Peek(Peek),
    Share(Option<ModelShare>),
    Call(Option<Box<CitingCall>>),
    Differs(String),
}

impl OutputFacts {
    pub(crate) fn learn(&mut self, fact: OutputFact) {
        match fact {
            OutputFact::Peek(peek) => self.peek.set(Some(peek)),
            OutputFact::Share(share) => self.share.set(share),
            OutputFact::Call(call) => self.call.set(call.map(|call| *call)),
            OutputFact::Differs(words) => self.differs = Some(words),
        }
    }
}

/// What was read from an output's file and from the record of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peek {
    /// The file's first line, as a terminal without colours would leave it.
    pub first_line: SafeText,
    /// The command that printed the output; empty if none is recorded.
    pub command: SafeText,
    /// The same as a shell takes it.
    pub written: Box<str>,
    pub tool: Option<Arc<str>>,
    /// The bytes that the command printed, if it is recorded that only the first of them were saved.
    pub printed: Option<u64>,
}

impl OutputRow {
    pub(crate) fn peek(&self) -> Option<&Peek> {
        self.facts.as_ref()?.peek.value.as_ref()
    }

    pub(crate) fn share(&self) -> Option<&ModelShare> {
        self.facts.as_ref()?.share.value.as_ref()
    }

    pub(crate) fn call(&self) -> Option<&CitingCall> {
        self.facts.as_ref()?.call.value.as_ref()
    }

    fn differs(&self) -> Option<&String> {
        self.facts.as_ref()?.differs.as_ref()
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.entry.tool().or_else(|| self.peek()?.tool.as_deref())
    }

    /// Returns the command that printed the output, in one line; empty if none is known.
    pub(crate) fn command(&self) -> SafeText {
        match self.peek() {
            Some(peek) if !peek.command.is_empty() => peek.command.clone(),
            _ => self.call().and_then(|call| call.command.lines().next()).unwrap_or_default().into(),
        }
    }

    pub(crate) fn name(&self) -> SafeText {
        let first_line = self.peek().map(|peek| peek.first_line.clone());
        self.entry.called([self.command(), first_line.unwrap_or_default()])
    }

    /// Returns that command as it was written; `None` if none is known.
    pub(crate) fn written_command(&self) -> Option<&str> {
        match self.peek() {
            Some(peek) if !peek.written.is_empty() => Some(&peek.written),
            _ => self.call().map(|call| &*call.command),
        }
    }

    /// Whether it is not known yet if an agent recorded what the model got of it.
    pub(crate) fn may_be_recorded(&self) -> bool {
        let is_missing = |facts: &Arc<OutputFacts>| facts.call.state == SlowState::Missing;
        self.entry.is_of_agent() && self.facts.as_ref().is_none_or(is_missing)
    }

    fn is_empty(&self) -> bool {
        self.entry.size() == 0 && self.can_be_read()
    }

    pub(crate) fn can_be_read(&self) -> bool {
        use EntryStatus::{FutureTime, HardLinked, Ok, Unfinished};
        matches!(self.entry.status, Ok | Unfinished | HardLinked | FutureTime)
    }
}

pub(crate) fn peek(entry: &Entry, env: &Env) -> Peek {
    let run = Record::find_run(env, &entry.path());
    Peek { first_line: first_line(entry).unwrap_or_default(), ..recorded(entry, run) }
}

/// Returns what is recorded of an entry: of the run that made it, or of the original of which it is a copy.
pub(crate) fn recorded(entry: &Entry, run: Option<RunRecord>) -> Peek {
    let [command, written] = record::commands(entry, run.as_ref());
    Peek {
        first_line: SafeText::default(),
        written: written.into(),
        command: SafeText::new(command),
        printed: run.as_ref().filter(|run| run.kept.bytes < run.seen.bytes).map(|run| run.seen.bytes),
        tool: run.and_then(|run| run.tool).map(Arc::from),
    }
}

/// The index of the groups by session, to which calls may lead.
pub(crate) const BY_SESSION: usize = 1;

type Column = ListColumn<OutputRow>;

pub(crate) static SPEC: ListSpec<OutputRow> = ListSpec {
    noun: "output",
    columns: COLUMNS,
    groups: &[store_and_rule, session, |row| local_time(row.entry.modified(), "%Y-%m-%d")],
    words: &[
        ("cut", |row, _| row.share().is_some_and(|share| share.got.is_cut())),
        ("errors", |row, _| lost(row).is_some_and(|lost| lost.errors.all > 0)),
        ("lost", |row, _| lost(row).is_some_and(|lost| lost.errors.lost > 0)),
        ("differs", |row, _| row.differs().is_some()),
        ("today", |row, look| look.is_today(row.entry.modified())),
        ("kept", |row, _| row.is_kept),
    ],
    known,
    key: |row| key_of((&row.entry.place().path, row.entry.name())),
    sum: |rows| size(store::sum(rows.map(|row| row.entry.size()))),
    mark: |_| RowCell::plain(" "),
};

const BY_AGE: RowOrder<OutputRow> = RowOrder::Whole(|rows, shown| order(SortBy::Age, rows, shown));
const BY_AGENT: RowOrder<OutputRow> = RowOrder::Whole(|rows, shown| order(SortBy::Agent, rows, shown));
const BY_SIZE: RowOrder<OutputRow> = RowOrder::Whole(|rows, shown| order(SortBy::Size, rows, shown));
const BY_TIME_LEFT: RowOrder<OutputRow> = RowOrder::Whole(|rows, shown| order(SortBy::Left, rows, shown));

const WHEN: Column = Column::new("when", Right, 7, |row, look| when(&row.entry, look))
    .with_time(|row| Some(row.entry.modified()))
    .in_order('w', ["newest first", "oldest first"], BY_AGE);
const AGENT: Column = Column::new("agent", ToLeft, 13, |row, _| RowCell::plain(row.entry.agent()))
    .in_order('a', NAMES, BY_AGENT);
const COMMAND: Column = Column::new("command", ToLeft, 0, command);
const SIZE: Column = Column::new("size", Right, 8, |row, _| RowCell::plain(size(row.entry.size()))).in_order(
    'b',
    LARGEST_FIRST,
    BY_SIZE,
);
const TIME_LEFT: Column =
    Column::new("time left", Right, 14, |row, look| time_left(&row.entry, row.is_kept, look)).in_order(
        'l',
        ["soonest first", "latest first"],
        BY_TIME_LEFT,
    );

const COLUMNS: &[Column] = &[
    WHEN.yields(2),
    AGENT.yields(3),
    COMMAND,
    SIZE.yields(1),
    Column::new("model got", Right, 18, got).slow().sorts('g', ["least first", "most first"], |a, b| {
        // An output that was not measured may have lost the most.
        let rank = |row: &OutputRow| (!row.can_be_read(), row.share().map(|share| share.got.rank()));
        rank(a).cmp(&rank(b)).then_with(|| SortBy::Age.compare(&a.entry, &b.entry))
    }),
    Column::new("errors lost", Right, 11, |row, _| LostCounts::cell(&measured(row, |share| share.lost)))
        .slow()
        .sorts('e', MOST_FIRST, |a, b| {
            (!a.can_be_read())
                .cmp(&!b.can_be_read())
                .then_with(|| LostCounts::compare(lost(a), lost(b)))
                .then_with(|| SortBy::Age.compare(&a.entry, &b.entry))
        }),
    TIME_LEFT.yields(4),
];

/// The words of the filter, and the columns, that go by what the model got.
pub(crate) const SLOW_WORDS: [&str; 4] = ["cut", "errors", "lost", "differs"];
pub(crate) const SLOW_COLUMNS: [&str; 2] = ["model got", "errors lost"];

/// The columns of tables: those that need no file to be read, and what other commands take.
pub(crate) static TABLE: &[Column] = &[
    WHEN,
    AGENT,
    COMMAND.yields(2),
    SIZE,
    TIME_LEFT.yields(1),
    Column::new("tool", ToLeft, 18, |row, _| RowCell::plain(row.tool().unwrap_or_default())).yields(0),
    Column::new("mode", ToLeft, 5, |row, _| {
        let mark = if row.entry.exposed() { "!" } else { "" };
        RowCell::plain(mode(row.entry.mode) + mark)
    })
    .yields(0),
    Column::new("session", ToLeft, 36, |row, _| RowCell::plain(row.entry.session().unwrap_or_default()))
        .yields(0),
    Column::new("id", ToLeft, ID, |row, _| RowCell::plain(SafeText::from_bytes(row.entry.id_bytes()))),
];

/// Returns the fields of `--json`. Times are RFC 3339, UTC, to the second.
pub(crate) fn json(entry: &Entry, now: Timestamp) -> Value {
    json!({
        "id": entry.id(),
        "path": entry.path().to_string_lossy(),
        "agent": entry.agent(),
        "tool": entry.tool(),
        "session": entry.session(),
        "project": entry.project(),
        "size": entry.size(),
        "modified": utc(entry.modified()),
        // Kept outputs do not expire.
        "expires": entry.expires.at().map(utc),
        "rule": entry.rule.as_str(),
        "holds": entry.holds().as_str(),
        "copy_of": entry.copy().map(|copy| &copy.original),
        "status": status(entry, now),
        "mode": mode(entry.mode),
    })
}

/// Returns what is unusual about an entry, or else whether it is overdue or never deleted.
fn status(entry: &Entry, now: Timestamp) -> Cow<'static, str> {
    match (entry.status, entry.left(now)) {
        (EntryStatus::Ok, TimeLeft::Overdue(_)) => "overdue".into(),
        (EntryStatus::Ok, TimeLeft::Open) if entry.expires == Expiry::Orphaned => "orphaned".into(),
        (status, _) => status.describe(),
    }
}

/// Formats permission bits for `chmod`: `0600`.
pub(crate) fn mode(bits: u32) -> String {
    format!("{bits:04o}")
}

fn order(by: SortBy, rows: &RowTable<OutputRow>, shown: &[u32]) -> Vec<u32> {
    by.order(shown, |n| &rows[n as usize].entry)
}

pub(crate) fn when(entry: &Entry, look: &RowLook) -> RowCell {
    let words = |age: SignedDuration| RowCell::plain(span(age.as_secs().max(0) as u64));
    entry.known_age(look.now).map_or_else(|| RowCell::dim("–"), words)
}

/// The command, or else the first line of the text; anything unusual about the file comes before it. On the screen an output
/// without a command or any text is called `empty`.
fn command(row: &OutputRow, look: &RowLook) -> RowCell {
    let first_line = row.peek().map(|peek| &peek.first_line).filter(|line| !line.is_empty());
    let cell = match (row.command(), first_line) {
        (command, Some(line)) if command.is_empty() => RowCell::dim(line.clone()),
        (command, _) if command.is_empty() && row.is_empty() && look.width > 0 => RowCell::dim("empty"),
        (command, _) => RowCell::plain(command),
    };
    let unusual = match row.entry.status {
        EntryStatus::Ok if row.differs().is_some() => "DIFFERS".into(),
        EntryStatus::Ok => return cell,
        status => status.describe(),
    };
    RowCell::new(format!("{unusual}  {}", cell.text).trim_end(), Tone::Warning)
}

/// Returns a figure of what the model got, as far as it is known and can be.
fn measured<T>(row: &OutputRow, figure: impl Fn(&ModelShare) -> Option<T>) -> SlowFigure<T> {
    match row.can_be_read() {
        true => row.facts.as_ref().map(|facts| facts.share.and_then(figure)).unwrap_or_default(),
        false => SlowFigure { value: None, state: SlowState::Failed },
    }
}

fn got(row: &OutputRow, look: &RowLook) -> RowCell {
    KeptShare::cell(&measured(row, |share| Some((share.got, share.is_past))), look)
}

fn lost(row: &OutputRow) -> Option<LostCounts> {
    row.share()?.lost
}

/// Says when an entry is deleted, which is no loss if a copy of it is kept.
pub(crate) fn time_left(entry: &Entry, has_copy: bool, look: &RowLook) -> RowCell {
    match (entry.left(look.now), entry.expires) {
        _ if entry.is_kept() => RowCell::dim("kept"),
        (TimeLeft::For(rest), _) => {
            let rest = rest.as_secs().max(0) as u64;
            let whole = rest.saturating_add(entry.age(look.now).as_secs().max(0) as u64);
            let is_short = u128::from(rest) * 4 < u128::from(whole) && !has_copy;
            RowCell::new(span_left(rest), if is_short { Tone::Warning } else { Tone::Plain })
        }
        (TimeLeft::Overdue(late), _) => {
            let words = format!("overdue {}", span(late.as_secs().max(0) as u64));
            RowCell::new(words, if has_copy { Tone::Plain } else { Tone::Warning })
        }
        (TimeLeft::Open, Expiry::Orphaned) => RowCell::new(entry.expires.left_word(look.now), Tone::Warning),
        (TimeLeft::Open, _) => RowCell::dim(entry.expires.left_word(look.now)),
    }
}

/// What the filter finds of an output that its columns do not say.
fn known(row: &OutputRow) -> String {
    let entry = &row.entry;
    let first_line = row.peek().map(|peek| peek.first_line.to_string()).unwrap_or_default();
    let (call, of_call) = row.call().map_or(("", ""), |call| (&*call.call, &*call.file.id));
    let (session, project) = (entry.session().unwrap_or(of_call), entry.project().unwrap_or_default());
    let lost = row.share().and_then(|share| share.first_lost.as_ref()).map_or("", |lost| &lost.text);
    let (tool, path, access) = (row.tool().unwrap_or_default(), entry.path(), exposure(row));
    let (path, saved_as) = (path.display(), entry.saved_as());
    format!("{tool} {session} {project} {call} {path} {saved_as} {first_line} {lost} {access}")
}

fn store_and_rule(row: &OutputRow) -> String {
    let root = &row.entry.place().root.path;
    format!("{}: {} · {}", row.entry.store().name, root.display(), describe_rule(&row.entry))
}

fn describe_rule(entry: &Entry) -> String {
    let rule = &entry.place().retention;
    match entry.rule {
        Rule::Count => "deleted as one of the oldest, once there are too many".to_owned(),
        Rule::TotalSize => "deleted as one of the oldest, once they are too large".to_owned(),
        Rule::Unfinished => "unfinished: deleted 1 h after the last change".to_owned(),
        Rule::Never => "never deleted".to_owned(),
        Rule::Kept => "kept forever".to_owned(),
        Rule::Unknown => format!("its rule is {}", rule.describe()),
        _ => format!("deleted {}", rule.describe()),
    }
}

fn session(row: &OutputRow) -> String {
    let of_call = || row.call().map(|call| &*call.file.id);
    row.entry.session().or_else(of_call).unwrap_or("no session").to_owned()
}

/// Returns two lines about an output: what it is and where it belongs; what was lost, who can read it, its rule.
pub(crate) fn details(row: &OutputRow, user: Option<u32>, look: &RowLook) -> [SafeText; 2] {
    let entry = &row.entry;
    let named = |what: &str, name: Option<&str>| name.map(|name| format!("{what} {name}"));
    let call = row.call().map(|call| format!("call {}", call.call));
    let session = named("session", entry.session()).or_else(|| named("project", entry.project()));
    let id = SafeText::from_bytes(entry.id_bytes()).to_string();
    let first = [Some(id), named("tool", row.tool()), session, call];
    let owner = match user {
        Some(user) if user == entry.owner => "you".to_owned(),
        _ => entry.owner.to_string(),
    };
    let access = format!("mode {}, owner {owner}{}", mode(entry.mode), exposure(row));
    let printed = row.peek().and_then(|peek| peek.printed);
    let saved = printed.map(|all| format!("only the first {} of {} saved", size(entry.size()), size(all)));
    let lost = row.share().and_then(|share| share.first_lost.as_ref()).filter(|lost| !lost.text.is_empty());
    let lost = lost.map(|lost| format!("lost: {}", lost.text.fit(usize::from(look.width) / 2)));
    let copied = (row.is_kept && !entry.is_kept()).then(|| "a copy is kept".to_owned());
    let differs = row.differs().cloned();
    [joined(first), joined([differs, copied, lost, saved, Some(access), Some(describe_rule(entry))])]
}

/// Describes what the mode lets others do; empty if nothing.
fn exposure(row: &OutputRow) -> &'static str {
    match row.entry.mode & 0o077 {
        _ if !row.entry.exposed() => "",
        rights if rights & 0o022 != 0 => ": others can write to it",
        rights if rights & 0o044 != 0 => ": others can read it",
        _ => ": others can run it",
    }
}
