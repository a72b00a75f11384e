//! The styles of everything on the screen: the terminal's own 16 colours, or no colours.

use anstyle::{Ansi256Color, AnsiColor, Effects, RgbColor, Style as Look};
use ratatui::style::{Color, Modifier, Style};

/// Styles by meaning. Colour never carries a meaning alone: there is always also a word, a bar or a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Text that the agent added or caused.
    pub warning: Style,
    /// Highlights: the cursor, marks, typed text and progress.
    pub accent: Style,
    /// A match of the search.
    pub found: Style,
    /// The current match.
    pub current: Style,
    /// Frames, line numbers and lost text.
    pub dim: Style,
    /// Titles and the status line.
    pub bar: Style,
    /// The name of the view with the focus.
    pub active: Style,
    /// Control bytes made visible.
    pub control: Style,
    /// Error messages.
    pub error: Style,
    /// Whether the output's own colours are shown.
    pub colour: bool,
}

impl Theme {
    /// Creates a theme of the terminal's own 16 colours.
    pub fn terminal() -> Self {
        Self {
            warning: Style::new().fg(Color::Yellow),
            accent: Style::new().fg(Color::Cyan),
            found: Style::new().fg(Color::Black).bg(Color::Cyan),
            current: Style::new().fg(Color::Black).bg(Color::Magenta).add_modifier(Modifier::BOLD),
            dim: Style::new().add_modifier(Modifier::DIM),
            bar: Style::new(),
            active: Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            control: Style::new().add_modifier(Modifier::REVERSED | Modifier::DIM),
            error: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            colour: true,
        }
    }

    /// Creates a theme without colours, of text attributes only (`NO_COLOR`).
    pub fn plain() -> Self {
        Self {
            warning: Style::new().add_modifier(Modifier::BOLD),
            accent: Style::new().add_modifier(Modifier::BOLD),
            found: Style::new().add_modifier(Modifier::REVERSED),
            current: Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED),
            error: Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED),
            colour: false,
            ..Self::terminal()
        }
    }

    /// Returns the style for text that the output itself styled.
    pub fn of(&self, look: Look) -> Style {
        let mut style = Style::new().add_modifier(modifiers(look.get_effects()));
        if self.colour {
            style.fg = look.get_fg_color().map(colour);
            style.bg = look.get_bg_color().map(colour);
        }
        style
    }
}

fn modifiers(effects: Effects) -> Modifier {
    const PAIRS: [(Effects, Modifier); 10] = [
        (Effects::BOLD, Modifier::BOLD),
        (Effects::DIMMED, Modifier::DIM),
        (Effects::ITALIC, Modifier::ITALIC),
        (Effects::UNDERLINE, Modifier::UNDERLINED),
        (Effects::DOUBLE_UNDERLINE, Modifier::UNDERLINED),
        (Effects::CURLY_UNDERLINE, Modifier::UNDERLINED),
        (Effects::DOTTED_UNDERLINE, Modifier::UNDERLINED),
        (Effects::DASHED_UNDERLINE, Modifier::UNDERLINED),
        (Effects::INVERT, Modifier::REVERSED),
        (Effects::STRIKETHROUGH, Modifier::CROSSED_OUT),
    ];
    PAIRS
        .iter()
        .filter(|(effect, _)| effects.contains(*effect))
        .fold(Modifier::empty(), |all, (_, one)| all | *one)
}

fn colour(colour: anstyle::Color) -> Color {
    match colour {
        anstyle::Color::Ansi(colour) => ansi(colour),
        anstyle::Color::Ansi256(Ansi256Color(n)) => Color::Indexed(n),
        anstyle::Color::Rgb(RgbColor(r, g, b)) => Color::Rgb(r, g, b),
    }
}

fn ansi(colour: AnsiColor) -> Color {
    match colour {
        AnsiColor::Black => Color::Black,
        AnsiColor::Red => Color::Red,
        AnsiColor::Green => Color::Green,
        AnsiColor::Yellow => Color::Yellow,
        AnsiColor::Blue => Color::Blue,
        AnsiColor::Magenta => Color::Magenta,
        AnsiColor::Cyan => Color::Cyan,
        AnsiColor::White => Color::Gray,
        AnsiColor::BrightBlack => Color::DarkGray,
        AnsiColor::BrightRed => Color::LightRed,
        AnsiColor::BrightGreen => Color::LightGreen,
        AnsiColor::BrightYellow => Color::LightYellow,
        AnsiColor::BrightBlue => Color::LightBlue,
        AnsiColor::BrightMagenta => Color::LightMagenta,
        AnsiColor::BrightCyan => Color::LightCyan,
        AnsiColor::BrightWhite => Color::White,
    }
}
