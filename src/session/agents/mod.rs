//! The readers: one form of an agent's records each.

mod claude;

use super::reader::SessionFormat;

/// All forms, in the order in which a file is tried.
pub const FORMATS: &[&dyn SessionFormat] = &[&claude::ClaudeCode];
