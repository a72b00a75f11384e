//! A text in a box over the screen, such as a line of JSON or the facts: what it shows and how it scrolls.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::document::fold::ProgressLines;
use crate::document::reader::{Files, Reader};
use crate::document::scroll::{Long, Scroll, Viewport};
use crate::document::{Class, Doc};
use crate::session::facts::TitledText;
use crate::text::cells::Show;
use crate::tui::footer::{Hint, describe_hints};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::view::pane;
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Link, Screen, box_action};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::{layout, line};

use Action as A;

const MAX_COLUMNS: u16 = 116;

/// A text with what of it leads somewhere.
#[derive(Default)]
pub(crate) struct LinkedText {
    pub doc: Doc,
    /// Where ranges of it lead, in their order; each to another kind of place.
    pub links: Vec<(Range<u64>, Link)>,
}

/// Makes the text anew of the screen beneath; `None` if that has none.
pub(crate) type Renewal = fn(&dyn Screen) -> Option<LinkedText>;

pub struct TextBox {
    title: String,
    text: LinkedText,
    /// The index of the selected link.
    chosen: usize,
    /// How the text follows changes of the screen; `None` if it does not.
    renewal: Option<Renewal>,
    /// The offset of the first row, in bytes.
    top: u64,
}

/// What the lower border says of a text that goes on, and of one that does not.
const MORE: &[Hint] = &[(&[A::Down], "more"), (&[A::Start, A::End], "ends"), (&[A::Back], "back")];
const WHOLE: &[Hint] = &[(&[A::Back], "back")];

impl TextBox {
    pub(crate) fn new(text: TitledText) -> Self {
        let (doc, links) = (Doc::from_texts([(Class::Kept, text.text)]), Vec::new());
        Self { title: text.title, text: LinkedText { doc, links }, chosen: 0, renewal: None, top: 0 }
    }

    /// Shows a text that follows changes of the screen beneath.
    pub(crate) fn following(title: &str, text: LinkedText, renewal: Renewal) -> Self {
        Self { title: title.to_owned(), text, chosen: 0, renewal: Some(renewal), top: 0 }
    }

    /// Returns the columns of the text on a screen of this size.
    pub(crate) fn columns(canvas: &Canvas) -> usize {
        usize::from(Self::place(canvas.size, canvas.size.1.saturating_sub(4)).width.saturating_sub(2))
    }

    fn place((columns, rows): (u16, u16), height: u16) -> Rect {
        layout::overlay(Rect::new(0, 0, columns, rows), MAX_COLUMNS, height)
    }

    /// Returns a scroller over the text in the largest box on a screen of this size.
    fn scroll(&self, canvas: &Canvas) -> Scroll<'_> {
        let place = Self::place(canvas.size, canvas.size.1.saturating_sub(4));
        let frame = Viewport {
            width: place.width.saturating_sub(2),
            height: place.height.saturating_sub(2),
            long: Long::Wrapped,
            show: Show { ascii: !canvas.unicode, ..Show::RAW },
            progress: ProgressLines::Unfolded,
        };
        let files = Files { out: &[], err: &[], index: None };
        Scroll { reader: Reader { doc: &self.text.doc, files, cost: None }, frame, rules: None, sift: None }
    }

    fn shown_link(&self, number: Option<usize>, canvas: &Canvas) -> Option<&Link> {
        let (range, link) = self.text.links.get(number?)?;
        let scroll = self.scroll(canvas);
        let row = scroll.row_at(range.start);
        scroll.screen(scroll.row_at(self.top)).iter().any(|shown| shown.base == row).then_some(link)
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
    fn scroll_by(&mut self, action: Action, canvas: &Canvas) -> bool {
        let (page, scroll) = (usize::from(canvas.size.1 / 2), self.scroll(canvas));
        let top = scroll.row_at(self.top);
        self.top = match action {
            Action::Down => scroll.down(top, 1),
            Action::Up => scroll.up(top, 1),
            Action::PageDown | Action::HalfDown => scroll.down(top, page),
            Action::PageUp | Action::HalfUp => scroll.up(top, page),
            Action::Start => 0,
            Action::End => scroll.last_top(),
            _ => return false,
        };
        true
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
            Ok(action) if self.scroll_by(action, on.canvas) => LayerNext::Stays,
            Ok(_) => LayerNext::Closes,
            Err(next) => next,
        }
    }

    fn refresh(&mut self, below: &dyn Screen) {
        if let Some(text) = self.renewal.and_then(|renewal| renewal(below)) {
            let kind = |(_, link): &(Range<u64>, Link)| std::mem::discriminant(link);
            let chosen = self.text.links.get(self.chosen).map(kind);
            let again = text.links.iter().position(|link| Some(kind(link)) == chosen);
            self.chosen = again.unwrap_or(self.chosen);
            self.text = text;
        }
    }

    fn draw(&self, LayerFrame { canvas, frame, .. }: LayerFrame) {
        let (theme, scroll) = (&canvas.theme, self.scroll(canvas));
        // A short text has a box of its height.
        let place = Self::place(canvas.size, scroll.screen(0).len() as u16 + 2);
        let hints = if self.top < scroll.last_top() { MORE } else { WHOLE };
        let foot = line::box_keys(&describe_hints(KeyContext::Pager, hints, canvas.keys), place.width);
        let inner = line::boxed(canvas, frame, place, format!(" {} ", self.title), foot);
        let link_at = |at| self.text.links.iter().position(|(range, _)| range.contains(&at));
        for (row, y) in scroll.screen(scroll.row_at(self.top)).iter().zip(inner.y..inner.bottom()) {
            let mut x = inner.x;
            for cell in &row.cells {
                let at = row.base + u64::from(cell.start);
                let link = match link_at(at) {
                    Some(link) if link == self.chosen => theme.selected.add_modifier(Modifier::UNDERLINED),
                    Some(_) => Style::new().add_modifier(Modifier::UNDERLINED),
                    None => Style::new(),
                };
                let style = pane::class_style(self.text.doc.class_at(at), theme)
                    .patch(link)
                    .patch(pane::kind_style(cell.kind, theme).unwrap_or_default());
                x = pane::put(frame.buffer_mut(), Rect { y, height: 1, ..inner }, x, cell, style);
            }
        }
    }
}
