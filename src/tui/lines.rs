//! The list of the lines of all stored outputs that match a pattern, and its workers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::human::{count, span, thousands};
use crate::corpus::{FindEnd, FoundLine, LineReceipt, LostBy, MAX_FOUND};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, ListSpec, MOST_FIRST, NAMES, RowCell, Tone, key_of};
use crate::rows::outputs::{OutputFacts, OutputRow, peek};
use crate::store;
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
    lost: u64,
    /// The outputs whose commands were asked for, by their paths, with the command once it is known.
    commands: HashMap<PathBuf, Option<OutputCommand>>,
}

#[derive(Debug, Clone)]
pub struct OutputCommand {
    shown: SafeText,
    written: String,
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
    Named(Arc<store::Entry>, OutputCommand),
    Ended(FindEnd),
}

impl ScreenEvent for LinesEvent {}

impl ListKind for FoundLines {
    type Row = FoundLine;
    type Event = LinesEvent;
    type Link = Link;
    const SPEC: &'static ListSpec<FoundLine> = &SPEC;
    const HAS_FILES: bool = true;

    fn footer(&self, _: &List<FoundLine>) -> Footer {
        Footer::LINES
    }

    fn title(&self, list: &List<FoundLine>) -> ListTitle {
        let all = list.rows().len();
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
            figures: format!("{first}{}", count(all as u64, "line")),
            alarm: if self.lost == 0 { String::new() } else { format!("{} lost", thousands(self.lost)) },
            name: format!("with {pattern}").into(),
            state,
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
        let entry = &row.entry;
        let name = if row.command.is_empty() { entry.id() } else { row.command.to_string().into() };
        let line = format!("{} {name} · line {}", entry.agent(), thousands(row.number));
        [format!("{line} · {}", describe_got(row)).into(), row.text.clone()]
    }

    fn copyable(&self, row: &FoundLine) -> Vec<Copyable> {
        let command = self.command_of(row).map(|command| &*command.written);
        Copyable::of_row(Some(&row.entry.path()), command, row.entry.id_bytes())
    }

    fn open(&self, _: &List<FoundLine>, row: &FoundLine) -> Option<OpenRequest> {
        let place = Some(StartAt::Found(row.number, self.pattern.as_ref()?.text().to_owned()));
        Some(OpenRequest {
            path: row.entry.path(),
            start: StartView { place, ..StartView::default() },
            name: row.command.clone(),
            id: row.entry.id().into_owned(),
            command: self.command_of(row).map(|of| of.written.clone()).unwrap_or_default(),
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
            LinesEvent::Found(mut lines) => {
                for line in lines.iter_mut().filter(|_| !self.commands.is_empty()) {
                    line.command = self.command_of(line).map(|of| of.shown.clone()).unwrap_or_default();
                }
                self.lost += lines.iter().filter(|line| is_lost(line)).count() as u64;
                on.list.extend(lines, MAX_FOUND);
            }
            LinesEvent::Named(entry, command) => {
                let rows = on.list.rows().iter().enumerate();
                let is_it = |row: &FoundLine| {
                    row.entry.identity == entry.identity && row.entry.name() == entry.name()
                };
                let of_it = rows.filter(|(_, row)| is_it(row));
                let changes: Vec<_> = of_it.map(|(n, _)| (n, command.shown.clone())).collect();
                on.list.change(changes, |row, shown| row.command = shown);
                self.commands.insert(entry.path(), Some(command));
            }
            LinesEvent::Ended(end) => self.state = SearchState::Ended(end),
        }
    }

    fn ask(&mut self, on: ListContext<FoundLine>) {
        let mut wanted = Vec::new();
        for entry in on.list.rows_on_screen().map(|n| &on.list.rows()[n].entry) {
            if let Entry::Vacant(unasked) = self.commands.entry(entry.path()) {
                unasked.insert(None);
                wanted.push(Arc::clone(entry));
            }
        }
        if !wanted.is_empty() {
            on.effects.run(Slot::Other, move |context| find_commands(&wanted, context));
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

impl FoundLines {
    fn command_of(&self, row: &FoundLine) -> Option<&OutputCommand> {
        self.commands.get(&row.entry.path())?.as_ref()
    }
}

fn find_commands(entries: &[Arc<store::Entry>], context: &JobContext) {
    let row = |entry: &Arc<store::Entry>| {
        let mut facts = OutputFacts::default();
        facts.peek.found(Some(peek(entry, context.env())));
        let entry = store::Entry::clone(entry);
        OutputRow { entry, is_kept: false, facts: Some(Arc::new(facts)) }
    };
    let (of_agents, own): (Vec<_>, Vec<_>) = entries.iter().map(row).partition(OutputRow::is_of_agent);
    let report = |row: &OutputRow| {
        let written = row.written_command().unwrap_or_default().to_owned();
        let command = OutputCommand { shown: row.command(), written };
        if !command.shown.is_empty() {
            context.send(LinesEvent::Named(Arc::new(row.entry.clone()), command));
        }
    };
    own.iter().for_each(report);
    let paths: Vec<PathBuf> = of_agents.iter().map(|row| row.entry.saved_as().into()).collect();
    context.services.sessions.find_all(&paths, context.env(), &context.ticket, &mut |n, call| {
        let mut row = of_agents[n].clone();
        if let Some(facts) = &mut row.facts {
            Arc::make_mut(facts).call.found(call.map(|call| call.citing()));
        }
        report(&row);
    });
}

fn find(pattern: &Pattern, context: &JobContext) {
    let mut report = |lines| context.send(LinesEvent::Found(lines));
    let end = (context.services.find)(pattern, &|| context.is_wanted(), &mut report);
    context.send(LinesEvent::Ended(end));
}

static SPEC: ListSpec<FoundLine> =
    ListSpec {
        noun: "line",
        columns: &[
            ListColumn::new("when", Right, 6, |row: &FoundLine, _| {
                RowCell::dim(row.age.map_or("–".into(), span))
            })
            .leads(|row| Some(row.entry.modified()))
            .yields(2)
            .sorts('w', ["latest first", "earliest first"], |a, b| a.age.cmp(&b.age)),
            ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(row.entry.agent()))
                .yields(3)
                .sorts('a', NAMES, |a, b| a.entry.agent().cmp(b.entry.agent())),
            ListColumn::new("command", Left, 24, |row: &FoundLine, _| match row.command.is_empty() {
                true => RowCell::dim(SafeText::from_bytes(row.entry.id_bytes())),
                false => RowCell::plain(row.command.clone()),
            })
            .yields(1),
            ListColumn::new("line", Right, 10, |row: &FoundLine, _| RowCell::plain(thousands(row.number)))
                .sorts('n', MOST_FIRST, |a, b| b.number.cmp(&a.number)),
            ListColumn::new("model", Left, 30, |row: &FoundLine, _| {
                RowCell::new(describe_got(row), if is_lost(row) { Tone::Warning } else { Tone::Dim })
            })
            .yields(4),
            ListColumn::new("text", Left, 0, |row: &FoundLine, _| RowCell::plain(row.text.clone())),
        ],
        groups: &[],
        words: &[("lost", |row, _| is_lost(row))],
        known: |row| row.entry.path().display().to_string(),
        key: |row| key_of((&row.entry.place().path, row.entry.name(), row.number)),
        sum: |_| String::new(),
        mark: |_| RowCell::plain(" "),
    };

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
