//! The styles of everything on the screen: of one of the themes, with the user's own styles, or without colours.

use anstyle::Style as Look;
use ratatui::style::{Color, Modifier, Style};

use crate::config::{Backdrop, BaseTheme, Role, ThemeConfig};
use crate::text::search::Severity;

/// Styles by meaning, which [`Role`] explains. A word, a bar or a weight always says the same as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub warning: Style,
    pub accent: Style,
    pub lost: Style,
    pub selected: Style,
    pub found: Style,
    pub current: Style,
    pub dim: Style,
    pub bar: Style,
    pub active: Style,
    pub control: Style,
    pub error: Style,
    /// Whether the output's own colours are shown.
    pub colour: bool,
}

impl Theme {
    /// Creates the theme `16`, of the terminal's own colours: legible where yellow and cyan are dark on light.
    pub fn terminal() -> Self {
        Self {
            warning: Style::new().yellow(),
            accent: Style::new().cyan(),
            lost: Style::new().black().on_yellow(),
            selected: Style::new().white().on_blue().not_dim(),
            found: Style::new().black().on_cyan(),
            current: Style::new().black().on_magenta().bold(),
            dim: Style::new().dim(),
            bar: Style::new(),
            active: Style::new().bold().underlined(),
            // Not dim: some terminals would dim the character, but not the block behind it.
            control: Style::new().reversed(),
            error: Style::new().red().bold(),
            colour: true,
        }
    }

    pub fn dark() -> Self {
        let [yellow, blue, black] = [221, 80, 16].map(Color::Indexed);
        Self {
            warning: Style::new().fg(yellow),
            accent: Style::new().fg(blue),
            lost: Style::new().fg(yellow).bg(Color::Indexed(58)),
            selected: Style::new().bg(Color::Indexed(237)),
            found: Style::new().fg(black).bg(blue),
            current: Style::new().fg(black).bg(Color::Indexed(213)).bold(),
            dim: Style::new().fg(Color::Indexed(247)),
            control: Style::new().fg(Color::Indexed(247)).reversed(),
            error: Style::new().fg(Color::Indexed(210)).bold(),
            ..Self::terminal()
        }
    }

    pub fn light() -> Self {
        let [brown, blue, black] = [94, 25, 16].map(Color::Indexed);
        Self {
            warning: Style::new().fg(brown),
            accent: Style::new().fg(blue),
            lost: Style::new().fg(black).bg(Color::Indexed(215)),
            selected: Style::new().bg(Color::Indexed(189)),
            found: Style::new().fg(black).bg(Color::Indexed(117)),
            current: Style::new().fg(black).bg(Color::Indexed(218)).bold(),
            dim: Style::new().fg(Color::Indexed(242)),
            control: Style::new().fg(Color::Indexed(242)).reversed(),
            error: Style::new().fg(Color::Indexed(124)).bold(),
            ..Self::terminal()
        }
    }

    /// Creates the theme `blue-orange`, whose colours differ in brightness, too, for people who confuse red and green.
    pub fn blue_orange(background: Option<Backdrop>) -> Self {
        match background {
            Some(Backdrop::Light) => {
                let [black, brown, orange, blue, white] = [16, 130, 214, 19, 231].map(Color::Indexed);
                Self {
                    warning: Style::new().fg(brown),
                    accent: Style::new().fg(blue),
                    current: Style::new().fg(white).bg(blue).bold(),
                    error: Style::new().fg(black).bg(orange).bold(),
                    ..Self::light()
                }
            }
            Some(Backdrop::Dark) | None => {
                let [black, yellow, orange, blue] = [16, 229, 214, 68].map(Color::Indexed);
                Self {
                    warning: Style::new().fg(yellow),
                    accent: Style::new().fg(blue),
                    lost: Style::new().fg(yellow).bg(Color::Indexed(58)),
                    found: Style::new().fg(black).bg(blue),
                    current: Style::new().fg(black).bg(yellow).bold(),
                    error: Style::new().fg(orange).bold(),
                    ..Self::dark()
                }
            }
        }
    }

    /// Creates a theme without colours, of text attributes only (`NO_COLOR`).
    pub fn plain() -> Self {
        Self {
            warning: Style::new().bold(),
            accent: Style::new().bold(),
            lost: Style::new().reversed(),
            selected: Style::new().reversed().not_dim(),
            found: Style::new().reversed(),
            current: Style::new().reversed().bold().underlined(),
            error: Style::new().bold().reversed(),
            colour: false,
            ..Self::terminal()
        }
    }

    /// Creates the theme that the user has configured, for a terminal with this background, if it is known.
    pub fn from_config(config: &ThemeConfig, background: Option<Backdrop>) -> Self {
        let mut theme = match (config.base, background) {
            (BaseTheme::Dark, _) | (BaseTheme::Auto, Some(Backdrop::Dark)) => Self::dark(),
            (BaseTheme::Light, _) | (BaseTheme::Auto, Some(Backdrop::Light)) => Self::light(),
            (BaseTheme::BlueOrange, background) => Self::blue_orange(background),
            (BaseTheme::Sixteen, _) | (BaseTheme::Auto, None) => Self::terminal(),
        };
        for (role, look) in &config.styles {
            *theme.role(*role) = theme.style(*look);
        }
        theme
    }

