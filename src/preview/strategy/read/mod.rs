//! Strategies of tools that read or list: windows of lines, matches, entries.

pub(crate) mod matches;
pub(crate) mod plain_window;
pub(crate) mod view;
pub(crate) mod window;
