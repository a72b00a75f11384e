//! The facts about the selected output, and where they lead.

use crate::human::{count, size};
use crate::tui::list::List;
use crate::tui::pager::facts::{FactRow, ListFacts};
use crate::tui::recorded::TitledText;

use super::rows::OutputRow;
use super::{Outputs, rows};

impl ListFacts for Outputs {
    fn facts(&self, list: &List<OutputRow>) -> (Vec<FactRow>, Option<&[TitledText]>) {
        let facts = list.chosen().map(|row| {
            let [_, state] = rows::details(row, self.user, &list.look);
            of_row(row).into_iter().chain([("state", state.to_string()).into()]).collect()
        });
        (facts.unwrap_or_default(), Some(&[]))
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
