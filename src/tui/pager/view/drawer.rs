//! Draws the limits drawer, or the policy picker in its place, over the lower part of the screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::base::human::{size, thousands, tokens};
use crate::config::EffectivePolicy;
use crate::corpus::tune::describe_value;
use crate::output::OpenOutput;
use crate::output::describe::describe_limits;
use crate::preview::Preview;
use crate::rows::column::joined;
use crate::text::label::SafeText;
use crate::tui::footer::{Hint, describe_hints};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::picker::{Picker, most_below, prose_rows};
use crate::tui::pager::{Counting, Pager};
use crate::tui::screen::Screen;
use crate::tui::widget::line::{self, Span};

use Action as A;

/// The columns of the parameters, if there is room for the differences beside them.
const LEFT: u16 = 44;

const NARROW_LEFT: u16 = 34;

/// Minimum number of columns in which differences are written in full.
const ROOMY: u16 = 34;

const PROSE: u16 = 2;

/// The columns of the name of a figure, and of a short name.
const FIGURE: usize = 12;
const SHORT: usize = 7;

const PICKER_HINTS: &[Hint] =
    &[(&[A::Open], "use"), (&[A::Back], "back"), (&[A::Search], "filter"), (&[A::Sort], "sort")];

/// Returns the rows of the whole drawer on a screen of this many: at most two thirds of them, and no more than it needs.
pub(crate) fn height(pager: &Pager, screen: u16) -> u16 {
    let rows = (pager.output.policy().params().len() as u16 + 1).max(5) + 2;
    (rows + 2).min((screen / 3 * 2).max(7)).min(most_below(screen))
}

pub(crate) fn draw(pager: &Pager, frame: &mut Frame, place: Rect) {
    let inner = line::boxed(&pager.canvas, frame, place, " What if the limits were ", &key_hints(pager));
    let left = if inner.width < LEFT + ROOMY { NARROW_LEFT } else { LEFT };
    let left = Rect { width: inner.width.min(left), ..inner };
    rows(pager, frame, left);
    let (width, height) = (inner.width - left.width, inner.height.saturating_sub(PROSE));
    let right = Rect { x: inner.x + left.width, width, height, ..inner };
    for (spans, row) in differences(pager, &pager.output, width).iter().zip(right.rows()) {
        line::spans(frame.buffer_mut(), row, spans);
    }
    let from_end = |n: u16| Rect {
        y: inner.y + inner.height.saturating_sub(n),
        height: u16::from(inner.height >= n),
        ..inner
    };
    let doc = pager.chosen_param().map_or_else(|| pager.output.policy().summary(), |param| &param.doc);
    // With little room, the changed row matters more than its description.
    if inner.height > PROSE {
        line::rows(frame.buffer_mut(), from_end(PROSE), [doc], &pager.canvas);
    }
    let advice = line::cut(advice(pager), inner.width.into());
    line::spans(frame.buffer_mut(), from_end(1), &advice);
}

const HINTS: &[Hint] = &[
    (&[A::Lower, A::Higher], "change"),
    (&[A::Apply], "keep"),
    (&[A::Back], "back"),
    (&[A::Policy], "policies"),
    (&[A::Direction], "direction"),
    (&[A::TypeValue], "type"),
    (&[A::Reset], "reset"),
    (&[A::Copy], "copy"),
];

fn key_hints(pager: &Pager) -> Vec<String> {
    match pager.drawer.typed {
        Some(_) => vec!["Enter set".to_owned(), "Esc give up".to_owned()],
        None => {
            let is_known = |(actions, _): &&Hint| actions.iter().all(|action| pager.supports(*action));
            let hints: Vec<Hint> = HINTS.iter().filter(is_known).copied().collect();
            describe_hints(KeyContext::Drawer, &hints, pager.canvas.keys)
        }
    }
}

