//! The table of keys: what each key does, where, its name in the configuration, and how help and docs describe it.

use super::action::{Action, KeyContext};

/// A row of the table of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Where the keys apply.
    pub place: KeyContext,
    /// The keys, separated by spaces; the first is the one shown.
    pub keys: &'static str,
    /// What the keys do.
    pub action: Action,
    /// The name in `[keys]` of the configuration: unique, and never changed. Empty if the keys cannot be changed.
    pub name: &'static str,
    /// The description in help and docs; `{NAME}` stands for the key of the row with that name.
    pub what: &'static str,
    /// The heading in help and docs, with the same places for keys.
    pub group: &'static str,
}

/// A row of the table with its keys in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundKeys {
    pub row: &'static Binding,
    /// The names of its keys; the first is the one shown.
    pub keys: Vec<String>,
}

const fn row(
    place: KeyContext,
    group: &'static str,
    keys: &'static str,
    action: Action,
    name: &'static str,
    what: &'static str,
) -> Binding {
    Binding { place, keys, action, name, what, group }
}

use Action as A;
use KeyContext::{Drawer, Everywhere, Help, Lists, Pager};

/// All keys, before the user's own are taken in. A number typed before a motion key is its count, as in `less`. An action
/// has one row in each place where it has keys; without one in a place, that for everywhere holds there.
#[rustfmt::skip]
pub const TABLE: &[Binding] = &[
    row(Everywhere, "Move", "j ↓ Enter", A::Down, "down", "down a line"),
    row(Everywhere, "Move", "k ↑", A::Up, "up", "up a line"),
    row(Everywhere, "Move", "d ^D", A::HalfDown, "half-page-down", "down half a page"),
    row(Everywhere, "Move", "u ^U", A::HalfUp, "half-page-up", "up half a page"),
    row(Everywhere, "Move", "Space f PgDn ^F", A::PageDown, "page-down", "down a page"),
    row(Everywhere, "Move", "b PgUp ^B", A::PageUp, "page-up", "up a page"),
    row(Everywhere, "Move", "g < Home", A::Start, "start", "to the start; 5{start} to line 5"),
    row(Everywhere, "Move", "G > End", A::End, "end", "to the end; 5{end} to line 5"),
    row(Pager, "Move", "←", A::Left, "left", "left, when long lines are not wrapped"),
    row(Pager, "Move", "→", A::Right, "right", "right (stops wrapping)"),
    row(Pager, "Move", "$", A::LineEnd, "line-end", "to the end of a long line"),
    row(Pager, "Move", "^", A::LineStart, "line-start", "to the start of the line"),
    row(Pager, "Move", ":", A::GoTo, "go-to", "go to a line, 50% or byte 4096b; {go-to}n {go-to}p other files"),
    row(Pager, "Move", "%", A::Percent, "percent", "to that percentage of the file: 50{percent}"),
    row(Pager, "Move", "m", A::Mark, "mark", "set a mark: {mark} and a letter"),
    row(Pager, "Move", "'", A::ToMark, "to-mark", "go to a mark; {to-mark}' goes back"),
    row(Pager, "Move", "}", A::NextCut, "next-cut", "to the next cut: its notice, or where lines are lost; to what differs, after {evidence}"),
    row(Pager, "Move", "{", A::PreviousCut, "previous-cut", "to the previous cut"),
    row(Pager, "Search", "/", A::Search, "search", "search for a regular expression; empty: the last; 3{search} the third match"),
    row(Pager, "Search", "?", A::SearchBack, "search-back", "search towards the start"),
    row(Pager, "Search", "n", A::NextMatch, "next-match", "next match; 3{next-match} the third from here"),
    row(Pager, "Search", "N", A::PreviousMatch, "previous-match", "previous match"),
    row(Pager, "Search", ")", A::NextMissed, "next-missed", "next match that the model did not get, in Spill"),
    row(Pager, "Search", "(", A::PreviousMissed, "previous-missed", "previous match that the model did not get"),
    row(Pager, "Search", "e", A::NextError, "next-error", "next error or warning"),
    row(Pager, "Search", "E", A::PreviousError, "previous-error", "previous error or warning"),
    row(Pager, "Search", "&", A::Matching, "filter", "only matching lines; !x others, 3{filter} with 3 around"),
    row(Pager, "Window", "]", A::NextWindow, "next-window", "next window of lines, as an agent pages"),
    row(Pager, "Window", "[", A::PreviousWindow, "previous-window", "previous window"),
    row(Pager, "Window", "o", A::Window, "window", "type offset and limit of the window"),
    row(Pager, "Window", "O", A::ReadForm, "read-form", "the window as the agent's read tool gives it"),
    row(Pager, "Limits", "l", A::Limits, "limits", "what if the limits, or the policy, were others"),
    row(Pager, "View", "i", A::Evidence, "evidence", "what was recorded, or what the policy makes; what differs is marked"),
    row(Pager, "View", "C", A::ToCall, "to-call", "the recorded call that this stored output is of"),
    row(Pager, "View", "Tab", A::Other, "other-view", "Preview or Spill"),
    row(Pager, "View", "s", A::Beside, "side-by-side", "both texts side by side, or one"),
    row(Pager, "View", "S", A::Stores, "stores", "stored outputs"),
    row(Pager, "View", "T", A::Sessions, "sessions", "sessions that agents recorded"),
    row(Pager, "View", "w", A::Wrap, "wrap", "wrap long lines, or scroll sideways"),
    row(Pager, "View", "r", A::Raw, "escapes", "escapes as text, or as colours"),
    row(Pager, "View", "z", A::Unfold, "progress", "progress lines: their last state, or all"),
    row(Pager, "View", "J", A::Json, "json", "a JSON line with indents (5{json}: line 5)"),
    row(Pager, "View", "F", A::Follow, "follow", "follow the file as it grows"),
    row(Pager, "View", "=", A::Facts, "facts", "facts about this output, its call, session and records, and where they lead"),
    row(Pager, "View", "y", A::Copy, "copy", "copy: a menu of what there is; a selection at once"),
    row(Pager, "View", "V", A::Select, "select", "select lines: {select}, move, then {copy} copies"),
    row(Pager, "View", "v", A::Editor, "editor", "open in $EDITOR at the current line"),
    row(Pager, "View", "K", A::Keep, "keep", "keep the output forever; of a pipe, save what was read"),
    row(Pager, "View", "R", A::Reopen, "reopen", "open the file again"),
    row(Lists, "Lists", "Enter →", A::Open, "list-open", "open; of a setting, the outputs that it cuts differently"),
    row(Lists, "Lists", "Tab", A::Other, "list-other", "from outputs to sessions, and back"),
    row(Lists, "Lists", "S", A::Stores, "list-stores", "stored outputs"),
    row(Lists, "Lists", "C", A::ToCall, "list-to-call", "the recorded call that an output is of"),
    row(Lists, "Lists", "/", A::Filter, "list-filter", "show only rows with these words"),
    row(Lists, "Lists", "&", A::Grep, "list-search", "matching lines of all outputs"),
    row(Lists, "Lists", "s", A::Sort, "list-sort", "sort: a menu of columns"),
    row(Lists, "Lists", "t", A::Group, "list-group", "group: none, session, store, agent, project or day, with totals"),
    row(Lists, "Lists", ":", A::GoTo, "list-go-to", "go to a row"),
    row(Lists, "Lists", "F", A::Follow, "list-follow", "follow: to the newest, and on to new ones; a move stops"),
    row(Lists, "Lists", "Space", A::Choose, "list-mark", "mark, to act on several"),
    row(Lists, "Lists", "*", A::ChooseAll, "list-mark-all", "mark all rows that are shown, or none"),
    row(Lists, "Lists", "x", A::Delete, "list-delete", "mark outputs for deletion; leaving asks whether to delete"),
    row(Lists, "Lists", "U", A::Undo, "list-undo", "undo the last mark for deletion"),
    row(Lists, "Lists", "D", A::DeleteNow, "list-delete-now", "delete now what is struck through, after a question"),
    row(Lists, "Lists", "X", A::CleanOverdue, "list-overdue", "show outputs that are overdue, to delete them"),
    row(Lists, "Lists", "K", A::Keep, "list-keep", "keep an output forever (another agent's: as a copy)"),
    row(Lists, "Lists", "y", A::Copy, "list-copy", "copy: a menu of what there is of the marked rows, or of the selected one"),
    row(Lists, "Lists", "=", A::Facts, "list-facts", "facts about the output or call, and where they lead"),
    row(Lists, "Lists", "l", A::Limits, "list-limits", "which limits keep more errors for fewer tokens, of the marked or listed outputs, or a session's"),
    row(Lists, "Lists", "p", A::Policy, "list-policies", "what each policy keeps of those outputs"),
    row(Lists, "Lists", "a", A::Apply, "list-apply", "have outputs open under the setting; again: no longer"),
    row(Lists, "Lists", "e", A::JudgeBy, "list-judge-by", "what settings and policies are to keep instead of errors"),
    row(Lists, "Lists", "R", A::Refresh, "list-refresh", "look or measure again"),
    row(Drawer, "Limits ({limits})", "↓", A::Down, "limits-down", "next row"),
    row(Drawer, "Limits ({limits})", "↑", A::Up, "limits-up", "previous row"),
    row(Drawer, "Limits ({limits})", "+ →", A::Higher, "limits-raise", "raise, or next value"),
    row(Drawer, "Limits ({limits})", "- ←", A::Lower, "limits-lower", "lower, or previous value"),
    row(Drawer, "Limits ({limits})", "0-9", A::TypeValue, "", "type a value"),
    row(Drawer, "Limits ({limits})", "D", A::Direction, "limits-direction", "keep the start or the end"),
    row(Drawer, "Limits ({limits})", "p", A::Policy, "limits-policies", "pick another policy from a list of what each keeps"),
    row(Drawer, "Limits ({limits})", "a", A::TakeAdvice, "limits-keep-line", "apply what keeps the current line"),
    row(Drawer, "Limits ({limits})", "R", A::Reset, "limits-reset", "reset to the policy and limits of the start"),
    row(Drawer, "Limits ({limits})", "Enter", A::Apply, "limits-keep", "keep them for this output"),
    row(Drawer, "Limits ({limits})", "Esc", A::Back, "limits-back", "back to what was shown before"),
    row(Everywhere, "Program", "h F1", A::Help, "help", "this help"),
    row(Everywhere, "Program", "Esc", A::Back, "back", "back; stops a search"),
    row(Everywhere, "Program", "q", A::Quit, "quit", "close what is open, else go back, else quit"),
    row(Everywhere, "Program", "Q", A::QuitNow, "quit-now", "quit at once, as {go-to}q does"),
    row(Everywhere, "Program", "^L", A::Redraw, "redraw", "draw the screen again"),
    row(Everywhere, "Program", "^C", A::Interrupt, "interrupt", "stop what runs, or close what is open, else quit"),
    row(Help, "In help", "/", A::Search, "help-search", "search in help"),
    row(Help, "In help", "n", A::NextMatch, "help-next-match", "next match"),
    row(Help, "In help", "N", A::PreviousMatch, "help-previous-match", "previous match"),
];
