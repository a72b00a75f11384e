//! Draws the limits drawer over the lower part of the screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::human::{limit, size, thousands, tokens};
use crate::preview::{Preview, Unit};
use crate::text::label::SafeText;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::Pager;
use crate::tui::pager::drawer::DrawerMode;
use crate::tui::pager::output::OpenOutput;
use crate::tui::widget::frame;
use crate::tui::widget::line::{self, Span};

/// The columns of the parameters, if there is room for the differences beside them.
const LEFT: u16 = 44;

/// The columns of the parameters on a narrow screen.
const NARROW_LEFT: u16 = 34;

/// The fewest columns in which differences are written in full.
const ROOMY: u16 = 34;

/// Draws the drawer: at most two thirds of the screen, and no more rows than it needs.
pub(crate) fn draw(pager: &Pager, message: Option<&Message>, frame: &mut Frame, area: Rect) {
    let output = &pager.output;
    let rows = (output.policy().params().len() as u16).max(5) + 2;
    let height = (rows + 2).min((area.height / 3 * 2).max(7)).min(area.height);
    let place = Rect { y: area.y + area.height - height, height, ..area };
    let title = format!(" Limits of {} ", output.policy().name());
    let inner = frame::draw(&pager.canvas, frame, place, title, foot(pager, area.width));
    let left = if inner.width < LEFT + ROOMY { NARROW_LEFT } else { LEFT };
    let left = Rect { width: inner.width.min(left), ..inner };
    parameters(pager, output, frame, left);
    let right = Rect { x: inner.x + left.width, width: inner.width - left.width, ..inner };
    let figures = differences(pager, output, right.width);
    for (n, spans) in figures.iter().enumerate().take(usize::from(inner.height.saturating_sub(2))) {
        line::spans(frame.buffer_mut(), Rect { y: right.y + n as u16, height: 1, ..right }, spans);
    }
    let from_end = |n: u16| Rect {
        y: inner.y + inner.height.saturating_sub(n),
        height: u16::from(inner.height >= n),
        ..inner
    };
    line::spans(frame.buffer_mut(), from_end(2), &doc(pager, inner.width));
    line::spans(frame.buffer_mut(), from_end(1), &last(pager, message));
}

/// Returns the keys that fit, the most useful first.
fn foot(pager: &Pager, width: u16) -> String {
    let keys = pager.canvas.keys;
    let key = |action| keys.of(KeyContext::Drawer, action);
    let copy = |action| keys.of(KeyContext::Copying, action);
    let all = match pager.drawer.mode {
        _ if pager.drawer.typed.is_some() => vec!["Enter set".to_owned(), "Esc give up".to_owned()],
        DrawerMode::Copying => vec![
            format!("copy: {} flags", copy(Action::CopyFlags)),
            format!("{} policy file", copy(Action::CopyPolicy)),
            format!("{} the agent's configuration", copy(Action::CopyAgent)),
            format!("{} back", copy(Action::Back)),
        ],
        DrawerMode::Limits => vec![
            format!("{} {} change", key(Action::Lower), key(Action::Higher)),
            format!("{} apply", key(Action::Apply)),
            format!("{} cancel", key(Action::Back)),
            "0-9 type".to_owned(),
            format!("{} reset", key(Action::Reset)),
            format!("{} copy", key(Action::Copy)),
            format!("{} policy", key(Action::Policy)),
        ],
    };
    frame::foot(&all, width)
}

/// Describes the parameter under the cursor.
fn doc(pager: &Pager, width: u16) -> Vec<Span> {
    let params = pager.output.policy().params();
    let Some(param) = params.get(pager.drawer.chosen) else { return Vec::new() };
    let room = usize::from(width).saturating_sub(2);
    vec![Span::new(
        line::head(format!(" {}", param.doc), room, pager.canvas.glyphs()),
        pager.canvas.theme.dim,
    )]
}

/// Returns the last row: a message, else what keeps the line.
fn last(pager: &Pager, told: Option<&Message>) -> Vec<Span> {
    match pager.drawer.told.as_ref().or(told.filter(|message| message.is_error)) {
        Some(message) => {
            let style = if message.is_error { pager.canvas.theme.error } else { Style::new() };
            vec![Span::new(format!(" {}", message.text), style)]
        }
        None => advice(pager),
    }
}

