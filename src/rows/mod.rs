//! The rows of lists and tables, in batches that are cheap to share, and the columns that say what is known of each.

pub mod calls;
pub mod column;
pub mod lost;
pub mod outputs;
pub mod sessions;
pub(crate) mod settings;
pub(crate) mod watched;

use std::ops::Index;
use std::sync::Arc;

pub const BATCH: usize = 4096;

/// Maximum length of a row's text, in bytes: about as much as a wide screen shows.
const MAX_TEXT: usize = 240;

/// All rows of a list, numbered from 0. A clone shares the batches, and does not change with the original.
#[derive(Debug, Clone)]
pub struct RowTable<R>(Vec<Arc<Vec<R>>>);

impl<R> Default for RowTable<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: Clone> RowTable<R> {
    /// Adds rows. A full batch that starts on a batch boundary is stored without copying.
    pub fn add(&mut self, rows: Vec<R>) {
        if rows.len() == BATCH && self.len().is_multiple_of(BATCH) {
            return self.0.push(Arc::new(rows));
        }
        for row in rows {
            match self.0.last_mut() {
                Some(batch) if batch.len() < BATCH => Arc::make_mut(batch).push(row),
                _ => self.0.push(Arc::new(vec![row])),
            }
        }
    }

    pub(crate) fn get_mut(&mut self, row: usize) -> Option<&mut R> {
        Arc::make_mut(self.0.get_mut(row / BATCH)?).get_mut(row % BATCH)
    }
}

impl<R> RowTable<R> {
    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * BATCH + last.len())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, row: usize) -> Option<&R> {
        self.0.get(row / BATCH)?.get(row % BATCH)
    }

    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.0.iter().flat_map(|batch| batch.iter())
    }

    pub fn batches(&self) -> impl ExactSizeIterator<Item = &[R]> {
        self.0.iter().map(|batch| &batch[..])
    }
}

impl<R> Index<usize> for RowTable<R> {
    type Output = R;

    fn index(&self, row: usize) -> &R {
        &self.0[row / BATCH][row % BATCH]
    }
}

impl<R> From<Vec<R>> for RowTable<R> {
    fn from(rows: Vec<R>) -> Self {
        let mut rows = rows.into_iter();
        let batches = (0..rows.len().div_ceil(BATCH)).map(|_| Arc::new(rows.by_ref().take(BATCH).collect()));
        Self(batches.collect())
    }
}

/// The texts of the rows of one batch, in their order and in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchText {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl BatchText {
    /// Adds the text of the next row; what is too long of it is dropped.
    pub fn push(&mut self, text: &str) {
        self.push_lower(text.to_lowercase().as_bytes());
    }

    pub(crate) fn push_lower(&mut self, text: &[u8]) {
        self.text.extend_from_slice(&text[..text.len().min(MAX_TEXT)]);
        self.ends.push(self.text.len() as u32);
    }

    pub fn get(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let (Some(start), Some(end)) = (start, self.ends.get(row)) else { return &[] };
        &self.text[start as usize..*end as usize]
    }
}

/// The texts of all rows, batch by batch, as far as they have been read. Cheap to share with a worker.
#[derive(Debug, Clone, Default)]
pub struct TextTable {
    batches: Vec<Option<Arc<BatchText>>>,
    /// The number of batches that have been read.
    pub read: usize,
}

impl TextTable {
    pub fn batch(&self, batch: usize) -> Option<&BatchText> {
        self.batches.get(batch)?.as_deref()
    }

    pub(crate) fn get(&self, row: usize) -> &[u8] {
        self.batch(row / BATCH).map_or(&[], |batch| batch.get(row % BATCH))
    }

    pub(crate) fn set(&mut self, batch: usize, text: Arc<BatchText>) {
        if self.batches.len() <= batch {
            self.batches.resize(batch + 1, None);
        }
        self.read += usize::from(self.batches[batch].replace(text).is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_text() {
        let mut texts = BatchText::default();
        for text in ["One", "", "Zwei Ü", &"x".repeat(1000)] {
            texts.push(text);
        }
        assert_eq!(texts.ends.len(), 4);
        assert_eq!([0, 1, 2, 4].map(|n| texts.get(n)), ["one".as_bytes(), b"", "zwei ü".as_bytes(), b""]);
        assert_eq!(texts.get(3).len(), MAX_TEXT);
    }
}
