//! The marks on the screen, by what they mean, for a terminal that knows Unicode and for one that knows ASCII alone.

/// A mark for each meaning; one column wide, but for `arrow`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// The chosen row of a list.
    pub chosen: &'static str,
    /// A row of text that the agent added,
    pub notice: &'static str,
    /// and where or how else to tell it, for the legend.
    pub notice_is: &'static str,
    /// A line that the model got.
    pub kept: &'static str,
    /// A line that it did not get.
    pub lost: &'static str,
    /// In the map: all of this part was kept,
    pub all: &'static str,
    /// some of it,
    pub some: &'static str,
    /// none of it.
    pub none: &'static str,
    /// In the map: where Spill stands,
    pub here: &'static str,
    /// and where the search finds something.
    pub found: &'static str,
    /// The time that is left,
    pub left: &'static str,
    /// and the time that has passed.
    pub passed: &'static str,
    /// A rule across.
    pub rule: &'static str,
    /// Text that is cut off.
    pub cut: &'static str,
    /// From one value to another.
    pub arrow: &'static str,
}

/// For a terminal that knows Unicode.
pub(super) const UNICODE: Glyphs = Glyphs {
    chosen: "▌",
    notice: "▌",
    notice_is: "and yellow",
    kept: "│",
    lost: "┊",
    all: "█",
    some: "▒",
    none: "░",
    here: "▸",
    found: "•",
    left: "▓",
    passed: "░",
    rule: "─",
    cut: "…",
    arrow: "→",
};

/// For a terminal that knows ASCII alone.
pub(super) const ASCII: Glyphs = Glyphs {
    chosen: ">",
    notice: "|",
    notice_is: "at the left",
    kept: "|",
    lost: ":",
    all: "#",
    some: "+",
    none: ".",
    here: ">",
    found: "*",
    left: "#",
    passed: ".",
    rule: "-",
    cut: ".",
    arrow: "->",
};
