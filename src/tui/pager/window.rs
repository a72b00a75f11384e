//! Windows of lines, the unit in which an agent's read tool pages.

/// The default limit of a window, in lines, as read tools use it.
const WINDOW: u64 = 2000;

/// A window: the lines `offset .. offset + limit` of the file, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadWindow {
    /// The first line, 1-based.
    pub offset: u64,
    /// The maximum number of lines.
    pub limit: u64,
}

impl ReadWindow {
    /// Returns the window that contains `line` (1-based) and lies a whole number of windows away from this one.
    pub fn holding(self, line: u64) -> Self {
        let limit = self.limit.max(1);
        if line >= self.offset {
            return Self { offset: self.offset + (line - self.offset) / limit * limit, ..self };
        }
        let back = (self.offset - line).div_ceil(limit) * limit;
        Self { offset: self.offset.saturating_sub(back).max(1), ..self }
    }

    /// Returns the line after the window, 1-based, which is the next offset.
    pub fn next(self) -> u64 {
        self.offset.saturating_add(self.limit)
    }
}

impl Default for ReadWindow {
    fn default() -> Self {
        Self { offset: 1, limit: WINDOW }
    }
}
