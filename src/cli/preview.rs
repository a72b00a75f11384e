//! `overspill preview` and `overspill read`: print what the model would get of an output, or of a window of a file.

use std::io::{self, Write};
use std::ops::Range;

use anyhow::{anyhow, bail};

use crate::base::provenance::{Certainty, Warning};
use crate::cli::args::{PolicyArgs, PreviewArgs, ReadArgs, TextForm};
use crate::cli::input::{self, NamedItem, OpenInput};
use crate::cli::sessions::show::NOT_SENT;
use crate::cli::sessions::{SelectedSession, show};
use crate::cli::terminal::SafeWriter;
use crate::cli::{CommandResult, Failure, print_json, say, terminal, usage};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::preview::{
    self, Counts, Decoding, Input, InputContext, Output, ParamRole, Part, Policy, Preview, Report, Status,
    Stream, Totals,
};
use crate::session::sent::NotSentReason;
use crate::source::{self, MapView};

/// Outputs up to this many bytes are counted before they are planned.
const MAX_COUNTED_FIRST: usize = 1 << 20;

pub(crate) fn run(config: &Config, args: &PreviewArgs) -> CommandResult {
    args.saving.refuse(&args.file)?;
    let form = args.form.form();
    let named = input::find_call(config, &args.file, |_| true)?;
    if let NamedItem::Recorded(found) = &named
        && found.call().is_some()
        && args.policy_args.first_given().is_none()
    {
        // What the model got is recorded; another policy or limit asks what it would get.
        return print_recorded(config, found, form);
    }
    let opened = input::open_named(config, named, &args.policy_args)?;
    let by = opened.resolve(config, &args.policy_args.overrides())?;
    args.policy_args.refuse_for(&by.policy)?;
    print(opened, by, form)
}

pub(crate) fn read(config: &Config, args: &ReadArgs) -> CommandResult {
    let (form, named) = (args.form.form(), input::find(config, &args.file)?);
    let asks = args.offset.or(args.limit).is_some() || args.policy_args.first_given().is_some();
    let found = if let NamedItem::Recorded(found) = &named { Some(found) } else { None };
    if let Some(found) = found.filter(|found| !asks && found.call().is_some())
        && let (_, rest) = found.output()?
        && rest.why_missing().is_some()
    {
        // No file is left that a tool could read.
        if form != TextForm::Json {
            input::say_text_only(found, &rest);
        }
        return print_recorded(config, found, form);
    }
    let recorded = found.map(|found| found.inspector().transcript.agent.to_owned());
    let opened = input::open_named(config, named, &args.policy_args)?;
    let mut overrides = args.policy_args.overrides();
    let read_tool = |agent: &str| Some(format!("{agent}/read")).filter(|name| config.catalog.knows(name));
    let of_store = || Some(opened.policy_by(config, &Overrides::default()).ok()?.policy.agent().to_owned());
    let policy = overrides.policy.get_or_insert_with(|| {
        let agent = recorded.or_else(of_store).filter(|agent| agent != "basic").unwrap_or_default();
        read_tool(&agent).unwrap_or_else(|| {
            if !agent.is_empty() {
                say(&format!("the read tool of {agent} is not known; shown as opencode/read gives it"));
            }
            "opencode/read".to_owned()
        })
    });
    // An agent's name alone means a tool called so.
    if let Some(of_agent) = read_tool(policy).filter(|_| overrides.tool.is_none()) {
        *policy = of_agent;
    }
    set_window(config, &mut overrides, args)?;
    let by = opened.resolve(config, &overrides)?;
    args.policy_args.refuse_for(&by.policy)?;
    print(opened, by, form)
}

/// Sets the window, two parameters that each policy names in its own way.
fn set_window(config: &Config, overrides: &mut Overrides, args: &ReadArgs) -> CommandResult {
    let named =
        Overrides { policy: overrides.policy.clone(), tool: overrides.tool.clone(), ..Overrides::default() };
    let policy = config.resolve(&named, None).map_err(usage)?.policy;
    let (Some(offset), Some(limit)) = (policy.key(ParamRole::Offset), policy.key(ParamRole::Limit)) else {
        let name = policy.name();
        let tools: Vec<&str> = config.catalog.names().filter(|name| name.ends_with("/read")).collect();
        let remedy = format!("try -p with {}, or `overspill preview -p {name}`", tools.join(", "));
        return Err(usage(format!("{name} is not a read tool; {remedy}")));
    };
    for (key, value) in [(offset, args.offset), (limit, args.limit)] {
        overrides.set.extend(value.map(|value| (key.to_owned(), value.to_string())));
    }
    Ok(())
}

fn print(mut opened: OpenInput, by: EffectivePolicy, form: TextForm) -> CommandResult {
    let EffectivePolicy { policy, limits_from, certainty, is_partial, warnings, mut store_warnings, .. } = by;
    warnings.iter().for_each(|warning| say(warning));
    let (view, totals, mut preview) = opened.read_steadily(&mut |context, view| {
        let (totals, preview) = plan(context, view, &policy, form)?;
        Ok((view.clone(), totals, preview))
    })?;
    let input = opened.context.input(Output { bytes: &view, totals: &totals });
    // A reader of windows knows that there is more, and would otherwise be warned at every window.
    if policy.has_window() {
        store_warnings.clear();
    }
    let cut_short = opened.cut_short();
    if form == TextForm::Json {
        if is_partial || cut_short.is_some() {
            // How much there is of it is not known.
            preview.total = Counts::default();
        }
        let of_input = warnings.into_iter().chain(cut_short);
        store_warnings.extend(of_input.map(Warning::always));
    } else if let Some(words) = cut_short {
        say(&words);
    }
    let (preview, policy, store) = (&preview, Some(&policy), &store_warnings[..]);
    let limits_from = &limits_from.to_string();
    write(&Report { preview, input: &input, policy, certainty, limits_from, store }, form)?;
    // What was printed cannot be taken back.
    if !opened.source.is_still(view.generation()).unwrap_or(false) {
        bail!("{}: cut or rewritten meanwhile; this preview may be of neither state", opened.name);
    }
    if preview.has_notice_with(&opened.context.saved_as) && form != TextForm::Json {
        opened.warn_if_not_saved();
    }
    match &preview.status {
        Status::Ok => Ok(()),
        Status::Crashed(words) => Err(Failure::Crashed(words.clone()).into()),
    }
}

