//! Texts in a box over the screen: facts, with where they lead, what records hold of a call, or a line of JSON.

use std::any::Any;
use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::base::human::NamedFact;
use crate::document::reader::{Files, Reader};
use crate::document::scroll::{Scroll, Viewport};
use crate::document::{Class, Doc};
use crate::output::recorded::CallRequest;
use crate::session::call_details::TitledText;
use crate::text::cells::Show;
use crate::text::label::{SafeText, fold};
use crate::tui::event::Message;
use crate::tui::footer::{Hint, describe_hints};
use crate::tui::keys::Action;
use crate::tui::list::List;
use crate::tui::list::screen::{ListContext, ListKind, ListScreen};
use crate::tui::screen::{
    Effect, Effects, ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Link, Screen, ScreenRequest,
};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::{layout, line};

use super::Pager;
use super::view::pane;

use Action as A;

const MAX_COLUMNS: u16 = 116;

#[derive(Default)]
pub(crate) struct LinkedText {
    pub doc: Doc,
    /// Where ranges of it lead, in their order; each to another kind of place.
    pub links: Vec<(Range<u64>, Link)>,
}

pub struct TextBox {
    title: String,
    text: LinkedText,
    chosen: usize,
    /// Makes the text anew of the screen beneath, if that has one; `None` if the text does not follow its changes.
    renewal: Option<fn(&dyn Screen) -> Option<LinkedText>>,
    /// The offset of the first row, in bytes.
    top: u64,
    /// The hints in the lower border; `None` for the default ones.
    hints: Option<&'static [Hint]>,
}

/// What the lower border says of a text that goes on, and of one that does not.
const MORE: &[Hint] = &[(&[A::Down], "more"), (&[A::Start, A::End], "ends"), (&[A::Back], "back")];
const WHOLE: &[Hint] = &[(&[A::Back], "back")];

/// The columns reserved for the names of facts.
const NAMES: usize = 12;

impl TextBox {
    pub(crate) fn new(text: TitledText) -> Self {
        Self::from_doc(text.title, Doc::from_texts([(Class::Kept, text.text)]), None)
    }

    pub(crate) fn from_doc(title: String, doc: Doc, hints: Option<&'static [Hint]>) -> Self {
        let text = LinkedText { doc, links: Vec::new() };
        Self { title, text, chosen: 0, renewal: None, top: 0, hints }
    }

    /// Shows the facts that the screen beneath has, now and whenever it changes.
    pub(crate) fn from_facts(renewal: fn(&dyn Screen) -> Option<LinkedText>) -> Self {
        Self { renewal: Some(renewal), ..Self::from_doc("Facts".to_owned(), Doc::default(), None) }
    }

    pub(crate) fn columns(canvas: &Canvas) -> usize {
        usize::from(Self::place(canvas.size, canvas.size.1.saturating_sub(4)).width.saturating_sub(2))
    }

    fn place((columns, rows): (u16, u16), height: u16) -> Rect {
        layout::overlay(Rect::new(0, 0, columns, rows), MAX_COLUMNS, height)
    }

    fn scroll(&self, canvas: &Canvas) -> Scroll<'_> {
        let place = Self::place(canvas.size, canvas.size.1.saturating_sub(4));
        let [width, height] = [place.width, place.height].map(|size| size.saturating_sub(2));
        let frame = Viewport::of_all(width, height, Show { ascii: !canvas.unicode, ..Show::RAW });
        let files = Files { out: &[], err: &[], index: None };
        Scroll { reader: Reader { doc: &self.text.doc, files, cost: None }, frame, rules: None, filter: None }
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

    fn scroll_by(&mut self, action: Action, canvas: &Canvas) -> bool {
        let (page, scroll) = (usize::from(canvas.size.1 / 2), self.scroll(canvas));
        let top = scroll.row_at(self.top);
        self.top = match action {
            Action::Down => scroll.down(top, 1),
            Action::Up => scroll.up(top, 1),
            // Space pages in an output, and chooses in a list.
            Action::PageDown | Action::HalfDown | Action::Choose => scroll.down(top, page),
            Action::PageUp | Action::HalfUp => scroll.up(top, page),
            Action::Start => 0,
            Action::End => scroll.last_top(),
            _ => return false,
        };
        true
    }
}

impl Layer for TextBox {
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        if let Some(link) =
            self.shown_link(Some(self.chosen), on.canvas).filter(|_| key.code == KeyCode::Enter)
        {
            on.effects.show(link.clone());
            return LayerNext::Closes;
        }
        let (keys, context) = (on.canvas.keys, on.below.context());
        match keys.action(context, key) {
            Some(Action::Quit | Action::Interrupt) => return LayerNext::Closes,
            Some(Action::QuitNow) => on.effects.request(ScreenRequest::Leave(ExitChoice::default())),
            Some(action) if self.choose_link(action, on.canvas) || self.scroll_by(action, on.canvas) => {}
            Some(_) => return LayerNext::Closes,
            None => on.below.say(keys.unknown(context, key).map(Message::note)),
        }
        LayerNext::Stays
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

