//! What keys do, and where.

/// Where a key applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere except while typing.
    Everywhere,
    /// Preview and Spill.
    Pager,
    Drawer,
    /// All lists.
    Lists,
    Help,
}

impl KeyContext {
    /// Whether a key for everywhere does this here, too, if it does nothing else here.
    pub(super) fn takes(self, action: Action) -> bool {
        match self {
            _ if action == Action::Redraw => true,
            KeyContext::Everywhere | KeyContext::Pager | KeyContext::Lists => true,
            KeyContext::Help => true,
            // All other keys act on the output.
            KeyContext::Drawer => false,
        }
    }
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Moves down one row, or as many as the typed count.
    Down,
    /// Moves up one row, or as many as the typed count.
    Up,
    /// Moves down half a page.
    HalfDown,
    /// Moves up half a page.
    HalfUp,
    PageDown,
    PageUp,
    /// Goes to the start, or to the line whose number was typed.
    Start,
    /// Goes to the end, or to the line whose number was typed.
    End,
    /// Moves left by half a screen.
    Left,
    /// Moves right by half a screen.
    Right,
    NextCut,
    PreviousCut,
    /// Searches towards the end.
    Search,
    /// Searches towards the start.
    SearchBack,
    NextMatch,
    PreviousMatch,
    /// Goes to the next match that the model did not get.
    NextMissed,
    /// Goes to the previous match that the model did not get.
    PreviousMissed,
    /// Goes to the next error or warning.
    NextError,
    /// Goes to the previous error or warning.
    PreviousError,
    /// Asks for a pattern, to show only lines that match.
    Matching,
    NextWindow,
    PreviousWindow,
    /// Asks for the offset and limit of the window.
    Window,
    /// Asks for a line, byte or percentage to go to.
    GoTo,
    /// Goes to the percentage whose number was typed.
    Percent,
    Mark,
    /// Goes to the start of the line.
    LineStart,
    /// Goes to the end of the line.
    LineEnd,
    ToMark,
    /// Follows a growing file, or the rows that come into a list.
    Follow,
    /// Switches to the other pane or view.
    Other,
    /// Shows both texts side by side, or one.
    Beside,
    /// Switches between keeping the start and keeping the end.
    Direction,
    /// Opens the policy picker.
    Policy,
    /// Switches between what was recorded and what the policy makes.
    Evidence,
    /// Goes to the call that an output is of.
    ToCall,
    /// Shows the sessions that agents recorded.
    Sessions,
    /// Asks for a pattern: what settings are to keep instead of errors.
    JudgeBy,
    /// Opens the limits of an output, or the settings of many.
    Limits,
    /// Toggles the wrapping of long lines.
    Wrap,
    /// Toggles between escape sequences as text and as colours.
    Raw,
    /// Toggles between progress lines by their last state and as they are.
    Unfold,
    /// Shows a line of JSON with indents.
    Json,
    /// Copies the selection, or offers what there is to copy.
    Copy,
    /// Starts or ends a selection of lines.
    Select,
    /// Shows the window as the agent's read tool returns it.
    ReadForm,
    /// Opens the file in an editor.
    Editor,
    /// Shows facts about the output or call, and what else the records hold of it.
    Facts,
    /// Opens the file again.
    Reopen,
    /// Shows the list of stored outputs.
    Stores,
    /// Opens the selected entry.
    Open,
    /// Opens the menu of columns to sort by.
    Sort,
    /// Asks for a pattern, to list the matching lines of all outputs.
    Grep,
    /// Asks for words by which to filter.
    Filter,
    /// Groups by store, session or day.
    Group,
    /// Scans the directories again.
    Refresh,
    /// Marks the selected entries for deletion.
    Delete,
    /// Undoes the last deletion.
    Undo,
    /// Deletes everything marked for deletion now.
    DeleteNow,
    /// Shows the overdue entries, to delete them.
    CleanOverdue,
    /// Marks a row, to act on several.
    Choose,
    /// Marks all rows that are shown, or none of them.
    ChooseAll,
    /// Keeps an entry forever, or no longer.
    Keep,
    /// Changes to the lower or previous value.
    Lower,
    /// Changes to the higher or next value.
    Higher,
    /// Types a value.
    TypeValue,
    /// Applies the change of limits that keeps the line.
    TakeAdvice,
    /// Resets the limits to those of the start.
    Reset,
    /// Keeps the limits as they are now, or has outputs open under a setting.
    Apply,
    /// Shows help.
    Help,
    /// Goes back.
    Back,
    /// Closes what is open, else goes back, else quits.
    Quit,
    /// Quits from wherever it is, with a question if something would be lost.
    QuitNow,
    /// Clears the terminal and draws the screen again.
    Redraw,
    /// Quits without a question: nothing is deleted.
    Interrupt,
}
