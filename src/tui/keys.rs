//! The one table of keys: what each does, where, and how it is spoken of in help and docs.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where a key has its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere but while typing.
    Everywhere,
    /// Preview and Spill.
    Pager,
    /// The list of stored outputs.
    Stores,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One row down, or as many as were typed.
    Down,
    /// One row up.
    Up,
    /// Half a page down.
    HalfDown,
    /// Half a page up.
    HalfUp,
    /// A page down.
    PageDown,
    /// A page up.
    PageUp,
    /// The start, or the line that was typed.
    Start,
    /// The end, or the line that was typed.
    End,
    /// Half a screen to the left.
    Left,
    /// Half a screen to the right.
    Right,
    /// The next place where something was cut.
    NextCut,
    /// The cut before.
    PreviousCut,
    /// Search to the end.
    Search,
    /// Search to the start.
    SearchBack,
    /// The next match.
    NextMatch,
    /// The previous match.
    PreviousMatch,
    /// The next window.
    NextWindow,
    /// The previous window.
    PreviousWindow,
    /// Type offset and limit.
    Window,
    /// Type a line, byte or per cent to go to.
    GoTo,
    /// Set a mark.
    Mark,
    /// The start of the line.
    LineStart,
    /// The end of the line.
    LineEnd,
    /// Go to a mark.
    ToMark,
    /// Follow a growing file.
    Follow,
    /// The other pane or view.
    Other,
    /// More lines in the preview.
    MoreLines,
    /// Fewer lines.
    FewerLines,
    /// More bytes.
    MoreBytes,
    /// Fewer bytes.
    FewerBytes,
    /// Keep the other end.
    Direction,
    /// Pick a policy.
    Policy,
    /// The next policy that may have made this.
    Candidate,
    /// The limits drawer.
    Limits,
    /// Limits as they were at the start.
    ResetLimits,
    /// Wrap long lines or not.
    Wrap,
    /// Show escapes as text or not.
    Raw,
    /// Copy what the model got, or a path.
    Copy,
    /// Copy the call that reads the window.
    CopyCall,
    /// Show the window as the policy's read tool gives it.
    ReadForm,
    /// Open the file in an editor.
    Editor,
    /// Facts about the output.
    Facts,
    /// Open the file again.
    Reopen,
    /// The next file named on the command line.
    NextFile,
    /// The file before.
    PreviousFile,
    /// Stored outputs.
    Stores,
    /// Open the chosen entry.
    Open,
    /// Sort by the next column.
    Sort,
    /// Sort the other way round.
    SortReverse,
    /// Type words that entries must have.
    Filter,
    /// Group by store, session or day.
    Group,
    /// Look at the directories again.
    Refresh,
    /// Delete the chosen entries.
    Delete,
    /// Take a deletion back.
    Undo,
    /// Delete for good what is struck through.
    DeleteNow,
    /// Choose what is overdue for deletion.
    CleanOverdue,
    /// Count the lines of the chosen entries.
    CountLines,
    /// Mark an entry.
    Choose,
    /// Keep an entry for ever.
    Keep,
    /// Help.
    Help,
    /// Back to where one came from.
    Back,
    /// Leave the program.
    Quit,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where it holds.
    pub place: KeyContext,
    /// The keys, separated by spaces, the one to show first.
    pub keys: &'static str,
    /// What they do.
    pub action: Action,
    /// What to say of it.
    pub what: &'static str,
    /// The heading under which it stands.
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
use KeyContext::{Everywhere, Pager, Stores};

/// Every key. A number typed before a moving key is its count, as in `less`.
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
    row(Pager, "Move", "m", A::Mark, "set a mark: m and a letter"),
    row(Pager, "Move", "'", A::ToMark, "go to a mark; '' goes back"),
    row(Pager, "Move", "}", A::NextCut, "to the next cut: its notice, or where lines are lost"),
    row(Pager, "Move", "{", A::PreviousCut, "to the previous cut"),
    row(Pager, "Search", "/", A::Search, "search for a regular expression"),
    row(Pager, "Search", "?", A::SearchBack, "search towards the start"),
    row(Pager, "Search", "n", A::NextMatch, "next match"),
    row(Pager, "Search", "N", A::PreviousMatch, "previous match"),
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
    row(Pager, "View", "F", A::Follow, "follow the file as it grows"),
    row(Pager, "View", "=", A::Facts, "facts about this output"),
    row(Pager, "View", "y", A::Copy, "copy the path"),
    row(Pager, "View", "v", A::Editor, "open in $EDITOR at this line"),
    row(Pager, "View", "R", A::Reopen, "open the file again"),
    row(Stores, "Stores", "Enter →", A::Open, "open the output"),
    row(Stores, "Stores", "Space", A::Choose, "mark, to act on several"),
    row(Stores, "Stores", "x", A::Delete, "delete: struck through until you quit"),
    row(Stores, "Stores", "U", A::Undo, "take the last deletion back"),
    row(Stores, "Stores", "!", A::DeleteNow, "delete now what is struck through"),
    row(Stores, "Stores", "X", A::CleanOverdue, "show what is overdue, to delete it"),
    row(Stores, "Stores", "K", A::Keep, "keep for ever (another agent's: as a copy)"),
    row(Stores, "Stores", "s", A::Sort, "sort by the next column"),
    row(Stores, "Stores", "o", A::SortReverse, "the other way round"),
    row(Stores, "Stores", "t", A::Group, "totals by store, session or day"),
    row(Stores, "Stores", "/", A::Filter, "show only what has these words"),
    row(Stores, "Stores", "L", A::CountLines, "count the lines of the output, or of all marked"),
    row(Stores, "Stores", "y", A::Copy, "copy the path"),
    row(Stores, "Stores", "R", A::Refresh, "look at the directories again"),
    row(Everywhere, "Program", "h F1", A::Help, "this help"),
    row(Everywhere, "Program", "Esc", A::Back, "back; stops a search"),
    row(Everywhere, "Program", "q ^C", A::Quit, "quit"),
];

/// What a key press does in a place; the place's own rows win over those that hold everywhere.
pub fn action(place: KeyContext, key: KeyEvent) -> Option<Action> {
    let name = name(key)?;
    let rows = |wanted: KeyContext| TABLE.iter().filter(move |row| row.place == wanted);
    let mut found = rows(place).chain(rows(Everywhere));
    found.find(|row| row.keys.split(' ').any(|key| key == name)).map(|row| row.action)
}

/// The key to show for an action.
pub fn key_of(action: Action) -> &'static str {
    let row = TABLE.iter().find(|row| row.action == action);
    row.and_then(|row| row.keys.split(' ').next()).unwrap_or_default()
}

/// The name under which a key press stands in the table.
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
        for place in [KeyContext::Everywhere, KeyContext::Pager, KeyContext::Stores] {
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
