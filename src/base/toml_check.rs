//! The shape of TOML files that people write. Mistakes are reported with their line, column and key.

use std::fmt;
use std::ops::Range;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::fs::plain_file::{check_count, ellipsize};

/// What a key takes. Some of it only keys of configuration files do.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "app"), allow(dead_code))]
pub(crate) enum Shape {
    Text,
    /// Text that the function accepts.
    Checked(fn(&str) -> Result<(), String>),
    /// Text or a number that the function accepts as text.
    Loose(fn(&str) -> Result<(), String>),
    /// A whole number from 0.
    Number,
    Flag,
    /// Text, a whole number from 0, or `true` or `false`.
    Scalar,
    TextOrTexts,
    /// A list of at most this many of these.
    List(&'static Shape, usize),
    Table(&'static [Field]),
    /// The same for tables, `[[name]]`.
    Tables(&'static Shape, usize),
    /// A table with keys of any name that take this.
    Names(&'static Shape),
    /// A table that is checked elsewhere.
    Section,
    /// The second if it is a table, otherwise the first.
    Or(&'static Shape, &'static Shape),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub shape: Shape,
    pub is_needed: bool,
}

pub(crate) const fn needed(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_needed: true }
}

pub(crate) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_needed: false }
}

/// Returns the text of a key at the top of a file, as far as that is legible, be it TOML or not.
pub(crate) fn top_text<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let mut top = text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let (_, value) = top.find_map(|line| line.split_once('=').filter(|(key, _)| key.trim() == wanted))?;
    value.split(['"', '\'']).nth(1).filter(|value| !value.is_empty())
}

/// Maximum number of characters of a wrong value that are shown.
const MAX_SHOWN: usize = 40;

/// Checks a file. Returns its content without faulty keys at its top, and the mistakes; fails if it is not TOML.
pub(crate) fn check<'a>(
    text: &'a str,
    fields: &'static [Field],
) -> Result<(Spanned<DeTable<'a>>, Vec<Mistake>), Mistake> {
    let mut table = DeTable::parse(text).map_err(|error| syntax(text, &error))?;
    let mut check = Check { text, top: None, found: Vec::new() };
    check.fields(table.get_ref(), table.span(), fields, "");
    let mut found = check.found;
    found.sort_by_key(|mistake| mistake.spot);
    for top in found.iter().filter_map(|mistake| mistake.top.as_deref()) {
        table.get_mut().remove(top);
    }
    Ok((table, found))
}

/// Checks a file. Returns its content; fails with the first mistake.
pub(crate) fn check_whole<'a>(
    text: &'a str,
    fields: &'static [Field],
) -> Result<Spanned<DeTable<'a>>, Mistake> {
    let (table, found) = check(text, fields)?;
    found.into_iter().next().map_or(Ok(table), Err)
}

struct Check<'a> {
    text: &'a str,
    top: Option<String>,
    found: Vec<Mistake>,
}

