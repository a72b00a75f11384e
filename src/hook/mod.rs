//! Hooks of agents: after a command one tells the model what was cut, and where the rest is.
//!
//! `event` reads what an agent passes, of `input` in bounded memory, and writes the answer; `cut` knows what agents cut after
//! the hook; `note` measures a loss and words it. `edit` adds the hook to the text of an agent's `file`, and `trial` tries it.

pub(crate) mod agent;
mod cut;
pub(crate) mod edit;
mod event;
pub(crate) mod file;
pub(crate) mod hooks_json;
mod input;
mod note;
mod pieces;
pub(crate) mod trial;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use regex::Regex;
use serde_json::Value;

use crate::base::human::{lines, thousands};
use crate::config::{Config, MAX_NOTE, Overrides};
use crate::corpus::is_known;
use crate::preview::Policy;
use crate::session::json::Tape;
use crate::source::{Buffer, MapView, Source, ViewSupply, measure};
use crate::store::{Record, now};
use crate::text::label;
use crate::text::units::{Decoding, TotalsMask, element_start};

pub(crate) use agent::HookAgent;
use event::{HookEvent, Phase};
use input::{ShortJson, ToolText};
use note::HookOutput;

/// Answers what an agent passes to its hook; `None` if the model got everything, or nothing is known. With `replaces`, the
/// text of a long output takes the place of its preview where the agent allows that.
pub(crate) fn answer(
    config: &Config,
    agent: HookAgent,
    passed: &mut impl Read,
    replaces: bool,
) -> io::Result<Option<Value>> {
    let Some(input) = ShortJson::read(passed)? else { return Ok(None) };
    let mut tape = Tape::default();
    let event = HookEvent::new(agent, &input, &mut tape);
    let event = event.filter(|event| event.phase() != Phase::Other && !is_ignored(config, &event.command));
    Ok(event.and_then(|event| answer_event(config, &event, replaces)))
}

/// Whether a command gets no note: the configuration ignores it, or it runs `overspill run`, which prints a notice of its own.
fn is_ignored(config: &Config, command: &str) -> bool {
    let is_it = |named: &String| {
        let rest = command.trim_start().strip_prefix(named.trim());
        rest.is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
    };
    config.file.hook.ignore.iter().any(is_it) || runs_overspill(command)
}

