//! Places in files as `less` and editors take them: `+100 FILE`, `+G FILE`, `+/PATTERN FILE`, `FILE:100`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::anyhow;

use crate::source::OpenError;
use crate::text::label::label;

use super::screens::StartAt;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct NamedOutputs {
    pub words: Vec<OsString>,
    /// Where to open an output, by its index in `words`.
    pub places: BTreeMap<usize, StartAt>,
    /// The first word that said where, as it was typed.
    pub first: Option<OsString>,
}

impl NamedOutputs {
    /// Tells places from names: what exists is a name. `+100` is for the file after it; at the end, for the first.
    pub(crate) fn parse(files: &[OsString]) -> Self {
        let mut named = Self::default();
        let mut next = None;
        for word in files {
            let place = plus(word).filter(|_| !exists(word));
            let with_line = || with_line(word).filter(|_| !exists(word));
            if place.is_some() || with_line().is_some() {
                named.first.get_or_insert_with(|| word.clone());
            }
            if let Some(place) = place {
                next = Some(place);
                continue;
            }
            let (word, line) = with_line().map_or((word.clone(), None), |(file, line)| (file, Some(line)));
            named.places.extend(line.or(next.take()).map(|place| (named.words.len(), place)));
            named.words.push(word);
        }
        if let Some(place) = next {
            named.places.entry(0).or_insert(place);
        }
        named
    }
}

/// Says of a word like `+3` or `FILE:3` for a command without screens that only the screens understand it.
pub(crate) fn explain_place(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(OpenError::Missing(path)) if is_place(path.as_ref()) => {
            anyhow!("{error} ({})", for_screens(path.as_ref()))
        }
        _ => error,
    }
}

pub(super) fn for_screens(place: &OsStr) -> String {
    let file = if place.as_encoded_bytes().first() == Some(&b'+') { " FILE" } else { "" };
    format!("+N FILE and FILE:N are for the screens: overspill {}{file}", label(place.as_encoded_bytes()))
}

/// Whether a word says where to open a file, and is not itself the name of a file.
pub(super) fn is_place(word: &OsStr) -> bool {
    !exists(word) && (plus(word).is_some() || with_line(word).is_some())
}

fn exists(word: &OsStr) -> bool {
    Path::new(word).symlink_metadata().is_ok()
}

/// Reads `+100`, `+G` and `+/PATTERN`.
fn plus(word: &OsStr) -> Option<StartAt> {
    let place = word.to_str()?.strip_prefix('+')?;
    match place.strip_prefix('/') {
        Some(pattern) if !pattern.is_empty() => Some(StartAt::Match(pattern.to_owned())),
        Some(_) => None,
        None if place == "G" => Some(StartAt::End),
        None => line(place).map(StartAt::Line),
    }
}

/// Reads `FILE:100`, and `FILE:100:7` as compilers print it, if FILE is a file.
fn with_line(word: &OsStr) -> Option<(OsString, StartAt)> {
    let (before, last) = word.to_str()?.rsplit_once(':')?;
    let last = line(last)?;
    let of_file =
        |file: &str, line: u64| Path::new(file).is_file().then(|| (file.into(), StartAt::Line(line)));
    let with_column = || {
        let (file, first) = before.rsplit_once(':')?;
        of_file(file, line(first)?)
    };
    of_file(before, last).or_else(with_column)
}

fn line(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> (Vec<OsString>, Vec<(usize, StartAt)>) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let named = NamedOutputs::parse(&words);
        (named.words, named.places.into_iter().collect())
    }

    #[test]
    fn distinguishes_start_positions_from_file_names() {
        let line = StartAt::Line;
        // The tests run in the directory of the crate.
        assert_eq!(parse(&["+7", "Cargo.toml"]), (vec!["Cargo.toml".into()], vec![(0, line(7))]));
        assert_eq!(parse(&["Cargo.toml", "+G"]), (vec!["Cargo.toml".into()], vec![(0, StartAt::End)]));
        assert_eq!(
            parse(&["a", "+/x y", "b"]),
            (vec!["a".into(), "b".into()], vec![(1, StartAt::Match("x y".into()))])
        );
        assert_eq!(parse(&["Cargo.toml:12"]), (vec!["Cargo.toml".into()], vec![(0, line(12))]));
        assert_eq!(parse(&["Cargo.toml:12:3"]), (vec!["Cargo.toml".into()], vec![(0, line(12))]));
        for word in ["nosuch:3", "+x", "+/", "+", "+-3", "Cargo.toml:", "Cargo.toml:x", "tool_01"] {
            assert_eq!(parse(&[word]), (vec![word.into()], vec![]), "{word}");
        }
    }
}
