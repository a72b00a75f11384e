//! Draws the top line: the name of the output, its two texts, how certain the first is, and how much of all it is.

use ratatui::Frame;
use ratatui::style::Style;

use crate::base::human::thousands;
use crate::base::provenance::Certainty;
use crate::config::LimitsFrom;
use crate::corpus::tune::describe_change;
use crate::output::OpenOutput;
use crate::rows::calls;
use crate::rows::column::{bar, joined, percentage};
use crate::source::PathStatus;
use crate::text::label::SafeText;
use crate::text::search::Severity;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::{Counting, Pager};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line::{self, Span};

use super::status::number;

/// Columns of a name: the least, and to which one gives way to what a what-if differs in.
const MIN_NAME: usize = 4;
const SHORT_NAME: usize = 12;

pub(crate) fn draw(pager: &Pager, output: &OpenOutput, frame: &mut Frame, places: &layout::PagerAreas) {
    let room = usize::from(places.title.width);
    let (longer, least) = rights(pager, output);
    let name = SafeText::from(output.subject.name.as_str());
    let rest = rest(pager, room.saturating_sub(line::width(&least) + MIN_NAME + 4), places.between.is_none());
    let beside = line::width(&rest) + 3;
    // The name is cut before the changes of a what-if, and after the rest; but a name that would fill the line leaves
    // them half of it.
    let wanted = name.columns().min(room / 2);
    let fits = |name: usize| move |right: &&Vec<Span>| name + beside + line::width(right) < room;
    let shortened = longer.last().filter(fits(wanted.min(SHORT_NAME)));
    let right = longer.iter().find(fits(wanted)).or(shortened).unwrap_or(&least);
    let room_for_name = room.saturating_sub(beside + line::width(right)).max(1);
    let name = Span::new(format!(" {} ", name.head(room_for_name)), pager.canvas.theme.accent);
    let left: Vec<Span> = std::iter::once(name).chain(rest).collect();
    line::spans(frame.buffer_mut(), places.title, &left);
    line::right(frame.buffer_mut(), places.title, line::width(&left), right);
}

/// Returns what follows the name, as far as it fits in `room`; the two texts go before what stands before them.
fn rest(pager: &Pager, room: usize, is_tabbed: bool) -> Vec<Span> {
    let theme = &pager.canvas.theme;
    let warn = |words: String| Span::new(format!(" {words} "), theme.warning);
    let many = || Span::new(format!("({} of {}) ", pager.file + 1, pager.files), theme.dim);
    let tabs = if is_tabbed { tabs(pager) } else { Vec::new() };
    let encoding = pager.output.utf16().map(|_| Span::plain(" UTF-16 "));
    let follows = pager.panes.following.then(|| Span::new(" FOLLOW ", theme.accent));
    let kept = pager.output.subject.is_kept.then(|| Span::new(" kept ", theme.dim));
    let failed = pager.output.subject.context.exit_code.filter(|code| *code != 0);
    let failed = failed.map(|code| warn(format!("exit status {code}")));
    let wanted = [follows, kept, state(pager).map(warn), failed, encoding, (pager.files > 1).then(many)];
    let mut rest: Vec<Span> = Vec::new();
    // The names of both texts, or of the shown one, matter more than what precedes them.
    let shown: Vec<Span> = tabs.iter().filter(|tab| tab.style == theme.active).cloned().collect();
    let tabs = [tabs, shown].into_iter().find(|tabs| line::width(tabs) < room).unwrap_or_default();
    for span in wanted.into_iter().flatten() {
        if line::width(&rest) + span.text.columns() + line::width(&tabs) < room {
            rest.push(span);
        }
    }
    if !tabs.is_empty() {
        rest.push(Span::plain(" "));
    }
    rest.extend(tabs);
    rest
}

