//! The user's own keys as the configuration has them. The screens know which actions and keys there are.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// The keys of one action: `next-match = ["n", "ctrl-n"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySetting {
    pub name: String,
    pub keys: Vec<String>,
    /// The line of the file, 1-based.
    pub line: usize,
}

/// The table `[keys]` as read, of a file whose shape has been checked; positions are byte offsets in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct KeysConfig(BTreeMap<Spanned<String>, KeyList>);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum KeyList {
    One(String),
    Several(Vec<String>),
}

impl KeysConfig {
    /// Returns the settings in the order of the file, which has this text.
    pub(super) fn settings(&self, text: &str) -> Vec<KeySetting> {
        let line = |at: usize| text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(name, _)| name.span().start);
        let setting = |(name, keys): (&Spanned<String>, &KeyList)| KeySetting {
            name: name.get_ref().clone(),
            keys: match keys {
                KeyList::One(key) => vec![key.clone()],
                KeyList::Several(keys) => keys.clone(),
            },
            line: line(name.span().start),
        };
        all.into_iter().map(setting).collect()
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
