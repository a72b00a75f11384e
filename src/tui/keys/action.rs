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
    /// Returns where a motion by rows leads from the row at `at`, with `height` rows on the screen; `None` if the action is
    /// none.
    pub(in crate::tui) fn destination(self, count: Option<u64>, at: usize, height: usize) -> Option<usize> {
        let times = count.unwrap_or(1) as usize;
        let (page, half) = (height.saturating_sub(1).max(1), (height / 2).max(1));
        Some(match self {
            Self::Down => at.saturating_add(times),
            Self::Up => at.saturating_sub(times),
            Self::HalfDown => at.saturating_add(half.saturating_mul(times)),
            Self::HalfUp => at.saturating_sub(half.saturating_mul(times)),
            Self::PageDown => at.saturating_add(page.saturating_mul(times)),
            Self::PageUp => at.saturating_sub(page.saturating_mul(times)),
            Self::Start => count.map_or(0, |n| (n as usize).saturating_sub(1)),
            Self::End => count.map_or(usize::MAX, |n| (n as usize).saturating_sub(1)),
            _ => return None,
        })
    }
}
