//! The only table of keys: what each key does, on which screen, and how help and docs describe it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where a key applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere except while typing.
    Everywhere,
    /// Preview and Spill.
    Pager,
    /// The list of stored outputs.
    Stores,
    /// The policy picker, where all other keys are typed.
    Policies,
    /// Two previews side by side.
    Pair,
    /// The limits drawer.
    Drawer,
    /// The choice of what the limits drawer copies.
    Copying,
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
    /// Moves down a page.
    PageDown,
    /// Moves up a page.
    PageUp,
    /// Goes to the start, or to the line whose number was typed.
    Start,
    /// Goes to the end, or to the line whose number was typed.
    End,
    /// Moves left by half a screen.
    Left,
    /// Moves right by half a screen.
    Right,
    /// Goes to the next cut.
    NextCut,
    /// Goes to the previous cut.
    PreviousCut,
    /// Searches towards the end.
    Search,
    /// Searches towards the start.
    SearchBack,
    /// Goes to the next match.
    NextMatch,
    /// Goes to the previous match.
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
    /// Goes to the next window.
    NextWindow,
    /// Goes to the previous window.
    PreviousWindow,
    /// Asks for the offset and limit of the window.
    Window,
    /// Asks for a line, byte or percentage to go to.
    GoTo,
    /// Goes to the percentage whose number was typed.
    Percent,
    /// Sets a mark.
    Mark,
    /// Goes to the start of the line.
    LineStart,
    /// Goes to the end of the line.
    LineEnd,
    /// Goes to a mark.
    ToMark,
    /// Follows a growing file.
    Follow,
    /// Switches to the other pane or view.
    Other,
    /// Raises the line limit.
    MoreLines,
    /// Lowers the line limit.
    FewerLines,
    /// Raises the size limit.
    MoreBytes,
    /// Lowers the size limit.
    FewerBytes,
    /// Switches between keeping the start and keeping the end.
    Direction,
    /// Opens the policy picker.
    Policy,
    /// Switches to the next policy that may have made this output.
    Candidate,
    /// Opens the limits drawer.
    Limits,
    /// Toggles the wrapping of long lines.
    Wrap,
    /// Toggles between escape sequences as text and as colours.
    Raw,
    /// Toggles between progress lines by their last state and as they are.
    Unfold,
    /// Shows a line of JSON with indents.
    Json,
    /// Copies the path.
    Copy,
    /// Copies text: the selection, or what a second key names.
    CopyText,
    /// Starts or ends a selection of lines.
    Select,
    /// Copies the call that reads the window.
    CopyCall,
    /// Shows the window as the agent's read tool returns it.
    ReadForm,
    /// Opens the file in an editor.
    Editor,
    /// Shows facts about the output.
    Facts,
    /// Opens the file again.
    Reopen,
    /// Shows the list of stored outputs.
    Stores,
    /// Opens the selected entry.
    Open,
    /// Opens the menu of columns to sort by.
    Sort,
    /// Reverses the order.
    SortReverse,
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
    /// Counts the lines of the selected entries.
    CountLines,
    /// Marks an entry, to act on several.
    Choose,
    /// Keeps an entry forever, or no longer.
    Keep,
    /// Lists policies of earlier eras too, or no longer.
    Eras,
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
    /// Undoes the last change of limits.
    UndoLimit,
    /// Makes the change of limits again that was undone.
    RedoLimit,
    /// Keeps the limits as they are now.
    Apply,
    /// Copies the limits as flags.
    CopyFlags,
    /// Copies the policy file with these limits.
    CopyPolicy,
    /// Copies the limits for the agent's own configuration.
    CopyAgent,
    /// Shows help.
    Help,
    /// Goes back.
    Back,
    /// Closes what is open, else goes back, else quits.
    Quit,
    /// Quits from wherever it is, with a question if something would be lost.
    QuitNow,
    /// Quits without a question: nothing is deleted.
    Interrupt,
}

/// A row of the table of keys.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where the keys apply.
    pub place: KeyContext,
    /// The keys, separated by spaces; the first is the one shown.
    pub keys: &'static str,
    /// What the keys do.
    pub action: Action,
    /// The description in help and docs.
    pub what: &'static str,
    /// The heading in help and docs.
    pub group: &'static str,
}

