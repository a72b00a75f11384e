//! Commands that read agents' own records: which sessions there are, the calls in them, and whether the policies are true.

pub(crate) mod calls;
pub(crate) mod list;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod verify;
