//! The rows of the list of sessions, and what columns, groups, filter and details say. All texts are safe to show.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::base::human::{NamedFact, count, local_time, size, span, span_left, thousands, tokens, utc};
use crate::session::list;
use crate::session::model::SessionFacts;
use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::session::text::mask;
use crate::store::{Expiry, TimeLeft};
use crate::text::label::SafeText;

use super::column::CellSide::{Left, Path, Right};
use super::column::{
    ID, ListColumn, ListSpec, MOST_FIRST, NAMES, RowCell, RowLook, SlowFigure, SlowState, Tone, joined,
    key_of,
};
use super::lost::LostCounts;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionTexts {
    pub version: SafeText,
    pub project: SafeText,
    /// The title, or the first words of the user.
    pub title: SafeText,
    /// The first time in its records.
    pub begun: Option<Timestamp>,
    pub is_open_to_others: bool,
}

#[derive(Debug, Clone, Default)]
pub struct SessionRow {
    pub file: Arc<SessionFile>,
    pub agent: &'static str,
    /// What the ends of its file say; `None` until they are read.
    pub words: Option<SessionTexts>,
    /// The sums over its calls, without those that were copied from a session before it.
    pub sums: SlowFigure<CallSums>,
    /// The errors in the outputs that were cut, as far as those are there.
    pub lost: SlowFigure<LostCounts>,
    /// The compared calls whose recorded text no policy makes.
    pub differing: u64,
    /// When the first of its spills is deleted, by the rules of their stores.
    pub expires: SlowFigure<Expiry>,
    /// The sessions from which it may have copied calls.
    pub earlier: Arc<[Arc<SessionFile>]>,
}

impl SessionTexts {
    pub(crate) fn new(facts: &SessionFacts, is_open_to_others: bool) -> Self {
        let text = |text: &Option<String>| {
            SafeText::from(text.as_deref().unwrap_or_default().lines().next().unwrap_or_default())
        };
        Self {
            version: text(&facts.version),
            project: text(&facts.cwd),
            title: text(&facts.title),
            begun: facts.started,
            is_open_to_others,
        }
    }
}

impl SessionRow {
    /// Returns what a look at the file's name and times tells of a session.
    pub(crate) fn new(file: SessionFile) -> Self {
        Self {
            agent: list::format_of(&file).map_or("", |format| format.info.agent),
            words: (!file.facts.id.is_empty()).then(|| SessionTexts::new(&file.facts, false)),
            file: Arc::new(file),
            ..Self::default()
        }
    }

    pub fn changed(&self) -> Option<Timestamp> {
        list::changed(&self.file)
    }

    pub fn is_live(&self, now: Timestamp) -> bool {
        list::is_live(&self.file, SystemTime::from(now))
    }
}

/// The words of the filter, and the columns, that go by what its calls sum up to.
pub(crate) const SLOW_WORDS: [&str; 7] = ["cut", "errors", "lost", "deleted", "differs", "failed", "never"];
pub(crate) const SLOW_COLUMNS: [&str; 4] = ["calls", "cut", "errors lost", "time left"];

type Column = ListColumn<SessionRow>;

pub(crate) static SPEC: ListSpec<SessionRow> = ListSpec {
    noun: "session",
    columns: COLUMNS,
    groups: &[|row| row.agent.to_owned(), project, day],
    words: &[
        ("live", |row, look| row.is_live(look.now)),
        ("today", |row, look| row.changed().is_some_and(|at| look.is_today(at))),
        ("cut", |row, _| row.sums.value.is_some_and(|sums| sums.cut > 0)),
        ("errors", |row, _| row.lost.value.is_some_and(|lost| lost.errors.all > 0)),
        ("lost", |row, _| row.lost.value.is_some_and(|lost| lost.errors.lost > 0)),
        ("deleted", |row, _| row.sums.value.is_some_and(|sums| sums.deleted > 0)),
        ("differs", |row, _| row.differing > 0),
        ("failed", |row, _| row.sums.value.is_some_and(|sums| sums.failed > 0)),
    ],
    known: |row| {
        let version = row.words.as_ref().map_or("", |words| &*words.version);
        let never_saved = row.sums.value.is_some_and(|sums| sums.never_saved > 0);
        format!("{version} {}{}", row.file.id, if never_saved { " never saved" } else { "" })
    },
    key: |row| key_of((&row.file.path, &row.file.id)),
    sum,
    mark: |_| RowCell::plain(" "),
};

