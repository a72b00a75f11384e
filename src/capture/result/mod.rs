//! What a capture gives: the output as taken, the preview made from it, and the record beside it.

pub(crate) mod captured;
pub(crate) mod finish;
pub(crate) mod record;
pub(crate) mod timeline;
