//! The pop-ups over the screens, and how keys change them.

pub mod help;
pub mod json;
pub mod leaving;
pub(crate) mod legend;
pub mod picker;
pub mod prompt;
pub mod view;

use super::keys::Action;
use super::stores::Cleaning;
use super::widget::canvas::Canvas;
use super::widget::sort_menu::SortMenu;
use help::HelpView;
use json::JsonView;
use leaving::Leaving;
use picker::Picker;
use prompt::Prompt;

/// A pop-up over the screen.
pub enum Popup {
    /// The keys and the legend.
    Help(HelpView),
    /// Facts about the output.
    Facts,
    /// A line of JSON, indented.
    Json(JsonView),
    Policies(Picker),
    /// A line being typed.
    Prompt(Prompt),
    /// The columns by which the list can be sorted.
    Sort(SortMenu),
    /// A question before the screens are left.
    Leaving(Leaving),
    /// The overdue entries, scrolled down to this row.
    Cleaning(Cleaning, u16),
}

impl Popup {
    /// Returns the pop-up as it is after a key: scrolled, or `None` if the key closes it.
    pub(crate) fn act(self, action: Action, canvas: Canvas) -> Option<Self> {
        let page = canvas.size.1 / 2;
        let moved = |top: u16| match action {
            Action::Down => Some(top.saturating_add(1)),
            Action::Up => Some(top.saturating_sub(1)),
            Action::PageDown | Action::HalfDown => Some(top.saturating_add(page)),
            Action::PageUp | Action::HalfUp => Some(top.saturating_sub(page)),
            _ => None,
        };
        match self {
            Popup::Cleaning(cleaning, top) if action == Action::Choose => {
                Some(Popup::Cleaning(cleaning, top.saturating_add(page)))
            }
            Popup::Cleaning(cleaning, top) => moved(top).map(|top| Popup::Cleaning(cleaning, top)),
            Popup::Json(json) => json.act(action, &canvas).map(Popup::Json),
            _ => None,
        }
    }
}
