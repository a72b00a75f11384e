//! `overspill FILE` and plain `overspill`: opens the screens; without a terminal for them, copies the file.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use crate::config::{Config, RequiredSettings};
use crate::output::Target;
use crate::session::spill::CitingCall;
use crate::source::Source;
use crate::text::cells::Show;
use crate::text::label::{SafeText, columns_of, label, write_safe};

use super::args::{Args, CallsArgs, ListArgs, PolicyArgs, TextForm};
use super::input::{self, NamedItem};
use super::places::NamedOutputs;
use super::screens::{Link, Startup, show, target};
use super::sessions::SelectedSession;
use super::terminal::{self, DUMB, SafeWriter, colour, has_screen, is_ascii};
use super::{CommandResult, say, sessions, suggest, usage};

/// A copy needs no settings, and input that is piped in is saved whatever is wrong with them.
pub(crate) fn need(args: &Args) -> RequiredSettings {
    let is_stdin = args.files == ["-"] || args.files.is_empty() && !args.demo;
    let is_piped = !io::stdin().is_terminal() && is_stdin;
    if has_screen() && !is_piped { RequiredSettings::Screens } else { RequiredSettings::Nothing }
}

pub(crate) fn run(config: Config, args: &Args) -> CommandResult {
    let Args { files, policy_args, saving, one_screen, demo, .. } = args;
    let NamedOutputs { words, places, first } = NamedOutputs::parse(files);
    let place = first.as_ref().map(|place| label(place.as_encoded_bytes()));
    let flag = policy_args.first_given().map(str::to_owned);
    let words = match &words[..] {
        _ if *demo => &[][..],
        [] if first.is_some() && (io::stdin().is_terminal() || !io::stdout().is_terminal()) => {
            let place = place.unwrap_or_default();
            return Err(usage(format!("{place} says where to open a file, and no file is named")));
        }
        [] if !io::stdin().is_terminal() => &["-".into()],
        [] if !has_screen() => {
            if io::stdout().is_terminal() {
                say(&format!("{DUMB}; showing `overspill list` instead"));
            }
            return super::stores::list::run(&config, &ListArgs::default());
        }
        files => files,
    };
    let is_piped = words == ["-"] && !io::stdin().is_terminal();
    if is_piped && has_screen() {
        return super::run::live::stdin(config, policy_args, saving, places);
    }
    if is_piped && io::stdout().is_terminal() {
        saving.refuse(OsStr::new("-")).unwrap_or_else(|error| say(&error.to_string()));
        return copy_stdin(&config, &Vec::from_iter(flag.into_iter().chain(place)));
    }
    words.iter().try_for_each(|word| saving.refuse(word))?;
    demo.then(|| saving.refuse(OsStr::new("--demo"))).transpose()?;
    let named = words.iter().map(|word| input::find_to_open(&config, word)).collect::<Result<Vec<_>, _>>();
    let mut named = named.map_err(|error| suggest::name_subcommand(error, words))?;
    if let [NamedItem::Recorded(_)] = &named[..]
        && let Some(NamedItem::Recorded(found)) = named.pop()
    {
        refuse(flag.or(place), "a session or a call is shown as it was recorded")?;
        return recorded(config, &found);
    }
    let opened: Vec<_> = named
        .into_iter()
        .map(|named| input::open_named(&config, named, policy_args))
        .chain(demo.then(|| input::open_sample(policy_args)))
        .collect::<Result<_, _>>()
        .map_err(|error| suggest::name_subcommand(error, words))?;
    if !has_screen() {
        refuse(flag, UNCHANGED)?;
        refuse(place, FROM_START)?;
        return opened.into_iter().try_for_each(|opened| copy(opened.source));
    }
    if let [opened] = &opened[..]
        && *one_screen
        && let Some(text) = fitting_text(&opened.source)
    {
        return Ok(crate::cli::terminal::stdout().write_all(&text)?);
    }
    let overrides = policy_args.overrides();
    let targets: Vec<_> =
        opened.into_iter().map(|opened| target(&config, opened, &overrides)).collect::<Result<_, _>>()?;
    let asked = |target: &Target| target.under.as_deref().unwrap_or(&target.subject.policy).policy.clone();
    targets.iter().try_for_each(|target| policy_args.refuse_for(&asked(target)))?;
    show(config, Startup { targets, places, ..Startup::default() })
}

