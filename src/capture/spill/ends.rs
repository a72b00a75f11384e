//! The beginning and the end of what could not be spilled, in bounded memory.

/// Bytes held of the beginning, and as many of the end: more than any agent's limits keep.
pub(crate) const HELD: usize = 2 << 20;

/// Holds the first and the last [`HELD`] bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct HeadAndTail {
    head: Vec<u8>,
    /// A ring buffer once full: the oldest byte is at `oldest`.
    tail: Vec<u8>,
    oldest: usize,
    total: u64,
}

impl HeadAndTail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HELD - self.head.len()));
        self.head.extend_from_slice(first);
        self.push_tail(&rest[rest.len().saturating_sub(HELD)..]);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns where the held end begins; the bytes between the two ends are gone.
    pub(crate) fn tail_start(&self) -> u64 {
        self.total - self.tail.len() as u64
    }

    /// Returns the held stretches in order, each with its offset in bytes from the first push.
    pub(crate) fn stretches(&self) -> [(u64, &[u8]); 3] {
        let (newer, older) = self.tail.split_at(self.oldest);
        let start = self.tail_start();
        [(0, &self.head), (start, older), (start + older.len() as u64, newer)]
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let (growing, around) = bytes.split_at(bytes.len().min(HELD - self.tail.len()));
        self.tail.extend_from_slice(growing);
        let (first, second) = around.split_at(around.len().min(HELD - self.oldest));
        self.tail[self.oldest..self.oldest + first.len()].copy_from_slice(first);
        self.tail[..second.len()].copy_from_slice(second);
        if !around.is_empty() {
            self.oldest = (self.oldest + around.len()) % HELD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(ends: &HeadAndTail) -> Vec<u8> {
        let mut bytes = vec![0; ends.total() as usize];
        for (at, held) in ends.stretches() {
            bytes[at as usize..][..held.len()].copy_from_slice(held);
        }
        bytes
    }

    fn numbered(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn little_is_held_whole() {
        for len in [0, 1, HELD, HELD + 1, 2 * HELD] {
            let (bytes, mut ends) = (numbered(len), HeadAndTail::default());
            bytes.chunks(100_003).for_each(|chunk| ends.push(chunk));
            assert!(assembled(&ends) == bytes, "{len}");
        }
    }

    #[test]
    fn only_the_ends_of_a_large_output_are_held() {
        for chunk in [65_536, 100_003, HELD - 1, HELD, 3 * HELD + 7] {
            let (bytes, mut ends) = (numbered(5 * HELD + 12_345), HeadAndTail::default());
            bytes.chunks(chunk).for_each(|chunk| ends.push(chunk));
            let held = assembled(&ends);
            let tail = ends.tail_start() as usize;
            assert_eq!(bytes.len() - tail, HELD);
            assert!(held[..HELD] == bytes[..HELD] && held[tail..] == bytes[tail..], "{chunk}");
            assert!(held[HELD..tail].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn memory_is_bounded() {
        let (block, mut ends) = (vec![1; 1 << 20], HeadAndTail::default());
        (0..64).for_each(|_| ends.push(&block));
        assert!(ends.head.capacity() <= 2 * HELD && ends.tail.capacity() <= 2 * HELD);
        assert_eq!(ends.head.len() + ends.tail.len(), 2 * HELD);
    }
}
