//! One of a few words, as an enum that serde reads.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use super::nearest::instead;

/// Reads one of the words of an enum.
///
/// # Errors
/// It is none of them; the message names those there are.
pub(crate) fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    T::deserialize(Word(text)).map_err(|error| error.to_string())
}

pub(crate) fn is_word<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    word::<T>(text).map(drop)
}

/// Learns the words from the enum, so that they are listed in one place only.
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
        if words.contains(&self.0) {
            return visitor.visit_enum(self.0.into_deserializer());
        }
        let shown = crate::fs::plain_file::few_words(self.0);
        let remedy = instead(self.0, words.iter().copied(), "write one of");
        Err(serde::de::Error::custom(format!("does not take `{shown}`; {remedy}")))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
