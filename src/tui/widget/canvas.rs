//! The canvas of the screens: the size of the terminal, the marks that it can show, and the keys named on it.

use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthStr;

use crate::text::label::like;
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

    /// Returns the name of a key as the terminal can show it: in ASCII, the arrows would look like other keys.
    pub(crate) fn key_name<'a>(&self, key: &'a str) -> &'a str {
        match key {
            _ if self.unicode => key,
            "↑" => "Up",
            "↓" => "Down",
            "←" => "Left",
            "→" => "Right",
            _ => key,
        }
    }

    /// Puts ASCII in place of all else if the terminal shows nothing more, and has wide characters redraw correctly.
    pub(crate) fn finish(&self, buffer: &mut Buffer) {
        if !self.unicode {
            replace(buffer);
        }
        clear_covered(buffer);
    }
}

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident: $unicode:literal $ascii:literal,)*) => {
        /// A mark for each meaning. Each is one column wide, except `arrow`.
        pub(crate) struct Glyphs {
            $($(#[$doc])* pub $name: &'static str,)*
        }

        const UNICODE: Glyphs = Glyphs { $($name: $unicode,)* };
        const ASCII: Glyphs = Glyphs { $($name: $ascii,)* };
    };
}

glyphs! {
    chosen: "▌" ">",
    /// A row of text that the agent added.
    notice: "▌" "=",
    differs: "≠" "/",
    kept: "│" "|",
    /// A line that the model did not get.
    lost: "┊" ":",
    /// In the map: how much of this part was kept.
    all: "█" "#",
    some: "▒" "+",
    none: "░" ".",
    /// In the map: the position of Spill.
    here: "◂" "<",
    /// A line with an error, or a part of the file with one.
    error: "●" "!",
    /// In the map: a match of the search.
    found: "•" "*",
    states: "⟳" "@",
    /// In a plot: a setting that no other beats, the others, and that of the selected row.
    best: "●" "o",
    other: "·" ".",
    selected: "◆" "#",
    /// In a bar of progress: what is done, and what is left to do.
    done: "━" "=",
    ahead: "─" "-",
    /// Separates an old value from the new one.
    arrow: "→" "->",
}

/// Replaces every symbol that is not ASCII with a similar one that is.
fn replace(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let like = cell.symbol().chars().next().and_then(like).unwrap_or('?');
            cell.set_char(like);
        }
    }
}

/// Empties the cells that wide characters cover, and blanks wide characters that something else partly covers.
///
/// The redraw compares each cell with the one drawn before. If a covered cell held a space, it could equal the space
/// that replaces it later, and the half of the character that the terminal leaves there would stay.
fn clear_covered(buffer: &mut Buffer) {
    for row in buffer.content.chunks_mut(usize::from(buffer.area.width).max(1)) {
        let mut x = 0;
        while x < row.len() {
            let symbol = row[x].symbol();
            let end = x + if symbol.is_ascii() { 1 } else { symbol.width().max(1) };
            match row.get_mut(x + 1..end) {
                Some(covered) if covered.iter().all(|cell| cell.symbol() == " ") => {
                    covered.iter_mut().for_each(|cell| _ = cell.set_symbol(""));
                    x = end;
                }
                _ => {
                    row[x].set_symbol(" ");
                    x += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::document::scroll::STATES_SIGN;
    use crate::text::label::SafeText;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn the_states_sign_has_its_declared_width() {
        for glyphs in [&ASCII, &UNICODE] {
            assert_eq!(SafeText::from(format!("{} ", glyphs.states)).columns(), STATES_SIGN);
        }
    }

    #[test]
    fn nothing_but_ascii_is_left() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 18, 1));
        buffer.set_string(0, 0, "a · b… ┌─┐ ↑ ≈≠日e\u{301}", Style::new());
        replace(&mut buffer);
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(text, "a - b~ +-+ ^ ~!? ?");
    }

    fn symbols(draw: impl Fn(&mut Buffer)) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 5, 1));
        draw(&mut buffer);
        clear_covered(&mut buffer);
        buffer.content.iter().map(|cell| cell.symbol().to_owned()).collect()
    }

    #[test]
    fn a_wide_character_covers_its_second_column() {
        let drawn = symbols(|buffer| buffer.set_string(0, 0, "日本 ", Style::new()));
        assert_eq!(drawn, ["日", "", "本", "", " "]);
    }

    #[test]
    fn overwriting_half_a_wide_character_clears_it() {
        let drawn = symbols(|buffer| {
            buffer.set_string(0, 0, "日本x", Style::new());
            buffer.set_string(1, 0, "│", Style::new());
        });
        assert_eq!(drawn, [" ", "│", "本", "", "x"]);
    }

    #[test]
    fn a_half_covered_character_is_drawn_again() {
        let area = Rect::new(0, 0, 3, 1);
        let (mut before, mut after) = (Buffer::empty(area), Buffer::empty(area));
        before.set_string(1, 0, "日", Style::new());
        after.set_string(1, 0, "x", Style::new());
        [&mut before, &mut after].into_iter().for_each(clear_covered);
        assert!(before.diff(&after).iter().any(|(x, _, cell)| *x == 2 && cell.symbol() == " "));
    }
}