const fn row(
    place: KeyContext,
    group: &'static str,
    keys: &'static str,
    action: Action,
    what: &'static str,
) -> Binding {
    Binding { place, keys, action, what, group }
}

use Action as A;
use KeyContext::{Copying, Drawer, Everywhere, Pager, Pair, Policies, Stores};

/// All keys. A number typed before a motion key is its count, as in `less`.
#[rustfmt::skip]
pub const TABLE: &[Binding] = &[
    row(Everywhere, "Move", "j ↓ Enter", A::Down, "down a line"),
    row(Everywhere, "Move", "k ↑", A::Up, "up a line"),
    row(Everywhere, "Move", "d ^D", A::HalfDown, "down half a page"),
    row(Everywhere, "Move", "u ^U", A::HalfUp, "up half a page"),
    row(Everywhere, "Move", "Space f PgDn ^F", A::PageDown, "down a page"),
    row(Everywhere, "Move", "b PgUp ^B", A::PageUp, "up a page"),
    row(Everywhere, "Move", "g Home", A::Start, "to the start; 5g to line 5"),
    row(Everywhere, "Move", "G End", A::End, "to the end; 5G to line 5"),
    row(Pager, "Move", "←", A::Left, "left, when long lines are not wrapped"),
    row(Pager, "Move", "→", A::Right, "right (stops wrapping)"),
    row(Pager, "Move", "$", A::LineEnd, "to the end of a long line"),
    row(Pager, "Move", "^", A::LineStart, "to the start of the line"),
    row(Pager, "Move", ":", A::GoTo, "go to a line, 50% or byte 4096b; :n :p other files"),
    row(Pager, "Move", "%", A::Percent, "to that percentage of the file: 50%"),
    row(Pager, "Move", "m", A::Mark, "set a mark: m and a letter"),
    row(Pager, "Move", "'", A::ToMark, "go to a mark; '' goes back"),
    row(Pager, "Move", "}", A::NextCut, "to the next cut: its notice, or where lines are lost"),
    row(Pager, "Move", "{", A::PreviousCut, "to the previous cut"),
    row(Pager, "Search", "/", A::Search, "search for a regular expression; empty: the last"),
    row(Pager, "Search", "?", A::SearchBack, "search towards the start"),
    row(Pager, "Search", "n", A::NextMatch, "next match; 3n the third from here"),
    row(Pager, "Search", "N", A::PreviousMatch, "previous match"),
    row(Pager, "Search", ")", A::NextMissed, "next match that the model did not get, in Spill"),
    row(Pager, "Search", "(", A::PreviousMissed, "previous match that the model did not get"),
    row(Pager, "Search", "e", A::NextError, "next error or warning"),
    row(Pager, "Search", "E", A::PreviousError, "previous error or warning"),
    row(Pager, "Search", "&", A::Matching, "only matching lines; !x others, 3& with 3 around"),
    row(Pager, "Window", "]", A::NextWindow, "next window of lines, as an agent pages"),
    row(Pager, "Window", "[", A::PreviousWindow, "previous window"),
    row(Pager, "Window", "o", A::Window, "type offset and limit of the window"),
    row(Pager, "Window", "O", A::ReadForm, "the window as the agent's read tool gives it"),
    row(Pager, "Window", "c", A::CopyCall, "copy the call that reads this window"),
    row(Pager, "Limits", "+", A::MoreLines, "more lines for the model"),
    row(Pager, "Limits", "-", A::FewerLines, "fewer lines"),
    row(Pager, "Limits", ">", A::MoreBytes, "more bytes (or the policy's unit)"),
    row(Pager, "Limits", "<", A::FewerBytes, "fewer bytes"),
    row(Pager, "Limits", "D", A::Direction, "keep the start or the end"),
    row(Pager, "Limits", "l", A::Limits, "all limits, what they change, what keeps a line"),
    row(Pager, "Limits", "p", A::Policy, "pick another policy; there, Tab shows earlier ones"),
    row(Pager, "Limits", "P", A::Candidate, "next policy that may have made this output"),
    row(Pager, "View", "Tab", A::Other, "Preview or Spill"),
    row(Pager, "View", "S", A::Stores, "stored outputs"),
    row(Pager, "View", "w", A::Wrap, "wrap long lines, or scroll sideways"),
    row(Pager, "View", "r", A::Raw, "escapes as text, or as colours"),
    row(Pager, "View", "z", A::Unfold, "progress lines: their last state, or all"),
    row(Pager, "View", "J", A::Json, "a JSON line with indents (5J: line 5)"),
    row(Pager, "View", "F", A::Follow, "follow the file as it grows"),
    row(Pager, "View", "=", A::Facts, "facts about this output"),
    row(Pager, "View", "y", A::Copy, "copy the path"),
    row(Pager, "View", "Y", A::CopyText, "copy the selection; a line, the window, the preview"),
    row(Pager, "View", "V", A::Select, "select lines: V, move, then Y copies"),
    row(Pager, "View", "v", A::Editor, "open in $EDITOR at this line"),
    row(Pager, "View", "R", A::Reopen, "open the file again"),
    row(Stores, "Stores", "Enter →", A::Open, "open the output"),
    row(Stores, "Stores", "Space", A::Choose, "mark, to act on several"),
    row(Stores, "Stores", "x", A::Delete, "mark for deletion; leaving asks whether to delete"),
    row(Stores, "Stores", "U", A::Undo, "undo the last mark for deletion"),
    row(Stores, "Stores", "!", A::DeleteNow, "delete now what is marked (struck through)"),
    row(Stores, "Stores", "X", A::CleanOverdue, "show what is overdue, to delete it"),
    row(Stores, "Stores", "K", A::Keep, "keep forever (another agent's: as a copy)"),
    row(Stores, "Stores", "s", A::Sort, "sort: a menu of columns"),
    row(Stores, "Stores", "o", A::SortReverse, "reverse the order"),
    row(Stores, "Stores", "t", A::Group, "totals by store, session or day"),
    row(Stores, "Stores", "/", A::Filter, "show only rows with these words"),
    row(Stores, "Stores", "L", A::CountLines, "count the lines of the output, or of all marked"),
    row(Stores, "Stores", ":", A::GoTo, "go to a row"),
    row(Stores, "Stores", "y", A::Copy, "copy the path"),
    row(Stores, "Stores", "R", A::Refresh, "scan the directories again"),
    row(Policies, "Policies (p)", "↓ ^N", A::Down, "down; the preview of the policy shows above"),
    row(Policies, "Policies (p)", "↑ ^P", A::Up, "up"),
    row(Policies, "Policies (p)", "PgDn", A::PageDown, "down a page"),
    row(Policies, "Policies (p)", "PgUp", A::PageUp, "up a page"),
    row(Policies, "Policies (p)", "Enter", A::Open, "use the policy"),
    row(Policies, "Policies (p)", "^T", A::Choose, "mark; on a second one: both side by side"),
    row(Policies, "Policies (p)", "^S", A::Sort, "sort by name, most kept, lines, bytes, tokens"),
    row(Policies, "Policies (p)", "Tab", A::Eras, "earlier forms too, or current ones only"),
    row(Policies, "Policies (p)", "Esc ^C", A::Back, "back to the policy one had"),
    row(Pair, "Two policies (^T)", "Tab", A::Other, "the other side"),
    row(Pair, "Two policies (^T)", "}", A::NextCut, "to the next text that one alone keeps"),
    row(Pair, "Two policies (^T)", "{", A::PreviousCut, "to the previous one"),
    row(Drawer, "Limits (l)", "j ↓", A::Down, "next limit"),
    row(Drawer, "Limits (l)", "k ↑", A::Up, "previous limit"),
    row(Drawer, "Limits (l)", "→ Space", A::Higher, "raise, or next value"),
    row(Drawer, "Limits (l)", "←", A::Lower, "lower, or previous value"),
    row(Drawer, "Limits (l)", "0-9", A::TypeValue, "type a value"),
    row(Drawer, "Limits (l)", "a", A::TakeAdvice, "apply what keeps the line"),
    row(Drawer, "Limits (l)", "u", A::UndoLimit, "undo the last change"),
    row(Drawer, "Limits (l)", "^R", A::RedoLimit, "redo it"),
    row(Drawer, "Limits (l)", "R", A::Reset, "reset to the limits of the start"),
    row(Drawer, "Limits (l)", "y", A::Copy, "copy the limits; then one of the next three"),
    row(Copying, "Limits (l)", "f", A::CopyFlags, "as flags of overspill"),
    row(Copying, "Limits (l)", "p", A::CopyPolicy, "as a policy file"),
    row(Copying, "Limits (l)", "a", A::CopyAgent, "for the agent's own configuration"),
    row(Drawer, "Limits (l)", "p", A::Policy, "pick another policy"),
    row(Drawer, "Limits (l)", "Enter l", A::Apply, "apply and close"),
    row(Drawer, "Limits (l)", "Esc q", A::Back, "cancel: the limits of before"),
    row(Everywhere, "Program", "h F1", A::Help, "this help"),
    row(Everywhere, "Program", "Esc", A::Back, "back; stops a search"),
    row(Everywhere, "Program", "q", A::Quit, "close what is open, else go back, else quit"),
    row(Everywhere, "Program", "Q :q", A::QuitNow, "quit at once"),
    row(Everywhere, "Program", "^C", A::Interrupt, "quit at once, delete nothing"),
];

