//! What the filter searches of rows besides what they show, as far as it was read from files.

use std::sync::Arc;

use super::rows::BATCH;

/// The most bytes kept of one row: about as much as a wide screen shows.
const MAX_TEXT: usize = 240;

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

    /// The same for text in lower case.
    pub(crate) fn push_lower(&mut self, text: &[u8]) {
        self.text.extend_from_slice(&text[..text.len().min(MAX_TEXT)]);
        self.ends.push(self.text.len() as u32);
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the text of a row of the batch; empty if there is none.
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
    read: usize,
}

impl TextTable {
    /// Returns the texts of a batch, if they have been read.
    pub fn batch(&self, batch: usize) -> Option<&BatchText> {
        self.batches.get(batch)?.as_deref()
    }

    /// Returns the text of a row; empty if it was not read.
    pub(super) fn get(&self, row: usize) -> &[u8] {
        self.batch(row / BATCH).map_or(&[], |batch| batch.get(row % BATCH))
    }

    pub fn set(&mut self, batch: usize, text: Arc<BatchText>) {
        if self.batches.len() <= batch {
            self.batches.resize(batch + 1, None);
        }
        self.read += usize::from(self.batches[batch].replace(text).is_none());
    }

    /// Returns the number of batches that have been read.
    pub fn read(&self) -> usize {
        self.read
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
        assert_eq!(texts.len(), 4);
        assert_eq!([0, 1, 2, 4].map(|n| texts.get(n)), ["one".as_bytes(), b"", "zwei ü".as_bytes(), b""]);
        assert_eq!(texts.get(3).len(), MAX_TEXT);
    }
}
