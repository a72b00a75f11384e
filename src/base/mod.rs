//! What all else stands on: where things are, what the file system says, how people read and write numbers and times, how sure
//! a fact is, and what is wrong in a file that a person wrote.

pub(crate) mod env;
pub(crate) mod fs;
pub(crate) mod human;
pub(crate) mod provenance;
pub(crate) mod toml_check;
