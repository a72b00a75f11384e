//! `overspill FILE` and plain `overspill`: opens the screens; without a terminal for them, copies the file.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use crate::config::{Config, Need};
use crate::human::thousands;
use crate::source::{Change, MapView, Source};
use crate::text::label::label;

use super::args::{Args, ListArgs, PolicyArgs};
use super::places::NamedOutputs;
use super::safe::SafeWriter;
use super::screens::{Beginning, show, target};
use super::terminal::{self, DUMB, has_screen};
use super::{CommandResult, Failure, input, one_screen, say, suggest};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Returns which settings are needed: those for the screens. A copy needs none, and input that is piped in is saved
/// whatever is wrong with them.
pub(crate) fn need(files: &[OsString]) -> Need {
    let is_piped = !io::stdin().is_terminal() && (files.is_empty() || files == ["-"]);
    if has_screen() && !is_piped { Need::Screens } else { Need::Nothing }
}

/// Opens the screens, or copies the files if there is no terminal to show them on.
pub(crate) fn run(config: Config, args: &Args) -> CommandResult {
    let Args { files, look, saving, one_screen, .. } = args;
    let NamedOutputs { words, places, first } = NamedOutputs::of(files);
    let words = match &words[..] {
        [] if first.is_some() && (io::stdin().is_terminal() || !has_screen()) => {
            return Err(no_file_for(first).into());
        }
        [] if !io::stdin().is_terminal() => &["-".into()][..],
        [] if !has_screen() => {
            if io::stdout().is_terminal() {
                say(&format!("{DUMB}; here is `overspill list`"));
            }
            return super::stores::list::run(&config, &ListArgs::default());
        }
        files => files,
    };
    let is_piped = words == ["-"] && !io::stdin().is_terminal();
    if is_piped && has_screen() {
        return super::run::live::stdin(config, look, saving, places);
    }
    words.iter().try_for_each(|word| saving.refuse(word))?;
    let opened = words.iter().map(|word| input::open(&config, word, look)).collect::<Result<Vec<_>, _>>();
    let opened = opened.map_err(|error| suggest::no_file(error, words))?;
    if !has_screen() {
        refuse_unused(look)?;
        refuse_place(first)?;
        return opened.into_iter().try_for_each(|opened| copy(opened.source));
    }
    if let [opened] = &opened[..]
        && *one_screen
        && let Some(text) = one_screen::of(&opened.source)
    {
        return Ok(crate::cli::safe::stdout().write_all(&text)?);
    }
    let overrides = look.overrides();
    let targets: Vec<_> =
        opened.into_iter().map(|opened| target(&config, opened, &overrides)).collect::<Result<_, _>>()?;
    targets.iter().try_for_each(|target| look.refuse_for(&target.subject.policy.policy))?;
    show(config, Beginning { targets, places, ..Beginning::default() })
}

/// Says that a place needs an output.
fn no_file_for(place: Option<OsString>) -> Failure {
    let place = label(place.unwrap_or_default().as_encoded_bytes());
    Failure::Usage(format!("{place} says where to open a file, and no file is named"))
}

/// Refuses a place in a file where the file is copied.
fn refuse_place(place: Option<OsString>) -> Result<(), Failure> {
    let Some(place) = place else { return Ok(()) };
    let place = label(place.as_encoded_bytes());
    let words = "without a terminal the output is copied from its beginning; `overspill read --offset N` prints a part";
    Err(Failure::Usage(format!("{place} has no effect here: {words}")))
}

/// Refuses options of the preview where the output itself is copied.
fn refuse_unused(look: &PolicyArgs) -> Result<(), Failure> {
    let Some(flag) = look.first_given() else { return Ok(()) };
    let words =
        "without a terminal the output is copied unchanged; `overspill preview` prints what the model got";
    Err(Failure::Usage(format!("{flag} has no effect here: {words}")))
}

/// Copies an output while it arrives, as `less` does: unchanged, except that a terminal without screens gets it escaped.
fn copy(source: Source) -> CommandResult {
    let show = terminal::show(&io::stdout()).filter(|_| io::stdout().is_terminal());
    let mut out = SafeWriter::new(crate::fs::patient::stdout(), show);
    copy_to(source, &mut out)?;
    Ok(out.end()?)
}

/// Copies an output unchanged while it arrives.
pub(super) fn copy_to(mut source: Source, out: &mut impl Write) -> CommandResult {
    let mut at = 0;
    loop {
        source.wait_for(at as u64 + 1);
        let view = source.view();
        copy_from(&mut source, &view, at, out)?;
        if at == view.len() && source.is_complete() {
            let failed = |error| Err(Failure::Failed(format!("{}: {error}", name(&source))).into());
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
            return Err(changed(source, written));
        }
        out.write_all(&copy)?;
        written += copy.len();
    }
    Ok(out.flush()?)
}

fn name(source: &Source) -> Cow<'_, str> {
    source.path().map_or_else(|| "standard input".into(), |path| path.to_string_lossy())
}

fn changed(source: &Source, written: usize) -> anyhow::Error {
    let name = name(source);
    let written = thousands(written as u64);
    Failure::Failed(format!("{name}: cut or rewritten meanwhile; stopped after {written} bytes")).into()
}

#[cfg(test)]
mod tests {
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