fn rows(pager: &Pager, frame: &mut Frame, area: Rect) {
    let (output, canvas) = (&pager.output, &pager.canvas);
    let policy = output.policy();
    let room = usize::from(area.height.saturating_sub(PROSE)).max(1);
    let top = (pager.drawer.row + 1).saturating_sub(room);
    let cutting = pager.cutting_row();
    for (n, row) in (top..=policy.params().len()).take(room).zip(area.rows()) {
        let is_chosen = n == pager.drawer.row;
        let style = if is_chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let (name, value, is_changed) = match n.checked_sub(1).and_then(|n| policy.params().get(n)) {
            None => {
                let is_changed = policy.name() != output.first.policy.name();
                ("policy".to_owned(), SafeText::from(policy.name()), is_changed)
            }
            Some(param) => {
                let words = SafeText::from(describe_value(policy, &param.name));
                let is_changed = policy.get(&param.name) != output.first.policy.get(&param.name);
                (param.name.replace('_', " "), words, is_changed)
            }
        };
        let value = match &pager.drawer.typed {
            Some(typed) if is_chosen => SafeText::new(format!("{typed}_")),
            _ => value.fit(usize::from(area.width).saturating_sub(20)),
        };
        let mark = if is_chosen { canvas.glyphs().chosen } else { " " };
        let cuts = if cutting == Some(n) { "  cuts" } else { "" };
        let spans = [
            Span::new(format!("{mark} "), canvas.theme.accent),
            Span::new(format!("{name:<16} "), canvas.theme.dim),
            Span::new(value, if is_changed { style.patch(canvas.theme.accent) } else { style }),
            Span::new(cuts, canvas.theme.warning),
        ];
        line::list_row(frame.buffer_mut(), row, &spans, is_chosen, canvas);
    }
}

fn differences(pager: &Pager, output: &OpenOutput, width: u16) -> Vec<Vec<Span>> {
    let Ok(now) = &output.made.preview else { return Vec::new() };
    let row = |name: &str, of: &dyn Fn(&Preview) -> Option<u64>, words: fn(u64) -> String| {
        let (was, is) = (output.first_preview.as_ref().and_then(of), of(now));
        let figure = |value: Option<u64>| value.map_or("…".to_owned(), words);
        // The first limits may make no preview.
        let before = if output.first_preview.is_some() { figure(was) } else { "–".to_owned() };
        let arrow = pager.canvas.glyphs().arrow;
        let sign = match (was, is) {
            (Some(was), Some(is)) if is > was => format!("+{}", words(is - was)),
            (Some(was), Some(is)) if is < was => format!("−{}", words(was - is)),
            _ => String::new(),
        };
        if width < ROOMY {
            let name = name.rsplit(' ').next().unwrap_or(name);
            let words = [format!("{} {arrow} {}", before, figure(is)), figure(is)];
            let words = words.into_iter().find(|words| SHORT + words.width() <= width.into());
            return words.map_or_else(Vec::new, |words| {
                vec![Span::new(format!("{name:<SHORT$}"), pager.canvas.theme.dim), Span::plain(words)]
            });
        }
        vec![
            Span::new(format!("{name:<12}"), pager.canvas.theme.dim),
            Span::plain(format!("{:>9} {arrow} {:<9} ", before, figure(is))),
            Span::new(sign, pager.canvas.theme.accent),
        ]
    };
    let mut rows = vec![
        row("kept lines", &|preview| output.lines_as_numbered(preview)[0], thousands),
        row("kept bytes", &|preview| preview.kept.bytes, size),
        row("tokens", &|preview| preview.text_bytes, tokens),
    ];
    let severity = pager.severity();
    let errors = Counting::Severity(severity);
    let has_errors = pager.tally(errors).counts.total() > 0;
    let matches = pager.find.pattern.as_ref().map(|pattern| format!(" for {}", pattern.text()));
    let tallies =
        [(severity.plural(), errors, has_errors.then(String::new)), ("matches", Counting::Matches, matches)];
    for (name, what, of) in tallies {
        let (tally, all) = (pager.tally(what), pager.tally(what).counts.total());
        let (Some(of), Some(kept)) = (of, tally.kept) else { continue };
        let counts = format!("{} of {}", thousands(kept), thousands(all));
        let room = usize::from(width).saturating_sub(FIGURE + 1);
        if counts.width() > room {
            continue;
        }
        let words = SafeText::from(format!("{counts}{of}")).head(room);
        let name = Span::new(format!("{name:<FIGURE$} "), pager.canvas.theme.dim);
        let tone = if kept < all { pager.canvas.theme.warning } else { Style::new() };
        rows.push(vec![name, Span::new(words, tone)]);
    }
    rows
}

