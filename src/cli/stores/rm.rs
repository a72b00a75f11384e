//! `overspill rm`: deletes single entries that a person names.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use crate::capture;
use crate::cli::args::RmArgs;
use crate::cli::table::{Align, Table, safe};
use crate::cli::{Failure, Outcome, input, say};
use crate::config::Config;
use crate::human::size;
use crate::store::{self, Cleaner, DeleteMode, Entry, Status, Why};

use super::clean::outputs;
use super::confirm::{Consent, ask};
use super::row::age;
use super::select::{Stock, Whose};

/// Shows what is meant, asks, and deletes one after another.
pub(crate) fn run(config: &Config, args: &RmArgs) -> Outcome {
    args.names.iter().try_for_each(|name| input::refuse_empty(name))?;
    let consent = Consent::from_flags(false, args.yes, true, "add --yes to delete")?;
    let stock = Stock::list(config, Whose::All)?.with_sure_marks(config)?;
    let entries = meant(&stock, &args.names)?;
    let refused = entries.iter().find_map(|entry| Some((*entry, refusal(entry, &stock, consent)?)));
    if let Some((entry, why)) = refused {
        return Err(Failure::Failed(format!("{}: {why}; nothing was deleted", entry.path().display())).into());
    }
    if consent == Consent::Ask && !asked(&entries, &stock)? {
        return Ok(writeln!(crate::fs::patient::stdout(), "nothing was deleted")?);
    }
    delete(config, &stock, &entries, consent)
}

/// What the words mean, each once.
fn meant<'a>(stock: &'a Stock, words: &[OsString]) -> anyhow::Result<Vec<&'a Entry>> {
    let mut entries: Vec<&Entry> = Vec::new();
    for word in words {
        let Some(entry) = stock.find(word)? else { return Err(elsewhere(word).into()) };
        if !entries.iter().any(|known| std::ptr::eq(*known, entry)) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn elsewhere(word: &OsStr) -> Failure {
    Failure::Failed(format!(
        "{}: is not a stored output; `rm` deletes only those (see `overspill list`)",
        word.display()
    ))
}

/// Why an entry can not be deleted at all, or not unasked.
fn refusal(entry: &Entry, stock: &Stock, consent: Consent) -> Option<String> {
    let unusual = entry.status.words();
    match entry.status {
        _ if stock.is_kept(entry) => Some("you keep it; release it in the Stores view first".to_owned()),
        Status::Ok | Status::Unfinished | Status::FutureTime => None,
        Status::HardLinked if consent == Consent::Ask => None,
        Status::HardLinked => Some(format!("{unusual}: it has other names; without --yes you are asked")),
        Status::SymbolicLink | Status::NotAFile | Status::ForeignOwner | Status::OtherMount => {
            Some(format!("{unusual}: not deleted by overspill; `rm` itself can, if you are sure"))
        }
        Status::Unreadable(_) => Some(unusual.into_owned()),
    }
}

fn asked(entries: &[&Entry], stock: &Stock) -> io::Result<bool> {
    use Align::{Left, Right};
    let mut table = Table::new([("age", Right), ("size", Right), ("agent", Left), ("path", Left)]);
    for entry in entries {
        let (agent, path) = (safe(entry.agent().as_bytes()), path(entry));
        table.row([age(entry, stock.now), size(entry.size()), agent, path]);
    }
    let mut out = crate::fs::patient::stdout();
    table.print(&mut out)?;
    for entry in entries.iter().filter(|entry| entry.status == Status::HardLinked) {
        writeln!(
            out,
            "{} has other names (hard link): what they name stays, and no room is freed",
            path(entry)
        )?;
    }
    out.flush()?;
    let bytes = store::sum(entries.iter().map(|entry| entry.size()));
    ask(&format!("Delete {}, {}?", outputs(entries.len() as u64), size(bytes)))
}

fn delete(config: &Config, stock: &Stock, entries: &[&Entry], consent: Consent) -> Outcome {
    let Some(mut cleaner) = Cleaner::start(&config.env)? else {
        let words = "another cleaning is running, and nothing was deleted; try again when it is done";
        return Err(Failure::Failed(words.to_owned()).into());
    };
    let mut stayed = Vec::new();
    for entry in entries {
        // Only who was asked knows of the other names.
        let told = consent == Consent::Ask && entry.status == Status::HardLinked;
        let manner = if told { DeleteMode::Single } else { DeleteMode::Bulk };
        match cleaner.delete(entry, Why::Asked, manner, &config.env, stock.now) {
            store::Outcome::Deleted => {
                writeln!(crate::fs::patient::stdout(), "deleted: {}, {}", path(entry), size(entry.size()))?;
            }
            store::Outcome::AlreadyGone => {
                writeln!(crate::fs::patient::stdout(), "already gone: {}", path(entry))?
            }
            store::Outcome::Stayed(why) => {
                stayed.push(format!("{}: {}", entry.path().display(), why.as_str()));
            }
        }
    }
    cleaner.unlogged().into_iter().for_each(say);
    // A record that stays behind goes with the next cleaning.
    let _ = capture::Record::sweep(&config.env, stock.now);
    if stayed.is_empty() {
        Ok(())
    } else {
        Err(Failure::Failed(format!("not deleted: {}", stayed.join("; "))).into())
    }
}

fn path(entry: &Entry) -> String {
    safe(entry.path().as_os_str().as_encoded_bytes())
}
