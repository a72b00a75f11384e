//! Draws the top line: the name of the output, the pane, and the policy that cut the output.

use ratatui::Frame;
use ratatui::style::Style;

use crate::human::thousands;
use crate::session::verify::Verdict;
use crate::source::PathStatus;
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::recorded::{RecordedCall, RestOfOutput};
use crate::tui::pager::search::job::Counting;
use crate::tui::pager::subject::OpenedFrom;
use crate::tui::pager::{Pager, describe};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line::{self, Span};

use super::status::number;

/// The version of the right end that names the policy and whether it cut: there the name of the output makes room.
const POLICY: usize = 2;
/// From this many columns on, the tabs stand apart and have their full names.
const TABBED: u16 = 110;
/// How many columns the tabs take less where they stand close.
const CLOSE: usize = 3;
/// The tab of Sessions on a narrow screen, where there is room, and where there is less.
const SESSIONS: [&str; 2] = [" Sessions", " Sess."];
/// The columns that the name of the output keeps.
const SHORTEST_NAME: usize = 12;
/// The one that names the policy and counts the errors, if there are any.
const POLICY_AND_ERRORS: usize = 3;

/// Draws the title of one output.
pub(crate) fn draw(pager: &Pager, output: &OpenOutput, frame: &mut Frame, places: &layout::PagerAreas) {
    let mut rest = Vec::new();
    if pager.files > 1 {
        rest.push(Span::new(format!("({} of {}) ", pager.file + 1, pager.files), pager.canvas.theme.dim));
    }
    let state = state(pager).map(|words| Span::new(format!(" {words} "), pager.canvas.theme.warning));
    rest.extend(state);
    if places.strip.is_none() {
        rest.extend(tabs(pager));
    }
    let right = choices(pager, output);
    let room = usize::from(places.title.width);
    let version = if pager.errors.tally.counts.total() > 0 { POLICY_AND_ERRORS } else { POLICY };
    let policy = right.get(version).map_or(0, |spans| line::width(spans));
    let status = exit_status(pager, output);
    if line::width(&rest) + status.text.columns() + policy + SHORTEST_NAME + 3 < room {
        rest.insert(0, status);
    }
    let tab = if pager.origin() == OpenedFrom::Session && !is_wide(pager) { SESSIONS[1].len() } else { 0 };
    let beside = line::width(&rest) + policy + tab + 4;
    let most = (room * 9 / 20).min(room.saturating_sub(beside)).max(SHORTEST_NAME);
    let name = SafeText::from(output.subject.name.as_str()).fit(most);
    let name = Span::new(format!(" {name} "), pager.canvas.theme.accent);
    let mut left: Vec<Span> = std::iter::once(name).chain(rest).collect();
    let fitting = |taken: usize| right.iter().position(|spans| taken + line::width(spans) + 1 < room);
    if places.strip.is_none() && !is_wide(pager) {
        let name = sessions_tab(pager, line::width(&left), &|taken| fitting(taken).unwrap_or(usize::MAX));
        left.extend(name.map(|name| Span::new(name, pager.canvas.theme.dim)));
    }
    let taken = line::width(&left);
    line::spans(frame.buffer_mut(), places.title, &left);
    let right = fitting(taken).and_then(|fitting| right.get(fitting));
    line::right(frame.buffer_mut(), places.title, taken, right.map_or(&[], Vec::as_slice));
}

/// Names the last tab as long as it costs no words at the right end: `fitting` returns which version of these has room beside
/// so many columns. A call of a session is worth words.
fn sessions_tab(pager: &Pager, taken: usize, fitting: &dyn Fn(usize) -> usize) -> Option<&'static str> {
    let is_call = pager.origin() == OpenedFrom::Session;
    let least = if is_call { SESSIONS[1].len() } else { CLOSE };
    let most = fitting(taken + least);
    SESSIONS.into_iter().find(|name| fitting(taken + name.len()) <= most)
}

/// Whether the tabs stand apart and have their full names.
fn is_wide(pager: &Pager) -> bool {
    pager.canvas.size.0 >= TABBED
}

fn tabs(pager: &Pager) -> Vec<Span> {
    let theme = &pager.canvas.theme;
    let side = |side: Side| if pager.focus() == side { theme.active } else { theme.dim };
    let mut tabs =
        vec![("Preview", side(Side::Preview)), ("Spill", side(Side::Spill)), ("Stores", theme.dim)];
    if is_wide(pager) {
        tabs.push(("Sessions", theme.dim));
    }
    let between = if is_wide(pager) { "  " } else { " " };
    tabs.into_iter().flat_map(|(name, style)| [Span::plain(between), Span::new(name, style)]).collect()
}

/// Returns the state of the file, if it is unusual.
fn state(pager: &Pager) -> Option<String> {
    let reopen = pager.canvas.keys.of(KeyContext::Pager, Action::Reopen);
    match pager.path_status {
        PathStatus::Gone => Some("deleted".into()),
        PathStatus::Renamed => Some(format!("replaced: {reopen} opens the new one")),
        _ if pager.running => Some("still running".into()),
        _ if pager.streaming => Some("still coming".into()),
        _ => None,
    }
}

