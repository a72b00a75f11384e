//! The words that the rows of a list must contain, and where the list stood before they were typed.

use crate::tui::widget::cursor::ListCursor;

/// The filter of a list.
#[derive(Debug, Default)]
pub(super) struct WordFilter {
    words: String,
    /// The words and the cursor when the prompt was opened.
    before: Option<(String, ListCursor)>,
}

impl WordFilter {
    /// Returns the words as they were typed.
    pub(super) fn text(&self) -> &str {
        &self.words
    }

    /// Returns the words to look for, in lower case.
    pub(super) fn words(&self) -> Vec<String> {
        self.words.split_whitespace().map(str::to_lowercase).collect()
    }

    /// Remembers where the list stands before words are typed.
    pub(super) fn start(&mut self, cursor: ListCursor) {
        self.before = Some((self.words.clone(), cursor));
    }

    /// Takes over words; the list begins at its first row.
    pub(super) fn set(&mut self, words: &str, cursor: &mut ListCursor) {
        (self.words, *cursor) = (words.to_owned(), ListCursor::default());
    }

    /// Takes back what was typed since [`WordFilter::start`]; the list stands where it did then.
    pub(super) fn give_up(&mut self, cursor: &mut ListCursor) {
        if let Some(before) = self.before.take() {
            (self.words, *cursor) = before;
        }
    }
}
