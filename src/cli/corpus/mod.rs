//! The commands that look at many outputs together, and which outputs their arguments name.

pub(crate) mod grep;
pub(crate) mod tune;

use std::ffi::OsString;

use anyhow::bail;

use crate::config::Config;
use crate::corpus::{Corpus, CorpusOutput, STDIN};
use crate::session::examine::OutputPlace;
use crate::source::OpenError;
use crate::text::label::label;

use super::input::{self, NamedItem};
use super::stores::{self, OutputScope, say_none_stored};

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
    let scope = agent.map_or(OutputScope::All, OutputScope::Agent);
    let selected = stores::select(config, scope)?;
    let is_whole = selected.roots().all(|root| root.unlisted().next().is_none());
    if selected.entries.is_empty() {
        say_none_stored("");
    }
    Ok((Corpus::from_entries(selected.entries), is_whole))
}

fn resolve_names(config: &Config, words: &[OsString]) -> anyhow::Result<Corpus> {
    let (mut paths, mut entries) = (Vec::new(), Vec::new());
    for word in words {
        let named = match input::find(config, word) {
            // Reading it reports that it is missing.
            Err(error) if error.is::<OpenError>() => NamedItem::File(word.into()),
            named => named?,
        };
        match named {
            NamedItem::Stdin => paths.push(STDIN.into()),
            NamedItem::File(path) => paths.push(path),
            NamedItem::Output(entry) => entries.push(CorpusOutput::Entry(entry)),
            NamedItem::Recorded(found) => {
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
