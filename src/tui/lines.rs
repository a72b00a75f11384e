//! The list of the lines of stored outputs, and of recorded results, that match a pattern; its columns, and the worker that
//! searches.

use crate::base::human::{count, span, thousands};
use crate::corpus::{FindEnd, FoundIn, FoundLine, LineReceipt, LostBy, MAX_FOUND, find_in_results};
use crate::output::recorded::ReadyCall;
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, ListSpec, NAMES, RowCell, Tone, key_of};
use crate::session::examine::{CallInspector, Paths};
use crate::session::list;
use crate::session::spill::CitingCall;
use crate::text::label::SafeText;
use crate::text::search::Pattern;

use super::event::{Message, ScreenEvent, SearchScope};
use super::footer::Footer;
use super::job::{JobContext, Slot};
use super::keys::{Action, KeyMap};
use super::list::List;
use super::list::screen::{ActionHandler, ListContext, ListKind, ListTitle};
use super::popup::menu::Copyable;
use super::screen::{Effect, Link, OpenRequest};
use super::target::{StartAt, StartView};

#[derive(Debug, Default)]
pub struct FoundLines {
    pattern: Option<Pattern>,
    scope: SearchScope,
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
    /// A call whose result was to be shown, or why it cannot be, and the number of the line, 1-based.
    Ready(Result<Box<ReadyCall>, String>, u64),
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
            SearchState::Ended(FindEnd { outputs, sessions, unread }) => {
                let sessions = (self.scope == SearchScope::Sessions).then(|| count(sessions, "session"));
                let unread = (unread > 0).then(|| format!("{} unreadable", thousands(unread)));
                let searched = [Some(count(outputs, "output")), sessions, unread].into_iter().flatten();
                format!("in {}", searched.collect::<Vec<_>>().join(", "))
            }
        };
        ListTitle {
            place: match self.scope {
                SearchScope::Outputs => &["Lines of all outputs"],
                SearchScope::Sessions => &["Lines of outputs and sessions"],
            },
            figures: format!("{first}{} · {state}", count(all as u64, "line")),
            alarm: if lost == 0 { String::new() } else { format!("{} lost", thousands(lost)) },
            name: format!("with {pattern}").into(),
        }
    }

    fn empty(&self, list: &List<FoundLine>, keys: &KeyMap) -> Vec<SafeText> {
        match self.state {
            SearchState::Searching => vec!["searching…".into()],
            _ if !list.rows().is_empty() => list.no_match("", keys),
            _ => vec!["No line matches.".into()],
        }
    }

    fn details(&self, list: &List<FoundLine>) -> [SafeText; 2] {
        let Some(row) = list.chosen() else { return Default::default() };
        let line = format!("{} {} · line {}", row.source.agent(), row.name, thousands(row.number));
        [format!("{line} · {}", describe_got(row)).into(), row.text.clone()]
    }

    fn copyable(&self, row: &FoundLine) -> Vec<Copyable> {
        let command = Some(&*row.written).filter(|command| !command.is_empty());
        Copyable::of_row(Some(&row.source.path()), command, row.source.id_bytes())
    }

    fn open(&self, _: &List<FoundLine>, row: &FoundLine) -> Option<OpenRequest> {
        let FoundIn::Output(entry) = &row.source else { return None };
        Some(OpenRequest {
            path: entry.path(),
            start: self.start_at(row.number),
            name: row.name.clone(),
            id: entry.id().into_owned(),
            command: row.written.to_string(),
            ..OpenRequest::default()
        })
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Lines(..))
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        (action == Action::Open).then_some(|_, on| {
            let Some(FoundLine { source: FoundIn::Result(result), number, .. }) = on.list.chosen() else {
                return;
            };
            let (result, line) = (result.clone(), *number);
            on.effects.run(Slot::FindRecord, move |context| read_result(&result.call, line, context));
        })
    }

    fn follow(&mut self, link: Link, on: ListContext<FoundLine>) {
        let Link::Lines(pattern, scope) = link else { return };
        *self = Self { pattern: Some(pattern.clone()), scope, ..Self::default() };
        on.list.clear();
        on.list.look.now = crate::base::env::now();
        on.effects.run(Slot::Grep, move |context| find(&pattern, scope, context));
    }

    fn handle(&mut self, event: LinesEvent, on: ListContext<FoundLine>) {
        match event {
            LinesEvent::Found(lines) => on.list.extend(lines, MAX_FOUND),
            LinesEvent::Ended(end) => self.state = SearchState::Ended(end),
            // A user who has left meanwhile stays where they are.
            LinesEvent::Ready(Ok(ready), line) if on.is_top => {
                on.effects.push(Effect::OpenCall(ready, self.start_at(line)));
            }
            LinesEvent::Ready(Err(why), _) => *on.message = Some(Message::error(why)),
            LinesEvent::Ready(Ok(_), _) => {}
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
        on.effects.stop([Slot::Grep, Slot::FindRecord]);
        on.list.clear();
    }
}

impl FoundLines {
    fn start_at(&self, line: u64) -> StartView {
        let place = self.pattern.as_ref().map(|pattern| StartAt::Found(line, pattern.text().to_owned()));
        StartView { place, ..StartView::default() }
    }
}

fn find(pattern: &Pattern, scope: SearchScope, context: &JobContext) {
    let mut found = 0;
    let mut report = |lines: Vec<FoundLine>| {
        found += lines.len();
        context.send(LinesEvent::Found(lines))
    };
    let is_wanted = || context.is_wanted();
    let mut end = (context.services.find)(pattern, &is_wanted, &mut report);
    if scope == SearchScope::Sessions {
        let listing = list::list(context.env(), None, &context.ticket);
        end.unread += listing.faults.len() as u64;
        let now = crate::base::env::now();
        for file in listing.sessions.iter().take_while(|_| is_wanted()) {
            let find = |of: CallInspector| find_in_results(&of, pattern, now, &is_wanted);
            match context.services.inspect(file, &context.ticket, find) {
                Ok(lines) if found < MAX_FOUND => {
                    found += lines.len();
                    context.send(LinesEvent::Found(lines));
                    end.sessions += 1;
                }
                Ok(_) => break,
                Err(_) => end.unread += 1,
            }
        }
    }
    context.send(LinesEvent::Ended(end));
}

fn read_result(sought: &CitingCall, line: u64, context: &JobContext) {
    let ready = context.services.inspect(&sought.file, &context.ticket, |of| {
        let call = of.transcript.calls.iter().find(|call| *call.id == *sought.call);
        ReadyCall::read(&of, call.ok_or("the session has no such call any more")?, Paths::Known, None)
    });
    context.send(LinesEvent::Ready(ready.and_then(|read| read).map(Box::new), line));
}

static SPEC: ListSpec<FoundLine> = ListSpec {
    noun: "line",
    columns: COLUMNS,
    groups: &[],
    words: &[("lost", |row, _| is_lost(row))],
    known: |row| row.source.path().display().to_string(),
    key: |row| key_of((row.source.path(), row.source.id_bytes(), row.number)),
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

const COLUMNS: &[ListColumn<FoundLine>] = &[
    ListColumn::new("when", Right, 6, |row: &FoundLine, _| RowCell::dim(row.age.map_or("–".into(), span)))
        .leads(|row| row.source.time())
        .yields(2)
        .sorts('w', ["latest first", "earliest first"], |a, b| a.age.cmp(&b.age)),
    ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(row.source.agent()))
        .yields(3)
        .sorts('a', NAMES, |a, b| a.source.agent().cmp(b.source.agent())),
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
