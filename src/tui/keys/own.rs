//! The user's own keys: reads each setting, and checks that no key does two things in one place.

use crate::base::toml_check::nearest;
use crate::config::KeySetting;

use super::action::{Action, KeyContext};
use super::press;
use super::table::{Binding, BoundKeys, FORMER_NAMES, TABLE};

/// Why own keys cannot be used, or one of them is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFault {
    /// The line of the configuration file, 1-based.
    pub line: usize,
    pub words: String,
}

/// Returns the settings under names that are gone, each with what took its place.
pub fn former_names(settings: &[KeySetting]) -> impl Iterator<Item = KeyFault> {
    let fault = |setting: &KeySetting| {
        let words = match successor(setting)? {
            "" => format!("keys.{}: this key is gone", setting.name),
            name => format!("keys.{}: now {name}", setting.name),
        };
        Some(KeyFault { line: setting.line, words })
    };
    settings.iter().filter_map(fault)
}

/// Returns what took the place of the name of a setting, which is gone; empty if nothing did.
pub(super) fn successor(setting: &KeySetting) -> Option<&'static str> {
    let mut names = FORMER_NAMES.iter();
    names.find(|(_, former)| former.contains(&&*setting.name)).map(|(successor, _)| *successor)
}

/// Reads a setting: the index of its row in the table, and its keys by the names that help shows.
pub(super) fn read(setting: &KeySetting) -> Result<(usize, Vec<String>), KeyFault> {
    let KeySetting { name, keys, line } = setting;
    let fault = |words| KeyFault { line: *line, words };
    let named = |row: &Binding| !row.name.is_empty() && row.name == *name;
    let at = TABLE.iter().position(named).ok_or_else(|| fault(unknown(name)))?;
    let keys: Result<Vec<String>, String> = keys.iter().map(|key| press::parse(key)).collect();
    match keys {
        Ok(keys) if keys.is_empty() && is_needed(&TABLE[at]) => {
            Err(fault(format!("keys.{name}: without a key nothing could replace it; give it at least one")))
        }
        Ok(keys) => Ok((at, keys)),
        Err(words) => Err(fault(format!("keys.{name}: {words}"))),
    }
}

fn unknown(name: &str) -> String {
    let known = TABLE.iter().map(|row| row.name).filter(|name| !name.is_empty());
    let remedy = match nearest(name, known) {
        Some(best) => format!("did you mean `{best}`?"),
        None => "`overspill config` lists them all".to_owned(),
    };
    format!("`{}`: there is no such key in [keys]; {remedy}", crate::base::fs::plain_file::ellipsize(name))
}

/// Whether a row must keep a key: without help, a way back and a way out one is lost.
fn is_needed(row: &Binding) -> bool {
    matches!(row.action, Action::Back | Action::Help | Action::Quit | Action::Interrupt)
}

/// Checks that no key does two things in one place, unless it does by the table itself.
pub(super) fn check_clashes(rows: &[BoundKeys], settings: &[KeySetting]) -> Result<(), KeyFault> {
    for setting in settings {
        let own = rows.iter().filter(|bound| bound.row.name == setting.name);
        for (bound, key) in own.flat_map(|bound| bound.keys.iter().map(move |key| (bound, key))) {
            let clash = rows.iter().find(|other| other.row != bound.row && clashes(bound, other, key));
            if let Some(other) = clash {
                let (name, other) = (bound.row.name, other.row.name);
                let words =
                    format!("keys.{name}: \"{key}\" is a key of keys.{other}, too; give one of them another");
                return Err(KeyFault { line: setting.line, words });
            }
        }
    }
    Ok(())
}

/// Whether two rows have this key where both apply, and not both by the table.
fn clashes(one: &BoundKeys, other: &BoundKeys, key: &str) -> bool {
    let meets = |one: &Binding, other: &Binding| {
        one.place == other.place || other.place == KeyContext::Everywhere && one.place.takes(other.action)
    };
    let is_first = |row: &Binding| row.keys.split(' ').any(|first| first == key);
    other.keys.iter().any(|also| also == key)
        && (meets(one.row, other.row) || meets(other.row, one.row))
        && !(is_first(one.row) && is_first(other.row))
}

#[cfg(test)]
mod tests {
    use super::super::KeyMap;
    use super::*;

