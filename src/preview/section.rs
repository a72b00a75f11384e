//! A table of a policy file: its keys are read one by one, and each mistake becomes a fault with its position.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use toml::Spanned;

use crate::form::{instead, word};

use super::expression::Expression;
use super::template::{Compiler, Figure, Template};

/// A table as written, with the position of each key and value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section(Vec<(Spanned<String>, KeyValue)>);

/// A value as written, with its position.
pub(crate) type KeyValue = Spanned<Raw>;

/// A value as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Raw {
    Flag(bool),
    Number(u64),
    Text(String),
    Texts(Vec<String>),
    Other(IgnoredAny),
}

impl<'de> Deserialize<'de> for Section {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Section;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Section, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Section(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A mistake in a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset in the file of the faulty value, or of the key or table.
    pub at: usize,
    /// The line of a template, 1-based, if the mistake is in one.
    pub line: Option<usize>,
    pub key: String,
    pub message: String,
}

/// Reads the keys of one table.
pub(crate) struct Keys<'a> {
    section: &'a Section,
    compiler: &'a mut Compiler,
    /// Where the table is, for errors about a missing key.
    place: usize,
    /// What the keys belong to, for messages: `[cap]`, the strategy `pieces`.
    owner: String,
    /// All keys requested so far.
    asked: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(section: &'a Spanned<Section>, owner: &str, compiler: &'a mut Compiler) -> Self {
        let place = section.span().start;
        Self { section: section.get_ref(), compiler, place, owner: owner.to_owned(), asked: Vec::new() }
    }

    /// Reads the key whose word decides which other keys there are.
    pub(crate) fn tag<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<T, Fault> {
        let word = self.optional_word(key)?.ok_or_else(|| self.missing(key))?;
        if let Some((name, value)) = self.entry(key) {
            self.place = name.span().start;
            if let Raw::Text(value) = value.get_ref() {
                self.owner = format!("the {key} `{value}`");
            }
        }
        Ok(word)
    }

    fn entry(&self, key: &str) -> Option<&'a (Spanned<String>, KeyValue)> {
        self.section.0.iter().find(|(name, _)| name.get_ref() == key)
    }

    fn find(&mut self, key: &'static str) -> Option<&'a KeyValue> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        self.entry(key).map(|(_, value)| value)
    }

    fn missing(&self, key: &str) -> Fault {
        let message = format!("{} needs this key", self.owner);
        Fault { at: self.place, line: None, key: key.to_owned(), message }
    }

    /// Reads a number or an expression.
    pub(crate) fn figure(&mut self, key: &'static str) -> Result<Figure, Fault> {
        self.optional_figure(key)?.ok_or_else(|| self.missing(key))
    }

    pub(crate) fn optional_figure(&mut self, key: &'static str) -> Result<Option<Figure>, Fault> {
        let value = self.find(key);
        value.map(|value| figure(value, key, self.compiler)).transpose()
    }

    /// Reads a template.
    pub(crate) fn template(&mut self, key: &'static str) -> Result<Template, Fault> {
        self.optional_template(key)?.ok_or_else(|| self.missing(key))
    }

    /// Reads a template, with a default if the key is absent.
    pub(crate) fn template_or(&mut self, key: &'static str, or: &str) -> Result<Template, Fault> {
        match self.optional_template(key)? {
            Some(template) => Ok(template),
            None => self.compiler.template(or).map_err(|(_, message)| self.fault(key, message)),
        }
    }

    pub(crate) fn optional_template(&mut self, key: &'static str) -> Result<Option<Template>, Fault> {
        let Some(value) = self.find(key) else { return Ok(None) };
        let Raw::Text(source) = value.get_ref() else { return Err(fault(value, key, "takes a template")) };
        let compiled = self.compiler.template(source);
        compiled.map(Some).map_err(|(line, message)| Fault { line: Some(line), ..fault(value, key, message) })
    }

    /// Reads a text.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<String, Fault> {
        self.optional_text(key)?.ok_or_else(|| self.missing(key))
    }

    pub(crate) fn optional_text(&mut self, key: &'static str) -> Result<Option<String>, Fault> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.get_ref() {
            Raw::Text(text) => Ok(Some(text.clone())),
            _ => Err(fault(value, key, "takes text")),
        }
    }

    /// Reads a list of texts.
    pub(crate) fn texts(&mut self, key: &'static str) -> Result<Vec<String>, Fault> {
        self.optional_texts(key)?.ok_or_else(|| self.missing(key))
    }

    pub(crate) fn optional_texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Fault> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.get_ref() {
            Raw::Texts(texts) => Ok(Some(texts.clone())),
            _ => Err(fault(value, key, "takes a list of texts")),
        }
    }

    /// Reads `true` or `false`; false if the key is absent.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<bool, Fault> {
        let Some(value) = self.find(key) else { return Ok(false) };
        match value.get_ref() {
            Raw::Flag(flag) => Ok(*flag),
            _ => Err(fault(value, key, "takes true or false")),
        }
    }

    /// Reads one of a few words; the default if the key is absent.
    pub(crate) fn word<T: DeserializeOwned + Default>(&mut self, key: &'static str) -> Result<T, Fault> {
        Ok(self.optional_word(key)?.unwrap_or_default())
    }

    pub(crate) fn optional_word<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.find(key) else { return Ok(None) };
        let Raw::Text(text) = value.get_ref() else { return Err(fault(value, key, "takes a word")) };
        word(text).map(Some).map_err(|error| fault(value, key, error))
    }

    /// Reads a regular expression over bytes, built from a text.
    pub(crate) fn optional_pattern<E: ToString>(
        &mut self,
        key: &'static str,
        make: impl Fn(&str) -> Result<Expression, E>,
    ) -> Result<Option<Expression>, Fault> {
        let Some(text) = self.optional_text(key)? else { return Ok(None) };
        let pattern = make(&text);
        pattern.map(Some).map_err(|error| self.fault(key, error))
    }

    /// Returns a fault at the value of a key.
    pub(crate) fn fault(&self, key: &'static str, message: impl ToString) -> Fault {
        match self.entry(key) {
            Some((_, value)) => fault(value, key, message),
            None => Fault { message: message.to_string(), ..self.missing(key) },
        }
    }

    /// Fails if the table has a key that was not requested.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let foreign = self.section.0.iter().find(|(key, _)| !self.asked.contains(&key.get_ref().as_str()));
        let Some((key, _)) = foreign else { return Ok(()) };
        let remedy = instead(key.get_ref(), self.asked.iter().copied(), "it has");
        let message = format!("{} has no such key; {remedy}", self.owner);
        Err(Fault { at: key.span().start, line: None, key: key.get_ref().clone(), message })
    }
}

/// Compiles a number or an expression.
pub(crate) fn figure(value: &KeyValue, key: &str, compiler: &Compiler) -> Result<Figure, Fault> {
    match value.get_ref() {
        Raw::Number(number) => Ok(Figure::Number(*number)),
        Raw::Text(source) => compiler.figure(source).map_err(|message| fault(value, key, message)),
        _ => Err(fault(value, key, "takes a whole number from 0, or an expression")),
    }
}

fn fault(value: &KeyValue, key: &str, message: impl ToString) -> Fault {
    Fault { at: value.span().start, line: None, key: key.to_owned(), message: message.to_string() }
}