fn parameters(pager: &Pager, output: &OpenOutput, frame: &mut Frame, area: Rect) {
    let room = usize::from(area.height.saturating_sub(2)).max(1);
    let top = (pager.drawer.chosen + 1).saturating_sub(room);
    for (n, param) in output.policy().params().iter().enumerate().skip(top).take(room) {
        let chosen = n == pager.drawer.chosen;
        let value = output.policy().get(&param.name).map_or_else(String::new, |value| value.to_string());
        let value = match (&pager.drawer.typed, chosen) {
            (Some(typed), true) => SafeText::new(format!("{typed}_")),
            _ => SafeText::new(in_words(output, &param.name, &value)).fit(22),
        };
        let mark = if chosen { pager.canvas.glyphs().chosen } else { " " };
        let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let changed = output.policy().get(&param.name) != output.first.policy.get(&param.name);
        let spans = [
            Span::new(format!("{mark} "), pager.canvas.theme.accent),
            Span::new(format!("{:<16} ", param.name.replace('_', " ")), pager.canvas.theme.dim),
            Span::new(value, if changed { style.patch(pager.canvas.theme.accent) } else { style }),
        ];
        let y = area.y + (n - top) as u16;
        let place = Rect { y, height: 1, ..area };
        if chosen {
            line::selected(frame.buffer_mut(), place, &spans, &pager.canvas);
        } else {
            line::spans(frame.buffer_mut(), place, &spans);
        }
    }
}

/// Formats a value: a number with separators, a size in whole KB also in those.
fn in_words(output: &OpenOutput, key: &str, value: &str) -> String {
    let policy = output.policy();
    let is_bytes = policy.size_key() == Some(key) && policy.unit() == Unit::Bytes;
    match value.parse() {
        Ok(bytes) if is_bytes && bytes >= 1024 && u64::is_multiple_of(bytes, 1024) => {
            format!("{} ({})", thousands(bytes), limit(bytes))
        }
        Ok(number) => thousands(number),
        Err(_) => value.to_owned(),
    }
}

/// Describes what the model gains or loses, one figure per row.
fn differences(pager: &Pager, output: &OpenOutput, width: u16) -> Vec<Vec<Span>> {
    let (Some(first), Ok(now)) = (&output.first_preview, &output.preview) else { return Vec::new() };
    let row = |name: &str, of: fn(&Preview) -> Option<u64>, words: fn(u64) -> String| {
        let (was, is) = (of(first), of(now));
        let figure = |value: Option<u64>| value.map_or("…".to_owned(), words);
        let arrow = pager.canvas.glyphs().arrow;
        let sign = match (was, is) {
            (Some(was), Some(is)) if is > was => format!("+{}", words(is - was)),
            (Some(was), Some(is)) if is < was => format!("-{}", words(was - is)),
            _ => String::new(),
        };
        if width < ROOMY {
            let name = name.rsplit(' ').next().unwrap_or(name);
            let words = format!("{} {arrow} {}", figure(was), figure(is));
            return vec![Span::new(format!("{name:<7}"), pager.canvas.theme.dim), Span::plain(words)];
        }
        vec![
            Span::new(format!("{name:<12}"), pager.canvas.theme.dim),
            Span::plain(format!("{:>9} {arrow} {:<9} ", figure(was), figure(is))),
            Span::new(sign, pager.canvas.theme.accent),
        ]
    };
    let mut rows = vec![
        row("kept lines", |preview| preview.kept_lines, thousands),
        row("kept bytes", |preview| preview.kept_bytes, size),
        row("tokens", |preview| preview.kept_bytes, tokens),
    ];
    if let (Some(pattern), Some(kept)) = (&pager.find.pattern, pager.find.tally.kept) {
        let name = SafeText::from(pattern.text()).fit(20);
        let words =
            format!(" {} of {} for {name}", thousands(kept), thousands(pager.find.tally.counts.total()));
        rows.push(vec![
            Span::new(format!("{:<12}", "matches kept"), pager.canvas.theme.dim),
            Span::plain(words),
        ]);
    }
    rows
}

/// Describes what it takes to keep the line that the drawer asks about.
fn advice(pager: &Pager) -> Vec<Span> {
    let Some(advice) = &pager.drawer.advice else { return Vec::new() };
    let line = advice.line.map_or("this line".into(), |line| format!("line {}", thousands(line)));
    let apply = pager.canvas.keys.of(KeyContext::Drawer, Action::TakeAdvice);
    match (&advice.change, advice.is_kept) {
        (_, true) => vec![Span::new(format!(" {line} is kept"), pager.canvas.theme.dim)],
        (Some((words, _)), _) => vec![
            Span::new(format!(" {line} is lost. "), pager.canvas.theme.warning),
            Span::plain(format!("Kept with: {words}")),
            Span::new(format!("   {apply} applies it"), pager.canvas.theme.dim),
        ],
        (None, _) => vec![Span::new(format!(" {line} is lost"), pager.canvas.theme.warning)],
    }
}
