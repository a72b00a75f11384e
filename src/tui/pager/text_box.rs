//! A text in a box over the screen, such as a line of JSON or the facts: what it shows and how it scrolls.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::document::fold::ProgressLines;
use crate::document::reader::{Files, Reader};
use crate::document::scroll::{Long, Scroll, Viewport};
use crate::document::{Class, Doc};
use crate::session::facts::TitledText;
use crate::text::cells::Show;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::view::pane;
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Link, Screen, box_action};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::frame;
use crate::tui::widget::layout;

/// The widest box, in columns.
const WIDEST: u16 = 116;

/// A text with what of it leads somewhere.
#[derive(Default)]
pub(crate) struct LinkedText {
    pub doc: Doc,
    /// Where ranges of it lead, in their order; each to another kind of place.
    pub links: Vec<(Range<u64>, Link)>,
}

/// Makes the text anew of the screen beneath; `None` if that has none.
pub(crate) type Renewal = fn(&dyn Screen) -> Option<LinkedText>;

/// The state of the box.
pub struct TextBox {
    title: String,
    doc: Doc,
    links: Vec<(Range<u64>, Link)>,
    /// The index of the selected link.
    chosen: usize,
    /// How the text follows changes of the screen; `None` if it does not.
    renewal: Option<Renewal>,
    /// The offset of the first row, in bytes.
    top: u64,
}

impl TextBox {
    /// Shows a text from its start.
    pub(crate) fn new(text: TitledText) -> Self {
        let doc = Doc::of([(Class::Kept, text.text)]);
        Self { title: text.title, doc, links: Vec::new(), chosen: 0, renewal: None, top: 0 }
    }

    /// Shows a text that follows changes of the screen beneath.
    pub(crate) fn following(title: &str, text: LinkedText, renewal: Renewal) -> Self {
        let LinkedText { doc, links } = text;
        Self { title: title.to_owned(), doc, links, chosen: 0, renewal: Some(renewal), top: 0 }
    }

    /// Returns the columns of the text on a screen of this size.
    pub(crate) fn columns(canvas: &Canvas) -> usize {
        usize::from(Self::largest(canvas).width.saturating_sub(2))
    }

    /// Returns where the largest box stands on a screen of this size.
    fn largest(canvas: &Canvas) -> Rect {
        let (columns, rows) = canvas.size;
        layout::overlay(Rect::new(0, 0, columns, rows), WIDEST, rows.saturating_sub(4))
    }

    /// Returns where the box stands: it is as high as its text if that is short.
    fn place(&self, canvas: &Canvas) -> Rect {
        let (columns, rows) = canvas.size;
        let needed = self.scrolling(canvas, |scroll, _| scroll.screen(0).len()) as u16 + 2;
        layout::overlay(Rect::new(0, 0, columns, rows), WIDEST, needed)
    }

    /// Calls `work` with a scroller over the text in the box, and the offset of its first row.
    fn scrolling<T>(&self, canvas: &Canvas, work: impl FnOnce(Scroll, u64) -> T) -> T {
        let place = Self::largest(canvas);
        let frame = Viewport {
            width: place.width.saturating_sub(2),
            height: place.height.saturating_sub(2),
            long: Long::Wrapped,
            show: Show { ascii: !canvas.unicode, ..Show::RAW },
            progress: ProgressLines::Unfolded,
        };
        let reader = Reader { doc: &self.doc, files: Files { out: &[], err: &[], index: None }, cost: None };
        work(Scroll { reader, frame, rules: None, sift: None }, self.top)
    }

    /// Whether there is text below the last row shown.
    fn has_more(&self, canvas: &Canvas) -> bool {
        self.scrolling(canvas, |scroll, top| top < scroll.last_top())
    }

    /// Returns a link if it is on the screen.
    fn shown_link(&self, number: Option<usize>, canvas: &Canvas) -> Option<&Link> {
        let (range, link) = self.links.get(number?)?;
        let is_shown = self.scrolling(canvas, |scroll, top| {
            let row = scroll.row_at(range.start);
            scroll.screen(scroll.row_at(top)).iter().any(|shown| shown.base == row)
        });
        is_shown.then_some(link)
    }

    /// Selects the next or previous link, if it is on the screen. Returns false if none is.
    fn choose_link(&mut self, action: Action, canvas: &Canvas) -> bool {
        let to = match action {
            Action::Down => self.chosen.checked_add(1),
            Action::Up => self.chosen.checked_sub(1),
            _ => None,
        };
        let is_shown = self.shown_link(to, canvas).is_some();
        self.chosen = to.filter(|_| is_shown).unwrap_or(self.chosen);
        is_shown
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

impl Layer for TextBox {
    fn key(&mut self, key: KeyEvent, mut on: LayerContext) -> LayerNext {
        if let Some(link) =
            self.shown_link(Some(self.chosen), on.canvas).filter(|_| key.code == KeyCode::Enter)
        {
            on.effects.show(link.clone());
            return LayerNext::Closes;
        }
        match box_action(key, &mut on) {
            Ok(action) if self.choose_link(action, on.canvas) => LayerNext::Stays,
            Ok(action) if self.scroll(action, on.canvas) => LayerNext::Stays,
            Ok(_) => LayerNext::Closes,
            Err(next) => next,
        }
    }

    fn refresh(&mut self, below: &dyn Screen) {
        if let Some(text) = self.renewal.and_then(|renewal| renewal(below)) {
            let kind = |(_, link): &(Range<u64>, Link)| std::mem::discriminant(link);
            let chosen = self.links.get(self.chosen).map(kind);
            let again = text.links.iter().position(|link| Some(kind(link)) == chosen);
            self.chosen = again.unwrap_or(self.chosen);
            (self.doc, self.links) = (text.doc, text.links);
        }
    }

    fn draw(&self, look: LayerFrame) {
        draw(look.canvas, self, look.frame);
    }
}

fn draw(canvas: &Canvas, shown: &TextBox, frame: &mut Frame) {
    let key = |action| canvas.keys.of(KeyContext::Pager, action);
    let [down, start, end, back] = [Action::Down, Action::Start, Action::End, Action::Back].map(key);
    let foot = match shown.has_more(canvas) {
        true => format!(" {down} more · {start} {end} ends · {back} back "),
        false => format!(" {back} back "),
    };
    let title = format!(" {} ", shown.title);
    let inner = frame::draw(canvas, frame, shown.place(canvas), title, foot);
    let rows = shown.scrolling(canvas, |scroll, top| scroll.screen(scroll.row_at(top)));
    for (row, y) in rows.iter().zip(inner.y..inner.bottom()) {
        let mut x = inner.x;
        for cell in &row.cells {
            let at = row.base + u64::from(cell.start);
            let class = shown.doc.class_at(at);
            let link = match shown.links.iter().position(|(range, _)| range.contains(&at)) {
                Some(number) if number == shown.chosen => {
                    canvas.theme.selected.add_modifier(Modifier::UNDERLINED)
                }
                Some(_) => Style::new().add_modifier(Modifier::UNDERLINED),
                None => Style::new(),
            };
            let style = pane::class_style(class, &canvas.theme)
                .patch(link)
                .patch(pane::kind_style(cell.kind, &canvas.theme).unwrap_or_default());
            x = pane::put(frame.buffer_mut(), Rect { y, height: 1, ..inner }, x, cell, style);
        }
    }
}
