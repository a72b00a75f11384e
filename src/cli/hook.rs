//! `overspill hook` answers an agent's hook. `overspill setup` adds the hook to the agent's own file, or takes it away: the
//! change is shown, asked for, and tried.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{anyhow, bail};
use similar::{ChangeTag, TextDiff};

use crate::base::env::Env;
use crate::config::Config;
use crate::hook::agent::{self, SetupRequest};
use crate::hook::file::AgentFile;
use crate::hook::{self, HookAgent, edit, hooks_json, trial};
use crate::source;
use crate::text::label::label;

use super::args::{HookArgs, SetupArgs};
use super::terminal::{self, Consent, SafeWriter, ask};
use super::{CommandResult, print_json, say, usage};

pub(super) fn answer(config: &Config, args: &HookArgs) -> CommandResult {
    if io::stdin().is_terminal() {
        let remedy = "`overspill setup AGENT` installs it, Ctrl-C gives up";
        say(&format!("waiting for what an agent passes to a hook; {remedy}"));
    }
    source::release_code();
    // If it is closed nothing was passed.
    let Ok(mut stdin) = source::stdin() else { return Ok(()) };
    let answer = hook::answer(config, args.agent, &mut stdin, args.replace)?;
    answer.map_or(Ok(()), |answer| print_json(&answer))
}

pub(super) fn set_up(args: &SetupArgs) -> CommandResult {
    let agent = args.agent;
    if agent != HookAgent::ClaudeCode && (args.replace || args.capture) {
        return Err(usage("--replace and --capture are for claude-code alone; leave them out"));
    }
    let program = agent::program(&Env::from_process()).map_err(anyhow::Error::msg)?;
    let file = find(args)?;
    let mut wanted =
        SetupRequest { program, file: file.named.clone(), replace: args.replace, capture: args.capture };
    hooks_json::keep_options(file.text.as_deref().unwrap_or_default(), &mut wanted);
    let new = plan_text(args, &file, &wanted)?;
    if args.print {
        let mut out = SafeWriter::stdout();
        out.write_all(new.as_deref().unwrap_or_default().as_bytes())?;
        return Ok(out.end()?);
    }
    if new != file.text {
        show(&file, new.as_deref())?;
        if Consent::from_flags(false, args.yes, true, "add --yes to write this")? == Consent::Ask
            && !ask("Write this?")?
        {
            return Ok(writeln!(terminal::stdout(), "nothing was changed")?);
        }
        let is_first = || file.text.as_ref().is_none_or(|text| edit::is_without(agent, text, &wanted));
        file.write(new.as_deref(), !args.remove && is_first()).map_err(failed(&file.path))?;
        if args.remove {
            file.remove_backup().map_err(failed(&file.backup_path()))?;
        }
    }
    report(args, &file, new != file.text, &wanted)?;
    if args.remove {
        return Ok(());
    }
    if let Some(setting) = edit::switched_off(agent, new.as_deref().unwrap_or_default()) {
        say(&format!("{} runs no hook while that file has {setting}; take it out", agent.name()));
    }
    check(agent, &file.path, &wanted)
}

fn check(agent: HookAgent, file: &Path, wanted: &SetupRequest) -> CommandResult {
    let command = agent.command(wanted);
    if agent == HookAgent::Codex {
        match trial::trust(&command, file) {
            Some(()) => writeln!(terminal::stdout(), "Codex trusts the hook")?,
            None => say("Codex does not run the hook until you trust it: enter /hooks in Codex"),
        }
    }
    let config = Config::load(Env::from_process());
    if let Some(file) = config.file_path.filter(|_| !config.file.hook.notes) {
        say(&format!("the hook gives no note while notes = false in [hook] of {}", file.display()));
    }
    trial::try_hook(agent, &command)
        .map_err(|came| anyhow!("the hook gave no note, but {came}; run `{command}` to see why"))?;
    writeln!(terminal::stdout(), "tested: the hook gives its note on a sample output")?;
    if wanted.capture {
        trial::try_prefix(&wanted.program)
            .map_err(|came| anyhow!("a sample command through `overspill -c`: {came}"))?;
        let words = "tested: a sample command runs through `overspill -c`, and a copy is saved";
        writeln!(terminal::stdout(), "{words}")?;
    }
    Ok(())
}

