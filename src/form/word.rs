//! One of a few words, such as those of an enum that serde reads.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use super::nearest::instead;

/// Checks that a text is one of the words of an enum.
///
/// # Errors
/// It is none of them; the message names those there are.
pub(crate) fn is_word<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    T::deserialize(Word(text)).map(drop).map_err(|error| error.to_string())
}

/// Returns the place of a text among these words.
///
/// # Errors
/// Same as [`is_word`].
pub(crate) fn one_of(text: &str, words: &[&'static str]) -> Result<usize, String> {
    words.iter().position(|word| *word == text).ok_or_else(|| {
        let shown = crate::fs::plain_file::few_words(text);
        format!("does not take `{shown}`; {}", instead(text, words.iter().copied(), "write one of"))
    })
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
        one_of(self.0, words).map_err(serde::de::Error::custom)?;
        visitor.visit_enum(self.0.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
