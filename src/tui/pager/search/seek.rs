//! Goes to matches: which pane is searched, and what is shown and said once a worker has found one.

use std::ops::Range;
use std::sync::Arc;

use crate::text::search::{Severity, Toward};
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::keys::Action;
use crate::tui::pager::Pager;
use crate::tui::pager::reader::Reader;
use crate::tui::pager::scans;
use crate::tui::screen::Effects;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::layout::Side;

use super::job::{Counting, Found, Haystack, SearchJob, SearchReply};
use super::tally::Tally;

/// Previews up to this many bytes are searched; of longer ones, the file is searched instead.
const LONGEST_PREVIEW: u64 = 64 << 20;

/// What a search goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sought {
    pub(crate) what: Counting,
    /// Whether only what the model did not get is wanted.
    pub(crate) missed: bool,
}

impl Sought {
    /// A match of the search.
    pub(crate) const MATCH: Self = Self { what: Counting::Matches, missed: false };
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
            _ if sought.missed || self.output.seen.len() > LONGEST_PREVIEW => Side::Spill,
            _ => self.focus(),
        };
        self.seek_in(Seeking { sought, side, toward, times }, effects);
    }

    fn seek_in(&mut self, seeking: Seeking, effects: &mut Effects) {
        let from = self.seek_from(seeking.side, seeking.toward) as usize;
        self.seek_after(from, seeking, effects);
    }

    /// Searches from an offset in the text of the side.
    fn seek_after(&mut self, from: usize, seeking: Seeking, effects: &mut Effects) {
        let Seeking { sought, side, toward, times } = seeking;
        let pattern = match sought.what {
            Counting::Matches => self.find.pattern.clone(),
            Counting::Severity(severity) => self.errors.patterns.get(severity).cloned(),
        };
        let Some(pattern) = pattern else { return };
        let output = &self.output;
        let haystack = match side {
            Side::Spill => Haystack::File(output.view.clone()),
            Side::Preview => Haystack::Text(self.preview_bytes().into()),
        };
        let skip: Arc<[Range<usize>]> =
            if sought.missed { output.kept.clone().into() } else { Arc::default() };
        self.find.number += 1;
        self.find.seeking = Some(seeking);
        let number = self.find.number;
        let within = self.output.sift_of(side).cloned();
        let job = SearchJob { number, pattern, haystack, skip, from, toward, times, within };
        effects.run(Slot::Search, move |context| scans::search_for(&job, context));
    }

    /// Returns where to search from: the current match if it is visible, otherwise the top of the screen; for a search
    /// towards the start the end of the text, if that is on the screen.
    fn seek_from(&self, side: Side, toward: Toward) -> u64 {
        let shown = self.shown_range(side);
        let len = self.output.doc(side).len();
        let current = self.find.current(side).filter(|m| shown.contains(&m.start));
        match (current, toward) {
            (Some(found), Toward::End) => found.end,
            (Some(found), Toward::Start) => found.start,
            (None, Toward::Start) if shown.end >= len => len,
            (None, _) => shown.start,
        }
    }

    fn preview_bytes(&self) -> Vec<u8> {
        let cost = Cost::default();
        let output = &self.output;
        let reader = Reader { doc: &output.seen, files: output.files(), cost: &cost };
        reader.copy(0..output.seen.len())
    }

    fn no_match(&self) -> Message {
        let name = self.find.pattern.as_ref().map_or("", |pattern| pattern.text());
        Message::error(format!("no match for {name}"))
    }

    pub(crate) fn found(&mut self, found: Found, effects: &mut Effects) {
        match found.reply {
            SearchReply::Counted(Counting::Matches, end, count) => {
                self.find.tally.counted(found.number, end, count);
                // The output has grown, and has one now.
                if self.find.tally.counts.total() > 0 && self.message == Some(self.no_match()) {
                    self.message = None;
                }
            }
            SearchReply::Counted(Counting::Severity(severity), end, count) => {
                self.errors.tally_mut(severity).counted(found.number, end, count);
            }
            _ if found.number != self.find.number => {}
            SearchReply::Nothing => {
                if let Some(seeking) = self.find.seeking.take() {
                    self.found_nothing(seeking, effects);
                    self.say_beside_typing();
                }
            }
            SearchReply::Match(range, wrapped) => {
                if let Some(seeking) = self.find.seeking.take() {
                    self.found_match(seeking, range, wrapped, effects);
                    self.say_beside_typing();
                }
            }
        }
    }

    fn tally(&self, what: Counting) -> &Tally {
        match what {
            Counting::Matches => &self.find.tally,
            Counting::Severity(severity) => self.errors.tally(severity),
        }
    }

    /// Searches Spill if Preview has no match; otherwise says that there is none.
    fn found_nothing(&mut self, seeking: Seeking, effects: &mut Effects) {
        if seeking.side == Side::Preview {
            return self.seek_in(Seeking { side: Side::Spill, ..seeking }, effects);
        }
        let Sought { what, missed } = seeking.sought;
        if what == Counting::Severity(Severity::Error)
            && self.errors.tally(Severity::Error).counts.total() == 0
        {
            let sought = Sought { what: Counting::Severity(Severity::Warning), missed };
            return self.seek(sought, seeking.toward, seeking.times, effects);
        }
        let tally = self.tally(what);
        let exists = !tally.is_whole(self.output.view.len()) || tally.counts.total() > 0;
        let verb = self.output.certainty().verb();
        let name = self.find.pattern.as_ref().map_or("", |pattern| pattern.text());
        let is_filtered = self.output.sift.is_some();
        self.message = Some(match what {
            Counting::Matches if missed && exists => Message::note(format!("the model {verb} every match")),
            Counting::Matches if is_filtered => {
                let filter = self.key_of(Action::Matching);
                Message::error(format!("no match for {name} in the lines shown; {filter} Enter shows all"))
            }
            Counting::Matches => self.no_match(),
            Counting::Severity(severity) if missed && exists => {
                Message::note(format!("the model {verb} every {}", severity.singular()))
            }
            Counting::Severity(_) if self.output.utf16().is_some() => {
                Message::note("errors and warnings are not counted in UTF-16; search for their words")
            }
            Counting::Severity(_) if is_filtered => Message::note("no error or warning in the lines shown"),
            Counting::Severity(_) => Message::note("no error or warning found"),
        });
    }

    /// What a search says while its pattern is being typed stands beside the pattern.
    fn say_beside_typing(&mut self) {
        if let Some(typing) = &mut self.find.typing {
            typing.said = self.message.take();
        }
    }

    /// Whether what follows the last match that the model got is the first one that was lost, not the first of all.
    fn goes_on(&self, seeking: Seeking) -> bool {
        let Seeking { sought, side, toward, times } = seeking;
        let len = self.output.view.len();
        let tally = self.tally(sought.what);
        let got = tally.got(&self.output.kept, len).filter(|_| tally.is_whole(len));
        (side, toward, times) == (Side::Preview, Toward::End, 1)
            && self.find.typing.is_none()
            && self.output.sift.is_none()
            && got.is_some_and(|got| got < tally.counts.total())
    }

    fn found_match(&mut self, seeking: Seeking, range: Range<usize>, wrapped: bool, effects: &mut Effects) {
        let Seeking { sought, side, toward, .. } = seeking;
        if wrapped && self.goes_on(seeking) {
            let last = self.seek_from(side, toward).saturating_sub(1);
            let from = self.output.seen.kept_at(last).unwrap_or_default();
            let sought = Sought { missed: true, ..sought };
            return self.seek_after(from, Seeking { sought, side: Side::Spill, ..seeking }, effects);
        }
        let offset = range.start;
        let range = range.start as u64..range.end as u64;
        // What was lost is in the file alone, so one goes on there; while one types, the screen stays.
        let is_lost = side == Side::Spill && !self.output.is_kept(offset);
        if sought.missed || is_lost && self.find.typing.is_none() {
            self.panes.remember();
            self.panes.focus = Side::Spill;
        }
        if self.find.at != sought.what {
            (self.find.at, self.find.current) = (sought.what, [None, None]);
        }
        self.find.current[side as usize] = Some(range.clone());
        if self.focus() == side || self.shows_both() {
            self.reveal(side, range);
        } else {
            self.point_to(offset, usize::from(self.room(side).1 / 3));
        }
        if wrapped {
            let end = if toward == Toward::Start { "bottom" } else { "top" };
            self.message = Some(Message::note(format!("search wrapped to the {end}")));
        }
        if self.focus() != side && !self.output.is_kept(offset) {
            self.message = Some(self.lost(offset));
        }
    }
}