fn tabs(pager: &Pager) -> Vec<Span> {
    let theme = &pager.canvas.theme;
    let style = |side: Side| if pager.focus() == side { theme.active } else { theme.dim };
    let between = Span::new(" │ ", theme.dim);
    let got = Span::new(pager.output.heading(), style(Side::Preview));
    if pager.output.is_rest_missing() && pager.focus() == Side::Preview {
        return vec![got];
    }
    vec![got, between, Span::new(super::WHOLE, style(Side::Spill))]
}

fn state(pager: &Pager) -> Option<String> {
    let reopen = pager.canvas.keys.label(KeyContext::Pager, Action::Refresh);
    match pager.path_status {
        PathStatus::Gone => Some("deleted".into()),
        PathStatus::Renamed => Some(format!("replaced: {reopen} opens the new one")),
        _ if pager.running => Some("still running".into()),
        _ if pager.streaming => Some("still coming".into()),
        _ if pager.output.fault.is_some() && !pager.output.view.is_empty() => Some("cut short".into()),
        _ => None,
    }
}

/// Returns versions of the right end, the longest first, and the least: the word for certainty.
fn rights(pager: &Pager, output: &OpenOutput) -> (Vec<Vec<Span>>, Vec<Span>) {
    let theme = &pager.canvas.theme;
    let is_whole = output.made.preview.as_ref().is_ok_and(|preview| !preview.truncated);
    let style = if is_whole { Style::new() } else { theme.warning };
    let word = word(pager, output);
    let [differs, brief, least] = differs(output);
    let by = match output.shown_record() {
        Some(recorded) => vec![format!("by {}", recorded.by)],
        None if differs.starts_with(output.policy().name()) => Vec::new(),
        None => policy(output),
    };
    let by: Vec<Span> = by.into_iter().map(|words| Span::new(words, theme.dim)).collect();
    let [differs, brief, least] = [differs, brief, least].map(|words| Span::new(words, theme.warning));
    let styled = |words: String| Span::new(words, style);
    let [bar, share] = share_of_all(output).map(styled);
    let [both, long, short] = errors(pager).map(styled);
    let none = Span::default();
    let full = by.iter().map(|by| [&differs, by, &bar, &both]);
    let shorter = [
        [&differs, by.last().unwrap_or(&none), &share, &both],
        [&differs, &none, &bar, &both],
        [&brief, &none, &bar, &both],
        [&brief, &none, &share, &both],
        [&brief, &none, &none, &both],
        [&brief, &none, &none, &long],
        [&brief, &none, &none, &short],
        [&brief, &none, &none, &none],
    ];
    let with_word = |[differs, by, got, errors]: [_; 4]| join([&word, differs, by, got, errors], theme.dim);
    (full.chain(shorter).map(with_word).collect(), with_word([&least, &none, &none, &none]))
}

/// Joins the parts that are not empty with dots, and leaves a column at the end.
fn join(parts: [&Span; 5], dim: Style) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for part in parts.into_iter().filter(|part| part.text.columns() > 0) {
        if !spans.is_empty() {
            spans.push(Span::new(" · ", dim));
        }
        spans.push(part.clone());
    }
    spans.push(Span::plain(" "));
    spans
}

/// Returns the word for certainty. A what-if, which no model ever got of this output, warns; a file of no agent does not.
fn word(pager: &Pager, output: &OpenOutput) -> Span {
    let theme = &pager.canvas.theme;
    let certainty = output.certainty();
    let view = match output.policy().agent() {
        _ if !output.is_read_view() => String::new(),
        agent if agent != output.first.policy.agent() => format!(" · {agent}'s read view"),
        _ => " · read view".to_owned(),
    };
    let style = match certainty {
        Certainty::WouldGet if output.what_if().is_some() => theme.warning,
        Certainty::WouldGet => theme.dim,
        Certainty::Recorded | Certainty::Reconstructed => Style::new(),
    };
    Span::new(format!("{}{view}", certainty.describe()), style)
}

