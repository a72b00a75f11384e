//! The filter of Spill: only lines that match are shown, as with `&` in `less`.

use crate::base::human::thousands;
use crate::document::filter::LineFilter;
use crate::source::ViewSupply;
use crate::text::filter::index::BlockLines;
use crate::text::filter::{Condition, LineScope};
use crate::text::search::PatternError;
use crate::tui::event::JUMP;
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::panes::Place;
use super::{OutputEvent, Pager, enter_in};

/// Up to this many bytes are filtered and counted on the thread of the screens, so that nothing flickers.
pub(super) const AT_ONCE: usize = 1 << 20;

const MAX_AROUND: u64 = 100;

/// What was typed as a filter, and where Spill was; the lines shown are in the output's [`LineFilter`].
#[derive(Debug, Clone, Default)]
pub struct FilterHistory {
    pub history: Vec<String>,
    origin: Option<Place>,
    /// The offset that the filter has to show, and the row where Spill was put for that.
    aim: (u64, u64),
}

impl Pager {
    /// Adds to the filter what was typed: a pattern, perhaps after `!`. An empty line removes the filter.
    pub(crate) fn filter(
        &mut self,
        text: &str,
        scope: LineScope,
        around: Option<u64>,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let output = &self.output;
        let (is_new, before) = (!text.is_empty(), output.filter.as_ref());
        let is_bare = !is_new && scope == LineScope::All;
        if is_bare && before.is_none() {
            return Err("type a pattern; ! before it hides what matches".into());
        }
        if is_bare && around.is_none() {
            self.leave_filter(false, effects);
            return Ok(());
        }
        let mut conditions = before.map_or_else(Vec::new, |filter| filter.conditions.to_vec());
        if is_new {
            let condition = Condition::new(text, output.utf16());
            let at = |at| format!(", at character {}", at + 1 + usize::from(text.starts_with('!')));
            let fault =
                |error: PatternError| format!("{text}: {}{}", error.why, error.at.map_or(String::new(), at));
            conditions.push(condition.map_err(fault)?);
            enter_in(&mut self.filter.history, text);
        }
        let (had_scope, had_around) =
            before.map_or((LineScope::All, 0), |filter| (filter.scope, filter.around));
        let scope = if scope == LineScope::Lost { scope } else { had_scope };
        let around = around.unwrap_or(had_around).min(MAX_AROUND);
        let top = self.panes.top(Side::Spill);
        let aim = if before.is_some() && self.filter.aim.1 == top { self.filter.aim.0 } else { top };
        if before.is_none() {
            self.filter.origin = Some(self.panes.place.clone());
            self.panes.set_mark(JUMP);
        }
        let output = &mut self.output;
        let same = output.filter.take().filter(|_| !is_new);
        let new = || LineFilter::new(conditions, &output.made.kept, output.view.len());
        output.filter = Some(same.unwrap_or_else(new).showing(scope, around));
        self.panes.place.focus = Side::Spill;
        self.count_filtered(effects);
        self.land(aim);
        Ok(())
    }

    /// Removes the filter, if any, and goes back, or else stays with the line at the top if one has moved.
    pub(crate) fn leave_filter(&mut self, goes_back: bool, effects: &mut Effects) -> bool {
        let Some(filter) = self.output.filter.take() else { return false };
        if !filter.index.pending().is_empty() {
            effects.stop([Slot::Filter]);
        }
        let top = self.panes.top(Side::Spill);
        let has_moved = self.filter.aim.1 != top;
        match self.filter.origin.take() {
            Some(origin) if goes_back || !has_moved => {
                self.panes.set_mark(JUMP);
                self.go_back(&origin);
            }
            _ => self.scroll_to(Side::Spill, self.scroll(Side::Spill).top_at(top, 0)),
        }
        self.note("all lines are shown");
        true
    }

    fn land(&mut self, offset: u64) {
        let top = self.scroll(Side::Spill).top_at(offset, 0);
        self.scroll_to(Side::Spill, top);
        self.filter.aim = (offset, top);
    }

    pub(crate) fn filter_again(&mut self, effects: &mut Effects) {
        if let Some(filter) = &mut self.output.filter {
            filter.set_got(&self.output.made.kept);
            self.count_filtered(effects);
        }
    }

    /// Counts what is not counted yet: at once if that is little, otherwise by a worker, what is on the screen first.
    fn count_filtered(&mut self, effects: &mut Effects) {
        let top = self.panes.top(Side::Spill) as usize;
        let Some(filter) = self.output.filter.as_mut().filter(|of| of.index.percent().is_some()) else {
            return;
        };
        let view = self.output.view.clone();
        if filter.index.pending_bytes() <= AT_ONCE && filter.count_now(&mut ViewSupply::from(&view)) {
            return effects.stop([Slot::Filter]);
        }
        let filter = filter.clone();
        effects.run(Slot::Filter, move |context| {
            filter.count(&view, top, &|| context.wait_turn(), |first, lines| {
                context.report(OutputEvent::Filtered(first, lines))
            });
        });
    }

    pub(crate) fn tell_hidden(&mut self, side: Side, offset: usize) {
        let shows = |filter: &LineFilter| filter.is_shown(&self.output.reader(side, None), offset as u64);
        if self.output.filter_of(side).is_some_and(|filter| !shows(filter)) {
            let key = self.key_of(Action::Matching);
            self.note(format!("that line is filtered out; this is the next · {key} Enter shows all"));
        }
    }

    pub(crate) fn on_filter_counts(&mut self, first: usize, lines: &[BlockLines]) {
        let Some(filter) = self.output.filter.as_mut() else { return };
        filter.insert(first, lines);
        let (aim, landed) = self.filter.aim;
        if self.panes.top(Side::Spill) == landed && !self.panes.following {
            self.land(aim);
        } else {
            self.align_panes();
            self.follow();
        }
    }
}

pub(crate) fn blank(filter: &LineFilter, verb: &str, keys: &KeyMap) -> Option<Vec<String>> {
    if !filter.is_blank() {
        return None;
    }
    let (words, back) = (filter.describe_conditions(), keys.label(KeyContext::Pager, Action::Back));
    Some(match (filter.index.percent(), filter.total().got) {
        (Some(percent), _) => vec![format!("{words}: no line so far, {percent}%. {back} gives up.")],
        (None, 0) => vec![format!("{words}: no line."), format!("{back} shows all lines again.")],
        (None, got) => {
            vec![
                format!("{words}: no line. The model {verb} all {}.", thousands(got)),
                format!("{back} goes back."),
            ]
        }
    })
}
