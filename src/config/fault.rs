//! What is wrong with the user's own files, and which commands a mistake stops.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// File, line, key, and what is wrong.
    pub words: String,
    pub affects: Affects,
}

/// What a mistake leaves unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affects {
    /// One policy, or all of the user's own.
    Policy,
    /// The stores of one agent, or all of the user's own.
    Store,
    Settings,
    /// Which policy applies, and with which limits.
    Limits,
    Retention,
    /// What counts as an error or a warning.
    Severities,
    /// Colours and keys: only the screens use them.
    Screens,
    /// One key of the screens, whose name is gone.
    OldKey,
}

/// Which settings a command cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// Which policy applies, and with which limits.
    Limits,
    Retention,
    /// Those for the screens, and the limits.
    Screens,
}

impl Affects {
    pub fn is_of_screens(self) -> bool {
        matches!(self, Self::Screens | Self::OldKey)
    }
}

impl FileFault {
    /// Whether a command with this need cannot go on.
    pub fn stops(&self, need: Need) -> bool {
        match self.affects {
            Affects::Policy | Affects::Store | Affects::OldKey => false,
            Affects::Settings => need != Need::Nothing,
            Affects::Limits => matches!(need, Need::Limits | Need::Screens),
            Affects::Retention => need == Need::Retention,
            Affects::Screens | Affects::Severities => need == Need::Screens,
        }
    }
}

impl fmt::Display for FileFault {
    /// Writes the mistake, and what it means for a command that goes on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.affects {
            Affects::Policy => "this file is not used",
            Affects::Store => "this file is not used, and `clean` leaves that agent's outputs alone",
            Affects::Settings => "what is not understood of it has its default",
            Affects::Limits => "using the default",
            Affects::Retention => "nothing is deleted from overspill's own store by age",
            Affects::Severities => "the built-in pattern is used",
            Affects::Screens => "used by the screens only",
            Affects::OldKey => "this line is not used",
        };
        write!(f, "{} ({effect})", self.words)
    }
}
