//! Copies an output while it arrives, and stops if it is cut or rewritten meanwhile.

use std::borrow::Cow;
use std::io::Write;

use anyhow::anyhow;

use crate::base::human::thousands;
use crate::source::{Change, MapView, Source};

use super::CommandResult;

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Copies an output unchanged while it arrives.
pub(super) fn copy(mut source: Source, out: &mut impl Write) -> CommandResult {
    let mut at = 0;
    loop {
        source.wait_for(at as u64 + 1);
        let view = source.view();
        copy_from(&mut source, &view, at, out)?;
        if at == view.len() && source.is_complete() {
            let failed = |error| Err(anyhow!("{}: {error}", name(&source)));
            return source.error().map_or(Ok(()), failed);
        }
        at = view.len();
    }
}

/// The map's pages may be lost at any time, so each piece is copied, and written only if the file has not changed.
fn copy_from(source: &mut Source, view: &MapView, from: usize, out: &mut impl Write) -> CommandResult {
    let mut copy = Vec::with_capacity(PIECE);
    let mut written = from;
    for piece in view.get(from..).unwrap_or_default().chunks(PIECE) {
        copy.clear();
        copy.extend_from_slice(piece);
        if matches!(source.refresh(), Change::Truncated | Change::Replaced) {
            out.flush()?;
            return Err(changed_error(source, written));
        }
        out.write_all(&copy)?;
        written += copy.len();
    }
    Ok(out.flush()?)
}

fn name(source: &Source) -> Cow<'_, str> {
    source.path().map_or_else(|| "standard input".into(), |path| path.to_string_lossy())
}

fn changed_error(source: &Source, written: usize) -> anyhow::Error {
    let name = name(source);
    let written = thousands(written as u64);
    anyhow!("{name}: cut or rewritten meanwhile; stopped after {written} bytes")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A writer that calls a function on every write.
    struct Then<F: FnMut()>(Vec<u8>, F);

    impl<F: FnMut()> Write for Then<F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            (self.1)();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Creates a file of this many pieces, and returns its directory with it.
    fn pieces(count: usize) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; count * PIECE]).unwrap();
        (dir, path)
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_is_copied_no_further() {
        let (_dir, path) = pieces(3);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let view = source.view();
        let mut out = Then(Vec::new(), || file.set_len(5).unwrap());
        let error = copy_from(&mut source, &view, 0, &mut out).unwrap_err().to_string();
        assert!(error.contains("log: cut or rewritten meanwhile; stopped after 1,048,576 bytes"), "{error}");
        assert!(out.0 == vec![b'x'; PIECE], "nothing that the file did not hold");
    }

    #[test]
    fn a_file_that_grows_is_copied_on() {
        let (_dir, path) = pieces(2);
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let view = source.view();
        let mut out = Then(Vec::new(), || file.write_all(b"more").unwrap());
        copy_from(&mut source, &view, 0, &mut out).unwrap();
        assert_eq!(out.0.len(), 2 * PIECE);
    }
}
