//! Windows of lines, as an agent's read tool pages: the next, the one before, typed, shown in the tool's own form.

/// Lines of a window until another limit is typed: what read tools use.
const WINDOW: u64 = 2000;

/// Lines `offset .. offset + limit` of the file, 1-based, as an agent's read tool pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadWindow {
    /// First line, 1-based.
    pub offset: u64,
    /// Most lines.
    pub limit: u64,
}

impl ReadWindow {
    /// The window of the same limit, a whole number of windows away, that holds `line` (1-based).
    pub fn holding(self, line: u64) -> Self {
        let limit = self.limit.max(1);
        if line >= self.offset {
            return Self { offset: self.offset + (line - self.offset) / limit * limit, ..self };
        }
        let back = (self.offset - line).div_ceil(limit) * limit;
        Self { offset: self.offset.saturating_sub(back).max(1), ..self }
    }

    /// The line after the window, 1-based: the next offset.
    pub fn next(self) -> u64 {
        self.offset.saturating_add(self.limit)
    }
}

impl Default for ReadWindow {
    fn default() -> Self {
        Self { offset: 1, limit: WINDOW }
    }
}

/// What is to be done with the policy of a read tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThenRead {
    /// Preview shows the window as the tool gives it.
    Show,
    /// The call that reads the window is copied.
    CopyCall,
}
