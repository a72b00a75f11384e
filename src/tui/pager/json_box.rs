//! A line of JSON, indented, in a box over the screen: what it shows and how it scrolls.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::text::cells::Show;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::doc::Doc;
use crate::tui::pager::fold::ProgressLines;
use crate::tui::pager::json::JsonLine;
use crate::tui::pager::reader::{Files, Reader};
use crate::tui::pager::scroll::{Long, Scroll, Viewport};
use crate::tui::pager::view::pane;
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, box_action};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::frame;
use crate::tui::widget::layout;

/// The widest box, in columns.
const WIDEST: u16 = 116;

/// The state of the box.
pub struct JsonBox {
    /// What is shown.
    pub(crate) title: String,
    doc: Doc,
    /// The offset of the first row, in bytes.
    top: u64,
}

impl JsonBox {
    /// Shows a line from its start.
    pub(crate) fn new(line: JsonLine) -> Self {
        Self { title: line.title, doc: Doc::text(line.text), top: 0 }
    }

    /// Returns where the box stands on a screen of this size.
    pub(crate) fn place(canvas: &Canvas) -> Rect {
        let (columns, rows) = canvas.size;
        layout::overlay(Rect::new(0, 0, columns, rows), WIDEST, rows.saturating_sub(4))
    }

    /// Calls `work` with a scroller over the text in the box, and the offset of its first row.
    pub(crate) fn scrolling<T>(&self, canvas: &Canvas, work: impl FnOnce(Scroll, u64) -> T) -> T {
        let cost = Cost::default();
        let place = Self::place(canvas);
        let frame = Viewport {
            width: place.width.saturating_sub(2),
            height: place.height.saturating_sub(2),
            long: Long::Wrapped,
            show: Show { ascii: !canvas.unicode, ..Show::RAW },
            progress: ProgressLines::Unfolded,
        };
        let reader = Reader { doc: &self.doc, files: Files { out: &[], err: &[], index: None }, cost: &cost };
        work(Scroll { reader, frame, weight: &|_, _| 1, sift: None }, self.top)
    }

    /// Whether there is text below the last row shown.
    pub(crate) fn has_more(&self, canvas: &Canvas) -> bool {
        self.scrolling(canvas, |scroll, top| top < scroll.last_top())
    }

    /// Scrolls. Returns false if the action does not.
    fn scroll(&mut self, action: Action, canvas: &Canvas) -> bool {
        let page = usize::from(canvas.size.1 / 2);
        let top = self.scrolling(canvas, |scroll, top| {
            let top = scroll.row_at(top);
            Some(match action {
                Action::Down => scroll.down(top, 1),
                Action::Up => scroll.up(top, 1),
                Action::PageDown | Action::HalfDown => scroll.down(top, page),
                Action::PageUp | Action::HalfUp => scroll.up(top, page),
                Action::Start => 0,
                Action::End => scroll.last_top(),
                _ => return None,
            })
        });
        self.top = top.unwrap_or(self.top);
        top.is_some()
    }
}

impl Layer for JsonBox {
    fn key(&mut self, key: KeyEvent, mut on: LayerContext) -> LayerNext {
        match box_action(key, &mut on) {
            Ok(action) if self.scroll(action, on.canvas) => LayerNext::Stays,
            Ok(_) => LayerNext::Closes,
            Err(next) => next,
        }
    }

    fn draw(&self, look: LayerFrame) {
        draw(look.canvas, self, look.frame);
    }
}

fn draw(canvas: &Canvas, json: &JsonBox, frame: &mut Frame) {
    let key = |action| canvas.keys.of(KeyContext::Pager, action);
    let [down, start, end, back] = [Action::Down, Action::Start, Action::End, Action::Back].map(key);
    let foot = match json.has_more(canvas) {
        true => format!(" {down} more · {start} {end} ends · {back} back "),
        false => format!(" {back} back "),
    };
    let title = format!(" {} ", json.title);
    let inner = frame::draw(canvas, frame, JsonBox::place(canvas), title, foot);
    let rows = json.scrolling(canvas, |scroll, top| scroll.screen(scroll.row_at(top)));
    for (row, y) in rows.iter().zip(inner.y..inner.bottom()) {
        let mut x = inner.x;
        for cell in &row.cells {
            let style = pane::kind_style(cell.kind, &canvas.theme).unwrap_or_default();
            x = pane::put(frame.buffer_mut(), Rect { y, height: 1, ..inner }, x, cell, style);
        }
    }
}
