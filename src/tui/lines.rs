//! The list of the lines of all stored outputs that match a pattern, its columns, and the worker that searches.

use crate::base::human::{count, span, thousands};
use crate::corpus::{FindEnd, FoundLine, LineReceipt, LostBy, MAX_FOUND};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, ListSpec, NAMES, RowCell, Tone, key_of};
use crate::text::label::SafeText;
use crate::text::search::Pattern;

use super::event::ScreenEvent;
use super::footer::Footer;
use super::job::{JobContext, Slot};
use super::keys::KeyMap;
use super::list::List;
use super::list::screen::{ListContext, ListKind, ListTitle};
use super::popup::menu::Copyable;
use super::screen::{Link, OpenRequest};
use super::target::{StartAt, StartView};

#[derive(Debug, Default)]
pub struct FoundLines {
    pattern: Option<Pattern>,
    state: SearchState,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum SearchState {
    #[default]
    Searching,
    Stopped,
    Ended(FindEnd),
}

#[derive(Debug)]
pub enum LinesEvent {
    Found(Vec<FoundLine>),
    Ended(FindEnd),
}

impl ScreenEvent for LinesEvent {}

impl ListKind for FoundLines {
    type Row = FoundLine;
    type Event = LinesEvent;
    type Link = Link;
    const SPEC: &'static ListSpec<FoundLine> = &SPEC;

    fn footer(&self, _: &List<FoundLine>) -> Footer {
        Footer::LINES
    }

    fn title(&self, list: &List<FoundLine>) -> ListTitle {
        let all = list.rows().len();
        let lost = list.rows().iter().filter(|row| is_lost(row)).count() as u64;
        let first = if all >= MAX_FOUND { "the first " } else { "" };
        let pattern = self.pattern.as_ref().map_or("", Pattern::text);
        let state = match self.state {
            SearchState::Searching => "searching…".to_owned(),
            SearchState::Stopped => "stopped".to_owned(),
            SearchState::Ended(FindEnd { outputs, unread: 0 }) => format!("in {}", count(outputs, "output")),
            SearchState::Ended(FindEnd { outputs, unread }) => {
                format!("in {}, {} unreadable", count(outputs, "output"), thousands(unread))
            }
        };
        ListTitle {
            place: &["Lines of all outputs"],
            figures: format!("{first}{} · {state}", count(all as u64, "line")),
            alarm: if lost == 0 { String::new() } else { format!("{} lost", thousands(lost)) },
            name: format!("with {pattern}").into(),
        }
    }

    fn empty(&self, list: &List<FoundLine>, keys: &KeyMap) -> Vec<SafeText> {
        match self.state {
            SearchState::Searching => vec!["searching…".into()],
            _ if !list.rows().is_empty() => list.no_match("", keys),
            _ => vec!["No line of the stored outputs matches.".into()],
        }
    }

    fn details(&self, list: &List<FoundLine>) -> [SafeText; 2] {
        let Some(row) = list.chosen() else { return Default::default() };
        let line = format!("{} {} · line {}", row.entry.agent(), row.name, thousands(row.number));
        [format!("{line} · {}", describe_got(row)).into(), row.text.clone()]
    }

    fn copyable(&self, row: &FoundLine) -> Vec<Copyable> {
        let command = Some(&*row.written).filter(|command| !command.is_empty());
        Copyable::of_row(Some(&row.entry.path()), command, row.entry.id_bytes())
    }

    fn open(&self, _: &List<FoundLine>, row: &FoundLine) -> Option<OpenRequest> {
        let place = Some(StartAt::Found(row.number, self.pattern.as_ref()?.text().to_owned()));
        Some(OpenRequest {
            path: row.entry.path(),
            start: StartView { place, ..StartView::default() },
            name: row.name.clone(),
            id: row.entry.id().into_owned(),
            command: row.written.to_string(),
            ..OpenRequest::default()
        })
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Lines(_))
    }

    fn follow(&mut self, link: Link, on: ListContext<FoundLine>) {
        let Link::Lines(pattern) = link else { return };
        *self = Self { pattern: Some(pattern.clone()), ..Self::default() };
        on.list.clear();
        on.list.look.now = crate::base::env::now();
        on.effects.run(Slot::Grep, move |context| find(&pattern, context));
    }

    fn handle(&mut self, event: LinesEvent, on: ListContext<FoundLine>) {
        match event {
            LinesEvent::Found(lines) => on.list.extend(lines, MAX_FOUND),
            LinesEvent::Ended(end) => self.state = SearchState::Ended(end),
        }
    }

    fn stop(&mut self, on: ListContext<FoundLine>) -> bool {
        let is_searching = self.state == SearchState::Searching;
        if is_searching {
            self.state = SearchState::Stopped;
            on.effects.stop([Slot::Grep]);
        }
        is_searching
    }

    fn close(&mut self, on: ListContext<FoundLine>) {
        on.effects.stop([Slot::Grep]);
        on.list.clear();
    }
}

fn find(pattern: &Pattern, context: &JobContext) {
    let mut report = |lines| context.send(LinesEvent::Found(lines));
    let end = (context.services.find)(pattern, &|| context.is_wanted(), &mut report);
    context.send(LinesEvent::Ended(end));
}

static SPEC: ListSpec<FoundLine> = ListSpec {
    noun: "line",
    columns: COLUMNS,
    groups: &[],
    words: &[("lost", |row, _| is_lost(row))],
    known: |row| row.entry.path().display().to_string(),
    key: |row| key_of((&row.entry.place().path, row.entry.name(), row.number)),
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

const COLUMNS: &[ListColumn<FoundLine>] = &[
    ListColumn::new("when", Right, 6, |row: &FoundLine, _| RowCell::dim(row.age.map_or("–".into(), span)))
        .leads(|row| Some(row.entry.modified()))
        .yields(2)
        .sorts('w', ["latest first", "earliest first"], |a, b| a.age.cmp(&b.age)),
    ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(row.entry.agent()))
        .yields(3)
        .sorts('a', NAMES, |a, b| a.entry.agent().cmp(b.entry.agent())),
    ListColumn::new("command", Left, 24, |row: &FoundLine, _| {
        RowCell::new(row.name.clone(), if row.written.is_empty() { Tone::Dim } else { Tone::Plain })
    })
    .yields(1),
    ListColumn::new("line", Right, 10, |row: &FoundLine, _| RowCell::plain(thousands(row.number))).sorts(
        'n',
        ["highest first", "lowest first"],
        |a, b| b.number.cmp(&a.number),
    ),
    ListColumn::new("model", Left, 30, |row: &FoundLine, _| {
        RowCell::new(describe_got(row), if is_lost(row) { Tone::Warning } else { Tone::Dim })
    })
    .yields(4),
    ListColumn::new("text", Left, 0, |row: &FoundLine, _| RowCell::plain(row.text.clone())),
];

fn is_lost(row: &FoundLine) -> bool {
    matches!(row.got, LineReceipt::Lost(_))
}

/// Says what became of a line: `kept`, `lost: over 50 KB`.
fn describe_got(row: &FoundLine) -> String {
    match (row.got, &row.over) {
        (LineReceipt::Lost(LostBy::Limit(_)), Some(over)) => format!("lost: {over}"),
        (got, _) => got.describe(),
    }
}