    fn settings(settings: &[(&str, &[&str])]) -> Vec<KeySetting> {
        let lines = settings.iter().zip(1..);
        let setting = |((name, keys), line): (&(&str, &[&str]), usize)| KeySetting {
            name: (*name).to_owned(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            line,
        };
        lines.map(setting).collect()
    }

    fn own(own: &[(&str, &[&str])]) -> Result<KeyMap, String> {
        KeyMap::with_own(&settings(own)).map_err(|fault| format!("{}: {}", fault.line, fault.words))
    }

    fn fault(settings: &[(&str, &[&str])]) -> String {
        own(settings).unwrap_err()
    }

    #[test]
    fn own_keys_take_the_place_of_the_table_s() {
        let keys = own(&[("next-match", &["ctrl-n", "x"]), ("follow", &[])]).unwrap();
        let of = |action| keys.known(KeyContext::Pager, action);
        assert_eq!(of(Action::NextMatch), Some("^N"));
        assert_eq!(of(Action::Follow), None);
        assert_eq!(keys.label(KeyContext::Pager, Action::Follow), "(no key)");
    }

    #[test]
    fn keys_can_be_swapped_and_repeated() {
        own(&[("quit", &["esc"]), ("back", &["q"]), ("limits-back", &["q", "esc"])]).unwrap();
        own(&[("down", &["j", "down", "enter", "ctrl-n"])]).unwrap();
        own(&[("list-delete", &["d"]), ("half-page-down", &["ctrl-d"])]).unwrap();
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_known_ones() {
        assert_eq!(
            fault(&[("nxt-match", &["n"])]),
            "1: `nxt-match`: there is no such key in [keys]; did you mean `next-match`?"
        );
        assert_eq!(
            fault(&[("wrap", &["w"]), ("zzz", &["n"])]),
            "2: `zzz`: there is no such key in [keys]; `overspill config` lists them all"
        );
        let none = "1: ``: there is no such key in [keys]; `overspill config` lists them all";
        assert_eq!(fault(&[("", &["n"])]), none);
    }

    #[test]
    fn a_name_that_is_gone_leads_to_its_successor_and_the_rest_is_used() {
        let settings = settings(&[("list-other", &["n"]), ("help-search", &["x"]), ("follow", &["f4"])]);
        let words: Vec<(usize, String)> =
            former_names(&settings).map(|fault| (fault.line, fault.words)).collect();
        let gone = [(1, "keys.list-other: now other-view"), (2, "keys.help-search: this key is gone")];
        assert_eq!(words, gone.map(|(line, words)| (line, words.to_owned())));
        let keys = KeyMap::with_own(&settings).unwrap();
        let of = |action| keys.known(KeyContext::Lists, action);
        assert_eq!((of(Action::Other), of(Action::Follow)), (Some("Tab"), Some("F4")));
    }

    #[test]
    fn an_unknown_key_is_reported_with_its_action() {
        let told = fault(&[("search", &["/", "ctl-f"])]);
        assert!(
            told.starts_with("1: keys.search: \"ctl-f\" is not a key; keys are single characters"),
            "{told}"
        );
        own(&[("list-sort", &["ins", "f4"])]).unwrap();
    }

    #[test]
    fn the_ways_out_keep_a_key() {
        for name in ["quit", "help", "back", "interrupt", "limits-back"] {
            let words = "without a key nothing could replace it; give it at least one";
            assert_eq!(fault(&[(name, &[])]), format!("1: keys.{name}: {words}"));
        }
        own(&[("quit-now", &[]), ("limits-keep-line", &[])]).unwrap();
    }

    #[test]
    fn a_key_for_two_actions_in_one_place_is_reported() {
        let clash = |name, key, other| {
            format!("1: keys.{name}: \"{key}\" is a key of keys.{other}, too; give one of them another")
        };
        assert_eq!(fault(&[("search", &["n"])]), clash("search", "n", "next-match"));
        assert_eq!(fault(&[("search", &["j"])]), clash("search", "j", "down"));
        assert_eq!(fault(&[("help", &["x"])]), clash("help", "x", "list-delete"));
        assert_eq!(fault(&[("limits-raise", &["R"])]), clash("limits-raise", "R", "limits-reset"));
        assert_eq!(fault(&[("next-match", &["q"])]), clash("next-match", "q", "quit"));
        assert_eq!(fault(&[("wrap", &["esc"])]), clash("wrap", "Esc", "back"));
        assert_eq!(fault(&[("wrap", &["x"]), ("json", &["x"])]), clash("wrap", "x", "json"));
    }
}
