//! Words that people write: one of a few, such as those of an enum that serde reads, and the one that a mistyped word is like.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

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
pub(crate) fn instead<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone, all: &str) -> String {
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
        let shown = crate::base::fs::plain_file::ellipsize(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_proposed_or_else_all() {
        let known = ["bytes", "units"];
        let of = |word: &str| instead(word, known.into_iter(), "write one of");
        assert_eq!(of("bytse"), "did you mean `bytes`?");
        assert_eq!(of("Units"), "did you mean `units`?");
        assert_eq!(of("feet"), "write one of bytes, units");
    }
}