fn plan(
    context: &InputContext<MapView>,
    view: &MapView,
    policy: &Policy,
    form: TextForm,
) -> anyhow::Result<(Totals, Preview)> {
    // A plan that lacks a total is made again once that is counted; of a small output, counting takes less time.
    let totals = if view.len() <= MAX_COUNTED_FIRST { Totals::count(view) } else { Totals::unknown() };
    let input = context.input(Output { bytes: view, totals: &totals });
    let count = |stream, want| (stream == Stream::Stdout).then(|| source::count(view, want));
    let planned = preview::plan_counting(&input, policy, form.counts(), count);
    let counted = planned.map_err(|error| anyhow!(error.to_string()))?;
    Ok((counted.totals.stdout, counted.preview))
}

/// Prints what the model got of a call, as it is recorded; in JSON as the call's policy describes it if that makes the same.
fn print_recorded(config: &Config, found: &SelectedSession, form: TextForm) -> CommandResult {
    if form != TextForm::Json {
        return show::print(config, found, None, form);
    }
    let text = found.text()?;
    let (mut opened, rest) = input::open_call(config, found, &PolicyArgs::default())?;
    let policy = opened.policy.clone();
    let (view, totals, mut preview) = opened.read_steadily(&mut |context, view| {
        let planned = policy.as_ref().and_then(|policy| plan(context, view, policy, TextForm::Json).ok());
        if let Some((totals, made)) = planned
            && made.text(&context.input(Output { bytes: view, totals: &totals })) == text
        {
            return Ok((view.clone(), totals, made));
        }
        let totals = Totals::count(view);
        let recorded = preview::recorded(&text, &context.input(Output { bytes: view, totals: &totals }));
        Ok((view.clone(), totals, recorded.map_err(|error| anyhow!(error.to_string()))?))
    })?;
    if rest.why_missing().is_some() {
        let (call, of) = (found.require_call()?, found.inspector());
        let best = of.best(call);
        let added = best
            .first
            .as_ref()
            .map(|first| of.examiner.verifier.added_in(of.transcript, (call, first), &text));
        preview.parts = parts_of(&text, &added.unwrap_or_default());
        preview.truncated = call.is_cut();
        (preview.total, preview.kept) = Default::default();
    }
    if preview.truncated && preview.truncated_by.is_none() {
        // Around the text of a policy the agent may have put more, as reminders.
        preview.truncated_by = found.inspector().verify(found.require_call()?).cut_by().map(|(by, _)| by);
    }
    let by = opened.policy_by(config, &Overrides::default());
    let mut warnings = by.map(|by| by.store_warnings).unwrap_or_default();
    if let Some(NotSentReason::Message(why)) = found.inspector().best(found.require_call()?).not_sent {
        warnings.push(Warning::always(format!("{NOT_SENT}: {why}")));
    }
    let input = opened.context.input(Output { bytes: &view, totals: &totals });
    print_json(&Report {
        preview: &preview,
        input: &input,
        policy: policy.as_ref(),
        certainty: Certainty::Recorded,
        limits_from: "record",
        store: &warnings,
    })
}

/// Returns the parts of a recorded text, of which the agent added these ranges, in order.
fn parts_of(text: &str, added: &[Range<usize>]) -> Vec<Part> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for notice in added.iter().chain([&(text.len()..text.len())]) {
        let range = at..notice.start;
        at = notice.end;
        let kept = || Part::Kept { source: Stream::Stdout, range: range.clone(), decoding: Decoding::Lossy };
        parts.extend((!range.is_empty()).then(kept));
        parts.extend((!notice.is_empty()).then(|| Part::Notice { text: text[notice.clone()].to_owned() }));
    }
    parts
}

/// Writes the preview, and warnings to standard error.
pub(crate) fn write(report: &Report, form: TextForm) -> CommandResult {
    let Report { preview, input, policy, store, .. } = *report;
    if let Some(policy) = policy.filter(|_| form != TextForm::Json) {
        let warnings = Warning::applying(policy.warnings(), store, preview.extent(input));
        warnings.iter().for_each(|warning| say(&format!("{}: {}", policy.name(), warning.text)));
    }
    match form {
        TextForm::Json => print_json(report),
        form => Ok(write_to(SafeWriter::in_form(form), preview, input)?),
    }
}

pub(crate) fn write_to_stderr(preview: &Preview, input: &Input, form: TextForm) -> io::Result<()> {
    let show = terminal::show(&io::stderr()).filter(|_| form != TextForm::Raw);
    write_to(SafeWriter::new(io::stderr(), show), preview, input)
}

/// Kept text goes piece by piece, so that memory stays small.
fn write_to<W: Write>(mut out: SafeWriter<W>, preview: &Preview, input: &Input) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(&mut out);
    let mut write = |text: &str| buffered.write_all(text.as_bytes());
    preview.parts.iter().try_for_each(|part| part.each_piece(input, &mut write))?;
    buffered.flush()?;
    drop(buffered);
    out.end()
}