/// Says in what a what-if differs, which other policy may have made the text, or from which a record differs; in three
/// versions, of which the shortest still says that a record does.
fn differs(output: &OpenOutput) -> [String; 3] {
    if let Some(recorded) = output.shown_record() {
        let differs = recorded.check.as_ref().and_then(calls::differs);
        return differs.map(|words| [words, "DIFFERS".into(), "DIFFERS".into()]).unwrap_or_default();
    }
    let words = match (output.what_if(), &output.subject.policy.limits_from) {
        // The word says already that it is the read tool's.
        (Some(policy), LimitsFrom::Screen(before)) if output.is_read_view() => {
            describe_change(&before.policy, policy)
        }
        (Some(_), _) if output.is_read_view() => None,
        (Some(policy), _) => describe_change(&output.first.policy, policy),
        (None, _) => output.other_candidate().map(|policy| policy.name().to_owned()),
    };
    let words = words.unwrap_or_default();
    [words.clone(), words, String::new()]
}

/// Names the policy with its limits, without them, and its agent alone.
fn policy(output: &OpenOutput) -> Vec<String> {
    let policy = output.policy();
    let weak = Some(policy.confidence()).filter(|confidence| confidence.is_weak());
    let weak = weak.map_or(String::new(), |confidence| format!(" ({})", confidence.as_str()));
    let failed = policy.failed_with(output.subject.context.exit_code).map_or(String::new(), |name| {
        let tool = name.strip_prefix(policy.agent()).and_then(|rest| rest.strip_prefix('/'));
        format!(" (failed: {})", tool.unwrap_or(name))
    });
    let name = format!("{}{weak}{failed}", policy.name());
    let with_limits = joined([Some(name.clone()), Some(output.limits())]).to_string();
    vec![with_limits, name, policy.agent().to_owned()]
}

/// Describes how much the model got, long and short: `got 21% ▇▇░░░░░░`; or else what became of the output.
fn share_of_all(output: &OpenOutput) -> [String; 2] {
    let Some(percent) = output.percent_kept() else { return [output.verdict(), output.verdict()] };
    let verb = match output.certainty() {
        Certainty::WouldGet => "",
        certainty => &format!("{} ", certainty.verb()),
    };
    let words = format!("{verb}{}", percentage(percent, output.may_vary()));
    [format!("{words} {}", bar(percent)), words]
}

/// Describes the errors, or else the warnings, in three versions: `errors 2, model got 0 · warnings 472`.
fn errors(pager: &Pager) -> [String; 3] {
    let severity = pager.severity();
    let [full, short] = describe_severity(pager, severity);
    let warnings = pager.tally(Counting::Severity(Severity::Warning));
    let has_both = severity == Severity::Error && warnings.counts.total() > 0;
    let beside = has_both.then(|| format!("warnings {}", warnings.describe(&pager.output)));
    [joined([Some(full.clone()), beside]).to_string(), full, short]
}

/// Describes how many there are, or which the current one is, and how many the model got; and shorter.
fn describe_severity(pager: &Pager, severity: Severity) -> [String; 2] {
    let (output, tally) = (&pager.output, pager.tally(Counting::Severity(severity)));
    let all = tally.counts.total();
    if all == 0 {
        return Default::default();
    }
    let total = tally.describe(output);
    let number = number(pager, Counting::Severity(severity));
    let words = match number {
        Some(number) => format!("{} {} of {total}", severity.as_str(), thousands(number)),
        None => format!("{} {total}", severity.plural()),
    };
    let got = tally.got(output).filter(|_| output.has_preview() && !output.gaps().is_empty());
    let full = match got {
        Some(got) => format!("{words}, model {} {}", output.certainty().verb(), thousands(got)),
        None => words.clone(),
    };
    let lost = got.map_or(0, |got| all.saturating_sub(got));
    let short = match number {
        None if lost > 0 && tally.is_whole(output.view.len()) => {
            format!("{} lost {}", severity.plural(), thousands(lost))
        }
        _ => words,
    };
    [full, short]
}
