//! The colours of the screens as the user sets them: a theme by name, and styles by role.

use std::collections::BTreeMap;
use std::fmt;

use crate::form::Shape::Loose;
use crate::form::{Field, optional};
use anstyle::{Ansi256Color, AnsiColor, Color, Effects, RgbColor, Style};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// `theme = "light"`, or the table `[theme]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThemeConfig {
    /// The theme that the styles change.
    pub base: BaseTheme,
    /// The user's own styles.
    pub styles: BTreeMap<Role, Style>,
}

/// A theme by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BaseTheme {
    /// `dark`: for terminals with a dark background and 256 colours.
    Dark,
    /// `light`: for terminals with a light background and 256 colours.
    Light,
    /// `blue-orange`: for people who do not tell red from green, and terminals with 256 colours.
    BlueOrange,
    /// `16`: the terminal's own 16 colours.
    Sixteen,
    /// `auto`: `light` or `dark` if the terminal says that its background is, otherwise `16`.
    #[default]
    Auto,
}

const BASES: [(&str, BaseTheme); 5] = [
    ("dark", BaseTheme::Dark),
    ("light", BaseTheme::Light),
    ("blue-orange", BaseTheme::BlueOrange),
    ("16", BaseTheme::Sixteen),
    ("auto", BaseTheme::Auto),
];

/// What a style is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Text that the agent added or caused, and warnings.
    Warning,
    /// The cursor, marks, typed text and progress.
    Accent,
    /// The gutter beside what the model did not get.
    Lost,
    /// The row under the cursor in a list.
    Selected,
    /// A match of the search.
    Found,
    Current,
    /// Frames, line numbers, and escape sequences as text.
    Dim,
    /// Titles and the status line.
    Bar,
    /// The name of the view with the focus.
    Active,
    /// Control bytes made visible.
    Control,
    Error,
}

const ROLES: [(&str, Role); 11] = [
    ("warning", Role::Warning),
    ("accent", Role::Accent),
    ("lost", Role::Lost),
    ("selected", Role::Selected),
    ("found", Role::Found),
    ("current", Role::Current),
    ("dim", Role::Dim),
    ("bar", Role::Bar),
    ("active", Role::Active),
    ("control", Role::Control),
    ("error", Role::Error),
];

const COLOURS: [(&str, AnsiColor); 16] = [
    ("black", AnsiColor::Black),
    ("red", AnsiColor::Red),
    ("green", AnsiColor::Green),
    ("yellow", AnsiColor::Yellow),
    ("blue", AnsiColor::Blue),
    ("magenta", AnsiColor::Magenta),
    ("cyan", AnsiColor::Cyan),
    ("white", AnsiColor::White),
    ("bright-black", AnsiColor::BrightBlack),
    ("bright-red", AnsiColor::BrightRed),
    ("bright-green", AnsiColor::BrightGreen),
    ("bright-yellow", AnsiColor::BrightYellow),
    ("bright-blue", AnsiColor::BrightBlue),
    ("bright-magenta", AnsiColor::BrightMagenta),
    ("bright-cyan", AnsiColor::BrightCyan),
    ("bright-white", AnsiColor::BrightWhite),
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
    named(&BASES, name).ok_or_else(|| format!("{name:?} is not a theme; the themes are {}", names(&BASES)))
}

fn colour(word: &str) -> Result<Color, String> {
    let rgb = |digits: &str| {
        let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?.to_be_bytes();
        Some(Color::Rgb(RgbColor(value[1], value[2], value[3])))
    };
    let found = match word.strip_prefix('#') {
        Some(digits) => rgb(digits),
        None => named(&COLOURS, word)
            .map(Color::Ansi)
            .or_else(|| word.parse().ok().map(|number| Color::Ansi256(Ansi256Color(number)))),
    };
    found.ok_or_else(|| {
        format!(
            "{word:?} is not a colour or attribute; colours are {}, 0 to 255 and #rrggbb; attributes are {}",
            "black, red, green, yellow, blue, magenta, cyan, white, each also as bright-NAME",
            names(&EFFECTS)
        )
    })
}

/// The keys of `[theme]`.
pub(super) const FIELDS: &[Field] = &[
    optional("base", Loose(is_base)),
    optional("warning", Loose(is_style)),
    optional("accent", Loose(is_style)),
    optional("lost", Loose(is_style)),
    optional("selected", Loose(is_style)),
    optional("found", Loose(is_style)),
    optional("current", Loose(is_style)),
    optional("dim", Loose(is_style)),
    optional("bar", Loose(is_style)),
    optional("active", Loose(is_style)),
    optional("control", Loose(is_style)),
    optional("error", Loose(is_style)),
];

/// Checks the name of a theme.
pub(super) fn is_base(name: &str) -> Result<(), String> {
    base(name).map(drop)
}

fn is_style(text: &str) -> Result<(), String> {
    style(text).map(drop)
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

impl<'de> Deserialize<'de> for ThemeConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ThemeVisitor)
    }
}

struct ThemeVisitor;

impl<'de> Visitor<'de> for ThemeVisitor {
    type Value = ThemeConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a theme ({}) or a table of styles", names(&BASES))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ThemeConfig, E> {
        let base = base(name).map_err(|fault| E::custom(format!("theme: {fault}")))?;
        Ok(ThemeConfig { base, ..ThemeConfig::default() })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ThemeConfig, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ThemeConfig, A::Error> {
        let mut theme = ThemeConfig::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Base => theme.base = map.next_value_seed(Value("base", base))?,
                Key::Role(name, role) => {
                    theme.styles.insert(role, map.next_value_seed(Value(name, style))?);
                }
            }
        }
        Ok(theme)
    }
}

/// A key of `[theme]`.
enum Key {
    Base,
    Role(&'static str, Role),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let role = ROLES.iter().find(|(known, _)| *known == name);
        match role {
            _ if name == "base" => Ok(Self::Base),
            Some((name, role)) => Ok(Self::Role(name, *role)),
            None => {
                let known = names(&ROLES);
                Err(D::Error::custom(format!("unknown key `{name}` in [theme]; the keys are base, {known}")))
            }
        }
    }
}

/// Reads the value of a key of this name.
struct Value<T>(&'static str, fn(&str) -> Result<T, String>);

impl<'de, T> DeserializeSeed<'de> for Value<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T> Visitor<'_> for Value<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text in quotes for theme.{}", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).map_err(|fault| E::custom(format!("theme.{}: {fault}", self.0)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
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
}