/// Whether a simple command of a shell's line, outside of quotes and here-documents, is `overspill run`. Where that is not
/// sure it is not: a note too many costs some words, but without one the model never learns what it lost.
fn runs_overspill(line: &str) -> bool {
    const RUN: &str = r#"(?sx) ^ (?: \\. | '[^']*' | "(?:\\.|[^"\\])*" | [^'"\\\#] )*? (?: ^ | [;&|(\n] ) (?: \s | \\\n )*
        (?: (?: \w+=(?:'[^']*'|\S)* | -\S+ | \d\S* | [!{] | if | then | else | do | env | exec | sudo | time | timeout ) \s+ )*
        (?: \S*/ )? overspill \s+ run \s"#;
    let line = line.split("<<").next().filter(|line| line.contains("overspill"));
    line.is_some_and(|line| Regex::new(RUN).is_ok_and(|run| run.is_match(line)))
}

fn answer_event(config: &Config, event: &HookEvent, replaces: bool) -> Option<Value> {
    let hook = HookContext { config, event };
    let text = event.text();
    let saved = event.saved_as().or_else(|| hook.find_copy()).or_else(|| hook.cited_path(text.as_ref()?));
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let saved = saved.filter(|path| is_file(path) && is_known(config, path, event.records.as_deref()));
    if replaces && event.is_of_shell() && event.phase() == Phase::After {
        let text = |path| hook.of_file(path, &|output| note::in_place_of_preview(config, output, path));
        let answer = saved.as_deref().and_then(text).and_then(|text| event.with_text(&text));
        if answer.is_some() {
            return answer;
        }
    }
    let note = match saved {
        Some(path) => hook.of_file(&path, &|output| hook.note_of_file(output, &path, text.as_ref())),
        None if !event.is_of_shell() && !event.is_of_mcp() => None,
        None => match (event.agent, event.phase()) {
            (HookAgent::ClaudeCode, Phase::Failed) => hook.note_of_failure(&text?),
            (_, Phase::After) if event.is_of_mcp() => hook.note_of_uncut(),
            (HookAgent::Codex, Phase::After) => hook.note_of_codex(&text?),
            (HookAgent::GeminiCli, Phase::After) => hook.note_of_gemini(&text?),
            _ => None,
        },
    };
    note.filter(|_| config.file.hook.notes).map(|note| event.with_note(&note))
}

/// Maximum number of records that are searched for a copy, newest first, and the maximum age of that copy.
const MAX_RECORDS: usize = 32;
const MAX_AGE: SignedDuration = SignedDuration::from_secs(60);

/// How near to an end of a text a notice is the agent's own and no quotation, in bytes.
const NEAR: usize = 600;

/// How much of either end of a text is searched for a notice, in bytes.
const MAX_END: usize = 16 << 10;

#[derive(Clone, Copy)]
struct HookContext<'a> {
    config: &'a Config,
    event: &'a HookEvent<'a>,
}

impl HookContext<'_> {
    fn most(self) -> usize {
        self.config.file.hook.limit.min(MAX_NOTE) as usize
    }

    /// Returns the copy that `overspill -c` made of the output of a failed command, which the agent does not save.
    fn find_copy(self) -> Option<PathBuf> {
        if self.event.phase() != Phase::Failed || self.event.agent != agent::OF_PREFIX {
            return None;
        }
        let env = &self.config.env;
        let mut names = Record::names(env).into_iter().rev().take(MAX_RECORDS);
        let since = now() - MAX_AGE;
        names.find_map(|name| match Record::read(env, &name)? {
            Record::Run(run)
                if run.agent.as_deref() == Some(agent::OF_PREFIX.as_str())
                    && run.command.last() == Some(&self.event.command)
                    && run.end > since =>
            {
                Some(run.path.into())
            }
            _ => None,
        })
    }

    /// Returns the path in the agent's notice at an end of a text: a notice of another agent's is a quotation.
    fn cited_path(self, text: &ToolText) -> Option<PathBuf> {
        if !matches!(self.event.agent, HookAgent::QwenCode | HookAgent::CopilotCli) {
            return None;
        }
        let view = text.view(0).ok()?;
        let ends = [0..view.len().min(MAX_END), view.len().saturating_sub(MAX_END)..view.len()];
        let ends = ends.map(|end| Decoding::Lossy.decode(&view[end]));
        let names: Vec<&str> = match self.event.is_of_shell() {
            true => vec![self.event.agent.policy()],
            false => self.config.catalog.names_of(self.event.agent.as_str()).collect(),
        };
        let policies = names.into_iter().filter_map(|name| self.config.catalog.get(name).ok());
        policies.into_iter().find_map(|policy| ends.iter().find_map(|end| path_in_notice(&policy, end)))
    }

    /// Describes the output in a file by `describe`; `None` if the file changes meanwhile, other than by growing.
    fn of_file(self, path: &Path, describe: &dyn Fn(&HookOutput) -> Option<String>) -> Option<String> {
        let saved = self.event.saved_size().unwrap_or_default();
        let mut read = |source: &mut Source| {
            let view = source.view();
            let inner = self.event.inner(&view, 0);
            describe(&HookOutput { inner, size: saved.max(view.len() as u64), view })
        };
        Source::open_entry_unlocked(path).ok()?.read_steadily(&mut || true, &mut read).ok()?
    }

    fn note_of_file(self, output: &HookOutput, path: &Path, text: Option<&ToolText>) -> Option<String> {
        let name = &label::label(path.as_os_str().as_encoded_bytes());
        let (mut so_far, mut place) = ("", output.place(name));
        // Both miss the end of an output at times, as seen in runs, and do not know it.
        if self.event.is_of_shell() && matches!(self.event.agent, HookAgent::Opencode | HookAgent::QwenCode) {
            so_far = "as far as the agent read it, ";
            place = format!("What it read, which may lack the end, is in {name}");
        }
        let kept = match (self.event.agent, self.event.is_of_shell()) {
            // Nothing but where it is.
            (HookAgent::ClaudeCode, false) => Some(Vec::new()),
            // What opencode keeps of more than 100 KB depends on how it read the pipe.
            (HookAgent::Opencode, _) | (_, false) => {
                text.and_then(|text| output.shown_in(&text.view(0).ok()?))
            }
            (_, true) => None,
        };
        let kept = match kept {
            None if self.event.is_of_shell() => {
                // For a failed command, that of the file's store.
                let policy =
                    (self.event.phase() == Phase::After).then(|| self.event.agent.policy().to_owned());
                let overrides = Overrides { policy, ..Overrides::default() };
                output.kept(&self.config.resolve(&overrides, Some(path)).ok()?.policy, name)?
            }
            None => return Some(format!("overspill: you did not get all of this output.\n{place}")),
            Some(kept) => kept,
        };
        Some(output.loss(self.config, &kept).note(so_far, &place, self.most()))
    }

    /// A note on a result that the agent cuts only after the hook, as far as its limit is known.
    fn note_of_uncut(self) -> Option<String> {
        let text = self.event.uncut()?;
        // Only the beginning of a longer text is there.
        let view = text.view(0).ok().filter(|view| view.len() as u64 == text.len)?;
        let output = HookOutput { inner: 0..view.len(), size: text.len, view };
        let (agent, view) = (self.event.agent, &output.view);
        match agent {
            HookAgent::Opencode => return self.note_at_start(&output),
            HookAgent::Codex => {
                let kept = cut::kept_by_codex(&text.parts)?;
                return Some(output.loss(self.config, &kept).note_of_middle(&text.parts, self.most()));
            }
            HookAgent::QwenCode if cut::is_cut_by_qwen(&mut ViewSupply::from(view)) => return None,
            _ => {}
        }
        let head = Decoding::Lossy.decode(&view[..element_start(view, cut::MAX_HEAD)]);
        let end = cut::previewed(agent, &head, view.len(), || units_of(view))?;
        let loss = output.loss(self.config, std::slice::from_ref(&(0..end)));
        let place = match agent {
            HookAgent::ClaudeCode => {
                "The preview names the file with the whole result. It is JSON; the lines are those of the text in it."
            }
            _ => "The preview names the file with the whole result.",
        };
        Some(loss.note("if only a preview of this result reached you, ", place, self.most()))
    }

    /// Claude Code saves no output of a failed command.
    fn note_of_failure(self, text: &ToolText) -> Option<String> {
        let view = text.view(0).ok()?;
        let (left_out, may_be_more) = cut::claude_cut(&mut ViewSupply::from(&view), units_of(&view))?;
        let left_out = thousands(left_out);
        let more = match may_be_more && self.event.is_of_shell() {
            true => ", and what follows its first 30,000 bytes is gone, too: its real end may be missing",
            false => "",
        };
        let again = if self.event.is_of_shell() { AGAIN } else { "The agent keeps no copy." };
        Some(format!("overspill: {left_out} characters of this output were left out{more}. {again}"))
    }

    /// Codex saves no output at all.
    fn note_of_codex(self, text: &ToolText) -> Option<String> {
        let view = text.view(0).ok()?;
        let (notice, all) = cut::codex_cut(&mut ViewSupply::from(&view))?;
        let of = all.map(|all| format!(" of {}", lines(all))).unwrap_or_default();
        Some(format!("overspill: you did not get all of this output{of} ({notice}). {AGAIN}"))
    }

    /// Gemini CLI cuts the result after the hook, with the note at its end, and saves it: the note decides what is cut.
    fn note_of_gemini(self, text: &ToolText) -> Option<String> {
        let policy = self.config.resolve_named(self.event.agent.policy()).ok()?.policy;
        let mut first = None;
        write_to_fit(event::added_by_gemini, |filler| {
            let view = text.view(filler).ok()?;
            let inner = self.event.inner(&view, filler);
            let output = HookOutput { inner, size: text.len.max(view.len() as u64), view };
            let loss = output.next_loss(self.config, &mut first, &output.kept(&policy, "")?);
            let place = "The first line of this result names the file with the whole output.";
            Some(loss.note("", place, self.most()))
        })
    }

    /// opencode cuts an MCP result after the hook, and keeps its start: the note goes there, and takes from the limits.
    fn note_at_start(self, output: &HookOutput) -> Option<String> {
        let policy = self.config.resolve_named("opencode/output").ok()?.policy;
        let mut first = None;
        // An empty line follows it.
        let cost = |note: &str| [note.lines().count() + 1, note.len() + 2].map(|cost| cost as u64);
        write_to_fit(cost, |[lines, bytes]| {
            let mut policy = policy.clone();
            policy.set_max_lines(policy.max_lines()?.checked_sub(lines)?).ok()?;
            policy.set_max_size(policy.max_size()?.checked_sub(bytes)?).ok()?;
            let loss = output.next_loss(self.config, &mut first, &output.kept(&policy, "")?);
            let place = "The end of this result names the file with the whole output. The file begins with this note; \
                         the lines are counted after it.";
            Some(loss.note("", place, self.most()))
        })
    }
}

