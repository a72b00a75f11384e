//! The filter of a list: words that a row must all have, some of which have a meaning.

use memchr::memmem::Finder;

use super::column::{ListSpec, RowLook};

/// One of the words.
enum Term {
    /// The row meets a condition, by its index in the list's words.
    Meaning(usize),
    /// A column says this, by its index.
    Column(usize, String),
    /// The row has this somewhere.
    Text(Box<Finder<'static>>),
}

/// The words of a filter.
pub(super) struct Terms<R: 'static> {
    spec: &'static ListSpec<R>,
    terms: Vec<Term>,
}

impl<R> Terms<R> {
    /// Understands a filter: a word with a meaning, `COLUMN:TEXT`, or text.
    pub(super) fn new(spec: &'static ListSpec<R>, filter: &str) -> Self {
        let filter = filter.to_lowercase();
        let term = |word: &str| {
            if let Some(at) = spec.words.iter().position(|(known, _)| *known == word) {
                return Term::Meaning(at);
            }
            let named = word.split_once(':').and_then(|(name, rest)| {
                Some((spec.columns.iter().position(|column| column.heading == name)?, rest))
            });
            match named {
                Some((column, rest)) => Term::Column(column, rest.to_owned()),
                None => Term::Text(Box::new(Finder::new(word).into_owned())),
            }
        };
        Self { spec, terms: filter.split_whitespace().map(term).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether a row has all words. `text` is what was read of it, in lower case.
    pub(super) fn are_in(
        &self,
        row: &R,
        (number, look): (usize, &RowLook),
        text: &[u8],
        known: Option<&mut RowTexts>,
    ) -> bool {
        let mut made = None;
        let words: &mut Option<Box<str>> = match known {
            Some(known) => known.of(number),
            None => &mut made,
        };
        self.terms.iter().all(|term| match term {
            Term::Meaning(at) => (self.spec.words[*at].1)(row, look),
            Term::Column(at, text) => {
                (self.spec.columns[*at].cell)(row, look).text.to_lowercase().contains(text)
            }
            Term::Text(word) => {
                let words = words.get_or_insert_with(|| words_of(self.spec, row, look).into());
                word.find(words.as_bytes()).is_some() || word.find(text).is_some()
            }
        })
    }
}

/// Whether all rows that have the words of a filter have those of the one that it was typed on from, too.
pub(super) fn narrows<R>(spec: &'static ListSpec<R>, filter: &str, before: &str) -> bool {
    let is_text = |filter| Terms::new(spec, filter).terms.iter().all(|term| matches!(term, Term::Text(_)));
    filter.starts_with(before) && is_text(filter) && is_text(before)
}

/// Returns all words of a row, in lower case.
fn words_of<R>(spec: &ListSpec<R>, row: &R, look: &RowLook) -> String {
    let mut words = String::with_capacity(256);
    for column in spec.columns {
        words.push_str(&(column.cell)(row, look).text);
        words.push(' ');
    }
    words.push_str(&(spec.known)(row));
    words.to_lowercase()
}

/// What rows say, in lower case, as far as it was looked at.
#[derive(Debug, Default)]
pub(super) struct RowTexts(Vec<Option<Box<str>>>);

impl RowTexts {
    /// Forgets what a row says, because that has changed.
    pub(super) fn forget(&mut self, row: usize) {
        if let Some(text) = self.0.get_mut(row) {
            *text = None;
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn of(&mut self, row: usize) -> &mut Option<Box<str>> {
        if self.0.len() <= row {
            self.0.resize(row + 1, None);
        }
        &mut self.0[row]
    }
}
