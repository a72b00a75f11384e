//! The keys in use, the table's or the user's own; and their names, as help and the configuration write them.

mod table;

use std::sync::LazyLock;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_width::UnicodeWidthChar;

use crate::base::toml_check::nearest;
use crate::config::KeySetting;

use table::FORMER_NAMES;
pub(super) use table::MOTIONS;
pub use table::{Action, Binding, BoundKeys, KeyContext, TABLE};

const ALT: &str = "Alt-";

const LAST_FUNCTION: u8 = 12;

#[derive(Debug, PartialEq, Eq)]
pub struct KeyMap {
    pub rows: Vec<BoundKeys>,
}

impl Default for KeyMap {
    fn default() -> Self {
        let keys = |row: &Binding| row.keys.split(' ').map(str::to_owned).collect();
        Self { rows: TABLE.iter().map(|row| BoundKeys { row, keys: keys(row) }).collect() }
    }
}

impl KeyMap {
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<KeyMap> = LazyLock::new(KeyMap::default);
        &STANDARD
    }

    /// Returns the keys of the table with the user's own in place of those that they name; names that are gone are
    /// skipped. Fails on an unknown action or key, a key bound twice in one place, or a required action without a key.
    pub fn with_own(settings: &[KeySetting]) -> Result<Self, KeyFault> {
        let mut map = Self::default();
        for setting in settings.iter().filter(|setting| successor(setting).is_none()) {
            let (at, keys) = read(setting)?;
            map.rows[at].keys = keys;
        }
        check_clashes(&map.rows, settings)?;
        Ok(map)
    }

    /// Says that a key does nothing in a context, or that it does once limits are changed.
    pub(crate) fn unknown(&self, context: KeyContext, key: KeyEvent) -> Option<String> {
        let name = name(key)?;
        if context == KeyContext::Pager && self.find(KeyContext::Drawer, &name).is_some() {
            return Some(format!("{} changes limits", self.label(context, Action::Limits)));
        }
        Some(self.nothing(context, &name))
    }

    /// Says that a key of this name does nothing in a context.
    pub(crate) fn nothing(&self, context: KeyContext, name: &str) -> String {
        format!("{name} does nothing here; {} for help", self.label(context, Action::Help))
    }

    /// Returns what a key press does in `place`. Rows of the place itself take precedence over those for everywhere.
    pub fn action(&self, place: KeyContext, key: KeyEvent) -> Option<Action> {
        let name = name(key)?;
        let everywhere = || self.find(KeyContext::Everywhere, &name).filter(|action| place.takes(*action));
        self.find(place, &name).or_else(everywhere)
    }

    fn find(&self, place: KeyContext, name: &str) -> Option<Action> {
        let mut rows = self.rows.iter().filter(|bound| bound.row.place == place);
        rows.find(|bound| bound.keys.iter().any(|key| key == name)).map(|bound| bound.row.action)
    }

    pub fn label(&self, place: KeyContext, action: Action) -> &str {
        self.known(place, action).unwrap_or("(no key)")
    }

    pub fn known(&self, place: KeyContext, action: Action) -> Option<&str> {
        let row =
            |place| self.rows.iter().find(|bound| bound.row.place == place && bound.row.action == action);
        self.keys_in(place, row(place).or_else(|| row(KeyContext::Everywhere))?).next()
    }

    /// Returns the keys of a row that a place has no other use for.
    pub(super) fn keys_in<'a>(
        &'a self,
        place: KeyContext,
        bound: &'a BoundKeys,
    ) -> impl Iterator<Item = &'a str> {
        let keys = bound.keys.iter().map(String::as_str);
        keys.filter(move |key| bound.row.place == place || self.find(place, key).is_none())
    }
}

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
fn successor(setting: &KeySetting) -> Option<&'static str> {
    let mut names = FORMER_NAMES.iter();
    names.find(|(_, former)| former.contains(&&*setting.name)).map(|(successor, _)| *successor)
}

/// Reads a setting: the index of its row in the table, and its keys by the names that help shows.
fn read(setting: &KeySetting) -> Result<(usize, Vec<String>), KeyFault> {
    let KeySetting { name, keys, line } = setting;
    let fault = |words| KeyFault { line: *line, words };
    let named = |row: &Binding| !row.name.is_empty() && row.name == *name;
    let at = TABLE.iter().position(named).ok_or_else(|| fault(unknown(name)))?;
    // Without help, back and quit the user is stuck.
    let is_needed =
        matches!(TABLE[at].action, Action::Back | Action::Help | Action::Quit | Action::Interrupt);
    if keys.is_empty() && is_needed {
        return Err(fault(format!("keys.{name}: needs at least one key")));
    }
    let keys: Result<Vec<String>, String> = keys.iter().map(|key| parse(key)).collect();
    Ok((at, keys.map_err(|words| fault(format!("keys.{name}: {words}")))?))
}

