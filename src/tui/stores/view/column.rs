//! A column of the list, and its heading.

/// A column, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Agent,
    Tool,
    Size,
    Age,
    /// The time left, as a bar and in words.
    Left,
    /// How much of the output the model got.
    Got,
    /// Mode and owner, of entries that others have access to.
    Access,
    /// The session, or else the project.
    Session,
    /// The agent's id of the call that the output is of.
    Call,
}

/// Columns between two columns of text.
pub(super) const BETWEEN: usize = 2;

/// Columns at the start of a row: the cursor, and a mark.
pub(super) const MARKS: usize = 2;

/// Returns the heading of a column; `width` decides between a long and a short one.
pub(super) fn heading(column: Column, width: usize) -> &'static str {
    match column {
        Column::Agent => "agent",
        Column::Tool => "tool",
        Column::Size => "size",
        Column::Age => "age",
        Column::Left if width < 9 => "left",
        Column::Left => "time left",
        Column::Got => "model got",
        Column::Access if width < 11 => "mode",
        Column::Access => "mode, owner",
        Column::Call => "call",
        Column::Session if width < 16 => "session",
        Column::Session => "session, project",
    }
}
