//! Commands that read agents' own records: which sessions there are, the calls in them, and whether the policies are true.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod list;
pub(crate) mod row;
mod select;
pub(crate) mod verify;