/// Opens the calls of a session, or a call among them; without screens prints them, or what the model got for the call.
fn recorded(config: Config, found: &SelectedSession) -> CommandResult {
    let link = match found.call() {
        None if !has_screen() => {
            return sessions::list::list_calls(&config, found, &CallsArgs::default(), false);
        }
        Some(_) if !has_screen() => return sessions::show::print(&config, found, None, TextForm::Text),
        None => Link::Session { file: Arc::new(found.file.clone()), title: SafeText::default() },
        Some(call) => Link::OpenCall(Box::new(CitingCall::new(&found.file, found.opened.transcript(), call))),
    };
    show(config, Startup { list: Some(link), ..Startup::default() })
}

/// Why an option, or a place in a file, has no effect where the file is copied.
const UNCHANGED: &str =
    "without a terminal the output is copied unchanged; `overspill preview` prints what the model got";
const FROM_START: &str =
    "without a terminal the output is copied from its beginning; `overspill read --offset N` prints a part";

fn refuse(unused: Option<String>, why: &str) -> anyhow::Result<()> {
    unused.map_or(Ok(()), |unused| Err(usage(format!("{unused} has no effect here: {why}"))))
}

/// Copies standard input to a terminal without screens, whatever was asked for: a pager must not lose what is piped in.
fn copy_stdin(config: &Config, unused: &[String]) -> CommandResult {
    let without = if unused.is_empty() { "" } else { &format!(", without {}", unused.join(" and ")) };
    say(&format!("{DUMB}; copying standard input{without}"));
    copy(input::open(config, OsStr::new("-"), &PolicyArgs::default())?.source)
}

/// Copies an output while it arrives, as `less` does: unchanged, except that a terminal without screens gets it escaped.
fn copy(source: Source) -> CommandResult {
    let show = terminal::show(&io::stdout()).filter(|_| io::stdout().is_terminal());
    let mut out = SafeWriter::new(crate::base::fs::blocking::stdout(), show);
    input::copy(source, &mut out)?;
    Ok(out.end()?)
}

/// A longer output is not tried for one screen: no screen is as large, in bytes.
const MAX_ON_SCREEN: usize = 1 << 20;

/// `-F`: returns a complete output that fits on the screen together with a prompt.
fn fitting_text(source: &Source) -> Option<Vec<u8>> {
    let view = source.view();
    let (columns, rows) = crossterm::terminal::size().ok()?;
    if !source.is_complete() || view.len() > MAX_ON_SCREEN {
        return None;
    }
    fits(&view, (columns.into(), rows.into())).then(|| render(&view, colour()))
}

fn fits(bytes: &[u8], (columns, rows): (usize, usize)) -> bool {
    let text = String::from_utf8(render(bytes, false)).unwrap_or_default();
    let taken = text.lines().map(|line| columns_of(line).div_ceil(columns.max(1)).max(1));
    taken.sum::<usize>() < rows && (!text.is_empty() || bytes.is_empty())
}

/// Returns an output as Spill shows it, with colours and no other escape sequence, its last line ended.
fn render(bytes: &[u8], colour: bool) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let show = Show { ascii: is_ascii(&io::stdout()), ..Show::PAGER };
    let _ = write_safe(&mut out, bytes, &show, colour);
    if !matches!(out.last(), None | Some(b'\n')) {
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitting_output_leaves_a_row_for_the_prompt() {
        assert!(fits(b"", (80, 24)));
        assert!(fits("x\n".repeat(23).as_bytes(), (80, 24)));
        assert!(!fits("x\n".repeat(24).as_bytes(), (80, 24)));
        assert!(fits("x".repeat(80 * 23).as_bytes(), (80, 24)));
        assert!(!fits("x".repeat(80 * 23 + 1).as_bytes(), (80, 24)));
        assert_eq!(render(b"a\x1b]0;x\x07", true), b"a\n");
    }
}