/// Rows come the newest first, and those that a column holds for equal stay so.
const COLUMNS: &[Column] = &[
    Column::new("when", Right, 7, when)
        .sorts('w', ["newest first", "oldest first"], |a, b| b.file.modified.cmp(&a.file.modified))
        .with_time(SessionRow::changed),
    Column::new("agent", Left, 13, |row, _| RowCell::plain(row.agent))
        .sorts('a', NAMES, |a, b| a.agent.cmp(b.agent)),
    Column::new("project", Path, 24, |row, _| RowCell::plain(text(row, |words| words.project.clone())))
        .yields(2)
        .sorts('p', NAMES, |a, b| project(a).cmp(&project(b))),
    Column::new("calls", Right, 7, |row, _| figure(row, |sums| sums.calls))
        .sorts('c', MOST_FIRST, |a, b| by_sum(a, b, |sums| sums.calls))
        .yields(1),
    Column::new("cut", Right, 6, |row, _| match row.sums.value {
        Some(CallSums { cut: 0, unsure: 1.., .. }) => RowCell::dim("–"),
        _ => figure(row, |sums| sums.cut),
    })
    // A possible cut counts for more than none.
    .sorts('u', MOST_FIRST, |a, b| by_sum(a, b, |sums| sums.cut * 2 + u64::from(sums.unsure > 0))),
    Column::new("errors lost", Right, 11, lost).slow().yields(3).sorts('e', MOST_FIRST, |a, b| {
        let has_cut = |row: &SessionRow| row.sums.value.is_none_or(|sums| sums.cut > 0);
        has_cut(b).cmp(&has_cut(a)).then_with(|| LostCounts::compare(a.lost.value, b.lost.value))
    }),
    Column::new("time left", Right, 9, time_left)
        .sorts('l', ["soonest first", "latest first"], |a, b| {
            let key = |row: &SessionRow| (row.expires.value.is_none(), row.expires.value);
            key(a).cmp(&key(b))
        })
        .slow()
        .yields(0),
    Column::new("title", Left, 0, title).sorts('t', NAMES, |a, b| {
        let [a, b] = [a, b].map(|row| text(row, |words| words.title.clone()));
        (a.is_empty(), &*a).cmp(&(b.is_empty(), &*b))
    }),
];

/// Returns the columns of tables: those of which no output has to be read, and what other commands take.
pub(crate) fn table_columns() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| !column.is_slow).chain(IN_TABLES)
}

const IN_TABLES: &[Column] = &[
    Column::new("never saved", Right, 11, |row, _| figure(row, |sums| sums.never_saved)).yields(0),
    Column::new("deleted", Right, 7, |row, _| figure(row, |sums| sums.deleted)).yields(0),
    Column::new("tokens", Right, 7, |row, _| {
        RowCell::plain(row.sums.describe(|sums| tokens(sums.got_bytes)))
    })
    .yields(0),
    Column::new("session", Left, ID, |row, _| RowCell::plain(row.file.id.as_str())),
];

