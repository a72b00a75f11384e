//! The colours of the screens as the user sets them: a theme by name, and styles by role.

use std::collections::BTreeMap;

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};
use serde::Deserialize;
use toml::Value;

use crate::base::toml_check::Shape::Loose;
use crate::base::toml_check::{Field, optional};

use super::overrides::text_of;

/// `theme = "light"`, or the table `[theme]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ThemeText")]
pub struct ThemeConfig {
    /// The theme that the styles change.
    pub base: BaseTheme,
    pub styles: BTreeMap<Role, Style>,
}

words! {
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum BaseTheme {
        /// For terminals with a dark background and 256 colours.
        Dark => "dark",
        /// For terminals with a light background and 256 colours.
        Light => "light",
        /// For people who do not tell red from green, and terminals with 256 colours.
        BlueOrange => "blue-orange",
        /// The terminal's own 16 colours.
        Sixteen => "16",
        /// `light` or `dark` if the terminal says that its background is, otherwise `16`.
        #[default]
        Auto => "auto",
    }
}

/// What a terminal says of its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backdrop {
    Light,
    Dark,
}

impl Backdrop {
    /// Reads `COLORFGBG`, the numbers of two colours: `0;15` is black on white. The last is the background.
    pub fn from_variable(value: &str) -> Option<Self> {
        match value.rsplit(';').next()?.parse().ok()? {
            7u8 | 15 => Some(Self::Light),
            0..=8 => Some(Self::Dark),
            _ => None,
        }
    }

    /// Reads `rgb:ffff/ffff/ffff`, each part of one to four hexadecimal digits, by its luma (ITU-R BT.601).
    pub fn from_colour(colour: &str) -> Option<Self> {
        let parts = colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?;
        let mut shares = parts.split('/').map(|part| {
            // An empty part, or one of more than eight digits, is no u32.
            let most = (1u64 << (4 * part.len().min(8))) - 1;
            u32::from_str_radix(part, 16).ok().map(|value| f64::from(value) / most as f64)
        });
        let mut share = || shares.next().flatten();
        let luma = 0.299 * share()? + 0.587 * share()? + 0.114 * share()?;
        Some(if luma > 0.5 { Self::Light } else { Self::Dark })
    }
}

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Role {
        /// Text that the agent added or caused, and warnings.
        Warning => "warning",
        /// The cursor, marks, typed text and progress.
        Accent => "accent",
        /// The gutter beside what the model did not get.
        Lost => "lost",
        /// The row under the cursor in a list.
        Selected => "selected",
        /// A match of the search.
        Found => "found",
        Current => "current",
        /// Frames, line numbers, and escape sequences as text.
        Dim => "dim",
        /// Titles and the status line.
        Bar => "bar",
        /// The name of the view with the focus.
        Active => "active",
        /// Control bytes made visible.
        Control => "control",
        Error => "error",
    }
}

const COLOURS: [(&str, AnsiColor); 8] = [
    ("black", AnsiColor::Black),
    ("red", AnsiColor::Red),
    ("green", AnsiColor::Green),
    ("yellow", AnsiColor::Yellow),
    ("blue", AnsiColor::Blue),
    ("magenta", AnsiColor::Magenta),
    ("cyan", AnsiColor::Cyan),
    ("white", AnsiColor::White),
];