fn unknown(name: &str) -> String {
    let known = TABLE.iter().map(|row| row.name).filter(|name| !name.is_empty());
    let remedy = match nearest(name, known) {
        Some(best) => format!("did you mean `{best}`?"),
        None => "`overspill config` lists them all".to_owned(),
    };
    format!("`{}`: there is no such action in [keys]; {remedy}", crate::base::fs::plain_file::ellipsize(name))
}

fn check_clashes(rows: &[BoundKeys], settings: &[KeySetting]) -> Result<(), KeyFault> {
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

fn clashes(one: &BoundKeys, other: &BoundKeys, key: &str) -> bool {
    let meets = |one: &Binding, other: &Binding| {
        one.place == other.place || other.place == KeyContext::Everywhere && one.place.takes(other.action)
    };
    let is_first = |row: &Binding| row.keys.split(' ').any(|first| first == key);
    other.keys.iter().any(|also| also == key)
        && (meets(one.row, other.row) || meets(other.row, one.row))
        && !(is_first(one.row) && is_first(other.row))
}

/// Returns the name of a key press: `n`, `^D`, `PgDn`, `Alt-v`.
pub fn name(key: KeyEvent) -> Option<String> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { ALT } else { "" };
    let name = match key.code {
        KeyCode::Char(c) if control => format!("^{}", c.to_ascii_uppercase()),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::BackTab => "Tab".to_owned(),
        code => match (NAMED.iter().find(|(named, ..)| *named == code), code) {
            (Some((.., shown)), _) => (*shown).to_owned(),
            (None, KeyCode::Char(c)) => c.to_string(),
            _ => return None,
        },
    };
    Some(format!("{alt}{name}"))
}

const NAMED: [(KeyCode, &str, &str); 15] = [
    (KeyCode::Char(' '), "space", "Space"),
    (KeyCode::Enter, "enter", "Enter"),
    (KeyCode::Esc, "esc", "Esc"),
    (KeyCode::Tab, "tab", "Tab"),
    (KeyCode::Backspace, "backspace", "Backspace"),
    (KeyCode::Up, "up", "↑"),
    (KeyCode::Down, "down", "↓"),
    (KeyCode::Left, "left", "←"),
    (KeyCode::Right, "right", "→"),
    (KeyCode::Home, "home", "Home"),
    (KeyCode::End, "end", "End"),
    (KeyCode::PageUp, "pgup", "PgUp"),
    (KeyCode::PageDown, "pgdn", "PgDn"),
    (KeyCode::Insert, "ins", "Ins"),
    (KeyCode::Delete, "del", "Del"),
];

/// Reads a key of the configuration, `ctrl-d`, `pgdn`, or as help shows it, `^D`; returns it as help shows it.
fn parse(text: &str) -> Result<String, String> {
    match text.split_at_checked(ALT.len()) {
        Some((alt, key)) if alt.eq_ignore_ascii_case(ALT) => Ok(format!("{ALT}{}", without_alt(key)?)),
        _ => without_alt(text),
    }
}

fn without_alt(text: &str) -> Result<String, String> {
    let low = text.to_lowercase();
    if let Some((.., shown)) = NAMED.iter().find(|(_, name, shown)| *name == low || *shown == text) {
        return Ok((*shown).to_owned());
    }
    let number = low.strip_prefix('f').and_then(|number| number.parse().ok());
    if let Some(number) = number.filter(|number| (1..=LAST_FUNCTION).contains(number)) {
        return Ok(format!("F{number}"));
    }
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) => single(c),
        _ => {
            let letter = low.strip_prefix("ctrl-").or_else(|| low.strip_prefix('^')).unwrap_or_default();
            control(letter).unwrap_or_else(|| Err(not_a_key(text)))
        }
    }
}

fn single(c: char) -> Result<String, String> {
    if c.is_ascii_digit() {
        Err(format!("\"{c}\" begins a count; choose another key"))
    } else if c.is_whitespace() || c.width().unwrap_or(0) == 0 {
        Err(not_a_key(&c.escape_default().to_string()))
    } else {
        Ok(c.to_string())
    }
}

fn control(letter: &str) -> Option<Result<String, String>> {
    let &[byte @ b'a'..=b'z'] = letter.as_bytes() else { return None };
    let taken = match byte {
        b'i' => Some("terminals send Tab for it; write \"tab\""),
        b'm' => Some("terminals send Enter for it; write \"enter\""),
        b'z' => Some("it suspends overspill; choose another key"),
        _ => None,
    };
    Some(match taken {
        Some(why) => Err(format!("\"ctrl-{letter}\" cannot be used: {why}")),
        None => Ok(format!("^{}", char::from(byte.to_ascii_uppercase()))),
    })
}

fn not_a_key(text: &str) -> String {
    let text = crate::base::fs::plain_file::ellipsize(text);
    let named: Vec<&str> = NAMED.iter().map(|(_, name, _)| *name).collect();
    let named = named.join(", ");
    format!(
        "{text:?} is not a key; keys are single characters, ctrl-a to ctrl-z, f1 to f{LAST_FUNCTION}, {named}, \
         and each of them with alt- before it"
    )
}

