//! The search in an output: the pattern, the current match and the counts.

pub mod job;

use std::ops::Range;

use crate::text::search::{MatchCounts, Pattern, Toward, matches};
use crate::tui::event::{Effect, Effects, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use job::{CountJob, Found, Haystack, Round, SearchJob, SearchReply};

/// Previews up to this many bytes are searched; longer ones show most of the file anyway.
const LONGEST_PREVIEW: u64 = 64 << 20;

/// After a change of limits, matches are counted at once in up to this many kept bytes.
const MOST_KEPT: usize = 2 << 20;

/// The state of the search.
#[derive(Debug, Clone, Default)]
pub struct Find {
    /// The pattern, if there is one.
    pub pattern: Option<Pattern>,
    toward: Option<Toward>,
    /// The patterns typed before, newest last.
    pub history: Vec<String>,
    /// The current match in each pane: a range of its document.
    pub current: [Option<Range<u64>>; 2],
    /// The matches in the file, as far as they are counted.
    pub counts: MatchCounts,
    /// The number of matches in what the model got of the file; `None` if that is too much to search at once.
    pub kept: Option<u64>,
    counting: u64,
    /// The direction of the search that was started last.
    sought: Option<Toward>,
    running: bool,
    number: u64,
}

impl Find {
    /// Whether a worker is searching.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Abandons the search of the worker.
    pub fn stop(&mut self) {
        self.running = false;
        self.number += 1;
    }

    /// Prepares for another output: keeps the pattern, drops the matches.
    pub fn forget_place(&mut self) {
        self.current = [None, None];
        self.counts = MatchCounts::default();
        self.counting += 1;
        self.stop();
    }

    /// Drops the pattern and the matches; the history stays.
    pub fn clear(&mut self) {
        self.forget_place();
        self.pattern = None;
    }

    /// Drops the current match in Preview, because the preview has changed.
    pub fn forget_preview(&mut self) {
        self.current[Side::Preview as usize] = None;
    }

    /// Returns the current match of a side.
    pub fn current(&self, side: Side) -> Option<&Range<u64>> {
        self.current[side as usize].as_ref()
    }
}

impl Pager {
    /// Starts a search for a typed pattern; an empty one repeats the last.
    pub(crate) fn search(&mut self, text: &str, toward: Toward, effects: &mut Effects) -> Result<(), String> {
        let text = if text.is_empty() {
            self.find.history.last().cloned().ok_or("type what to search for")?
        } else {
            text.to_owned()
        };
        let pattern = Pattern::new(&text).map_err(|error| match error.at {
            Some(at) => format!("{text}: {}, at character {}", error.why, at + 1),
            None => format!("{text}: {}", error.why),
        })?;
        self.find.history.retain(|old| *old != text);
        self.find.history.push(text);
        self.find.forget_place();
        self.find.pattern = Some(pattern);
        self.find.toward = Some(toward);
        self.panes.remember();
        self.count_matches(effects);
        self.seek(toward, effects);
        Ok(())
    }

    /// Starts counting all matches in the file again.
    pub(crate) fn count_matches(&mut self, effects: &mut Effects) {
        let Some(pattern) = &self.find.pattern else { return };
        let output = &self.output;
        self.find.counts = MatchCounts::default();
        self.find.counting += 1;
        let job =
            CountJob { number: self.find.counting, pattern: pattern.clone(), view: output.view.clone() };
        self.count_kept();
        effects.push(Effect::CountMatches(job))
    }

    /// Counts the matches in what the model got of the file.
    pub(crate) fn count_kept(&mut self) {
        let Some(pattern) = &self.find.pattern else { return };
        let output = &self.output;
        let kept: usize = output.kept.iter().map(std::ops::Range::len).sum();
        let count = || {
            output.kept.iter().map(|range| matches(&output.view, pattern, range.clone()).count() as u64).sum()
        };
        self.find.kept = (kept <= MOST_KEPT).then(count);
    }

    /// Goes to the next match, or to the previous one if `reversed`.
    pub(crate) fn next_match(&mut self, reversed: bool, effects: &mut Effects) {
        match self.find.toward {
            Some(toward) if self.find.pattern.is_some() => {
                self.seek(if reversed { toward.reversed() } else { toward }, effects)
            }
            _ => {
                self.message = Some(Message::note("no search yet; / to search"));
            }
        }
    }

    fn seek(&mut self, toward: Toward, effects: &mut Effects) {
        let side = self.focus();
        let Some(pattern) = self.find.pattern.clone() else { return };
        let output = &self.output;
        let haystack = match side {
            Side::Spill => Haystack::File(output.view.clone()),
            Side::Preview if output.seen.len() <= LONGEST_PREVIEW => {
                Haystack::Text(self.preview_bytes().into())
            }
            Side::Preview => {
                self.message =
                    Some(Message::note("the preview is too long to search; Tab, and search the spill"));
                return;
            }
        };
        let from = self.seek_from(side, toward);
        self.find.number += 1;
        self.find.running = true;
        self.find.sought = Some(toward);
        effects.push(Effect::Search(SearchJob {
            number: self.find.number,
            pattern,
            haystack,
            from: from as usize,
            toward,
        }))
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

    /// Handles a worker's reply.
    pub(crate) fn found(&mut self, found: Found) {
        if let SearchReply::Counted(end, count) = found.reply {
            if found.number == self.find.counting {
                self.find.counts.push(end, count);
            }
            return;
        }
        if self.find.number != found.number {
            return;
        }
        let side = self.focus();
        self.find.running = false;
        match found.reply {
            SearchReply::Counted(..) => {}
            SearchReply::Nothing => {
                let what = self.find.pattern.as_ref().map_or("", |p| p.text());
                self.message = Some(match side {
                    Side::Spill => Message::error(format!("{what}: not in the file")),
                    Side::Preview => {
                        Message::error(format!("{what}: the model did not get it; Tab n searches the spill"))
                    }
                });
            }
            SearchReply::Match(range, round) => {
                let range = range.start as u64..range.end as u64;
                self.find.current[side as usize] = Some(range.clone());
                self.reveal(side, range);
                if round == Round::Wrapped {
                    let end = if self.find.sought == Some(Toward::Start) { "bottom" } else { "top" };
                    self.message = Some(Message::note(format!("search wrapped to the {end}")));
                }
            }
        }
    }

    fn preview_bytes(&self) -> Vec<u8> {
        let cost = super::reader::Cost::default();
        let output = &self.output;
        let reader = super::reader::Reader { doc: &output.seen, files: output.files(), cost: &cost };
        reader.copy(0..output.seen.len())
    }
}
