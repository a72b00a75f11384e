//! The canvas of the screens: the size of the terminal, the marks that it can show, and the keys that are named on it.

use crate::tui::keys::KeyMap;

use super::theme::Theme;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Columns and rows.
    pub size: (u16, u16),
    pub theme: Theme,
    pub unicode: bool,
    /// The keys in use. They are set once, when the screens start, and kept until overspill ends.
    pub keys: &'static KeyMap,
}

impl Canvas {
    pub fn new(size: (u16, u16), theme: Theme, unicode: bool) -> Self {
        Self { size, theme, unicode, keys: KeyMap::standard() }
    }

    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.unicode { &UNICODE } else { &ASCII }
    }
}

/// A mark for each meaning. Each is one column wide, except `arrow`.
pub(crate) struct Glyphs {
    /// The cursor in a list.
    pub chosen: &'static str,
    /// A row of text that the agent added.
    pub notice: &'static str,
    pub differs: &'static str,
    pub kept: &'static str,
    /// A line that the model did not get.
    pub lost: &'static str,
    /// In the map: how much of this part was kept.
    pub all: &'static str,
    pub some: &'static str,
    pub none: &'static str,
    /// In the map: the position of Spill.
    pub here: &'static str,
    /// A line with an error, or a part of the file with one.
    pub error: &'static str,
    /// In the map: a match of the search.
    pub found: &'static str,
    pub rule: &'static str,
    pub upright: &'static str,
    /// Stands for text that is cut off.
    pub cut: &'static str,
    /// Before the number of states of a progress line.
    pub states: &'static str,
    /// In a plot: a setting that no other beats, the others, and that of the selected row.
    pub best: &'static str,
    pub other: &'static str,
    pub selected: &'static str,
    /// In a bar of progress: what is done, and what is left to do.
    pub done: &'static str,
    pub ahead: &'static str,
    /// Separates an old value from the new one.
    pub arrow: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    chosen: "▌",
    notice: "▌",
    differs: "≠",
    kept: "│",
    lost: "┊",
    all: "█",
    some: "▒",
    none: "░",
    here: "◂",
    error: "●",
    found: "•",
    rule: "─",
    upright: "│",
    cut: "…",
    states: "⟳",
    best: "●",
    other: "·",
    selected: "◆",
    done: "━",
    ahead: "─",
    arrow: "→",
};

const ASCII: Glyphs = Glyphs {
    chosen: ">",
    notice: "|",
    differs: "!",
    kept: "|",
    lost: ":",
    all: "#",
    some: "+",
    none: ".",
    here: "<",
    error: "!",
    found: "*",
    rule: "-",
    upright: "|",
    cut: ".",
    states: "@",
    best: "o",
    other: ".",
    selected: "#",
    done: "=",
    ahead: "-",
    arrow: "->",
};

#[cfg(test)]
mod tests {
    use crate::document::scroll::STATES_SIGN;
    use crate::text::label::SafeText;

    use super::*;

    #[test]
    fn the_sign_before_states_is_as_wide_as_it_is_taken_to_be() {
        for glyphs in [&ASCII, &UNICODE] {
            assert_eq!(SafeText::from(format!("{} ", glyphs.states)).columns(), STATES_SIGN);
        }
    }
}
