//! The list of the lines of all stored outputs that match a pattern.

use std::path::PathBuf;

use crate::corpus::{FindEnd, FoundLine, MOST_FOUND};
use crate::human::{count, thousands};
use crate::rows::column::ListSpec;
use crate::rows::lines::{self, is_lost};
use crate::text::label::SafeText;
use crate::text::search::Pattern;

use super::event::ScreenEvent;
use super::footer::Footer;
use super::job::{JobContext, Slot};
use super::keys::{Action, KeyMap};
use super::list::List;
use super::list::screen::{ListContext, ListKind, ListTitle};
use super::popup::copying::Copyable;
use super::screen::{Effect, Link, OpenRequest};
use super::target::{StartAt, StartView};

#[derive(Debug, Default)]
pub struct FoundLines {
    pattern: Option<Pattern>,
    state: SearchState,
    lost: u64,
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
    const SPEC: &'static ListSpec<FoundLine> = &lines::SPEC;

    fn footer(&self, _: &List<FoundLine>) -> Footer {
        Footer::LINES
    }

    fn title(&self, list: &List<FoundLine>) -> ListTitle {
        let all = list.rows().len();
        let first = if all >= MOST_FOUND { "the first " } else { "" };
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
            _ if !list.rows().is_empty() => list.no_match(keys),
            _ => vec!["No line of the stored outputs matches.".into()],
        }
    }

    fn details(&self, list: &List<FoundLine>) -> [SafeText; 2] {
        let Some(row) = list.chosen() else { return Default::default() };
        let line = format!("{} {} · line {}", row.agent, row.id, thousands(row.number));
        [format!("{line} · {}", row.got.words()).into(), row.text.clone()]
    }

    fn copyable(&self, row: &FoundLine) -> Vec<Copyable> {
        vec![Copyable::path(row.path.as_os_str().as_encoded_bytes()), Copyable::id(row.id.as_bytes())]
    }

    fn output(&self, row: &FoundLine) -> Option<PathBuf> {
        Some(row.path.to_path_buf())
    }

    fn line(&self, row: &FoundLine) -> u64 {
        row.number
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Lines(_))
    }

    fn follow(&mut self, link: Link, on: ListContext<FoundLine>) {
        let Link::Lines(pattern) = link else { return };
        *self = Self { pattern: Some(pattern.clone()), ..Self::default() };
        on.list.clear();
        on.list.look.now = crate::env::now();
        on.effects.run(Slot::Grep, move |context| find(&pattern, context));
    }

    fn handle(&mut self, event: LinesEvent, on: ListContext<FoundLine>) {
        match event {
            LinesEvent::Found(lines) => {
                self.lost += lines.iter().filter(|line| is_lost(line)).count() as u64;
                on.list.extend(lines, MOST_FOUND);
            }
            LinesEvent::Ended(end) => self.state = SearchState::Ended(end),
        }
    }

    fn knows(&self, action: Action) -> bool {
        matches!(action, Action::Open | Action::Editor)
    }

    fn act(&mut self, action: Action, on: ListContext<FoundLine>) {
        if action != Action::Open {
            return;
        }
        let (Some(row), Some(pattern)) = (on.list.chosen(), &self.pattern) else { return };
        // At the line, with the search set.
        let place = Some(StartAt::Found(row.number, pattern.text().to_owned()));
        on.effects.push(Effect::Open(OpenRequest {
            path: row.path.to_path_buf(),
            start: StartView { place, ..StartView::default() },
            id: row.id.to_string(),
            ..OpenRequest::default()
        }));
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
