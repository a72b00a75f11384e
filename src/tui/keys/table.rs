//! The table of keys: what each key does, where, its name in the configuration, and how help and docs describe it.

use Action as A;
use KeyContext::{Drawer, Everywhere, Lists, Pager};

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum KeyContext {
        /// Everywhere except while typing.
        Everywhere => "Everywhere",
        /// Both texts of an output.
        Pager => "Output",
        Drawer => "Limits",
        Lists => "Lists",
    }
}

impl KeyContext {
    /// Whether a key for everywhere does this here, too, if it does nothing else here.
    pub(super) fn takes(self, action: Action) -> bool {
        // In the drawer, all other keys act on the output.
        self != Self::Drawer || matches!(action, Action::Help | Action::Redraw)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Down,
    Up,
    HalfDown,
    HalfUp,
    PageDown,
    PageUp,
    Start,
    End,
    Left,
    Right,
    LineStart,
    LineEnd,
    GoTo,
    Percent,
    Mark,
    ToMark,
    Other,
    Stores,
    Search,
    Matching,
    Copy,
    Facts,
    Follow,
    Refresh,
    Limits,
    Editor,
    Keep,
    Help,
    Back,
    Quit,
    QuitNow,
    Interrupt,
    Redraw,
    NextMatch,
    PreviousMatch,
    SearchBack,
    NextMissed,
    PreviousMissed,
    NextError,
    PreviousError,
    NextCut,
    PreviousCut,
    NextWindow,
    PreviousWindow,
    Window,
    ReadForm,
    Beside,
    Wrap,
    Raw,
    Json,
    Select,
    Evidence,
    Open,
    Sort,
    Group,
    Choose,
    ChooseAll,
    Delete,
    Undo,
    DeleteNow,
    CleanOverdue,
    Policy,
    Apply,
    JudgeBy,
    Higher,
    Lower,
    TypeValue,
    Direction,
    TakeAdvice,
    Reset,
}

impl Action {
    /// Returns by how many rows a motion leads down or, below 0, up; `None` if the action is none.
    pub(in crate::tui) fn rows(self, count: Option<u64>, height: usize) -> Option<isize> {
        let times = count.map_or(1, |count| isize::try_from(count).unwrap_or(isize::MAX));
        let (page, half) = (height.saturating_sub(1).max(1) as isize, (height / 2).max(1) as isize);
        Some(match self {
            Self::Down => times,
            Self::Up => -times,
            Self::HalfDown => half.saturating_mul(times),
            Self::HalfUp => -half.saturating_mul(times),
            Self::PageDown => page.saturating_mul(times),
            Self::PageUp => -page.saturating_mul(times),
            _ => return None,
        })
    }