    fn draw(&self, LayerFrame { canvas, below, frame, .. }: LayerFrame) {
        let (theme, scroll) = (&canvas.theme, self.scroll(canvas));
        // A short text has a box of its height.
        let place = Self::place(canvas.size, scroll.screen(0).len() as u16 + 2);
        let hints = self.hints.unwrap_or(if self.top < scroll.last_top() { MORE } else { WHOLE });
        let keys = describe_hints(below.context(), hints, canvas.keys);
        let inner = line::boxed(canvas, frame, place, format!(" {} ", self.title), &keys);
        let link_at = |at| self.text.links.iter().position(|(range, _)| range.contains(&at));
        for (row, area) in scroll.screen(scroll.row_at(self.top)).iter().zip(inner.rows()) {
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
                x = pane::put(frame.buffer_mut(), area, x, cell, style);
            }
        }
    }
}

impl Pager {
    /// Shows the facts, and asks the worker for what else the records hold of the call.
    pub(super) fn show_facts(&mut self, effects: &mut Effects) {
        if let Some(index) = self.output.recorded.as_ref().and_then(|recorded| recorded.index) {
            effects.push(Effect::Ask(CallRequest::Facts(index)));
        }
        effects.push_layer(TextBox::from_facts(|below| (below as &dyn Any).downcast_ref().map(Self::facts)));
    }

    fn facts(&self) -> LinkedText {
        let output = &self.output;
        let texts = output.recorded.as_ref().map_or(Some(&[][..]), |recorded| recorded.texts.as_deref());
        let file = output.subject.file.as_ref().filter(|_| output.is_stored());
        let link = |name: &str| match (name, file) {
            ("file", Some(path)) => Some(Link::Stores(Some(path.into()))),
            _ => Link::in_session(name, output.call()?),
        };
        page(output.facts(), link, texts, &self.canvas)
    }
}

pub(crate) trait ListFacts: ListKind {
    /// Returns the facts, and the texts that follow them: `None` until they have come.
    fn facts(&self, list: &List<Self::Row>) -> (Vec<NamedFact>, Option<&[TitledText]>);

    fn link(&self, list: &List<Self::Row>, name: &str) -> Option<Link>;

    fn show_facts(&self, on: ListContext<Self::Row>) {
        if on.list.chosen().is_none() {
            return;
        }
        on.effects.push_layer(TextBox::from_facts(|below| {
            let ListScreen { of, list, canvas, .. }: &ListScreen<Self> =
                (below as &dyn Any).downcast_ref()?;
            let (facts, texts) = of.facts(list);
            Some(page(facts, |name| of.link(list, name), texts, canvas))
        }));
    }
}

/// Makes the page of facts and of the texts that follow them; without `texts` they have not come yet.
fn page(
    facts: Vec<NamedFact>,
    link: impl Fn(&str) -> Option<Link>,
    texts: Option<&[TitledText]>,
    canvas: &Canvas,
) -> LinkedText {
    let room = TextBox::columns(canvas).saturating_sub(NAMES + 3).max(1);
    let (mut page, mut links, mut at) = (Vec::new(), Vec::new(), 0);
    let mut push = |class, text: String| {
        at += text.len() as u64;
        page.push((class, text.into_bytes()));
        at
    };
    if facts.iter().any(|(name, _)| link(name).is_some()) {
        let [down, up] = ["↓", "↑"].map(|key| canvas.key_name(key));
        push(Class::Own, format!(" {:<NAMES$} {down} {up} and Enter go to what is underlined\n", ""));
    }
    for (name, text) in facts.into_iter().filter(|(_, text)| !text.is_empty()) {
        let mut link = link(name);
        for (n, row) in fold(&SafeText::from(text), room).into_iter().enumerate() {
            let name = if n == 0 { name } else { "" };
            let from = push(Class::Own, format!(" {name:<NAMES$} "));
            let to = push(Class::Kept, format!("{row}\n"));
            links.extend(link.take().map(|link| (from..to - 1, link)));
        }
    }
    let heading = |words: &str| (Class::Own, format!("\n{words}\n").into_bytes());
    for TitledText { title, text } in texts.unwrap_or_default() {
        page.push(heading(&format!("{} {title}", line::DASH.repeat(4))));
        page.push((Class::Kept, [text.trim_ascii_end(), b"\n"].concat()));
    }
    page.extend(texts.is_none().then(|| heading(" …")));
    LinkedText { doc: Doc::from_texts(page), links }
}