/// Writes a note whose own length changes what it says, with what it costs, until it is right.
fn write_to_fit<Cost: Copy + Default + PartialEq>(
    cost: impl Fn(&str) -> Cost,
    mut write: impl FnMut(Cost) -> Option<String>,
) -> Option<String> {
    // Without a note it may not be cut at all.
    let (mut note, mut known) = (write(Cost::default())?, Cost::default());
    for _ in 0..MAX_TRIES {
        let new = cost(&note);
        if new == known {
            return Some(note);
        }
        (note, known) = (write(new)?, new);
    }
    None
}

/// What to do where nothing was saved. `overspill run` may not be found, nor be able to save, in an agent's sandbox.
const AGAIN: &str =
    "The agent keeps no copy: to see all of it, run the command again with its output in a file.";

/// Maximum number of attempts at a note whose own length changes what it says.
const MAX_TRIES: usize = 4;

fn units_of(text: &MapView) -> u64 {
    measure(text, 0..text.len(), TotalsMask::UNITS, &mut Buffer::default()).units
}

fn path_in_notice(policy: &Policy, text: &str) -> Option<PathBuf> {
    let found = policy.notice_patterns().iter().flat_map(|form| form.find_in(text));
    let at_an_end = found.filter(|found| found.range.start < NEAR || found.range.end + NEAR > text.len());
    let mut figures = at_an_end.flat_map(|found| found.figures);
    figures.find(|(name, path)| name == "path" && path.starts_with('/')).map(|(_, path)| path.into())
}