    /// Returns where a motion by rows leads from a row, of how many; `None` if the action is none.
    pub(crate) fn destination(self, count: Option<u64>, at: [usize; 2], height: usize) -> Option<usize> {
        let [at, all] = at;
        let numbered = |n: u64| (n as usize).saturating_sub(1);
        match self {
            Self::Start => Some(count.map_or(0, numbered)),
            Self::End => Some(count.map_or(usize::MAX, numbered)),
            Self::Percent => Some(all.saturating_sub(1) * count.unwrap_or(0).min(100) as usize / 100),
            _ => self.rows(count, height).map(|rows| at.saturating_add_signed(rows)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub place: KeyContext,
    /// The keys, separated by spaces; the first is the one shown.
    pub keys: &'static str,
    pub action: Action,
    /// The name in `[keys]` of the configuration: unique; one that changes goes to `FORMER_NAMES`. Empty if the keys cannot be changed.
    pub name: &'static str,
    pub what: &'static str,
}

impl Binding {
    pub fn is_motion(&self) -> bool {
        MOTIONS.iter().any(|(_, actions)| actions.contains(&self.action)) && self.place != KeyContext::Drawer
    }

    pub fn heading(&self) -> &'static str {
        if self.is_motion() { "Motions" } else { self.place.as_str() }
    }

    pub(in crate::tui) fn what_in(&self, place: KeyContext) -> &'static str {
        match (self.what.split_once("; in lists: "), place) {
            (Some((_, in_lists)), KeyContext::Lists) => in_lists,
            (Some((elsewhere, _)), _) => elsewhere,
            (None, _) => self.what,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundKeys {
    pub row: &'static Binding,
    pub keys: Vec<String>,
}

const fn row(
    place: KeyContext,
    keys: &'static str,
    action: Action,
    name: &'static str,
    what: &'static str,
) -> Binding {
    Binding { place, keys, action, name, what }
}

pub(in crate::tui) const MOTIONS: &[(&str, &[Action])] = &[
    ("line", &[A::Down, A::Up]),
    ("half page", &[A::HalfDown, A::HalfUp]),
    ("page", &[A::PageDown, A::PageUp]),
    ("start, end", &[A::Start, A::End]),
    ("sideways", &[A::Left, A::Right, A::LineStart, A::LineEnd]),
    ("percent", &[A::Percent]),
    ("mark", &[A::Mark, A::ToMark]),
    ("go to", &[A::GoTo]),
];

/// All keys, before the user's own are taken in. A row for everywhere holds where an action has none of its own.
#[rustfmt::skip]
pub const TABLE: &[Binding] = &[
    row(Everywhere, "j ↓ Enter ^E", A::Down, "down", "down a line"),
    row(Everywhere, "k ↑ ^Y", A::Up, "up", "up a line"),
    row(Everywhere, "d ^D", A::HalfDown, "half-page-down", "down half a page"),
    row(Everywhere, "u ^U", A::HalfUp, "half-page-up", "up half a page"),
    row(Everywhere, "Space f PgDn ^F", A::PageDown, "page-down", "down a page"),
    row(Everywhere, "b PgUp ^B Alt-v", A::PageUp, "page-up", "up a page"),
    row(Everywhere, "g < Home", A::Start, "start", "to the start, or line 5: 5g"),
    row(Everywhere, "G > End", A::End, "end", "to the end, or line 5: 5G"),
    row(Pager, "←", A::Left, "left", "left, if not wrapped"),
    row(Pager, "→", A::Right, "right", "right (stops wrapping)"),
    row(Pager, "$", A::LineEnd, "line-end", "to the end of the line"),
    row(Pager, "^", A::LineStart, "line-start", "to the start of the line"),
    row(Everywhere, "%", A::Percent, "percent", "to a percentage: 50%"),
    row(Everywhere, "m", A::Mark, "mark", "set a mark: then a letter"),
    row(Everywhere, "'", A::ToMark, "to-mark", "to a mark; twice: back"),
    row(Everywhere, ":", A::GoTo, "go-to", "to a line, 50%, 4096b; in lists: to a row, a time"),

    row(Everywhere, "Tab", A::Other, "other-view", "the other text; in lists: outputs, sessions"),
    row(Everywhere, "S", A::Stores, "stores", "to the lists"),
    row(Everywhere, "/", A::Search, "search", "search; in lists: filter the rows"),
    row(Everywhere, "&", A::Matching, "matching-lines", "only matching lines; in lists: search all outputs"),
    row(Everywhere, "l", A::Limits, "limits", "change the limits; in lists: find better limits"),
    row(Everywhere, "=", A::Facts, "facts", "facts"),
    row(Everywhere, "y", A::Copy, "copy", "copy"),
    row(Everywhere, "K", A::Keep, "keep", "keep forever"),
    row(Everywhere, "F", A::Follow, "follow", "follow"),
    row(Everywhere, "R", A::Refresh, "refresh", "refresh"),
    row(Everywhere, "v", A::Editor, "editor", "open in $EDITOR"),
    row(Everywhere, "h F1 ?", A::Help, "help", "help"),
    row(Everywhere, "Esc", A::Back, "back", "end, or go back"),
    row(Everywhere, "q", A::Quit, "quit", "go back, or quit"),
    row(Everywhere, "Q", A::QuitNow, "quit-now", "quit"),
    row(Everywhere, "^C", A::Interrupt, "interrupt", "stop, or quit"),
    row(Everywhere, "^L", A::Redraw, "redraw", "draw again"),

    row(Pager, "e", A::NextError, "next-error", "next error"),
    row(Pager, "E", A::PreviousError, "previous-error", "previous error"),
    row(Pager, "c }", A::NextCut, "next-cut", "next cut"),
    row(Pager, "C {", A::PreviousCut, "previous-cut", "previous cut"),
    row(Pager, "n", A::NextMatch, "next-match", "next match"),
    row(Pager, "N", A::PreviousMatch, "previous-match", "previous match"),
    row(Pager, ")", A::NextMissed, "next-missed", "next lost match"),
    row(Pager, "(", A::PreviousMissed, "previous-missed", "previous lost match"),
    row(Pager, "?", A::SearchBack, "search-back", "search back"),
    row(Pager, "]", A::NextWindow, "next-window", "next window"),
    row(Pager, "[", A::PreviousWindow, "previous-window", "previous window"),
    row(Pager, "o", A::Window, "window", "type a window"),
    row(Pager, "O", A::ReadForm, "read-form", "as the read tool gives it"),
    row(Pager, "s", A::Beside, "side-by-side", "side by side"),
    row(Pager, "w", A::Wrap, "wrap", "wrap long lines"),
    row(Pager, "r", A::Raw, "raw", "raw: escapes, all states"),
    row(Pager, "J", A::Json, "json", "a JSON line with indents"),
    row(Pager, "i", A::Evidence, "evidence", "recorded, reconstructed"),
    row(Pager, "V", A::Select, "select", "select lines"),

    row(Lists, "Enter", A::Open, "list-open", "open"),
    row(Lists, "s", A::Sort, "list-sort", "sort"),
    row(Lists, "t", A::Group, "list-group", "group"),
    row(Lists, "Space", A::Choose, "list-mark", "mark"),
    row(Lists, "*", A::ChooseAll, "list-mark-all", "mark all, or none"),
    row(Lists, "x", A::Delete, "list-delete", "mark for deletion"),
    row(Lists, "U", A::Undo, "list-undo", "undo the last of them"),
    row(Lists, "X", A::CleanOverdue, "list-overdue", "overdue outputs"),
    row(Lists, "D", A::DeleteNow, "list-delete-now", "delete those marked"),
    row(Lists, "p", A::Policy, "list-policies", "what policies keep"),
    row(Lists, "a", A::Apply, "list-apply", "apply a setting"),
    row(Lists, "e", A::JudgeBy, "list-judge-by", "judge settings by"),

    row(Drawer, "↓", A::Down, "limits-down", "next row"),
    row(Drawer, "↑", A::Up, "limits-up", "previous row"),
    row(Drawer, "+ →", A::Higher, "limits-raise", "raise, next value"),
    row(Drawer, "- ←", A::Lower, "limits-lower", "lower, previous value"),
    row(Drawer, "0-9", A::TypeValue, "", "type a value"),
    row(Drawer, "D", A::Direction, "limits-direction", "keep start or end"),
    row(Drawer, "p", A::Policy, "limits-policies", "pick another policy"),
    row(Drawer, "a", A::TakeAdvice, "limits-keep-line", "keep the current line"),
    row(Drawer, "R", A::Reset, "limits-reset", "reset to the start"),
    row(Drawer, "Enter", A::Apply, "limits-keep", "keep for this output"),
    row(Drawer, "Esc", A::Back, "limits-back", "back to what it was"),
];

/// Names in `[keys]` that took the place of others, which are gone; empty if none did.
pub(super) const FORMER_NAMES: &[(&str, &[&str])] = &[
    ("raw", &["escapes", "progress"]),
    ("matching-lines", &["filter", "list-search"]),
    ("refresh", &["reopen", "list-refresh"]),
    ("stores", &["sessions", "list-stores"]),
    ("facts", &["to-call", "list-to-call", "list-facts"]),
    ("other-view", &["list-other"]),
    ("search", &["list-filter"]),
    ("go-to", &["list-go-to"]),
    ("follow", &["list-follow"]),
    ("keep", &["list-keep"]),
    ("limits", &["list-limits"]),
    ("copy", &["copy-path", "copy-text", "copy-line", "copy-window", "copy-preview", "copy-call"]),
    ("copy", &["list-copy", "limits-copy", "limits-copy-flags", "limits-copy-policy", "limits-copy-agent"]),
    ("", &["help-search", "help-next-match", "help-previous-match"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A binding is one key in one row.
    #[test]
    fn there_are_at_most_sixty_bindings_besides_motions_and_the_drawer() {
        let rows = TABLE.iter().filter(|row| !row.is_motion() && row.place != Drawer);
        let keys: usize = rows.map(|row| row.keys.split(' ').count()).sum();
        assert!(keys <= 60, "{keys}");
    }

    #[test]
    fn an_action_has_one_row_in_each_place() {
        let mut seen = BTreeSet::new();
        for row in TABLE {
            assert!(seen.insert(format!("{:?} {:?}", row.place, row.action)), "{row:?}");
        }
    }

    #[test]
    fn names_are_unique_lower_case_words() {
        let mut seen = BTreeSet::new();
        for row in TABLE.iter().filter(|row| !row.name.is_empty()) {
            assert!(seen.insert(row.name), "{row:?}");
            assert!(row.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{row:?}");
        }
    }

    #[test]
    fn a_former_action_name_maps_to_a_current_one_or_none() {
        let is_name = |name: &str| TABLE.iter().any(|row| row.name == name);
        for (successor, former) in FORMER_NAMES {
            assert!(!former.iter().any(|name| is_name(name)), "{former:?}");
            assert!(successor.is_empty() || is_name(successor), "{successor}");
        }
    }

    #[test]
    fn a_global_key_may_mean_something_else_in_lists() {
        let what =
            |name: &str, place| TABLE.iter().find(|row| row.name == name).map(|row| row.what_in(place));
        assert_eq!(what("search", Lists), Some("filter the rows"));
        assert_eq!(what("search", Pager), Some("search"));
        assert_eq!(what("follow", Lists), Some("follow"));
    }
}
