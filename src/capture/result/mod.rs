//! What a capture returns: the captured output, the preview made from it.

pub(crate) mod captured;
pub(crate) mod finish;
pub(crate) mod headroom;