fn advice(pager: &Pager) -> Vec<Span> {
    let (theme, output) = (&pager.canvas.theme, &pager.output);
    let Some(advice) = &pager.drawer.advice else { return Vec::new() };
    let line = output.line_number(advice.offset);
    let line = line.map_or("this line".into(), |line| format!("line {}", thousands(line)));
    if output.is_kept(advice.offset) {
        return vec![Span::new(format!(" {line} is kept"), theme.dim)];
    }
    let lost = Span::new(format!(" {line} is lost. "), theme.warning);
    let words = match &advice.found {
        Some(Ok((words, _))) => words,
        Some(Err(why)) => return vec![lost, Span::plain(*why)],
        None => return vec![lost, Span::new("Looking for limits that keep it…", theme.dim)],
    };
    let key = pager.canvas.keys.label(KeyContext::Drawer, Action::TakeAdvice);
    let kept = format!("Kept with: {words}");
    let [long, short] =
        [format!("   {key} applies it"), format!(" ({key})")].map(|text| Span::new(text, theme.dim));
    let room = usize::from(pager.canvas.size.0.saturating_sub(2));
    let alone = SafeText::from(format!(" {kept}")).head(room.saturating_sub(short.text.columns()));
    let versions = [
        vec![lost.clone(), Span::plain(kept.as_str()), long],
        vec![lost, Span::plain(kept), short.clone()],
        vec![Span::plain(alone), short],
    ];
    versions.into_iter().find(|version| line::width(version) <= room).unwrap_or_default()
}

pub(crate) fn draw_picker(pager: &Pager, picker: &Picker, frame: &mut Frame, place: Rect) {
    let canvas = &pager.canvas;
    let keys = describe_hints(KeyContext::Lists, PICKER_HINTS, canvas.keys);
    let inner = line::boxed(canvas, frame, place, picker_title(pager, picker), &keys);
    let prose_rows = prose_rows(canvas.size.1).min(inner.height);
    let head = Rect { height: inner.height.min(1), ..inner };
    let rows = inner.height.saturating_sub(prose_rows + head.height);
    let list = Rect { y: head.bottom(), height: rows, ..inner };
    picker.list.draw(canvas, frame.buffer_mut(), (head, list), |_| false);
    let Some(row) = picker.list.chosen() else {
        let words = picker.list.no_match("", canvas.keys);
        return line::centred(frame.buffer_mut(), list, words, canvas.theme.dim);
    };
    let height = inner.bottom().saturating_sub(list.bottom());
    let below = Rect { x: inner.x + 1, y: list.bottom(), width: inner.width.saturating_sub(1), height };
    line::rows(frame.buffer_mut(), below, describe_policy(&row.choice, prose_rows), canvas);
}

/// Names the output, so that the figures cannot be taken for limits.
fn picker_title(pager: &Pager, picker: &Picker) -> String {
    let (list, name) = (&picker.list, &pager.output.subject.name);
    let filter = match list.filter_text() {
        "" => String::new(),
        words => format!(" · filter: {words}"),
    };
    let [order, _] = list.describe_order();
    format!(
        " Policies: {} of {} · what each makes of {name}{filter} · sort: {order} ",
        list.len(),
        list.rows().len()
    )
}

/// Describes a policy in this many rows: what it does; where that is known from; its era and limits.
fn describe_policy(choice: &EffectivePolicy, rows: u16) -> Vec<SafeText> {
    let policy = &choice.policy;
    let era = match choice.is_current {
        true => String::new(),
        false => policy.era().span().map_or("earlier: ".to_owned(), |span| format!("{span}: ")),
    };
    let summary = format!("{era}{}", policy.summary());
    if rows == 1 {
        return vec![summary.into()];
    }
    let known = format!("{} · {}", policy.source(), policy.confidence().as_str());
    let words = [policy.version(), describe_limits(policy), format!("limits from: {}", choice.origin())];
    vec![summary.into(), known.into(), joined(words.map(Some))]
}