    fn role(&mut self, role: Role) -> &mut Style {
        match role {
            Role::Warning => &mut self.warning,
            Role::Accent => &mut self.accent,
            Role::Lost => &mut self.lost,
            Role::Selected => &mut self.selected,
            Role::Found => &mut self.found,
            Role::Current => &mut self.current,
            Role::Dim => &mut self.dim,
            Role::Bar => &mut self.bar,
            Role::Active => &mut self.active,
            Role::Control => &mut self.control,
            Role::Error => &mut self.error,
        }
    }

    /// Returns the style of the number of a line with an error or a warning. Bold and reversed ones are those of the current line.
    pub(crate) fn severity(&self, severity: Severity) -> Style {
        let style = match severity {
            Severity::Error if !self.colour => Style::new().underlined(),
            Severity::Error => self.error,
            Severity::Warning => self.warning,
        };
        Style { add_modifier: style.add_modifier - (Modifier::BOLD | Modifier::REVERSED), ..style }
    }

    pub fn style(&self, look: Look) -> Style {
        let mut style = Style::new().add_modifier(look.get_effects().into());
        if self.colour {
            (style.fg, style.bg) =
                (look.get_fg_color().map(Color::from), look.get_bg_color().map(Color::from));
        }
        style
    }
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

    /// Returns how much light one of the fixed 256 colours gives, 0 to 1 (WCAG 2, relative luminance).
    fn luminance(colour: Color) -> f64 {
        let Color::Indexed(n @ 16..) = colour else { panic!("{colour:?} differs from terminal to terminal") };
        let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
        let parts = match n {
            16..232 => [(n - 16) / 36, (n - 16) / 6 % 6, (n - 16) % 6].map(level),
            _ => [8 + 10 * (n - 232); 3],
        };
        let [red, green, blue] = parts.map(|part| match f64::from(part) / 255.0 {
            share if share <= 0.04045 => share / 12.92,
            share => ((share + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: Color, other: Color) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// The themes of fixed colours, each with a background that it is for.
    fn fixed() -> [(Theme, Color); 4] {
        // Few dark backgrounds are lighter than this one.
        let [dark, white] = [234, 231].map(Color::Indexed);
        [
            (Theme::dark(), dark),
            (Theme::light(), white),
            (Theme::blue_orange(None), dark),
            (Theme::blue_orange(Some(Backdrop::Light)), white),
        ]
    }

    #[test]
    fn every_style_is_readable_on_the_background_it_is_for() {
        for (theme, ground) in fixed() {
            let roles =
                [theme.warning, theme.accent, theme.lost, theme.found, theme.current, theme.dim, theme.error];
            for style in roles {
                let contrast = contrast(style.fg.unwrap(), style.bg.unwrap_or(ground));
                assert!(contrast >= 4.5, "{style:?} on {ground:?}: {contrast}");
            }
        }
    }

    #[test]
    fn blue_orange_tells_its_colours_apart_by_brightness() {
        for (theme, _) in &fixed()[2..] {
            let [warning, accent, error] =
                [theme.warning, theme.accent, theme.error].map(|style| style.bg.or(style.fg).unwrap());
            for (one, other) in [(warning, accent), (accent, error), (error, warning)] {
                let contrast = contrast(one, other);
                assert!(contrast >= 1.5, "{one:?} and {other:?}: {contrast}");
            }
            assert!(contrast(theme.found.bg.unwrap(), theme.current.bg.unwrap()) >= 1.5);
        }
    }

    #[test]
    fn the_user_s_styles_change_the_theme_they_are_based_on() {
        let styles = [(Role::Warning, Look::new().bold()), (Role::Selected, AnsiColor::Red.on_default())];
        let config = ThemeConfig { base: BaseTheme::Light, styles: styles.into() };
        let theme = Theme::from_config(&config, None);
        let expected = Theme {
            warning: Style::new().add_modifier(Modifier::BOLD),
            selected: Style::new().fg(Color::Red),
            ..Theme::light()
        };
        assert_eq!(theme, expected);
        let auto = |value| Theme::from_config(&ThemeConfig::default(), Backdrop::from_variable(value));
        for light in ["0;15", "0;7", "0;default;15"] {
            assert_eq!(auto(light), Theme::light(), "{light}");
        }
        for dark in ["15;0", "7;8", "default;1"] {
            assert_eq!(auto(dark), Theme::dark(), "{dark}");
        }
        for other in ["", "12;default", "0;15;", "0;9"] {
            assert_eq!(auto(other), Theme::terminal(), "{other}");
        }
    }
}