impl Check<'_> {
    fn wrong(&mut self, at: usize, key: &str, words: String) {
        let (spot, top) = (Spot::new(self.text, at), self.top.clone());
        self.found.push(Mistake { spot, key: Some(key.to_owned()), words, top });
    }

    /// Checks the keys of a table; `place` is its dotted name, empty for the file itself.
    fn fields(&mut self, table: &DeTable, span: Range<usize>, fields: &'static [Field], place: &str) {
        let inside = if place.is_empty() { String::new() } else { format!(" in [{place}]") };
        for (key, value) in table.iter() {
            let name = key.get_ref().as_ref();
            if place.is_empty() {
                self.top = Some(name.to_owned());
            }
            match fields.iter().find(|field| field.name == name) {
                Some(field) => self.value(name, value, field.shape, &under(place, name)),
                None => {
                    let all =
                        if place.is_empty() { "the keys of this file are" } else { "the keys here are" };
                    let remedy = suggest_word(name, fields.iter().map(|field| field.name), all);
                    self.wrong(key.span().start, name, format!("there is no such key{inside}; {remedy}"));
                }
            }
        }
        if place.is_empty() {
            self.top = None;
        }
        for field in fields.iter().filter(|field| field.is_needed && !table.contains_key(field.name)) {
            let words = match field.shape {
                Shape::Section => format!("the table [{}] is missing{inside}", under(place, field.name)),
                shape => format!("this key is missing{inside}; it takes {}", shape.takes(field.name)),
            };
            // A table would follow at the end.
            let is_table = matches!(field.shape, Shape::Section);
            self.wrong(if is_table { self.text.trim_end().len() } else { span.start }, field.name, words);
        }
    }

    fn value(&mut self, name: &str, value: &Spanned<DeValue>, shape: Shape, place: &str) {
        let at = value.span().start;
        match (shape, value.get_ref()) {
            (Shape::Or(_, table), DeValue::Table(_)) => self.value(name, value, *table, place),
            (Shape::Or(other, _), _) => self.value(name, value, *other, place),
            (Shape::Text | Shape::Scalar | Shape::TextOrTexts, DeValue::String(_))
            | (Shape::Flag | Shape::Scalar, DeValue::Boolean(_)) => {}
            (Shape::Section, DeValue::Table(table)) => self.numbers(table),
            (Shape::Number | Shape::Scalar, DeValue::Integer(number)) if is_number(number) => {}
            (Shape::Checked(check) | Shape::Loose(check), DeValue::String(text)) => {
                self.expect(check(text), at, name);
            }
            (Shape::Loose(check), DeValue::Integer(number)) => self.expect(check(number.as_str()), at, name),
            (Shape::TextOrTexts, DeValue::Array(all)) => self.elements(name, all, Shape::Text, place),
            (Shape::List(shape, most) | Shape::Tables(shape, most), DeValue::Array(all)) => {
                self.expect(check_count(all.len(), most), at, name);
                self.elements(name, all, *shape, place);
            }
            (Shape::Table(fields), DeValue::Table(table)) => self.fields(table, value.span(), fields, place),
            (Shape::Names(shape), DeValue::Table(table)) => {
                for (key, value) in table.iter() {
                    self.value(key.get_ref(), value, *shape, &under(place, key.get_ref()));
                }
            }
            (shape, _) => self.mistyped((name, place), value, shape),
        }
    }

    /// Checks that the numbers in a table that is checked elsewhere can be held.
    fn numbers(&mut self, table: &DeTable) {
        for (key, value) in table.iter() {
            let is_wrong = match value.get_ref() {
                DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).is_err(),
                DeValue::Float(_) => true,
                _ => false,
            };
            if is_wrong {
                self.mistyped((key.get_ref(), ""), value, Shape::Number);
            }
        }
    }

    fn elements(&mut self, name: &str, all: &[Spanned<DeValue>], shape: Shape, place: &str) {
        all.iter().for_each(|value| self.value(name, value, shape, place));
    }

    fn expect(&mut self, checked: Result<(), String>, at: usize, name: &str) {
        if let Err(words) = checked {
            self.wrong(at, name, words);
        }
    }

    fn mistyped(&mut self, (name, place): (&str, &str), value: &Spanned<DeValue>, shape: Shape) {
        let shown = self.text.get(value.span()).unwrap_or_default();
        let shown = match value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) if shown.is_empty() || shown.len() > MAX_SHOWN => "a list".to_owned(),
            _ => ellipsize(&shown.chars().take(MAX_SHOWN).collect::<String>()),
        };
        self.wrong(value.span().start, name, format!("takes {}, not {shown}", shape.takes(place)));
    }
}

impl Shape {
    /// Says what a key of this shape takes; `place` is its dotted name.
    fn takes(self, place: &str) -> String {
        match self {
            Self::Text | Self::Checked(_) => "text in quotes".to_owned(),
            Self::Loose(_) => "text in quotes or a number".to_owned(),
            Self::Number => "a whole number from 0".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Scalar => "text in quotes, a whole number from 0, or true or false".to_owned(),
            Self::TextOrTexts => "text in quotes, or a list of such texts".to_owned(),
            Self::List(Self::Text | Self::Checked(_), _) => {
                "a list of texts, as in [\"one\", \"two\"]".to_owned()
            }
            Self::List(..) => "a list of tables, as in [{ ... }, { ... }]".to_owned(),
            Self::Table(_) | Self::Section => format!("a table, headed [{place}] or in braces"),
            Self::Tables(..) => format!("tables, each headed [[{place}]]"),
            Self::Names(_) => "a table".to_owned(),
            Self::Or(other, _) => format!("{} or a table", other.takes(place)),
        }
    }
}

fn under(place: &str, name: &str) -> String {
    if place.is_empty() { ellipsize(name) } else { format!("{place}.{}", ellipsize(name)) }
}

/// Whether a number is whole, from 0, and no larger than TOML allows.
fn is_number(number: &toml::de::DeInteger) -> bool {
    i64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| number >= 0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// The line, 1-based.
    pub line: usize,
    /// The column in characters, 1-based; `None` if unknown.
    pub column: Option<usize>,
}

impl Spot {
    pub(crate) fn new(text: &str, at: usize) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column: Some(column) }
    }
}

impl fmt::Display for Spot {
    /// Formats as `3:14`, or `3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Some(column) => write!(f, "{}:{column}", self.line),
            None => write!(f, "{}", self.line),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub spot: Spot,
    pub key: Option<String>,
    /// What is wrong and what is allowed, as a continuation of the key.
    pub words: String,
    /// The key at the top of the file that it lies under; `None` if the file cannot be read at all.
    pub top: Option<String>,
}

impl Mistake {
    /// Describes what no rule foresaw: something here cannot be read.
    pub(crate) fn unread(text: &str, error: &toml::de::Error) -> Self {
        let words = "this cannot be read; compare it with the documentation".to_owned();
        Self::at(text, error.span().map_or(0, |span| span.start), words)
    }

    fn at(text: &str, at: usize, words: String) -> Self {
        Self { spot: Spot::new(text, at), key: None, words, top: None }
    }
}

impl fmt::Display for Mistake {
    /// Formats as ``3:14: `key`: words``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{}: `{}`: {}", self.spot, ellipsize(key), self.words),
            None => write!(f, "{}: {}", self.spot, self.words),
        }
    }
}

