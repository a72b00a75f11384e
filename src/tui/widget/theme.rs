//! The styles of everything on the screen: of one of the themes, with the user's own styles, or without colours.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anstyle::Style as Look;
use ratatui::style::{Color, Modifier, Style};

use crate::config::{Backdrop, BaseTheme, Role, ThemeConfig};
use crate::text::search::Severity;

/// Empty if the file has a mistake, which the tests would find.
static THEMES: LazyLock<BTreeMap<String, ThemeConfig>> =
    LazyLock::new(|| toml::from_str(include_str!("../../../assets/themes.toml")).unwrap_or_default());

/// Styles by meaning, which [`Role`] explains. A word, a bar or a weight always says the same as a colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Creates a theme of `assets/themes.toml`.
    pub fn named(name: &str) -> Self {
        let ThemeConfig { base, styles } = &THEMES[name];
        let base = if *base == BaseTheme::Auto { Self::default() } else { Self::named(base.as_str()) };
        let mut theme = Self { colour: name != "plain", ..base }.with(styles);
        // What is dim by an attribute would be hard to read in the selected row.
        if theme.dim.add_modifier.contains(Modifier::DIM) {
            theme.selected = theme.selected.not_dim();
        }
        theme
    }

    /// Creates the theme that the user has configured, for a terminal with this background, if it is known.
    pub fn from_config(config: &ThemeConfig, background: Option<Backdrop>) -> Self {
        let name = match (config.base, background) {
            (BaseTheme::Auto, Some(Backdrop::Dark)) => "dark",
            (BaseTheme::Auto, Some(Backdrop::Light)) => "light",
            (BaseTheme::Auto, None) => "16",
            (BaseTheme::BlueOrange, Some(Backdrop::Light)) => "blue-orange-light",
            (base, _) => base.as_str(),
        };
        Self::named(name).with(&config.styles)
    }

    fn with(mut self, styles: &BTreeMap<Role, Look>) -> Self {
        for (role, look) in styles {
            *self.role(*role) = self.style(*look);
        }
        self
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
            (Theme::named("dark"), dark),
            (Theme::named("light"), white),
            (Theme::named("blue-orange"), dark),
            (Theme::named("blue-orange-light"), white),
        ]
    }

    #[test]
    fn every_style_contrasts_with_its_background() {
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
            ..Theme::named("light")
        };
        assert_eq!(theme, expected);
        let auto = |value| Theme::from_config(&ThemeConfig::default(), Backdrop::from_variable(value));
        for light in ["0;15", "0;7", "0;default;15"] {
            assert_eq!(auto(light), Theme::named("light"), "{light}");
        }
        for dark in ["15;0", "7;8", "default;1"] {
            assert_eq!(auto(dark), Theme::named("dark"), "{dark}");
        }
        for other in ["", "12;default", "0;15;", "0;9"] {
            assert_eq!(auto(other), Theme::named("16"), "{other}");
        }
    }
}
