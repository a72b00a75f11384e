//! Text that a screen may be given: safe by its making.

use std::fmt;
use std::ops::Deref;

use super::{columns_of, fit, head, is_plain, label};

/// One line of safe text, for everything on a screen but the content of an output: names, paths, errors, messages.
/// However it is made, text passes the sanitiser ([`label`]), which leaves safe text as it is; so a screen that takes
/// this type alone cannot be given a raw name by mistake.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeText(String);

impl SafeText {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        if is_plain(&text) { Self(text) } else { Self::from_bytes(text.as_bytes()) }
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(label(bytes))
    }

    pub fn columns(&self) -> usize {
        columns_of(self)
    }

    /// Its start and its end with `…` between them, in at most this many columns.
    pub fn fit(&self, columns: usize) -> Self {
        Self::new(fit(self, columns))
    }

    /// Its start, with `mark` if that is not all, in at most this many columns; nothing if not even the mark has room.
    pub fn head(self, columns: usize, mark: &str) -> Self {
        match columns.checked_sub(columns_of(mark)) {
            _ if self.columns() <= columns => self,
            Some(room) => Self::new(format!("{}{mark}", head(&self, room))),
            None => Self::default(),
        }
    }

    /// With spaces at its end, in at least this many columns.
    pub fn padded(&self, columns: usize) -> Self {
        Self::new(format!("{self}{}", " ".repeat(columns.saturating_sub(self.columns()))))
    }
}

impl From<&str> for SafeText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for SafeText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl Deref for SafeText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self)
    }
}
