//! The keys: one table of what each does, on which screen, and how help and docs describe it; and the keys in use, which
//! are those of the table, or the user's own in their place.

mod action;
mod own;
mod press;
mod table;

use std::sync::LazyLock;

use crossterm::event::KeyEvent;

use crate::config::KeySetting;

pub use action::{Action, KeyContext};
pub use own::{KeyFault, former_names};
pub(super) use press::character;
pub use press::name;
pub(super) use table::MOTIONS;
pub use table::{Binding, BoundKeys, TABLE};

/// What is shown where an action without a key would be named.
const NO_KEY: &str = "(no key)";

/// All keys in use, in the order of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct KeyMap {
    rows: Vec<BoundKeys>,
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

    /// Returns the keys of the table with the user's own in place of those that they name. Names that are gone are skipped.
    ///
    /// # Errors
    /// On an unknown action or key, a key bound twice in one place, or a required action without a key.
    pub fn with_own(settings: &[KeySetting]) -> Result<Self, KeyFault> {
        let mut map = Self::default();
        for setting in settings.iter().filter(|setting| own::successor(setting).is_none()) {
            let (at, keys) = own::read(setting)?;
            map.rows[at].keys = keys;
        }
        own::check_clashes(&map.rows, settings)?;
        Ok(map)
    }

    /// Says that a key does nothing in a context, or that it does once limits are changed.
    pub(crate) fn unknown(&self, context: KeyContext, key: KeyEvent) -> Option<String> {
        let name = press::name(key)?;
        if context == KeyContext::Pager && self.find(KeyContext::Drawer, &name).is_some() {
            return Some(format!("{} changes limits", self.label(context, Action::Limits)));
        }
        Some(format!("{name} does nothing here; {} for help", self.label(context, Action::Help)))
    }

    pub fn rows(&self) -> &[BoundKeys] {
        &self.rows
    }

    /// Returns what a key press does in `place`. Rows of the place itself take precedence over those for everywhere.
    pub fn action(&self, place: KeyContext, key: KeyEvent) -> Option<Action> {
        let name = press::name(key)?;
        let everywhere = || self.find(KeyContext::Everywhere, &name).filter(|action| place.takes(*action));
        self.find(place, &name).or_else(everywhere)
    }

    fn find(&self, place: KeyContext, name: &str) -> Option<Action> {
        let mut rows = self.rows.iter().filter(|bound| bound.row.place == place);
        rows.find(|bound| bound.keys.iter().any(|key| key == name)).map(|bound| bound.row.action)
    }

    pub fn label(&self, place: KeyContext, action: Action) -> &str {
        self.known(place, action).unwrap_or(NO_KEY)
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
        let rows = KeyMap::standard().rows().iter();
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
    fn a_key_with_alt_is_another() {
        let keys = KeyMap::standard();
        let alt = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT);
        assert_eq!(keys.action(Pager, alt('v')), Some(Action::PageUp));
        assert_eq!(keys.action(Lists, alt('x')), None);
        assert_eq!(keys.unknown(Lists, alt('x')).as_deref(), Some("Alt-x does nothing here; h for help"));
    }

    #[test]
    fn keys_of_the_drawer_lead_to_it_from_an_output() {
        let keys = KeyMap::standard();
        let plus = press(KeyCode::Char('+'));
        assert_eq!((keys.action(Pager, plus), keys.action(Drawer, plus)), (None, Some(Action::Higher)));
        assert_eq!(keys.unknown(Pager, plus).as_deref(), Some("l changes limits"));
        assert_eq!(keys.unknown(Lists, plus).as_deref(), Some("+ does nothing here; h for help"));
        assert_eq!(keys.action(Drawer, press(KeyCode::Char('j'))), None, "it moves the output");
    }
}