/// Returns the fields of a session in `--json`. Times are RFC 3339, UTC; sizes are bytes.
pub(crate) fn json(row: &SessionRow, now: Timestamp) -> Value {
    let (file, facts) = (&row.file, &row.file.facts);
    let sum = |of: fn(&CallSums) -> u64| row.sums.value.as_ref().map(of);
    json!({
        "id": file.id,
        "agent": row.agent,
        "agent_version": facts.version,
        "project": facts.cwd,
        "title": facts.title.as_deref().map(mask),
        "started": facts.started.map(utc),
        "ended": facts.ended.map(utc),
        "live": row.is_live(now),
        "open_to_others": row.words.as_ref().is_some_and(|words| words.is_open_to_others),
        "path": file.path.to_string_lossy(),
        // The list has no size of a database.
        "size": if file.size > 0 { file.size } else { file.path.metadata().map_or(0, |meta| meta.len()) },
        "calls": sum(|sums| sums.calls),
        "copied": sum(|sums| sums.copied),
        "cut": sum(|sums| sums.cut),
        "never_saved": sum(|sums| sums.never_saved),
        "deleted": sum(|sums| sums.deleted),
        "unsure": sum(|sums| sums.unsure),
        "got_bytes": sum(|sums| sums.got_bytes),
        "tokens_estimate": sum(|sums| sums.got_bytes.div_ceil(4)),
    })
}

/// Returns how many calls sessions have in all, and how many were cut; empty while some are not counted.
fn sum(rows: &mut dyn Iterator<Item = &SessionRow>) -> String {
    let (mut calls, mut cut, mut unsure) = (0, 0, 0);
    for row in rows {
        let Some(sums) = row.sums.value else { return String::new() };
        (calls, cut, unsure) = (calls + sums.calls, cut + sums.cut, unsure + sums.unsure);
    }
    format!("{}, {} cut{}", count(calls, "call"), thousands(cut), describe_unsure(unsure))
}

/// Returns what follows the number of results that were cut; empty if it is recorded of all.
pub(crate) fn describe_unsure(results: u64) -> String {
    if results == 0 { String::new() } else { format!(", {} unknown", thousands(results)) }
}

fn when(row: &SessionRow, look: &RowLook) -> RowCell {
    match row.changed() {
        _ if row.is_live(look.now) => RowCell::new("live", Tone::Accent),
        Some(at) => RowCell::plain(span(look.now.duration_since(at).as_secs().max(0) as u64)),
        None => RowCell::dim("–"),
    }
}

fn title(row: &SessionRow, _: &RowLook) -> RowCell {
    let title = text(row, |words| words.title.clone());
    if title.is_empty() { RowCell::dim(row.file.id.as_str()) } else { RowCell::plain(title) }
}

fn lost(row: &SessionRow, _: &RowLook) -> RowCell {
    match row.sums.value {
        Some(CallSums { cut: 0, unsure: 0, .. }) => RowCell::default(),
        Some(CallSums { cut: 0, .. }) => RowCell::dim("–"),
        _ => LostCounts::cell(&row.lost),
    }
}

/// Says how long the first of the spills is kept.
fn time_left(row: &SessionRow, look: &RowLook) -> RowCell {
    match (row.sums.value, row.expires.value.map(|expiry| (expiry, expiry.left(look.now)))) {
        (Some(CallSums { cut: 0, .. }), _) => RowCell::default(),
        (_, Some((_, TimeLeft::For(rest)))) => RowCell::plain(span_left(rest.as_secs() as u64)),
        (_, Some((_, TimeLeft::Overdue(_)))) => RowCell::new("overdue", Tone::Warning),
        _ => RowCell::dim(row.expires.describe(|expiry| expiry.left_word(look.now).to_owned())),
    }
}

fn text(row: &SessionRow, of: fn(&SessionTexts) -> SafeText) -> SafeText {
    row.words.as_ref().map(of).unwrap_or_default()
}

/// A session in which all is copied has no sums of its own.
fn figure(row: &SessionRow, of: fn(&CallSums) -> u64) -> RowCell {
    match row.sums.value {
        Some(CallSums { calls: 0, copied: 1.., .. }) => RowCell::dim("–"),
        Some(sums) if of(&sums) > 0 => RowCell::plain(thousands(of(&sums))),
        _ => RowCell::dim(row.sums.describe(|sums| thousands(of(sums)))),
    }
}

