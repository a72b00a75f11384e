//! `overspill rm`: deletes single entries named by the user.

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::bail;

use crate::base::human::{count, size};
use crate::cli::args::RmArgs;
use crate::cli::input::{self, Named};
use crate::cli::terminal::{self, Consent, ask};
use crate::cli::{CommandResult, say, table};
use crate::config::Config;
use crate::store::{self, Cleaner, DeleteMode, DeleteOutcome, DeleteReason, Entry, EntryStatus, Record};

use super::{DELETE_COLUMNS, Selected, ToDeleteRow, Whose, path};

pub(crate) fn run(config: &Config, args: &RmArgs) -> CommandResult {
    args.names.iter().try_for_each(|name| input::path(name).map(drop))?;
    let selected = Selected::list(config, Whose::All)?.with_sure_marks(config)?;
    let entries = find_entries(config, &selected, &args.names)?;
    let consent = Consent::from_flags(false, args.yes, true, "add --yes to delete")?;
    let refused = entries.iter().find_map(|entry| Some((*entry, refusal(entry, consent)?)));
    if let Some((entry, why)) = refused {
        bail!("{}: {why}; nothing was deleted", entry.path().display());
    }
    if consent == Consent::Ask && !confirm(&entries)? {
        return Ok(writeln!(terminal::stdout(), "nothing was deleted")?);
    }
    delete(config, &selected, &entries, consent)
}

fn find_entries<'a>(
    config: &Config,
    selected: &'a Selected,
    words: &[OsString],
) -> anyhow::Result<Vec<&'a Entry>> {
    let mut entries: Vec<&Entry> = Vec::new();
    for word in words {
        // A whole id needs no other search of the stores.
        let mut same = selected.entries.iter().filter(|entry| entry.id_bytes() == word.as_encoded_bytes());
        let entry = match (input::path(word)?, same.next(), same.next()) {
            (None, Some(entry), None) => Some(entry),
            _ => match input::find(config, word)? {
                Named::Output(entry) => selected.at(&entry.path()),
                Named::File(path) => selected.at(&path),
                Named::Stdin => None,
                Named::Recorded(found) => {
                    let words = "is in an agent's records, which overspill never changes";
                    let spill =
                        found.call.map_or("", |_| "; `overspill show` names its spill, if it has one");
                    bail!("{} {words}{spill}", found.id());
                }
            },
        };
        let Some(entry) = entry else {
            bail!(
                "{}: is not a stored output; `rm` deletes only those (see `overspill list`)",
                word.display()
            );
        };
        if !entries.iter().any(|known| std::ptr::eq(*known, entry)) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Returns why an entry cannot be deleted, or not without asking.
fn refusal(entry: &Entry, consent: Consent) -> Option<String> {
    let unusual = entry.status.describe();
    match entry.status {
        _ if entry.is_kept() && consent != Consent::Ask => {
            Some("you keep it; run without --yes to confirm".to_owned())
        }
        EntryStatus::Ok | EntryStatus::Unfinished | EntryStatus::FutureTime => None,
        EntryStatus::HardLinked if consent == Consent::Ask => None,
        EntryStatus::HardLinked => {
            Some(format!("{unusual}: it has other names; run without --yes to confirm"))
        }
        EntryStatus::SymbolicLink
        | EntryStatus::NotAFile
        | EntryStatus::ForeignOwner
        | EntryStatus::OtherMount => {
            Some(format!("{unusual}: not deleted by overspill; `rm` itself can, if you are sure"))
        }
        EntryStatus::Unreadable(_) => Some(unusual.into_owned()),
    }
}

fn confirm(entries: &[&Entry]) -> io::Result<bool> {
    let mut out = terminal::stdout();
    let row = |entry: &&Entry| ToDeleteRow { entry: Entry::clone(entry), why: "" };
    table::print(&mut out, &DELETE_COLUMNS, &entries.iter().map(row).collect::<Vec<_>>(), true)?;
    for entry in entries.iter().filter(|entry| entry.status == EntryStatus::HardLinked) {
        writeln!(out, "{} has other names (hard link): they stay, and no space is freed", path(entry))?;
    }
    for entry in entries.iter().filter(|entry| entry.is_kept()) {
        writeln!(out, "{} is kept: you chose that it never expires", path(entry))?;
    }
    out.flush()?;
    let bytes = store::sum(entries.iter().map(|entry| entry.size()));
    ask(&format!("Delete {}, {}?", count(entries.len() as u64, "output"), size(bytes)))
}

fn delete(config: &Config, selected: &Selected, entries: &[&Entry], consent: Consent) -> CommandResult {
    let Some(mut cleaner) = Cleaner::start_patiently(&config.env)? else {
        bail!("another cleaning is running, and nothing was deleted; try again when it is done");
    };
    let (mut out, mut stayed) = (terminal::stdout(), Vec::new());
    for entry in entries {
        // The user knows of the other names, and that it is kept, only if asked.
        let told = consent == Consent::Ask;
        let is_linked = told && entry.status == EntryStatus::HardLinked;
        let mode = if is_linked { DeleteMode::Single } else { DeleteMode::Bulk };
        let why = DeleteReason::Requested { knows_kept: told && entry.is_kept() };
        match cleaner.delete(entry, why, mode, &config.env, selected.now) {
            DeleteOutcome::Deleted => writeln!(out, "deleted: {}, {}", path(entry), size(entry.size()))?,
            DeleteOutcome::AlreadyGone => writeln!(out, "already gone: {}", path(entry))?,
            DeleteOutcome::Stayed(why) => {
                stayed.push(format!("{}: {}", entry.path().display(), why.as_str()));
            }
        }
    }
    cleaner.unlogged().into_iter().for_each(say);
    // A record that is left behind is removed by the next cleaning.
    let _ = Record::sweep(&config.env, selected.now);
    if stayed.is_empty() { Ok(()) } else { bail!("not deleted: {}", stayed.join("; ")) }
}
