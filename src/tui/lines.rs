//! The list of the lines of stored outputs, and of recorded results, that match a pattern; its columns, and the worker that
//! searches.

use std::sync::Arc;

use crate::base::human::{count, span, thousands};
use crate::corpus::{FindEnd, FoundLine, LineSource, MAX_FOUND, find_in_results};
use crate::output::recorded::ReadyCall;
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, ListSpec, NAMES, RowCell, Tone, key_of};
use crate::session::examine::{CallInspector, Paths};
use crate::session::list;
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
    /// How many of the lines the model did not get.
    lost: u64,
    /// The number of outputs that they are of.
    outputs: u64,
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
    const SPEC: &'static ListSpec<FoundLine> = &SPEC;

    fn footer(&self, _: &List<FoundLine>) -> Footer {
        Footer::LINES
    }

    fn title(&self, list: &List<FoundLine>) -> ListTitle {
        let all = list.rows().len();
        let first = if all >= MAX_FOUND { "the first " } else { "" };
        let pattern = self.pattern.as_ref().map_or("", Pattern::text);
        let state = match self.state {
            SearchState::Searching => " · searching…".to_owned(),
            SearchState::Stopped => " · stopped".to_owned(),
            SearchState::Ended(FindEnd { outputs, sessions, unread }) => {
                let outputs = format!("{} of {}", thousands(self.outputs), count(outputs, "output"));
                let sessions = (self.scope == SearchScope::Sessions).then(|| count(sessions, "session"));
                let unread = (unread > 0).then(|| format!("{} unreadable", thousands(unread)));
                let searched = [Some(outputs), sessions, unread].into_iter().flatten();
                format!(" in {}", searched.collect::<Vec<_>>().join(", "))
            }
        };
        ListTitle {
            place: match self.scope {
                SearchScope::Outputs => &["Lines of all outputs"],
                SearchScope::Sessions => &["Lines of outputs and sessions"],
            },
            figures: format!("{first}{}{state}", count(all as u64, "line")),
            alarm: if self.lost == 0 { String::new() } else { format!("{} lost", thousands(self.lost)) },
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
        let LineSource { agent, name, .. } = &*row.of;
        let line = format!("{agent} {name} · line {}", thousands(row.number));
        [format!("{line} · {}", row.got.describe()).into(), row.text.clone()]
    }

    fn copyable(&self, row: &FoundLine) -> Vec<Copyable> {
        let LineSource { path, written, id, .. } = &*row.of;
        Copyable::for_row(Some(path), Some(&**written).filter(|command| !command.is_empty()), id.as_bytes())
    }

    fn open(&self, _: &List<FoundLine>, row: &FoundLine) -> Option<OpenRequest> {
        let LineSource { path, name, id, written, call, .. } = &*row.of;
        call.is_none().then(|| OpenRequest {
            path: path.clone(),
            start: self.start_at(row.number),
            name: name.clone(),
            id: id.clone(),
            command: written.clone(),
            ..OpenRequest::default()
        })
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Lines(..))
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        (action == Action::Open).then_some(|_, on| {
            let Some(FoundLine { of, number, .. }) = on.list.chosen().cloned() else { return };
            on.effects.run(Slot::FindRecord, move |context| read_result(&of, number, context));
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
            LinesEvent::Found(mut lines) => {
                lines.truncate(MAX_FOUND.saturating_sub(on.list.rows().len()));
                let mut last = on.list.rows().batches().last().and_then(|batch| Some(&batch.last()?.of));
                for line in &lines {
                    // The lines of an output follow each other.
                    let is_other = last.replace(&line.of).is_none_or(|last| !Arc::ptr_eq(last, &line.of));
                    self.outputs += u64::from(is_other && line.of.call.is_none());
                    self.lost += u64::from(line.got.is_lost());
                }
                on.list.extend(lines);
            }
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
        for file in listing.sessions {
            let room = MAX_FOUND.checked_sub(found).filter(|room| *room > 0 && is_wanted());
            let Some(room) = room else { break };
            let find = |of: CallInspector| find_in_results(&of, pattern, (now, room), &is_wanted);
            match context.services.inspect(&file, &context.ticket, find) {
                Ok(lines) => {
                    found += lines.len();
                    context.send(LinesEvent::Found(lines));
                    end.sessions += 1;
                }
                Err(_) => end.unread += 1,
            }
        }
    }
    context.send(LinesEvent::Ended(end));
}

fn read_result(of: &LineSource, line: u64, context: &JobContext) {
    let Some(sought) = &of.call else { return };
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
    words: &[("lost", |row, _| row.got.is_lost())],
    known: |row| row.of.path.display().to_string(),
    key: |row| key_of((&row.of.path, &row.of.id, row.number)),
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

const COLUMNS: &[ListColumn<FoundLine>] = &[
    ListColumn::new("when", Right, 7, |row: &FoundLine, _| RowCell::dim(row.of.age.map_or("–".into(), span)))
        .with_time(|row| row.of.time)
        .yields(2)
        .sorts('w', ["newest first", "oldest first"], |a, b| a.of.age.cmp(&b.of.age)),
    ListColumn::new("agent", Left, 12, |row: &FoundLine, _| RowCell::plain(row.of.agent.as_str()))
        .yields(3)
        .sorts('a', NAMES, |a, b| a.of.agent.cmp(&b.of.agent)),
    ListColumn::new("command", Left, 24, |row: &FoundLine, _| {
        RowCell::new(row.of.name.clone(), if row.of.written.is_empty() { Tone::Dim } else { Tone::Plain })
    })
    .yields(1),
    ListColumn::new("line", Right, 10, |row: &FoundLine, _| RowCell::plain(thousands(row.number))).sorts(
        'n',
        ["highest first", "lowest first"],
        |a, b| b.number.cmp(&a.number),
    ),
    ListColumn::new("model", Left, 30, |row: &FoundLine, _| {
        RowCell::new(row.got.describe(), if row.got.is_lost() { Tone::Warning } else { Tone::Dim })
    })
    .yields(4),
    ListColumn::new("text", Left, 0, |row: &FoundLine, _| RowCell::plain(row.text.clone())),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to [`MAX_FOUND`] lines would be looked at for each frame.
    #[test]
    fn the_title_counts_no_lines() {
        let screen = FoundLines { lost: 7, ..FoundLines::default() };
        assert_eq!(screen.title(&List::new(&SPEC)).alarm, "7 lost");
    }
}