/// Orders by a sum, the largest first; what is not known yet comes last.
fn by_sum(a: &SessionRow, b: &SessionRow, of: fn(&CallSums) -> u64) -> Ordering {
    let key = |row: &SessionRow| Reverse(row.sums.value.map(|sums| of(&sums)));
    key(a).cmp(&key(b))
}

fn project(row: &SessionRow) -> String {
    let project = text(row, |words| words.project.clone());
    if project.is_empty() { "–".to_owned() } else { project.to_string() }
}

fn day(row: &SessionRow) -> String {
    row.changed().map_or_else(|| "–".into(), |at| local_time(at, "%Y-%m-%d"))
}

pub(crate) fn details(row: &SessionRow) -> [SafeText; 2] {
    let path = SafeText::from_bytes(row.file.path.as_os_str().as_encoded_bytes());
    let words = row.words.clone().unwrap_or_default();
    let agent = format!("{} {}", row.agent, words.version);
    let open = if words.is_open_to_others { "other users can read it" } else { "" }.to_owned();
    let parts = [agent.trim_end().to_owned(), open, words.project.to_string(), describe_sums(row)];
    [joined(parts.map(Some)), path]
}

/// Returns what is known of a session, by names.
pub(crate) fn facts(row: &SessionRow, look: &RowLook) -> [NamedFact; 11] {
    let words = row.words.clone().unwrap_or_default();
    let time = |at: Option<Timestamp>| {
        let ago = |at| span(look.now.duration_since(at).as_secs().max(0) as u64);
        at.map(|at| format!("{} · {} ago", local_time(at, "%Y-%m-%d %H:%M:%S"), ago(at))).unwrap_or_default()
    };
    let readers = row.words.as_ref().map(|words| match words.is_open_to_others {
        true => "its owner, and other users",
        false => "its owner alone",
    });
    let is_timed = row.expires.value.is_some_and(|expiry| expiry.at().is_some());
    let first = if is_timed { " · of the spill that is deleted first" } else { "" };
    [
        ("session", row.file.id.clone()),
        ("title", words.title.to_string()),
        ("file", row.file.path.to_string_lossy().into_owned()),
        ("agent", format!("{} {}", row.agent, words.version)),
        ("project", words.project.to_string()),
        ("begun", time(words.begun)),
        ("changed", time(row.changed())),
        ("calls", describe_sums(row)),
        ("errors lost", lost(row, look).text.to_string()),
        ("time left", format!("{}{first}", time_left(row, look).text)),
        ("read by", readers.unwrap_or("…").to_owned()),
    ]
}

fn describe_sums(row: &SessionRow) -> String {
    let sums = match &row.sums.value {
        Some(sums) => sums,
        None if row.sums.state == SlowState::Failed => return "its records cannot be read".into(),
        None => return "counting its calls…".into(),
    };
    let some = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", thousands(n)));
    let differing = if row.differing == 1 { "DIFFERS" } else { "DIFFER" };
    let CallSums { never_saved, deleted, .. } = *sums;
    let left = [some(never_saved, "never saved"), some(deleted, "deleted"), some(row.differing, differing)];
    let copied = some(sums.copied, "of another session").map_or(String::new(), |words| format!(" · {words}"));
    let left: Vec<String> = left.into_iter().flatten().collect();
    let left = if left.is_empty() { String::new() } else { format!(" ({})", left.join(", ")) };
    let got = format!("got {} ({} tokens)", size(sums.got_bytes), tokens(sums.got_bytes));
    let unsure = describe_unsure(sums.unsure);
    format!("{}, {} cut{left}{unsure}{copied} · {got}", count(sums.calls, "call"), thousands(sums.cut))
}
