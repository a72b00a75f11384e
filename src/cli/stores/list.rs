//! `overspill list`: lists stored outputs without a screen.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::cli::args::ListArgs;
use crate::cli::table::{Align, Table, safe, safe_or_dash};
use crate::cli::{CommandResult, json, say};
use crate::config::Config;
use crate::human::size;
use crate::store::{Entry, SortBy};

use super::row::{EntryJson, age, left, mode};
use super::runs;
use super::select::{Selected, Whose};

/// Lists entries, youngest first by default.
pub(crate) fn run(config: &Config, args: &ListArgs) -> CommandResult {
    let whose = args.agent.as_deref().map_or(Whose::All, Whose::Agent);
    let mut selected = Selected::list(config, whose)?.with_marks(config);
    let commands = runs::commands(&mut selected.entries, &config.env);
    let any = !selected.entries.is_empty();
    sort(&mut selected, args);
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        let records: Vec<EntryJson> =
            selected.entries.iter().map(|entry| EntryJson::of(entry, &selected)).collect();
        json(&mut out, &records)?;
    } else if selected.entries.is_empty() {
        let which = if any { " of that kind" } else { "" };
        say(&format!("no stored outputs{which}; `overspill stores` shows the directories searched"));
    } else {
        table(&selected, &commands).print(&mut out)?;
    }
    Ok(out.flush()?)
}

/// Filters and sorts the entries as requested.
fn sort(selected: &mut Selected, args: &ListArgs) {
    let (now, larger_than) = (selected.now, args.larger_than.as_ref().map(|size| size.number));
    let is_older = |entry: &Entry| args.older_than.is_none_or(|age| entry.age(now) > age);
    selected.entries.retain(|entry| is_older(entry) && larger_than.is_none_or(|size| entry.size() > size));
    let by = args.sort.unwrap_or(SortBy::Age);
    selected.entries.sort_by(|a, b| by.compare(a, b));
}

/// The command is the last column, if any is recorded.
fn table(selected: &Selected, commands: &HashMap<PathBuf, String>) -> Table<9> {
    use Align::{Left, Right};
    let heads = [
        ("agent", Left),
        ("tool", Left),
        ("size", Right),
        ("age", Right),
        ("time left", Left),
        ("mode", Left),
        ("session", Left),
        ("id", Left),
        ("command", Left),
    ];
    let mut table = Table::new(heads).yielding(&[8]).omitting(&[6, 5, 1, 8, 3, 0]);
    for entry in &selected.entries {
        let left = safe(left(entry, selected).as_bytes());
        table.row([
            safe(entry.agent().as_bytes()),
            safe_or_dash(entry.tool()),
            size(entry.size()),
            age(entry, selected.now),
            if selected.kept.has_copy_of(entry) { "kept".to_owned() } else { left },
            marked_mode(entry),
            safe_or_dash(entry.whose()),
            safe(entry.id().as_bytes()),
            commands.get(&entry.path()).map(|words| safe(words.as_bytes())).unwrap_or_default(),
        ]);
    }
    table
}

/// Returns the mode, with `!` if group or others have any permission; not for links, whose mode means nothing.
fn marked_mode(entry: &Entry) -> String {
    let exposed = entry.exposed();
    format!("{}{}", mode(entry.mode), if exposed { "!" } else { "" })
}