/// Returns what a key press does in `place`. Rows of the place itself take precedence over those for everywhere.
pub fn action(place: KeyContext, key: KeyEvent) -> Option<Action> {
    own_action(place, key).or_else(|| own_action(Everywhere, key))
}

/// Returns what a key press does by the rows of the place itself, where all other keys are typed or mean nothing.
pub fn own_action(place: KeyContext, key: KeyEvent) -> Option<Action> {
    let name = name(key)?;
    let mut rows = TABLE.iter().filter(|row| row.place == place);
    rows.find(|row| row.keys.split(' ').any(|key| key == name)).map(|row| row.action)
}

/// Returns the key to show for an action.
pub fn key_of(action: Action) -> &'static str {
    let row = TABLE.iter().find(|row| row.action == action);
    row.and_then(|row| row.keys.split(' ').next()).unwrap_or_default()
}

/// Returns the key to show for an action in a place.
pub fn key_in(place: KeyContext, action: Action) -> &'static str {
    let row = TABLE.iter().find(|row| row.place == place && row.action == action);
    row.and_then(|row| row.keys.split(' ').next()).unwrap_or_default()
}

/// Returns the name of a key press in the table.
pub fn name(key: KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(c) if control => format!("^{}", c.to_ascii_uppercase()),
        KeyCode::Char(' ') => "Space".into(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "Enter".into(),
        KeyCode::Esc => "Esc".into(),
        KeyCode::Tab | KeyCode::BackTab => "Tab".into(),
        KeyCode::Up => "↑".into(),
        KeyCode::Down => "↓".into(),
        KeyCode::Left => "←".into(),
        KeyCode::Right => "→".into(),
        KeyCode::Home => "Home".into(),
        KeyCode::End => "End".into(),
        KeyCode::PageUp => "PgUp".into(),
        KeyCode::PageDown => "PgDn".into(),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::Delete => "Del".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for place in [Everywhere, Pager, Stores, Policies, Drawer, Copying, Pair] {
            let mut keys: Vec<_> =
                TABLE.iter().filter(|row| row.place == place).flat_map(|row| row.keys.split(' ')).collect();
            let all = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all, "{place:?}");
        }
    }

    #[test]
    fn a_place_s_own_key_wins() {
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(action(KeyContext::Pager, enter), Some(Action::Down));
        assert_eq!(action(KeyContext::Stores, enter), Some(Action::Open));
    }

    #[test]
    fn control_keys_are_named_with_a_caret() {
        let key = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
        assert_eq!(action(KeyContext::Pager, key), Some(Action::HalfDown));
    }
}