fn find(args: &SetupArgs) -> anyhow::Result<AgentFile> {
    let env = Env::from_process();
    let (path, project) = if args.project {
        let here = std::env::current_dir()?;
        let name = args.agent.project_file().ok_or_else(|| {
            let agent = args.agent.name();
            usage(format!("{agent} is not known to read hooks in a project; leave --project out"))
        })?;
        (here.join(name), Some(here))
    } else if env.home().as_os_str().is_empty() {
        bail!("HOME is unset or relative; set it to your home directory");
    } else {
        (args.agent.file(&env), None)
    };
    AgentFile::read(&path, project.as_deref()).map_err(failed(&path))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> anyhow::Error {
    move |error| anyhow!("{}: {error}", path.display())
}

fn plan_text(args: &SetupArgs, file: &AgentFile, wanted: &SetupRequest) -> anyhow::Result<Option<String>> {
    let backup = || file.backup().map_err(failed(&file.backup_path()));
    let new = match &file.text {
        Some(text) if args.remove => edit::before(args.agent, text, backup()?.as_deref(), wanted),
        // Whoever deleted it after setup gets back what was in it before.
        None if args.remove => Ok(backup()?.filter(|text| edit::is_without(args.agent, text, wanted))),
        text => edit::with(args.agent, text.as_deref(), wanted).map(Some),
    };
    new.map_err(|why| {
        let path = file.path.display();
        if !args.remove {
            // Without what it may have failed for.
            let sample = SetupRequest { capture: false, ..wanted.clone() };
            let (mut out, lines) = (SafeWriter::stdout(), edit::with(args.agent, None, &sample));
            let _ = out.write_all(lines.unwrap_or_default().as_bytes()).and_then(|()| out.end());
        }
        let remedy = match (args.remove, wanted.capture) {
            (true, _) => "take overspill's lines out by hand",
            (_, true) => "leave --capture out, or add the lines above by hand",
            _ => "add the lines above by hand",
        };
        anyhow!("{path}: {why}; it is left alone: {remedy}")
    })
}

fn show(file: &AgentFile, new: Option<&str>) -> io::Result<()> {
    let mut out = terminal::stdout();
    writeln!(out, "{}", label(file.path.as_os_str().as_encoded_bytes()))?;
    for line in difference(file.text.as_deref().unwrap_or_default(), new.unwrap_or_default()) {
        let (tag, text) = line.unwrap_or((ChangeTag::Equal, "..."));
        let (sign, colour) = match tag {
            ChangeTag::Equal => (' ', None),
            ChangeTag::Insert => ('+', Some(anstyle::AnsiColor::Green)),
            ChangeTag::Delete => ('-', Some(anstyle::AnsiColor::Red)),
        };
        let style =
            anstyle::Style::new().fg_color(colour.filter(|_| terminal::table_colour()).map(Into::into));
        let text = label(text.replace('\t', "    ").as_bytes());
        writeln!(out, "{style}{}{style:#}", format!("{sign} {text}").trim_end())?;
    }
    out.flush()
}

/// Returns the lines by which two texts differ, with some around them; `None` where lines that are the same are left out.
fn difference<'a>(old: &'a str, new: &'a str) -> Vec<Option<(ChangeTag, &'a str)>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let (mut shown, mut end) = (Vec::new(), 0);
    for group in diff.grouped_ops(3) {
        let lines = group.iter().flat_map(|op| diff.iter_changes(op));
        let is_gap = group.first().is_some_and(|op| op.old_range().start > end);
        shown.extend(is_gap.then_some(None));
        shown.extend(lines.map(|change| Some((change.tag(), change.value()))));
        end = group.last().map_or(end, |op| op.old_range().end);
    }
    shown.extend((end < old.len()).then_some(None));
    shown
}

fn report(args: &SetupArgs, file: &AgentFile, is_changed: bool, wanted: &SetupRequest) -> io::Result<()> {
    let path = label(file.path.as_os_str().as_encoded_bytes());
    let done = match (is_changed, args.remove) {
        (true, true) if file.text.is_none() => "put back",
        (true, true) => "removed from",
        (true, false) => "written to",
        (false, true) => "not in",
        (false, false) => "already in",
    };
    let options = [(", with --replace", wanted.replace), (", with --capture", wanted.capture)];
    let options = options.map(|(words, is_set)| if is_set && !args.remove { words } else { "" }).concat();
    writeln!(terminal::stdout(), "{done} {path}{options}")?;
    if args.remove && file.backup_path().exists() {
        say(&format!("{} is left, from an earlier setup or of your own", file.backup_path().display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diff_shows_changed_lines_with_context() {
        use ChangeTag::{Delete, Equal, Insert};
        let old = "1\n2\n3\n4\n5\n6\n";
        let around =
            [(Equal, "2"), (Equal, "3"), (Equal, "4"), (Delete, "5"), (Insert, "five"), (Equal, "6")];
        let expected: Vec<_> = std::iter::once(None).chain(around.map(Some)).collect();
        assert_eq!(difference(old, "1\n2\n3\n4\nfive\n6\n"), expected);
        assert_eq!(difference(old, old), [None]);
        assert_eq!(difference("", "a\n"), [Some((Insert, "a"))]);
    }
}
