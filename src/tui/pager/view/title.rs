//! Draws the top line: the name of the output, the pane, and the policy that cut the output.

use ratatui::Frame;
use ratatui::style::Style;

use crate::human::thousands;
use crate::source::PathStatus;
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::recorded::RecordedCall;
use crate::tui::pager::search::job::Counting;
use crate::tui::pager::{Pager, describe};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line::{self, Span};

use super::status::number;

/// The version of the right end that names the policy and whether it cut: there the name of the output makes room.
const POLICY: usize = 2;
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
    let beside = line::width(&rest) + policy + 4;
    let most = (room * 9 / 20).min(room.saturating_sub(beside)).max(SHORTEST_NAME);
    let name = SafeText::from(output.subject.name.as_str()).fit(most);
    let name = Span::new(format!(" {name} "), pager.canvas.theme.accent);
    let left: Vec<Span> = std::iter::once(name).chain(rest).collect();
    let taken = line::width(&left);
    line::spans(frame.buffer_mut(), places.title, &left);
    let fitting = right.into_iter().find(|spans| taken + line::width(spans) + 1 < room);
    line::right(frame.buffer_mut(), places.title, taken, &fitting.unwrap_or_default());
}

fn tabs(pager: &Pager) -> Vec<Span> {
    let mut spans = Vec::new();
    for (side, name) in [(Side::Preview, "Preview"), (Side::Spill, "Spill")] {
        let style = if pager.focus() == side { pager.canvas.theme.active } else { pager.canvas.theme.dim };
        spans.push(Span::plain("  "));
        spans.push(Span::new(name, style));
    }
    for name in ["Stores", "Sessions"] {
        spans.push(Span::plain("  "));
        spans.push(Span::new(name, pager.canvas.theme.dim));
    }
    spans
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
    let weak = Some(output.subject.policy.confidence()).filter(|confidence| confidence.is_weak());
    let weak = weak.map_or(String::new(), |confidence| format!(" ({})", confidence.as_str()));
    let failed =
        output.subject.policy.failed_with(output.subject.context.exit_code).map_or(String::new(), |name| {
            let tool =
                name.strip_prefix(output.subject.policy.agent()).and_then(|rest| rest.strip_prefix('/'));
            format!(" (failed: {})", tool.unwrap_or(name))
        });
    let policy = match (&output.recorded, output.shown_record()) {
        (_, Some(recorded)) => format!("{} by {}", recorded.evidence.as_str(), recorded.by),
        (Some(_), None) => format!("reconstructed by {}", output.subject.policy.name()),
        (None, None) => format!("{}{weak}{failed}", output.subject.policy.name()),
    };
    let verdict = describe::verdict(output);
    let is_cut = output.preview.as_ref().map_or(true, |preview| preview.truncated);
    let style = if is_cut { pager.canvas.theme.warning } else { Style::new() };
    let limits = output.shown_record().map_or_else(|| output.limits(), RecordedCall::checked);
    let dim = pager.canvas.theme.dim;
    let mut changed = String::new();
    if output.limits_are_changed() {
        changed = " (changed)".into();
    }
    let limits = if limits.is_empty() { String::new() } else { format!(" · {limits}{changed}") };
    let shortest = match output.shown_record() {
        Some(recorded) => format!("{} ", recorded.evidence.as_str()),
        None => format!("{} ", output.subject.policy.name()),
    };
    let [policy_only, policy] = [format!("{policy} "), policy].map(Span::plain);
    let (verdict, dot) = (Span::new(format!("{verdict} "), style), Span::new(" · ", dim));
    let cut = Span::new(if is_cut { " · cut " } else { " " }, style);
    let versions = [
        vec![policy.clone(), Span::new(limits, dim), dot.clone(), verdict.clone()],
        vec![policy.clone(), dot, verdict.clone()],
        vec![policy, cut],
        vec![policy_only],
        vec![Span::plain(shortest)],
        vec![verdict],
    ];
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
