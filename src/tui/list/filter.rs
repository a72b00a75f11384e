//! The filter of a list: words that a row must all have, some of which have a meaning.

use super::column::{ListSpec, RowLook};

/// One of the words.
enum Term<'a> {
    /// The row meets a condition, by its index in the list's words.
    Meaning(usize),
    /// A column says this, by its index.
    Column(usize, &'a str),
    /// The row has this somewhere.
    Text(&'a str),
}

/// Returns the terms of a filter in lower case: a word with a meaning, `COLUMN:TEXT`, or text.
fn terms<'a, R>(spec: &ListSpec<R>, text: &'a str) -> Vec<Term<'a>> {
    let term = |word: &'a str| {
        if let Some(at) = spec.words.iter().position(|(known, _)| *known == word) {
            return Term::Meaning(at);
        }
        let named = word.split_once(':').and_then(|(name, rest)| {
            Some((spec.columns.iter().position(|column| column.heading == name)?, rest))
        });
        named.map_or(Term::Text(word), |(column, rest)| Term::Column(column, rest))
    };
    text.split_whitespace().map(term).collect()
}

/// Returns all words of a row, in lower case.
fn words_of<R>(spec: &ListSpec<R>, row: &R, look: &RowLook) -> String {
    let cells = spec.columns.iter().map(|column| (column.cell)(row, look).text);
    let mut words: String = cells.flat_map(|text| [text.to_string(), " ".to_owned()]).collect();
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

    /// Returns the indices of the rows that have all words of a filter.
    pub(super) fn matching<R>(
        &mut self,
        spec: &ListSpec<R>,
        rows: &[R],
        look: &RowLook,
        filter: &str,
    ) -> Vec<usize> {
        let filter = filter.to_lowercase();
        let terms = terms(spec, &filter);
        if terms.is_empty() {
            return (0..rows.len()).collect();
        }
        self.0.resize(rows.len(), None);
        let texts = &mut self.0;
        let mut has = |n: usize, term: &Term| match term {
            Term::Meaning(at) => (spec.words[*at].1)(&rows[n], look),
            Term::Column(at, text) => {
                (spec.columns[*at].cell)(&rows[n], look).text.to_lowercase().contains(text)
            }
            Term::Text(text) => {
                texts[n].get_or_insert_with(|| words_of(spec, &rows[n], look).into()).contains(text)
            }
        };
        (0..rows.len()).filter(|n| terms.iter().all(|term| has(*n, term))).collect()
    }
}
