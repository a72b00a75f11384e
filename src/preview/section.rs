//! A table of a policy file, read as serde derives it for a struct: each mistake becomes a fault with its position.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use toml::{Spanned, Value};

use crate::base::toml_check::{one_of, suggest_word};

use super::template::{Compiler, Figure, Template};

/// A table as written, with the position of each key and value.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Section(BTreeMap<Spanned<String>, KeyValue>);

/// A value as written, with its position.
pub(crate) type KeyValue = Spanned<Value>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Fault {
    /// Byte offset in the file of the faulty value, or of the key or table.
    pub at: usize,
    /// The line of a template, 1-based, if the mistake is in one.
    pub line: Option<usize>,
    /// Empty until it is known.
    pub key: String,
    pub message: String,
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { at: 0, line: None, key: String::new(), message: message.to_string() }
    }
}

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

    /// Reads the key whose word decides which other keys there are. Returns the word's place among `words`.
    pub(crate) fn tag(&mut self, key: &'static str, words: &[&'static str]) -> Result<usize, Fault> {
        let word = Key { keys: self, name: key }.text("takes a word")?;
        let number = one_of(word, words).map_err(|words| self.fault(key, words))?;
        self.place = self.entry(key).map_or(self.place, |(name, _)| name.span().start);
        self.owner = format!("the {key} `{word}`");
        Ok(number)
    }

    /// Reads a struct: each of its fields is a key, and the fields of a struct in a field are keys of the same table.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        T::deserialize(Key { keys: self, name: "" })
    }

    pub(crate) fn field<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<T, Fault> {
        T::deserialize(Key { keys: self, name: key }).map_err(|fault| self.placed(key, fault))
    }

    /// Reads a template, with a default if the key is absent.
    pub(crate) fn template_or(&mut self, key: &'static str, or: &str) -> Result<Template, Fault> {
        match self.field(key)? {
            Some(template) => Ok(template),
            None => self.compiler.template(or).map_err(|(_, message)| self.fault(key, message)),
        }
    }

    fn entry(&self, key: &str) -> Option<(&'a Spanned<String>, &'a KeyValue)> {
        self.section.0.get_key_value(key)
    }

    fn missing(&self, key: &str) -> Fault {
        let message = format!("{} needs this key", self.owner);
        Fault { at: self.place, line: None, key: key.to_owned(), message }
    }

    pub(crate) fn fault(&self, key: &'static str, message: impl ToString) -> Fault {
        match self.entry(key) {
            Some((_, value)) => fault(value, key, message),
            None => Fault { message: message.to_string(), ..self.missing(key) },
        }
    }

    /// Places a fault at the value of a key, unless it has a place already.
    fn placed(&self, key: &'static str, fault: Fault) -> Fault {
        if fault.key.is_empty() { self.fault(key, fault.message) } else { fault }
    }

    /// Fails if the table has a key that was not requested.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let foreign = self.section.0.keys().filter(|key| !self.asked.contains(&key.get_ref().as_str()));
        let Some(key) = foreign.min_by_key(|key| key.span().start) else { return Ok(()) };
        let remedy = suggest_word(key.get_ref(), self.asked.iter().copied(), "it has");
        let message = format!("{} has no such key; {remedy}", self.owner);
        Err(Fault { at: key.span().start, line: None, key: key.get_ref().clone(), message })
    }
}

/// One key of a table. A struct has none of its own: it stands for the keys of its fields.
struct Key<'k, 'a> {
    keys: &'k mut Keys<'a>,
    name: &'static str,
}

impl<'a> Key<'_, 'a> {
    fn find(&mut self) -> Option<&'a KeyValue> {
        if !self.keys.asked.contains(&self.name) {
            self.keys.asked.push(self.name);
        }
        self.keys.entry(self.name).map(|(_, value)| value)
    }

    fn value(&mut self) -> Result<&'a KeyValue, Fault> {
        self.find().ok_or_else(|| self.keys.missing(self.name))
    }

    fn text(&mut self, takes: &str) -> Result<&'a str, Fault> {
        let value = self.value()?;
        match value.get_ref() {
            Value::String(text) => Ok(text),
            _ => Err(fault(value, self.name, takes)),
        }
    }
}

impl<'de> Deserializer<'de> for Key<'_, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.text("takes text")?)
    }

    /// False if the key is absent.
    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        let Some(value) = self.find() else { return visitor.visit_bool(false) };
        match value.get_ref() {
            Value::Boolean(flag) => visitor.visit_bool(*flag),
            _ => Err(fault(value, self.name, "takes true or false")),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        let value = self.value()?;
        let texts = value.get_ref().as_array();
        let texts: Option<Vec<&str>> = texts.and_then(|texts| texts.iter().map(Value::as_str).collect());
        let texts = texts.ok_or_else(|| fault(value, self.name, "takes a list of texts"))?;
        visitor.visit_seq(SeqDeserializer::new(texts.into_iter()))
    }

    /// The first word if the key is absent.
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let word = if self.find().is_some() { self.text("takes a word")? } else { words[0] };
        one_of(word, words).map_err(|message| self.keys.fault(self.name, message))?;
        visitor.visit_enum(word.into_deserializer())
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Fault> {
        if self.find().is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// Compiles a [`Template`] or a [`Figure`].
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let place = if name == "Template" {
            let source = self.text("takes a template")?;
            let compiled = self.keys.compiler.template(source);
            let wrong = |(line, message)| Fault { line: Some(line), ..self.keys.fault(self.name, message) };
            let (template, at) = (compiled.map_err(wrong)?, self.value()?.span().start);
            self.keys.compiler.place(&template, self.name, at);
            template.0
        } else {
            figure(self.value()?, self.name, self.keys.compiler)?.0
        };
        visitor.visit_newtype_struct(place.into_deserializer())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(Fields { keys: self.keys, left: fields.iter(), name: "" })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier ignored_any
    }
}

/// The fields of a struct in order, those of absent keys, too.
struct Fields<'k, 'a> {
    keys: &'k mut Keys<'a>,
    left: std::slice::Iter<'static, &'static str>,
    name: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(name) = self.left.next() else { return Ok(None) };
        self.name = name;
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let read = seed.deserialize(Key { keys: self.keys, name: self.name });
        read.map_err(|fault| self.keys.placed(self.name, fault))
    }
}

pub(crate) fn figure(value: &KeyValue, key: &str, compiler: &mut Compiler) -> Result<Figure, Fault> {
    let wrong = || fault(value, key, "takes a whole number from 0, or an expression");
    match value.get_ref() {
        Value::Integer(number) => Ok(compiler.number(u64::try_from(*number).map_err(|_| wrong())?)),
        Value::String(source) => compiler.figure(source).map_err(|message| fault(value, key, message)),
        _ => Err(wrong()),
    }
}

fn fault(value: &KeyValue, key: &str, message: impl ToString) -> Fault {
    Fault { at: value.span().start, line: None, key: key.to_owned(), message: message.to_string() }
}
