//! Paging as the agent's read tool does: moving the window of lines, and showing it in the tool's own form.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::base::human::thousands;
use crate::config::{EffectivePolicy, LimitsFrom};
use crate::document::reader::ReadWindow;
use crate::output::recorded::first_offset;
use crate::preview::{ParamError, ParamRole};
use crate::tui::event::{Event, Message};
use crate::tui::job::{Pace, Slot};
use crate::tui::screen::{Effect, Effects};
use crate::tui::widget::layout::Side;

use super::panes::Place;
use super::planning::{AfterPlan, ViewPoint};
use super::{OutputEvent, Pager, ThenRead};

/// The read tool shown for agents whose own is unknown.
const READ_TOOL: &str = "opencode/read";

/// Has a read tool, and the one whose limits were changed to it, read a window.
fn read_by(tool: &mut EffectivePolicy, window: ReadWindow) -> Result<(), ParamError> {
    let before = match &mut tool.limits_from {
        LimitsFrom::Screen(before) => Some(&mut Arc::make_mut(before).policy),
        _ => None,
    };
    for policy in before.into_iter().chain([&mut tool.policy]) {
        let offset = window.offset - 1 + first_offset(policy);
        for (role, value) in [(ParamRole::Offset, offset), (ParamRole::Limit, window.limit)] {
            if let Some(key) = policy.key(role).map(str::to_owned) {
                policy.set(&key, &value.to_string())?;
            }
        }
    }
    Ok(())
}

impl Pager {
    /// Moves the window to where Spill is, in whole steps, the first as long as the tool gave; while that shows it, it stays.
    pub(crate) fn reanchor(&mut self) {
        if !self.is_read_shown()
            && let Some(line) = self.output.line_number(self.panes.top(Side::Spill) as usize)
        {
            let (window, given) = self.paged();
            let next = window.after(given);
            let window = if line < next.offset { window } else { next }.holding(line);
            self.panes.is_paging &= window == self.panes.place.window;
            self.panes.place.window = window;
        }
    }

    fn is_read_shown(&self) -> bool {
        self.focus() == Side::Preview && self.output.is_read_view()
    }

    /// Returns the window that is paged by, and by how many lines: as many as the tool gave, if it has read the window.
    pub(super) fn paged(&self) -> (ReadWindow, u64) {
        let window = self.panes.place.window;
        let read = self.output.read_window().or(self.last_read);
        let read = read.filter(|(read, _)| self.is_read_shown() || *read == window);
        read.unwrap_or((window, window.limit))
    }

    pub(crate) fn go_window(&mut self, next: bool, times: u64, effects: &mut Effects) {
        let (output, (ReadWindow { offset, limit }, given)) = (&self.output, self.paged());
        let is_last = output.lines().is_some_and(|lines| offset.saturating_add(given) > lines);
        // The last window may be short: the one before it has as many lines as were paged by.
        let step = if is_last { self.panes.page.unwrap_or(limit).min(limit) } else { given };
        self.panes.page = Some(step);
        let far = step.saturating_mul(times);
        let to = if next { offset.saturating_add(far) } else { offset.saturating_sub(far).max(1) };
        match output.start_of_line(to) {
            Some(start) if start < output.view.len() || to == 1 => {
                self.go_to_window(ReadWindow { offset: to, limit }, effects);
            }
            _ => self.note(match output.lines() {
                Some(lines) => format!("the last window: line {} is the last", thousands(lines)),
                None => format!("line {to} is not counted yet; try again in a moment"),
            }),
        }
    }

    /// Shows a window: in the read view as the tool gives it, else in Spill.
    fn go_to_window(&mut self, window: ReadWindow, effects: &mut Effects) {
        self.panes.leave();
        if self.is_read_shown() && self.output.policy().has_window() {
            let mut tool = self.output.subject.policy.clone();
            self.panes.place.window = window;
            match read_by(&mut tool, window) {
                Ok(()) => self.use_policy(tool, AfterPlan::ShowWindow, effects),
                Err(error) => self.fail(error.to_string()),
            }
        } else {
            self.show_in_spill(window);
        }
    }

    fn show_in_spill(&mut self, window: ReadWindow) {
        self.panes.place.focus = Side::Spill;
        self.show_offset(Side::Spill, self.output.start_of_line(window.offset).unwrap_or(0), 0);
        (self.panes.place.window, self.panes.is_paging) = (window, true);
    }

