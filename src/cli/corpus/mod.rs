//! The commands that look at many outputs together, and which outputs their arguments name.

pub(crate) mod grep;
pub(crate) mod tune;

use std::collections::BTreeSet;
use std::ffi::OsString;

use anyhow::bail;

use crate::config::Config;
use crate::corpus::{Corpus, CorpusOutput, STDIN};
use crate::session::examine::OutputPlace;
use crate::source::OpenError;
use crate::store::{RootReport, RootState};
use crate::text::label::label;

use super::input::{self, Named};
use super::say;
use super::stores::{Selected, Whose};

/// How many of the directories searched are named if nothing is found in them.
const MAX_NAMED: usize = 8;

/// Returns the outputs that paths and ids name, or all stored ones, or those of an agent; and whether all directories
/// could be listed.
pub(crate) fn gather(
    config: &Config,
    paths: &[OsString],
    agent: Option<&str>,
) -> anyhow::Result<(Corpus, bool)> {
    if !paths.is_empty() {
        return Ok((resolve_names(config, paths)?, true));
    }
    let whose = agent.map_or(Whose::All, Whose::Agent);
    let selected = Selected::list(config, whose)?;
    let is_whole = selected.roots().all(|root| root.unlisted().next().is_none());
    if selected.entries.is_empty() {
        say(&describe_search(selected.roots()));
    }
    Ok((Corpus::from_entries(selected.entries), is_whole))
}

fn resolve_names(config: &Config, words: &[OsString]) -> anyhow::Result<Corpus> {
    let (mut paths, mut entries) = (Vec::new(), Vec::new());
    for word in words {
        let named = match input::find(config, word) {
            // Reading it reports that it is missing.
            Err(error) if error.is::<OpenError>() => Named::File(word.into()),
            named => named?,
        };
        match named {
            Named::Stdin => paths.push(STDIN.into()),
            Named::File(path) => paths.push(path),
            Named::Output(entry) => entries.push(CorpusOutput::Entry(entry)),
            Named::Recorded(found) => {
                let (place, rest) = found.output()?;
                let OutputPlace::File(path) = place else {
                    let why = rest.why_alone().unwrap_or("its output is in no file");
                    bail!("{}: {why}; `overspill show --text` prints its text", found.id());
                };
                paths.push(path);
            }
        }
    }
    let mut corpus = Corpus::from_paths(&paths);
    corpus.outputs.splice(0..0, entries);
    if corpus.outputs.is_empty() && corpus.faults.is_empty() {
        let named: Vec<_> = words.iter().map(|word| label(word.as_encoded_bytes())).collect();
        bail!("{}: contains no files", named.join(", "));
    }
    Ok(corpus)
}

/// Says where stored outputs were looked for in vain: the directories that there are, and how many there are not.
fn describe_search<'a>(roots: impl Iterator<Item = &'a RootReport>) -> String {
    let (there, absent): (Vec<_>, Vec<_>) = roots.partition(|root| root.state == RootState::Listed);
    // Several agents may keep outputs in one directory.
    let [there, absent] = [there, absent].map(|roots: Vec<&RootReport>| {
        roots.into_iter().map(|root| root.root.display().to_string()).collect::<BTreeSet<_>>()
    });
    let named: Vec<&str> = there.iter().take(MAX_NAMED).map(String::as_str).collect();
    let named = match there.len().saturating_sub(MAX_NAMED) {
        _ if there.is_empty() => String::new(),
        0 => format!(" in {}", named.join(", ")),
        more => format!(" in {} and {more} more directories", named.join(", ")),
    };
    let mark = if there.is_empty() { ':' } else { ';' };
    let absent = match absent.len() {
        0 => String::new(),
        1 => format!("{mark} 1 directory does not exist or cannot be read"),
        more => format!("{mark} {more} directories do not exist or cannot be read"),
    };
    format!("no stored outputs{named}{absent}; `overspill stores --all` lists all directories")
}