/// Returns the command's exit status if it failed; empty otherwise.
fn exit_status(pager: &Pager, output: &OpenOutput) -> Span {
    let failed = output.subject.context.exit_code.filter(|code| *code != 0);
    let words = failed.map_or(String::new(), |code| format!(" exit status {code} "));
    Span::new(words, pager.canvas.theme.warning)
}

/// Returns versions of the right end, from the longest to the shortest.
fn choices(pager: &Pager, output: &OpenOutput) -> Vec<Vec<Span>> {
    match output.shown_record() {
        Some(recorded) => with_errors(pager, output, recorded_result(pager, output, recorded)),
        None => with_errors(pager, output, policy_and_limits(pager, output)),
    }
}

/// Says what the evidence is, and whether a policy makes the same text.
fn recorded_result(pager: &Pager, output: &OpenOutput, recorded: &RecordedCall) -> Vec<Vec<Span>> {
    let theme = &pager.canvas.theme;
    let is_cut = !matches!(recorded.rest, RestOfOutput::NotCut);
    let (verdict, evidence) = (describe::verdict(output), recorded.evidence.as_str());
    let style = if is_cut { theme.warning } else { Style::new() };
    let dotted = |words: &str| if words.is_empty() { String::new() } else { format!(" · {words}") };
    let mark = if is_cut { recorded.check.as_ref().map_or("", Verdict::mark) } else { "" };
    let is_different = matches!(recorded.check, Some(Verdict::Differs(_)));
    let check = if is_different { theme.warning } else { theme.dim };
    let version = |evidence: String, checked: &str, verdict: &str| {
        let verdict = Span::new(format!("{} ", dotted(verdict)), style);
        vec![Span::plain(evidence), Span::new(dotted(checked), check), verdict]
    };
    let long = format!("{evidence} by {}", recorded.by);
    let short = if is_cut { "cut" } else { "" };
    vec![
        version(long.clone(), &recorded.checked(), &verdict),
        version(long, mark, &verdict),
        version(evidence.into(), mark, short),
        version(evidence.into(), "", ""),
    ]
}

/// Names the policy with its limits, and says what it does to the output.
fn policy_and_limits(pager: &Pager, output: &OpenOutput) -> Vec<Vec<Span>> {
    let weak = Some(output.subject.policy.confidence()).filter(|confidence| confidence.is_weak());
    let weak = weak.map_or(String::new(), |confidence| format!(" ({})", confidence.as_str()));
    let failed =
        output.subject.policy.failed_with(output.subject.context.exit_code).map_or(String::new(), |name| {
            let tool =
                name.strip_prefix(output.subject.policy.agent()).and_then(|rest| rest.strip_prefix('/'));
            format!(" (failed: {})", tool.unwrap_or(name))
        });
    let by = if output.recorded.is_some() { "reconstructed by " } else { "" };
    let policy = format!("{by}{}{weak}{failed}", output.subject.policy.name());
    let verdict = describe::verdict(output);
    let is_cut = output.preview.as_ref().map_or(true, |preview| preview.truncated);
    let style = if is_cut { pager.canvas.theme.warning } else { Style::new() };
    let limits = output.limits();
    let dim = pager.canvas.theme.dim;
    let mut changed = String::new();
    if output.limits_are_changed() {
        changed = " (changed)".into();
    }
    let limits = if limits.is_empty() { String::new() } else { format!(" · {limits}{changed}") };
    let [policy_only, policy] = [format!("{policy} "), policy].map(Span::plain);
    let (verdict, dot) = (Span::new(format!("{verdict} "), style), Span::new(" · ", dim));
    let cut = Span::new(if is_cut { " · cut " } else { " " }, style);
    vec![
        vec![policy.clone(), Span::new(limits, dim), dot.clone(), verdict.clone()],
        vec![policy.clone(), dot, verdict.clone()],
        vec![policy, cut],
        vec![policy_only],
        vec![Span::plain(format!("{} ", output.subject.policy.name()))],
        vec![verdict],
    ]
}

/// Puts versions with the number of errors before those without, if there are any errors.
fn with_errors(pager: &Pager, output: &OpenOutput, versions: Vec<Vec<Span>>) -> Vec<Vec<Span>> {
    let is_cut = output.preview.as_ref().map_or(true, |preview| preview.truncated);
    let style = if is_cut { pager.canvas.theme.warning } else { Style::new() };
    let dim = pager.canvas.theme.dim;
    let with_errors = errors(pager).into_iter().flat_map(|errors| {
        let errors = [Span::new("· ", dim), Span::new(errors, style)];
        versions[..4].iter().map(move |spans| [spans, &errors[..]].concat())
    });
    with_errors.chain(versions.iter().cloned()).collect()
}

/// Describes the errors in the output, if there are any: `errors 274, model got 3`, and shorter.
fn errors(pager: &Pager) -> Vec<String> {
    let (output, tally) = (&pager.output, &pager.errors.tally);
    if tally.counts.total() == 0 {
        return Vec::new();
    }
    let total = describe::total(output, tally);
    let number = number(pager, Counting::Errors).map(|number| format!("{} of ", thousands(number)));
    let got = describe::got(output, tally).filter(|_| !output.gaps().is_empty());
    let got = got.map_or(String::new(), |got| format!(", model got {}", thousands(got)));
    let errors = format!("errors {}{total}", number.unwrap_or_default());
    vec![format!("{errors}{got} "), format!("{errors} ")]
}
