//! The commands that look at many outputs together, and which outputs their arguments name.

pub(crate) mod grep;
pub(crate) mod tune;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::bail;

use crate::config::Config;
use crate::corpus::{Corpus, CorpusOutput, STDIN};
use crate::session::examine::OutputPlace;
use crate::source::OpenError;
use crate::text::label::label;

use super::input::{self, NamedItem};
use super::sessions::SelectedSession;
use super::stores::{self, OutputScope, say_none_stored};

/// Returns the paths, or standard input if none is given, something is piped in, and no stored outputs are asked for.
pub(crate) fn or_piped<'p>(paths: &'p [OsString], stores: bool, agent: Option<&str>) -> Cow<'p, [OsString]> {
    let is_read = paths.is_empty() && !stores && agent.is_none() && is_piped();
    if is_read { vec!["-".into()].into() } else { paths.into() }
}

/// Whether standard input is a file or a pipe, so that someone wants it to be read.
fn is_piped() -> bool {
    let stdin = io::stdin();
    let kind = rustix::fs::fstat(&stdin).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
    !stdin.is_terminal() && kind.is_ok_and(|kind| !kind.is_char_device() && !kind.is_dir())
}

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

/// Returns the file with the whole output of a call.
fn file_of(found: &SelectedSession) -> anyhow::Result<PathBuf> {
    let (place, rest) = found.output()?;
    let OutputPlace::File(path) = place else {
        let why = rest.why_text_only().unwrap_or("its output is in no file");
        bail!("{}: {why}; `overspill show --text` prints its text", found.id());
    };
    Ok(path)
}

fn resolve_names(config: &Config, words: &[OsString]) -> anyhow::Result<Corpus> {
    let (mut paths, mut entries, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for word in words {
        match input::find(config, word) {
            Ok(NamedItem::Stdin) => paths.push(STDIN.into()),
            Ok(NamedItem::File(path)) => paths.push(path),
            Ok(NamedItem::Output(entry)) => entries.push(CorpusOutput::Entry(entry)),
            Ok(NamedItem::Recorded(found)) => match file_of(&found) {
                Ok(path) => paths.push(path),
                Err(error) => faults.push(error.to_string()),
            },
            // Reading it reports that it is missing.
            Err(error) if error.is::<OpenError>() => paths.push(word.into()),
            Err(error) => return Err(error),
        }
    }
    let mut corpus = Corpus::from_paths(&paths);
    corpus.outputs.splice(0..0, entries);
    corpus.faults.extend(faults);
    if corpus.outputs.is_empty() && corpus.faults.is_empty() {
        let named: Vec<_> = words.iter().map(|word| label(word.as_encoded_bytes())).collect();
        bail!("{}: contains no files", named.join(", "));
    }
    Ok(corpus)
}