    pub(crate) fn set_window(&mut self, text: &str, effects: &mut Effects) -> Result<(), String> {
        let numbers: Result<Vec<NonZeroU64>, _> =
            text.split([' ', ',', ':']).filter(|word| !word.is_empty()).map(str::parse).collect();
        let (offset, limit) = match numbers.as_deref() {
            Ok([offset]) => (offset.get(), self.panes.place.window.limit),
            Ok([offset, limit]) => (offset.get(), limit.get()),
            _ => return Err("type one or two numbers from 1 on".into()),
        };
        self.output.start_of_line(offset).ok_or_else(|| self.no_line(offset))?;
        self.panes.page = None;
        self.go_to_window(ReadWindow { offset, limit }, effects);
        Ok(())
    }

    pub(crate) fn show_window(&mut self) {
        self.find.current[Side::Preview as usize] = None;
        self.panes.place.focus = Side::Preview;
        self.scroll_to(Side::Preview, 0);
        self.panes.is_paging = true;
    }

    /// Goes back to where the user was; if the window has moved, to that or to what is read of the whole output.
    pub(crate) fn leave_window(&mut self, place: Option<Place>) {
        let before = self.before_read.take();
        self.find.current[Side::Preview as usize] = before.and_then(|before| before.found);
        match place {
            Some(place) => self.go_back(&place),
            // Stay where the user read on.
            None if self.focus() == Side::Spill => self.align_panes(),
            None => self.show_in_spill(self.panes.place.window),
        }
        self.note(format!("back to {}", self.output.policy().name()));
    }

    /// Returns what to go back to from the read view, and notes what was changed there. `None` if it is not shown.
    pub(super) fn end_read_view(&mut self) -> Option<ViewPoint> {
        let before = self.before_read.clone().filter(|_| self.output.policy().has_window())?;
        self.last_read = self.output.read_window();
        let here = ViewPoint { place: before.place.clone(), ..self.view_point() };
        let is_changed = matches!(here.policy.limits_from, LimitsFrom::Screen(_));
        self.read_changed = is_changed.then_some(here);
        Some(before)
    }

    pub(crate) fn ask_read_tool(&mut self, then: ThenRead, effects: &mut Effects) {
        if let Some(left) = self.read_changed.clone().filter(|_| then == ThenRead::Show) {
            return self.on_read_tool(left.policy, then, effects);
        }
        let own = format!("{}/read", self.output.policy().agent());
        effects.run_at(Pace::AtOnce, Slot::Other, move |context| {
            let load = |name: &str| (context.services.load_policies)(Some(name)).pop();
            context.send(match load(&own).or_else(|| load(READ_TOOL)) {
                Some(choice) => OutputEvent::ReadTool(choice, then).into(),
                None => Event::Message(Message::error(format!("there is no policy {READ_TOOL}"))),
            });
        });
    }

    /// Goes back from the window as the read tool returns it to the preview. Returns false if that is not shown.
    pub(crate) fn close_read_form(&mut self, effects: &mut Effects) -> bool {
        let Some(before) = self.end_read_view() else { return false };
        let place = Some(before.place).filter(|place| place.window == self.panes.place.window);
        self.plan_by(before.policy, before.from, AfterPlan::LeaveRead(place), effects);
        true
    }

    pub(crate) fn on_read_tool(&mut self, mut tool: EffectivePolicy, then: ThenRead, effects: &mut Effects) {
        let window = self.panes.place.window;
        if then == ThenRead::CopyCall {
            let (offset, limit) = (window.offset - 1 + first_offset(&tool.policy), window.limit);
            let call =
                serde_json::json!({ "path": self.output.subject.context.saved_as, "offset": offset, "limit": limit }).to_string();
            self.note(format!("copied, as {} counts: offset {offset}, limit {limit}", tool.policy.name()));
            return effects.push(Effect::Copy(call));
        }
        let is_shown_again = self.read_changed.as_ref().is_some_and(|left| left.place.window == window);
        if !is_shown_again && let Err(error) = read_by(&mut tool, window) {
            return self.fail(error.to_string());
        }
        self.before_read = Some(self.view_point());
        self.use_policy(tool, AfterPlan::ShowWindow, effects)
    }
}