const EFFECTS: [(&str, Effects); 6] = [
    ("bold", Effects::BOLD),
    ("dim", Effects::DIMMED),
    ("italic", Effects::ITALIC),
    ("underline", Effects::UNDERLINE),
    ("reverse", Effects::INVERT),
    ("strike", Effects::STRIKETHROUGH),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

fn names<T>(table: &[(&str, T)]) -> String {
    table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn base(name: &str) -> Result<BaseTheme, String> {
    let names = || BaseTheme::ALL.map(BaseTheme::as_str).join(", ");
    let found = BaseTheme::ALL.into_iter().find(|base| base.as_str() == name);
    found.ok_or_else(|| format!("{name:?} is not a theme; the themes are {}", names()))
}

fn colour(word: &str) -> Result<Color, String> {
    let rgb = |digits: &str| {
        let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?.to_be_bytes();
        Some(Color::Rgb(RgbColor(value[1], value[2], value[3])))
    };
    let bright = word.strip_prefix("bright-");
    let found = match word.strip_prefix('#') {
        Some(digits) => rgb(digits),
        None => named(&COLOURS, bright.unwrap_or(word))
            .map(|colour| Color::Ansi(colour.bright(bright.is_some())))
            .or_else(|| word.parse().ok().map(|number| Color::Ansi256(Ansi256Color(number)))),
    };
    found.ok_or_else(|| {
        let (colours, attributes) = (names(&COLOURS), names(&EFFECTS));
        let colours = format!("colours are {colours}, each also as bright-NAME, 0 to 255 and #rrggbb");
        format!("{word:?} is not a colour or attribute; {colours}; attributes are {attributes}")
    })
}

/// The keys of `[theme]`: `base`, and the roles.
pub(super) const FIELDS: &[Field] = &{
    let mut fields = [optional("base", Loose(is_base)); Role::ALL.len() + 1];
    let mut n = 0;
    while n < Role::ALL.len() {
        fields[n + 1] = optional(Role::ALL[n].as_str(), Loose(|text| style(text).map(drop)));
        n += 1;
    }
    fields
};

pub(super) fn is_base(name: &str) -> Result<(), String> {
    base(name).map(drop)
}

/// Reads a style: attributes, a colour, and `on` another colour, as in `bold yellow on blue`; or `none`.
fn style(text: &str) -> Result<Style, String> {
    let mut style = Style::new();
    if text.trim() == "none" {
        return Ok(style);
    }
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if let Some(effect) = named(&EFFECTS, word) {
            style |= effect;
        } else if word == "on" {
            let ground = words.next().ok_or("a colour is missing after `on`")?;
            style = style.bg_color(Some(colour(ground)?));
        } else if style.get_fg_color().is_some() {
            return Err(format!("{word:?} is a second colour; write `on {word}` for the background"));
        } else {
            style = style.fg_color(Some(colour(word)?));
        }
    }
    if style == Style::new() {
        Err("the style is empty; write `none` for plain text".into())
    } else {
        Ok(style)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ThemeText {
    Styles(BTreeMap<String, Value>),
    Name(Value),
}

impl TryFrom<ThemeText> for ThemeConfig {
    type Error = String;

    fn try_from(written: ThemeText) -> Result<Self, String> {
        let mut theme = Self::default();
        match written {
            ThemeText::Name(name) => theme.base = base(&text_of(&name))?,
            ThemeText::Styles(styles) => {
                for (key, value) in styles {
                    match Role::ALL.into_iter().find(|role| role.as_str() == key) {
                        Some(role) => _ = theme.styles.insert(role, style(&text_of(&value))?),
                        None => theme.base = base(&text_of(&value))?,
                    }
                }
            }
        }
        Ok(theme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        theme: ThemeConfig,
    }

    fn read(text: &str) -> Result<ThemeConfig, String> {
        toml::from_str::<File>(text).map(|file| file.theme).map_err(|error| error.to_string())
    }

    #[test]
    fn a_theme_is_a_name_or_a_table() {
        assert_eq!(read("theme = \"light\"").unwrap().base, BaseTheme::Light);
        assert_eq!(read("theme = 16").unwrap().base, BaseTheme::Sixteen);
        assert_eq!(read("theme = \"auto\"").unwrap(), ThemeConfig::default());
        let theme =
            read("[theme]\nbase = \"dark\"\nwarning = \"bold #ffaa00 on bright-black\"\nlost = \"208\"\n");
        let theme = theme.unwrap();
        assert_eq!(theme.base, BaseTheme::Dark);
        let warning = Style::new().bold().fg_color(Some(RgbColor(255, 170, 0).into()));
        assert_eq!(theme.styles[&Role::Warning], warning.bg_color(Some(AnsiColor::BrightBlack.into())));
        assert_eq!(theme.styles[&Role::Lost], Style::new().fg_color(Some(Ansi256Color(208).into())));
    }

    #[test]
    fn detects_light_and_dark_from_an_x11_colour() {
        for light in ["rgb:ffff/ffff/ffff", "rgb:fd/f6/e3", "rgb:f/f/f", "rgba:ffff/ffff/0000/0000"] {
            assert_eq!(Backdrop::from_colour(light), Some(Backdrop::Light), "{light}");
        }
        for dark in ["rgb:0000/0000/0000", "rgb:1e1e/1e1e/2e2e", "rgb:000/000/fff", "rgba:00/2b/36/ff"] {
            assert_eq!(Backdrop::from_colour(dark), Some(Backdrop::Dark), "{dark}");
        }
        for none in ["", "rgb:", "rgb:ff/ff", "rgb:ff//ff", "rgb:fffffffff/0/0", "rgb:gg/00/00", "#ffffff"] {
            assert_eq!(Backdrop::from_colour(none), None, "{none}");
        }
    }
}
