//! Draws the previews of two policies side by side.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::human::{size, thousands, tokens};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::Pager;
use crate::tui::pager::fold::ProgressLines;
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::pair::Pair;
use crate::tui::pager::scroll::Long;
use crate::tui::recorded::RecordedCall;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};

use super::pane::{self, Shown};

/// Draws the two previews over the whole screen.
pub(crate) fn draw(pager: &Pager, pair: &Pair, frame: &mut Frame, cost: &Cost) {
    let (area, canvas) = (frame.area(), &pager.canvas);
    frame.buffer_mut().reset();
    let width = area.width.saturating_sub(1) / 2;
    for side in 0..2 {
        let x = area.x + (width + 1) * side as u16;
        let place = Rect { x, width, height: area.height.saturating_sub(2), ..area };
        heading(pager, pair, side, frame, Rect { height: place.height.min(1), ..place });
        let text = Rect { y: place.y + 1, height: place.height.saturating_sub(1), ..place };
        let shown = Shown {
            output: &pair.sides[side],
            side: Side::Preview,
            top: pair.tops[side],
            headed: false,
            canvas: *canvas,
            long: Long::Wrapped,
            show: pager.pair_show(),
            progress: ProgressLines::Unfolded,
            active: pair.focus == side,
            chosen: None,
            coming: false,
            selected: None,
            pattern: pager.find.pattern.as_ref(),
            current: None,
            severities: None,
            set_off: pair.is_made().then(|| &pair.sides[1 - side].kept[..]),
        };
        pane::draw(&shown, frame.buffer_mut(), text, cost);
    }
    let rule = Rect { y: area.bottom().saturating_sub(2), height: 1.min(area.height), ..area };
    line::rule(frame.buffer_mut(), rule, canvas);
    let last = Rect { y: area.bottom().saturating_sub(1), height: 1.min(area.height), ..area };
    let words = status(pair);
    line::left(frame.buffer_mut(), last, format!(" {words}"), canvas.theme.accent);
    let key = |action| canvas.keys.of(KeyContext::Pair, action);
    let next = format!("{} {} differences", key(Action::NextCut), key(Action::PreviousCut));
    let other = format!("{} side", key(Action::Other));
    let back = format!("{} back", key(Action::Back));
    for keys in [format!("{next} · {other} · {back} "), format!("{next} · {back} "), format!("{back} ")] {
        if words.chars().count() + keys.chars().count() + 2 < usize::from(last.width) {
            let keys = [Span::new(keys, canvas.theme.dim)];
            line::right(frame.buffer_mut(), last, words.chars().count() + 1, &keys);
            break;
        }
    }
}

fn heading(pager: &Pager, pair: &Pair, side: usize, frame: &mut Frame, area: Rect) {
    let theme = &pager.canvas.theme;
    let output = &pair.sides[side];
    let style = if pair.focus == side { theme.active } else { theme.dim };
    let mut words = String::new();
    if let Ok(preview) = &output.preview
        && pair.is_made()
    {
        let lines = preview.kept_lines.map_or("…".to_owned(), thousands);
        let got = preview.kept_bytes.map_or("…".to_owned(), tokens);
        words = format!(" · only here {} · {lines} lines · {got} tok", size(pair.only(side)));
    }
    let name = name(output);
    let room = usize::from(area.width).saturating_sub(1);
    let text = line::head(format!(" {name}{words}"), room, pager.canvas.glyphs());
    line::left(frame.buffer_mut(), area, text, style.add_modifier(Modifier::BOLD));
}

/// Returns what a side is: a policy, or the record.
fn name(output: &OpenOutput) -> String {
    match output.shown_record() {
        Some(recorded) => format!("{} by {}", recorded.evidence.as_str(), recorded.by),
        None => output.policy().name().to_owned(),
    }
}

/// Says what differs, or which difference is shown.
fn status(pair: &Pair) -> String {
    let all = pair.differences.len() as u64;
    match pair.current.and_then(|at| Some((at, pair.differences.get(at)?))) {
        _ if !pair.is_made() => "planning…".to_owned(),
        Some((at, (range, side))) => format!(
            "difference {} of {}: {} that only {} keeps",
            thousands(at as u64 + 1),
            thousands(all),
            size(range.len() as u64),
            name(&pair.sides[*side])
        ),
        None if all == 0 => {
            pair.sides[0].shown_record().map_or_else(String::new, RecordedCall::check_in_words)
        }
        None if all == 1 => "1 difference".to_owned(),
        None => format!("{} differences", thousands(all)),
    }
}
