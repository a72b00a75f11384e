//! `run --tee`: a copy of the output on standard error, while the command runs.

use std::io::{self, IsTerminal, Stderr, Write};

use crate::capture::Tee;
use crate::cli::safe::SafeWriter;
use crate::cli::terminal::show;

/// Copies to standard error: byte for byte, except that a terminal gets it escaped.
pub(super) fn to_stderr() -> Tee {
    let err = io::stderr();
    let show = show(&err).filter(|_| err.is_terminal());
    let mut out = Some(Ending(SafeWriter::new(err, show)));
    Tee::new(move |chunk| {
        let copy = |out: &mut Ending| out.0.write_all(chunk).and_then(|()| out.0.flush());
        // The first error ends the copying, and nothing else.
        if out.as_mut().map(copy).is_some_and(|copied| copied.is_err()) {
            out = None;
        }
    })
}

/// Escapes whole lines; the last one is ended when the copy ends.
struct Ending(SafeWriter<Stderr>);

impl Drop for Ending {
    fn drop(&mut self) {
        // Nobody is left to report an error to.
        let _ = self.0.end();
    }
}