fn syntax(text: &str, error: &toml::de::Error) -> Mistake {
    let span = error.span().unwrap_or(0..0);
    Mistake::at(text, span.start, explain(text, &span, error.message()))
}

/// What the parser says, and what a person can do about it; the first whose beginning fits counts.
const SYNTAX: &[(&str, &str)] = &[
    ("string values must be quoted", "text stands in quotes: key = \"text\""),
    ("key with no value", "a key needs a value: key = \"text\""),
    ("missing value", "the value is missing after `=`"),
    ("missing assignment", "`=` is missing between the key and its value"),
    ("extra `=`", "there is one `=` too many"),
    ("extra assignment", "there is one `=` too many"),
    ("unquoted keys cannot be empty", "the key before `=` is missing"),
    ("invalid unquoted key", "a key with anything but letters, digits, - and _ must be in quotes"),
    ("invalid basic string", "the text has no closing quote on this line"),
    ("invalid literal string", "the text has no closing quote on this line"),
    ("invalid multi-line", "the text has no closing quotes"),
    ("unclosed array table", "the name of the table is not closed; write [[name]]"),
    ("unclosed table", "the name of the table is not closed; write [name]"),
    ("unclosed array", "the list is not closed with `]`"),
    ("unclosed inline table", "the table is not closed with `}`"),
    ("missing comma", "a comma or the closing bracket is missing"),
    ("extra comma", "there is one comma too many"),
    ("duplicate key", "this is here twice; leave one out"),
    ("recursion limit", "the dotted key has too many parts (too much recursion)"),
    ("cannot recurse", "lists or tables are nested too deeply (too much recursion)"),
    (
        "missing escaped value",
        "a backslash in \"...\" stands before an escape, such as \\n; write \\\\, or use '...'",
    ),
    ("too few unicode", "\\u takes four hexadecimal digits, and \\U eight"),
    ("unexpected leading zero", "a number does not start with 0"),
];

fn explain(text: &str, span: &Range<usize>, message: &str) -> String {
    let known = SYNTAX.iter().find(|(start, _)| message.starts_with(start));
    let shown = text.get(span.clone()).and_then(|text| text.lines().next()).unwrap_or_default().trim();
    let shown: String = shown.chars().take(30).collect();
    match known {
        Some(("string values must be quoted", _)) if shown.is_empty() => {
            "not TOML: the value is missing after `=`".to_owned()
        }
        Some((_, words)) if shown.is_empty() => format!("not TOML: {words}"),
        Some((_, words)) => format!("not TOML at `{shown}`: {words}"),
        None if shown.is_empty() => "not TOML; lines are key = value or [table]".to_owned(),
        None => format!("not TOML at `{shown}`; lines are key = value or [table]"),
    }
}

/// How alike two words must be, from 0 to 1, for one to be taken for the other.
const ALIKE: f64 = 0.85;

/// Maximum length in bytes of a word that is compared: no known word is as long, and a file may hold one of a megabyte.
const MAX_WORD: usize = 100;

/// Returns the word most like `word`, if one is like it.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let word = word.to_lowercase();
    let alike = known.map(|known| (strsim::jaro_winkler(known, &word), known));
    alike
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .filter(|(alike, _)| *alike > ALIKE)
        .map(|best| best.1)
}

/// Says what to write instead of an unknown word: the one that differs in a few letters, or else `all` of them.
pub(crate) fn suggest_word<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    all: &str,
) -> String {
    let letters = (word.chars().count() / 3).max(1);
    let slip = known
        .clone()
        .filter(|_| word.len() <= MAX_WORD)
        .map(|known| (strsim::osa_distance(known, &word.to_lowercase()), known));
    let slip = slip.filter(|(distance, _)| *distance <= letters).min_by_key(|(distance, _)| *distance);
    match slip {
        Some((_, best)) => format!("did you mean `{best}`?"),
        None => format!("{all} {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Checks that a text is one of the words of an enum; an error names those there are.
pub(crate) fn is_word<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    T::deserialize(Word(text)).map(drop).map_err(|error| error.to_string())
}

/// Returns the place of a text among these words; an error names them.
pub(crate) fn one_of(text: &str, words: &[&'static str]) -> Result<usize, String> {
    words.iter().position(|word| *word == text).ok_or_else(|| {
        let shown = ellipsize(text);
        format!("does not take `{shown}`; {}", suggest_word(text, words.iter().copied(), "write one of"))
    })
}

struct Word<'a>(&'a str);

impl<'de> Deserializer<'de> for Word<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        one_of(self.0, words).map_err(serde::de::Error::custom)?;
        visitor.visit_enum(self.0.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_similar_word_or_else_lists_all() {
        let known = ["bytes", "units"];
        let of = |word: &str| suggest_word(word, known.into_iter(), "write one of");
        assert_eq!(of("bytse"), "did you mean `bytes`?");
        assert_eq!(of("Units"), "did you mean `units`?");
        assert_eq!(of("feet"), "write one of bytes, units");
    }
}
