//! What the key for copying offers: one menu of what there is.

use crate::base::human::{count, size};
use crate::text::label::shell;
use crate::tui::event::Message;
use crate::tui::screen::{Effect, Effects, Screen};

use super::menu::{Menu, MenuEntry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyWhat {
    Path,
    Line,
    Window,
    ModelText,
    Command,
    Id,
    ReadCall,
    Flags,
    PolicyFile,
    AgentConfig,
}

impl CopyWhat {
    const fn key_and_name(self) -> (char, &'static str) {
        match self {
            Self::Path => ('p', "path"),
            Self::Line => ('l', "line"),
            Self::Window => ('w', "window"),
            Self::ModelText => ('m', "model's text"),
            Self::Command => ('c', "command"),
            Self::Id => ('i', "id"),
            Self::ReadCall => ('r', "read call"),
            Self::Flags => ('f', "flags"),
            Self::PolicyFile => ('t', "policy file"),
            Self::AgentConfig => ('a', "agent's configuration"),
        }
    }

    pub(crate) fn entry(
        self,
        note: impl Into<String>,
        pick: impl Fn(&mut dyn Screen, &mut Effects) + 'static,
    ) -> MenuEntry {
        let (letter, name) = self.key_and_name();
        MenuEntry::new(letter, name, note.into(), pick)
    }
}

/// A short text that can be copied: of a row, or about an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copyable {
    what: CopyWhat,
    text: String,
    /// What the menu says in place of the text; empty if the text says it.
    note: String,
}

impl Copyable {
    pub(crate) fn new(what: CopyWhat, text: impl Into<String>) -> Self {
        Self { what, text: text.into(), note: String::new() }
    }

    pub(crate) fn described(what: CopyWhat, text: String, note: String) -> Self {
        Self { what, text, note }
    }

    pub(crate) fn path(bytes: &[u8]) -> Self {
        Self::new(CopyWhat::Path, shell::word(bytes))
    }

    pub(crate) fn id(bytes: &[u8]) -> Self {
        Self::new(CopyWhat::Id, shell::word(bytes))
    }

    pub(crate) fn command(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::new(CopyWhat::Command, text))
    }

    /// Puts together what several rows have: what not all of them have is left out.
    pub(crate) fn join_all(rows: &[Vec<Self>]) -> Vec<Self> {
        let [first, others @ ..] = rows else { return Vec::new() };
        let together = |copyable: &Self| {
            let find = |row: &Vec<Self>| row.iter().find(|other| other.what == copyable.what).cloned();
            let all: Option<Vec<Self>> =
                std::iter::once(Some(copyable.clone())).chain(others.iter().map(find)).collect();
            all.and_then(joined)
        };
        first.iter().filter_map(together).collect()
    }

    pub(crate) fn entry(self) -> MenuEntry {
        let Self { what, text, note } = self;
        let (_, name) = what.key_and_name();
        let (note, said) = match note.is_empty() {
            true => (text.clone(), format!("copied {name}: {text}")),
            false => (note.clone(), format!("copied {name} {note}")),
        };
        what.entry(note, move |below, effects| {
            below.say(Some(Message::note(said.as_str())));
            effects.push(Effect::Copy(text.clone()));
        })
    }
}

/// Joins what several rows have of one kind: commands a line each, and words in one line. What is described is of one row.
fn joined(mut all: Vec<Copyable>) -> Option<Copyable> {
    let first = all.first()?;
    let what = first.what;
    match (all.len() as u64, what) {
        (1, _) => all.pop(),
        (rows, CopyWhat::Path | CopyWhat::Id | CopyWhat::Command) => {
            let between = if what == CopyWhat::Command { "\n" } else { " " };
            let text = all.iter().map(|one| &*one.text).collect::<Vec<_>>().join(between);
            let note = format!("of {}, {}", count(rows, "row"), size(text.len() as u64));
            Some(Copyable::described(what, text, note))
        }
        _ => None,
    }
}

pub(crate) fn menu(entries: Vec<MenuEntry>) -> Menu {
    Menu::new(" Copy ", "a letter copies", entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_offer_together_only_what_all_have() {
        let row = |path: &str, command: &str| {
            let path = Copyable::path(path.as_bytes());
            std::iter::once(path).chain(Copyable::command(command)).collect::<Vec<_>>()
        };
        let both = Copyable::join_all(&[row("/a b", "ls"), row("/c", "cat\nx")]);
        let texts: Vec<(&str, &str)> = both.iter().map(|one| (&*one.text, &*one.note)).collect();
        assert_eq!(texts, [("'/a b' /c", "of 2 rows, 9 B"), ("ls\ncat\nx", "of 2 rows, 8 B")]);
        let paths = Copyable::join_all(&[row("/a", "ls"), row("/c", "")]);
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert_eq!(Copyable::join_all(&[row("/a", "ls")]), row("/a", "ls"));
        assert_eq!(Copyable::join_all(&[]), []);
    }

    #[test]
    fn no_two_entries_have_the_same_letter_and_none_one_that_moves_or_closes() {
        use CopyWhat::*;
        let all = [Path, Line, Window, ModelText, Command, Id, ReadCall, Flags, PolicyFile, AgentConfig];
        let letters: std::collections::BTreeSet<char> =
            all.iter().map(|what| what.key_and_name().0).collect();
        assert_eq!(letters.len(), all.len());
        assert!(!letters.iter().any(|letter| "jkq".contains(*letter)), "{letters:?}");
    }
}