pub(super) fn character(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => Some(c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crossterm::event::{KeyCode, KeyModifiers};

    use super::KeyContext::{Drawer, Lists, Pager};
    use super::*;

    fn press(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn control(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        let rows = KeyMap::standard().rows.iter();
        let mut seen = BTreeSet::new();
        for (place, key) in rows.flat_map(|bound| bound.keys.iter().map(|key| (bound.row.place, key))) {
            assert!(seen.insert((format!("{place:?}"), key)), "{key} in {place:?}");
        }
    }

    #[test]
    fn a_place_s_own_key_wins() {
        let keys = KeyMap::standard();
        assert_eq!(keys.action(Pager, press(KeyCode::Enter)), Some(Action::Down));
        assert_eq!(keys.action(Lists, press(KeyCode::Enter)), Some(Action::Open));
        assert_eq!(keys.action(Pager, control('d')), Some(Action::HalfDown));
        assert_eq!(keys.action(Lists, press(KeyCode::Char('?'))), Some(Action::Help));
        assert_eq!(keys.action(Pager, press(KeyCode::Char('?'))), Some(Action::SearchBack));
    }

    #[test]
    fn alt_makes_a_different_key() {
        let keys = KeyMap::standard();
        let alt = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT);
        assert_eq!(keys.action(Pager, alt('v')), Some(Action::PageUp));
        assert_eq!(keys.action(Lists, alt('x')), None);
        assert_eq!(keys.unknown(Lists, alt('x')).as_deref(), Some("Alt-x does nothing here; h for help"));
    }

    #[test]
    fn a_drawer_key_pressed_in_an_output_points_to_the_drawer() {
        let keys = KeyMap::standard();
        let plus = press(KeyCode::Char('+'));
        assert_eq!((keys.action(Pager, plus), keys.action(Drawer, plus)), (None, Some(Action::Higher)));
        assert_eq!(keys.unknown(Pager, plus).as_deref(), Some("l changes limits"));
        assert_eq!(keys.unknown(Lists, plus).as_deref(), Some("+ does nothing here; h for help"));
        assert_eq!(keys.action(Drawer, press(KeyCode::Char('j'))), None, "it moves the output");
    }

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
    fn configured_keys_replace_the_default_ones() {
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
            "1: `nxt-match`: there is no such action in [keys]; did you mean `next-match`?"
        );
        assert_eq!(
            fault(&[("wrap", &["w"]), ("zzz", &["n"])]),
            "2: `zzz`: there is no such action in [keys]; `overspill config` lists them all"
        );
        let none = "1: ``: there is no such action in [keys]; `overspill config` lists them all";
        assert_eq!(fault(&[("", &["n"])]), none);
    }

    #[test]
    fn an_old_action_name_is_reported_and_other_keys_still_apply() {
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
    fn quit_help_and_back_need_at_least_one_key() {
        for name in ["quit", "help", "back", "interrupt", "limits-back"] {
            let words = "needs at least one key";
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

    #[test]
    fn a_key_is_read_as_help_shows_it_or_as_words() {
        let cases = [
            ("n", "n"),
            ("N", "N"),
            ("^", "^"),
            ("ö", "ö"),
            ("ctrl-n", "^N"),
            ("Ctrl-N", "^N"),
            ("^N", "^N"),
            ("Space", "Space"),
            ("PgDn", "PgDn"),
            ("up", "↑"),
            ("↑", "↑"),
            ("f10", "F10"),
            ("F1", "F1"),
            ("alt-v", "Alt-v"),
            ("Alt-V", "Alt-V"),
            ("alt-ctrl-d", "Alt-^D"),
            ("alt-up", "Alt-↑"),
        ];
        for (text, name) in cases {
            assert_eq!(parse(text).as_deref(), Ok(name));
        }
    }

    #[test]
    fn every_key_of_the_table_can_be_written_as_it_is_shown() {
        for row in TABLE.iter().filter(|row| !row.name.is_empty()) {
            for key in row.keys.split(' ') {
                assert_eq!(parse(key).as_deref(), Ok(key));
            }
        }
    }

    #[test]
    fn an_unknown_key_word_is_answered_with_the_valid_keys() {
        let all = "keys are single characters, ctrl-a to ctrl-z, f1 to f12, space, enter, esc, tab, backspace, up, \
                   down, left, right, home, end, pgup, pgdn, ins, del, and each of them with alt- before it";
        for text in ["ctl-n", "", "f13", "f0", "ctrl-é", "alt", "nn", "0-9"] {
            assert_eq!(parse(text), Err(format!("{text:?} is not a key; {all}")));
        }
        assert!(parse(" ").is_err() && parse("\u{301}").is_err() && parse("\u{202e}").is_err());
        assert_eq!(parse("5"), Err("\"5\" begins a count; choose another key".into()));
        let cannot = |key, why| Err(format!("\"{key}\" cannot be used: {why}"));
        assert_eq!(parse("^I"), cannot("ctrl-i", "terminals send Tab for it; write \"tab\""));
        assert_eq!(parse("ctrl-z"), cannot("ctrl-z", "it suspends overspill; choose another key"));
    }
}