#[cfg(test)]
mod tests {
    use super::runs_overspill;

    #[test]
    fn a_command_runs_overspill_only_where_a_shell_would_start_it() {
        for line in [
            "overspill run -- make",
            "cd x && overspill run -p a/b -- make",
            "cd x && \\\n  /usr/bin/overspill  run -- make",
            "A=1 B='x y' ~/bin/overspill run -- make | tail",
            "sudo -E env A=1 overspill run -- make",
            "time timeout 60s overspill run -- make",
            "cd x\n(overspill run -- make)",
            "if ! overspill run -- make; then echo 'it failed'; fi",
            "for d in *; do overspill run -- make -C \"$d\"; done",
            "overspill run -- sh <<EOF\nmake\nEOF",
        ] {
            assert!(runs_overspill(line), "{line}");
        }
        for line in [
            "make",
            "cat docs | grep \"overspill run x\"",
            "grep -r 'make; overspill run x' .",
            "echo \"say \\\"a\\\"; overspill run x\"",
            "grep overspill run docs",
            "grep a\\|overspill run x",
            "cat > notes <<EOF\noverspill run -- make\nEOF\nmake",
            "make # then overspill run x",
            "make # build; overspill run x",
            "make 2>&1 # see (overspill run x)",
            "overspill runs",
            "overspill list; make",
            "my-overspill run x",
            "bash -c 'overspill run -- make'",
        ] {
            assert!(!runs_overspill(line), "{line}");
        }
    }
}
