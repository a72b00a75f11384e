//! Goes to matches: which pane is searched, and what is shown and said once a worker has found one.

use std::ops::Range;
use std::sync::Arc;

use crate::text::search::Toward;
use crate::tui::event::{Effect, Effects, Message};
use crate::tui::pager::Pager;
use crate::tui::pager::reader::{Cost, Reader};
use crate::tui::widget::layout::Side;

use super::job::{Found, Haystack, Round, SearchJob, SearchReply};

/// Previews up to this many bytes are searched; of longer ones, the file is searched instead.
const LONGEST_PREVIEW: u64 = 64 << 20;

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// A match of the search.
    Match,
    /// A match that the model did not get.
    Missed,
}

/// A search that a worker carries out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeking {
    sought: Sought,
    /// The pane being searched.
    side: Side,
    toward: Toward,
    times: u64,
}

impl Pager {
    /// Searches the pane with the focus, or Spill for what only Spill has, for the match that is `times` further.
    pub(crate) fn seek(&mut self, sought: Sought, toward: Toward, times: u64, effects: &mut Effects) {
        let side = match sought {
            Sought::Match if self.output.seen.len() <= LONGEST_PREVIEW => self.focus(),
            _ => Side::Spill,
        };
        self.seek_in(Seeking { sought, side, toward, times }, effects);
    }

    fn seek_in(&mut self, seeking: Seeking, effects: &mut Effects) {
        let Seeking { sought, side, toward, times } = seeking;
        let Some(pattern) = self.find.pattern.clone() else { return };
        let output = &self.output;
        let haystack = match side {
            Side::Spill => Haystack::File(output.view.clone()),
            Side::Preview => Haystack::Text(self.preview_bytes().into()),
        };
        let skip: Arc<[Range<usize>]> = match sought {
            Sought::Match => Arc::default(),
            Sought::Missed => output.kept.clone().into(),
        };
        let from = self.seek_from(side, toward) as usize;
        self.find.number += 1;
        self.find.seeking = Some(seeking);
        let number = self.find.number;
        effects.push(Effect::Search(SearchJob { number, pattern, haystack, skip, from, toward, times }))
    }

    /// Returns where to search from: the current match if it is visible, otherwise the top of the screen.
    fn seek_from(&self, side: Side, toward: Toward) -> u64 {
        let shown = self.shown_range(side);
        let current = self.find.current(side).filter(|m| shown.contains(&m.start));
        match (current, toward) {
            (Some(found), Toward::End) => found.end,
            (Some(found), Toward::Start) => found.start,
            (None, _) => shown.start,
        }
    }

    fn preview_bytes(&self) -> Vec<u8> {
        let cost = Cost::default();
        let output = &self.output;
        let reader = Reader { doc: &output.seen, files: output.files(), cost: &cost };
        reader.copy(0..output.seen.len())
    }

    /// Handles a worker's reply.
    pub(crate) fn found(&mut self, found: Found, effects: &mut Effects) {
        match found.reply {
            SearchReply::Counted(end, count) => self.find.tally.counted(found.number, end, count),
            _ if found.number != self.find.number => {}
            SearchReply::Nothing => {
                if let Some(seeking) = self.find.seeking.take() {
                    self.found_nothing(seeking, effects);
                }
            }
            SearchReply::Match(range, round) => {
                if let Some(seeking) = self.find.seeking.take() {
                    self.found_match(seeking, range, round);
                }
            }
        }
    }

    /// Searches Spill if Preview has no match; otherwise says that there is none.
    fn found_nothing(&mut self, seeking: Seeking, effects: &mut Effects) {
        if seeking.side == Side::Preview {
            return self.seek_in(Seeking { side: Side::Spill, ..seeking }, effects);
        }
        let len = self.output.view.len();
        let tally = &self.find.tally;
        let is_absent = tally.is_whole(len) && tally.counts.total() == 0;
        let name = self.find.pattern.as_ref().map_or("", |pattern| pattern.text());
        self.message = Some(match seeking.sought {
            Sought::Missed if !is_absent => Message::note("the model got every match"),
            _ => Message::error(format!("no match for {name}")),
        });
    }

    fn found_match(&mut self, seeking: Seeking, range: Range<usize>, round: Round) {
        let Seeking { sought, side, toward, .. } = seeking;
        let offset = range.start;
        let range = range.start as u64..range.end as u64;
        if sought == Sought::Missed {
            self.panes.remember();
            self.panes.focus = Side::Spill;
        }
        self.find.current[side as usize] = Some(range.clone());
        if self.focus() == side || self.shows_both() {
            self.reveal(side, range);
        } else {
            self.point_to(offset, usize::from(self.room(side).1 / 3));
        }
        if round == Round::Wrapped {
            let end = if toward == Toward::Start { "bottom" } else { "top" };
            self.message = Some(Message::note(format!("search wrapped to the {end}")));
        }
        if self.focus() != side && !self.output.is_kept(offset) {
            self.message = Some(self.lost(offset));
        }
    }
}
