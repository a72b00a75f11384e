//! The matching lines of all stored outputs, over the list: as they are found, and what keys do with them.

use crate::corpus::{FindEnd, FoundLine, LineGot, MOST_FOUND};
use crate::human::{count, thousands};
use crate::text::search::Pattern;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Effect, Effects, OpenRequest};
use crate::tui::widget::cursor::ListCursor;

use super::StoresScreen;
use super::event::StoresEvent;

/// The matching lines of all outputs.
#[derive(Debug)]
pub struct HitList {
    /// What was searched for, as it was typed.
    pub(crate) pattern: String,
    /// The number of the search.
    number: u64,
    /// All lines found so far, those of the youngest output first.
    found: Vec<FoundLine>,
    /// The indices of those that the model did not get.
    lost: Vec<usize>,
    /// Which lines are listed.
    shows: HitsShown,
    /// Where the cursor is among those listed.
    pub(crate) cursor: ListCursor,
    /// What became of the search, once it has ended.
    pub(super) end: Option<FindEnd>,
}

/// Which of the lines are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HitsShown {
    All,
    Lost,
}

impl HitList {
    fn new(pattern: &Pattern, number: u64) -> Self {
        Self {
            pattern: pattern.text().to_owned(),
            number,
            found: Vec::new(),
            lost: Vec::new(),
            shows: HitsShown::All,
            cursor: ListCursor::default(),
            end: None,
        }
    }

    /// Returns the number of lines listed.
    pub(crate) fn len(&self) -> usize {
        match self.shows {
            HitsShown::All => self.found.len(),
            HitsShown::Lost => self.lost.len(),
        }
    }

    /// Returns a line by its index among those listed.
    pub(crate) fn row(&self, index: usize) -> Option<&FoundLine> {
        match self.shows {
            HitsShown::All => self.found.get(index),
            HitsShown::Lost => self.lost.get(index).and_then(|at| self.found.get(*at)),
        }
    }

    /// Whether the search goes on.
    pub(crate) fn is_running(&self) -> bool {
        self.end.is_none()
    }

    fn add(&mut self, lines: Vec<FoundLine>) {
        for line in lines.into_iter().take(MOST_FOUND.saturating_sub(self.found.len())) {
            if matches!(line.got, LineGot::Lost(_)) {
                self.lost.push(self.found.len());
            }
            self.found.push(line);
        }
    }

    /// Lists only lost lines, or all lines again; the same line stays selected if it is listed.
    fn toggle_lost(&mut self) {
        let before = match self.shows {
            HitsShown::All => self.cursor.chosen,
            HitsShown::Lost => self.lost.get(self.cursor.chosen).copied().unwrap_or_default(),
        };
        (self.shows, self.cursor.chosen) = match self.shows {
            HitsShown::All => (HitsShown::Lost, self.lost.partition_point(|at| *at < before)),
            HitsShown::Lost => (HitsShown::All, before),
        };
    }

    /// Describes what was found: `12 lines, 7 lost`.
    pub(crate) fn in_words(&self) -> String {
        let (all, lost) = (self.found.len() as u64, self.lost.len() as u64);
        let first = if self.found.len() >= MOST_FOUND { "the first " } else { "" };
        format!("{first}{}, {} lost", count(all, "line"), thousands(lost))
    }

    /// Describes which lines are listed and how far the search is.
    pub(crate) fn state_in_words(&self) -> String {
        let shown = if self.shows == HitsShown::Lost { "lost lines only" } else { "all lines" };
        match self.end {
            None => format!("{shown}, searching…"),
            Some(FindEnd { outputs, unread: 0 }) => format!("{shown}, {}", count(outputs, "output")),
            Some(FindEnd { outputs, unread }) => {
                format!("{shown}, {}, {} unreadable", count(outputs, "output"), thousands(unread))
            }
        }
    }
}

impl StoresScreen {
    /// Searches all outputs for a pattern, and lists the lines over the outputs.
    ///
    /// # Errors
    /// The pattern is empty, or cannot be compiled.
    pub(crate) fn search_all(&mut self, text: &str, effects: &mut Effects) -> Result<(), String> {
        if text.is_empty() {
            return Err("type a regular expression, or Esc".to_owned());
        }
        let pattern = Pattern::new(text).map_err(|error| match error.at {
            Some(at) => format!("{error} at column {}", at + 1),
            None => error.to_string(),
        })?;
        self.searches += 1;
        self.hits = Some(HitList::new(&pattern, self.searches));
        let number = self.searches;
        effects.run(Slot::Grep, move |context| find(number, &pattern, context));
        Ok(())
    }

    /// Takes in lines that a search found; those of an earlier search are dropped.
    pub(crate) fn take_hits(&mut self, number: u64, lines: Vec<FoundLine>) {
        if let Some(hits) = self.hits.as_mut().filter(|hits| hits.number == number) {
            hits.add(lines);
        }
    }

    /// Notes that a search has ended.
    pub(crate) fn end_hits(&mut self, number: u64, end: FindEnd) {
        if let Some(hits) = self.hits.as_mut().filter(|hits| hits.number == number) {
            hits.end = Some(end);
        }
    }

    /// Carries out an action in the list of lines.
    pub(crate) fn act_on_hits(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let height = self.list_height();
        let Some(hits) = &mut self.hits else { return };
        if hits.cursor.act(action, count, hits.len(), height) {
            return;
        }
        match action {
            Action::LostOnly => {
                hits.toggle_lost();
                hits.cursor.settle(hits.len(), height);
            }
            Action::Open => self.open_hit(effects),
            Action::Back => self.close_hits(effects),
            _ => {
                let back = self.canvas.keys.of(KeyContext::Stores, Action::Back);
                self.message =
                    Some(Message::note(format!("not among found lines; {back} goes back to the list")));
            }
        }
    }

    /// Goes back to the list of outputs.
    pub(crate) fn close_hits(&mut self, effects: &mut Effects) {
        self.hits = None;
        effects.stop([Slot::Grep]);
        self.settle(effects);
    }

    /// Opens the output of the selected line, at this line.
    fn open_hit(&mut self, effects: &mut Effects) {
        let Some(row) = self.hits.as_ref().and_then(|hits| hits.row(hits.cursor.chosen)) else { return };
        let (path, number) = (row.path.to_path_buf(), row.number);
        effects.push(Effect::Open(OpenRequest::stored(path, Some(number))));
    }
}

/// Searches all stored outputs, and reports the lines as they are found.
fn find(number: u64, pattern: &Pattern, context: &JobContext) {
    let goes_on = || context.is_wanted();
    let end = (context.services.find)(pattern, &goes_on, &mut |lines| {
        goes_on() && context.send(StoresEvent::Hits(number, lines))
    });
    context.send(StoresEvent::HitsEnd(number, end));
}
