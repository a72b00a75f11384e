//! `overspill preview`: prints exactly what the model would get, and nothing else.

use std::io::{self, Write};

use crate::cli::args::{PreviewArgs, TextForm};
use crate::cli::input::{self, OpenInput};
use crate::cli::safe::SafeWriter;
use crate::cli::terminal::is_escaped;
use crate::cli::{CommandResult, Failure, say};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::known::Warning;
use crate::preview::{self, Input, Part, Policy, Preview, Status, Stream, Totals};
use crate::source::{self, Change, MapView};
use crate::text::units;

/// Kept text is decoded and written in pieces of this many bytes.
const PIECE: usize = 1 << 20;

pub(crate) fn run(config: &Config, args: &PreviewArgs) -> CommandResult {
    args.saving.refuse_unless_saved(&args.file)?;
    let opened = input::open(config, &args.file, &args.look)?;
    args.look.refuse_for(&opened.resolve(config, &args.look.overrides())?.policy)?;
    print(config, opened, &args.look.overrides(), args.form.form())
}

/// Plans a preview of an open output and prints it.
pub(crate) fn print(
    config: &Config,
    mut opened: OpenInput,
    overrides: &Overrides,
    form: TextForm,
) -> CommandResult {
    let EffectivePolicy { policy, limits_from, warnings, store_warnings, .. } =
        opened.resolve(config, overrides)?;
    warnings.iter().for_each(|warning| say(warning));
    opened.source.wait();
    if let Some(error) = opened.source.error() {
        return Err(Failure::Failed(format!("{}: {error}", opened.name)).into());
    }
    opened.warn_if_cut_short();
    let view = opened.source.view();
    let (totals, preview) = plan(&opened, &view, &policy, form)?;
    let input = opened.input(&view, &totals);
    // Whoever pages through a file knows that there is more, and would otherwise be warned of it at every window.
    let store = if policy.offset_key().is_some() { &[][..] } else { &store_warnings };
    write(&preview, &input, &policy, (&limits_from.to_string(), store), form)?;
    if matches!(opened.source.refresh(), Change::Truncated | Change::Replaced) {
        let words =
            format!("{}: cut or rewritten meanwhile; this preview may be of neither state", opened.name);
        return Err(Failure::Failed(words).into());
    }
    if preview.is_to_be_saved() && form != TextForm::Json {
        opened.warn_if_not_saved();
    }
    match preview.status {
        Status::Ok => Ok(()),
        Status::Crashed(words) => {
            Err(Failure::Crashed(format!("the agent itself crashes on this output: {words}")).into())
        }
    }
}

/// Writes a preview to standard output in the given form, and warnings to standard error, including those of the store.
/// JSON also says where the limits come from.
pub(crate) fn write(
    preview: &Preview,
    input: &Input,
    policy: &Policy,
    (limits_from, store): (&str, &[Warning]),
    form: TextForm,
) -> anyhow::Result<()> {
    if form != TextForm::Json {
        let warnings = Warning::of(policy.warnings(), store, preview.extent(input));
        warnings.iter().for_each(|warning| say(&format!("{}: {}", policy.name(), warning.text)));
    }
    match form {
        TextForm::Json => json(preview, input, policy, limits_from, store)?,
        TextForm::Text if is_escaped(&io::stdout()) => {
            to_terminal(preview, input, crate::fs::patient::stdout())?
        }
        TextForm::Text | TextForm::Raw => exact(preview, input, crate::fs::patient::stdout())?,
    }
    Ok(())
}

/// Writes a preview to standard error as text.
pub(crate) fn write_to_stderr(preview: &Preview, input: &Input, form: TextForm) -> io::Result<()> {
    match form {
        TextForm::Text if is_escaped(&io::stderr()) => to_terminal(preview, input, io::stderr().lock()),
        TextForm::Text | TextForm::Raw | TextForm::Json => exact(preview, input, io::stderr().lock()),
    }
}

fn plan(
    opened: &OpenInput,
    view: &MapView,
    policy: &Policy,
    form: TextForm,
) -> anyhow::Result<(Totals, Preview)> {
    let count = |stream, want| (stream == Stream::Stdout).then(|| source::count(view, want));
    let planned =
        preview::plan_counting(&opened.input(view, &Totals::unknown()), policy, form.counts(), count);
    let counted = planned.map_err(|error| Failure::Failed(error.to_string()))?;
    Ok((counted.totals.stdout, counted.preview))
}

fn json(
    preview: &Preview,
    input: &Input,
    policy: &Policy,
    limits_from: &str,
    store: &[Warning],
) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    crate::cli::json(&mut out, &preview::report(preview, input, policy, limits_from, store))?;
    Ok(out.flush()?)
}

/// Writes the preview byte for byte; kept text goes piece by piece, so that memory stays small.
fn exact(preview: &Preview, input: &Input, out: impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for part in &preview.parts {
        let Part::Kept { source, range, decoding } = part else {
            out.write_all(part.text(input).as_bytes())?;
            continue;
        };
        let bytes = input.stream(*source).bytes;
        let mut at = range.start;
        while at < range.end {
            let end = piece_end(bytes, at, range.end);
            out.write_all(decoding.decode(bytes.get(at..end).unwrap_or_default()).as_bytes())?;
            at = end;
        }
    }
    out.flush()
}

/// Returns the end of the piece that starts at `at`: on a character boundary, and at most `end`.
fn piece_end(bytes: &[u8], at: usize, end: usize) -> usize {
    match at + PIECE {
        near if near >= end => end,
        near => units::element_start(bytes, near).max(at + 1),
    }
}

/// Writes the preview escaped: nothing goes to a terminal raw.
fn to_terminal(preview: &Preview, input: &Input, out: impl Write) -> io::Result<()> {
    let mut safe = SafeWriter::new(io::BufWriter::new(out));
    exact(preview, input, &mut safe)?;
    safe.end()
}
