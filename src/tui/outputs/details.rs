//! The facts about the selected output, and where they lead.

use std::any::Any;

use crate::human::{count, size};
use crate::tui::list::List;
use crate::tui::list::screen::ListScreen;
use crate::tui::pager::facts::{self, FactRow};
use crate::tui::pager::text_box::{LinkedText, TextBox};
use crate::tui::widget::canvas::Canvas;

use super::rows::OutputRow;
use super::{Context, Outputs, rows};

impl Outputs {
    /// Shows the facts about the selected output.
    pub(super) fn show_facts(&self, on: Context) {
        if on.list.chosen().is_none() {
            return;
        }
        on.effects.lay(TextBox::following(facts::TITLE, self.facts(on.list, on.canvas), |below| {
            let screen: &ListScreen<Self> = (below as &dyn Any).downcast_ref()?;
            Some(screen.of.facts(&screen.list, &screen.canvas))
        }));
    }

    fn facts(&self, list: &List<OutputRow>, canvas: &Canvas) -> LinkedText {
        let facts = list.chosen().map(|row| {
            let [_, state] = rows::details(row, self.user, &list.look);
            of_row(row).into_iter().chain([("state", state.to_string()).into()]).collect()
        });
        facts::page(facts.unwrap_or_default(), Some(&[]), canvas)
    }
}

/// Returns what is known of an output; the session and the call lead to themselves.
fn of_row(row: &OutputRow) -> Vec<FactRow> {
    let entry = &row.entry;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let bytes = format!("{} ({})", size(entry.size()), count(entry.size(), "byte"));
    let of_entry = [
        ("command", text(row.written_command())),
        ("id", entry.id().into_owned()),
        ("file", entry.path().to_string_lossy().into_owned()),
        ("size", bytes),
        ("agent", entry.agent().to_owned()),
        ("tool", text(row.tool())),
        ("project", text(entry.project())),
    ];
    let call = row.call();
    let of_call = match call {
        Some(call) => vec![("session", call.file.id.clone()), ("call", call.call.clone())],
        None => vec![("session", text(entry.session()))],
    };
    let led = |fact: (&'static str, String)| match call {
        Some(call) => FactRow::from(fact).in_session(call),
        None => fact.into(),
    };
    of_entry.into_iter().chain(of_call).map(led).collect()
}
