//! The user's own keys as the configuration has them. The screens know which actions and keys there are.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

/// The keys of one action: `next-match = ["n", "ctrl-n"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySetting {
    pub name: String,
    /// The keys as written.
    pub keys: Vec<String>,
    /// The line of the file, 1-based.
    pub line: usize,
}

/// The table `[keys]` as read; positions are byte offsets in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeysConfig(Vec<(Spanned<String>, Vec<String>)>);

impl KeysConfig {
    /// Returns the settings in the order of the file, which has this text.
    pub(super) fn settings(&self, text: &str) -> Vec<KeySetting> {
        let line = |at: usize| text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        let mut all: Vec<_> = self.0.iter().map(|(name, keys)| (name.span().start, name, keys)).collect();
        all.sort_by_key(|(at, ..)| *at);
        let setting = |(at, name, keys): (usize, &Spanned<String>, &Vec<String>)| KeySetting {
            name: name.get_ref().clone(),
            keys: keys.clone(),
            line: line(at),
        };
        all.into_iter().map(setting).collect()
    }
}

impl<'de> Deserialize<'de> for KeysConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = KeysConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of actions and their keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeysConfig, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = map.next_key::<Spanned<String>>()? {
            let keys = map.next_value_seed(KeyList(name.get_ref()))?;
            all.push((name, keys));
        }
        Ok(KeysConfig(all))
    }
}

/// Reads the keys of the action with this name.
struct KeyList<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for KeyList<'_> {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<String>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyList<'_> {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key in quotes, or a list of them, for keys.{}", self.0)
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Vec<String>, E> {
        Ok(vec![key.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = list.next_element_seed(OneKey(self.0))? {
            keys.push(key);
        }
        Ok(keys)
    }
}

/// Reads one key of a list, for the action with this name.
struct OneKey<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for OneKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for OneKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keys in quotes in the list for keys.{}", self.0)
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        Ok(key.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        keys: KeysConfig,
    }

    fn read(text: &str) -> Result<Vec<KeySetting>, String> {
        toml::from_str::<File>(text).map(|file| file.keys.settings(text)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_action_has_a_key_or_a_list_of_keys() {
        let setting = |name: &str, keys: &[&str], line| KeySetting {
            name: name.into(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            line,
        };
        let text = "[keys]\nsearch = \"ctrl-f\"\n\nnext-match = [\n  \"n\", \"ctrl-n\"]\nfollow = []\n";
        let settings = [
            setting("search", &["ctrl-f"], 2),
            setting("next-match", &["n", "ctrl-n"], 4),
            setting("follow", &[], 6),
        ];
        assert_eq!(read(text).unwrap(), settings);
        assert_eq!(read("keys.wrap = \"x\"").unwrap(), [setting("wrap", &["x"], 1)]);
    }
}
