//! The rows of a list, in batches that are cheap to share with a worker.

use std::ops::Index;
use std::sync::Arc;

/// The number of rows that are stored together.
pub const BATCH: usize = 4096;

/// All rows of a list, numbered from 0. A clone shares the batches, and does not change with the original.
#[derive(Debug)]
pub struct RowTable<R>(Vec<Arc<Vec<R>>>);

impl<R> Default for RowTable<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R> Clone for RowTable<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
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

    /// Iterates over all rows, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.0.iter().flat_map(|batch| batch.iter())
    }

    /// Iterates over the batches, in the order of their numbers.
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
        let (mut table, mut rows) = (Self::default(), rows.into_iter());
        loop {
            let batch: Vec<R> = rows.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return table;
            }
            table.0.push(Arc::new(batch));
        }
    }
}
