//! Draws the policy picker over the lower part of the screen, so that the preview shows above it.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::pager::Pager;
use crate::tui::pager::picker::{Picker, prose, prose_rows};
use crate::tui::widget::frame;
use crate::tui::widget::line::{self, Span};

/// Draws the picker.
pub(crate) fn draw(pager: &Pager, picker: &Picker, frame: &mut Frame, place: Rect) {
    let canvas = &pager.canvas;
    let inner = frame::draw(canvas, frame, place, title(pager, picker), keys(canvas.keys, place.width));
    let prose_rows = prose_rows(canvas.size.1).min(inner.height);
    let head = Rect { height: inner.height.min(1), ..inner };
    let rows = inner.height.saturating_sub(prose_rows + head.height);
    let list = Rect { y: head.bottom(), height: rows, ..inner };
    picker.list.draw(canvas, frame.buffer_mut(), (head, list), |_| false);
    let Some(row) = picker.list.chosen() else {
        return line::centred(frame.buffer_mut(), list, ["No policy has these words."], canvas.theme.dim);
    };
    for (text, y) in prose(&row.choice, prose_rows).into_iter().zip(list.bottom()..inner.bottom()) {
        let text = line::head(text, usize::from(inner.width).saturating_sub(2), canvas.glyphs());
        let spans = [Span::plain("  "), Span::new(text, canvas.theme.dim)];
        line::spans(frame.buffer_mut(), Rect { y, height: 1, ..inner }, &spans);
    }
}

/// Names the output, so that the figures cannot be taken for limits.
fn title(pager: &Pager, picker: &Picker) -> String {
    let (list, name) = (&picker.list, &pager.output.subject.name);
    let filter = match list.filter_text() {
        "" => String::new(),
        words => format!(" · filter: {words}"),
    };
    let [order, _] = list.order_in_words();
    format!(
        " Policies: {} of {} · what each makes of {name}{filter} · sort: {order} ",
        list.len(),
        list.rows().len()
    )
}

/// Returns the keys that fit, the most useful first.
fn keys(keys: &KeyMap, width: u16) -> String {
    let hint = |action, words| format!("{} {words}", keys.of(KeyContext::Lists, action));
    let hints = [
        hint(Action::Open, "use"),
        hint(Action::Back, "back"),
        hint(Action::Search, "filter"),
        hint(Action::Sort, "sort"),
    ];
    frame::foot(&hints, width)
}
