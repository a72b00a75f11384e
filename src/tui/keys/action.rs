//! What keys do, and where.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere except while typing.
    Everywhere,
    /// Both texts of an output.
    Pager,
    Drawer,
    Lists,
}

impl KeyContext {
    pub(in crate::tui) fn heading(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Pager => "Output",
            Self::Drawer => "Limits",
            Self::Lists => "Lists",
        }
    }

    /// Whether a key for everywhere does this here, too, if it does nothing else here.
    pub(super) fn takes(self, action: Action) -> bool {
        match self {
            _ if action == Action::Redraw => true,
            Self::Everywhere | Self::Pager | Self::Lists => true,
            // All other keys act on the output.
            Self::Drawer => action == Action::Help,
        }
    }
}

/// What a key does; the table of keys says it in words.
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
    /// Returns by how many rows a motion leads down or, below 0, up, with `height` rows on the screen; `None` if the action is
    /// none.
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

    /// Returns where a motion by rows leads from the row at `at`, with `height` rows on the screen; `None` if the action is
    /// none.
    pub(in crate::tui) fn destination(self, count: Option<u64>, at: usize, height: usize) -> Option<usize> {
        let numbered = |n: u64| (n as usize).saturating_sub(1);
        match self {
            Self::Start => Some(count.map_or(0, numbered)),
            Self::End => Some(count.map_or(usize::MAX, numbered)),
            _ => self.rows(count, height).map(|rows| at.saturating_add_signed(rows)),
        }
    }
}
