//! Random numbers, the same for the same seed (xorshift).

/// The state; any seed but 0.
pub struct Lot(pub u64);

impl Lot {
    /// Returns a number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// Returns one of several.
    pub fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}
