//! A list as a screen of the application: what every list does. A [`ListKind`] says what it lists.

use std::marker::PhantomData;
use std::path::PathBuf;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::document::reader::Cost;
use crate::rows::column::ListSpec;
use crate::text::label::SafeText;
use crate::tui::event::{Event, Message, Purpose, ScreenEvent, SearchScope};
use crate::tui::footer::Footer;
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::popup::menu::{Copyable, copy_menu};
use crate::tui::popup::prompt::Prompt;
use crate::tui::screen::{Effect, Effects, Link, OpenRequest, Screen, ScreenRequest, ScreenRows, StatusRow};
use crate::tui::target::StartAt;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout::{self, ListPanel};
use crate::tui::widget::line;

use super::List;
use super::arrange::Arrangement;

pub type ActionHandler<L> = fn(&mut L, ListContext<<L as ListKind>::Row>);

/// What a list is of: where its rows come from, and what keys do with them.
pub trait ListKind: Sized + 'static {
    type Row: Clone + Send + Sync + 'static;
    type Event: ScreenEvent;
    const SPEC: &'static ListSpec<Self::Row>;
    const SCOPE: SearchScope = SearchScope::Outputs;

    fn footer(&self, list: &List<Self::Row>) -> Footer;

    fn title(&self, list: &List<Self::Row>) -> ListTitle;

    fn empty(&self, list: &List<Self::Row>, keys: &KeyMap) -> Vec<SafeText>;

    fn details(&self, list: &List<Self::Row>) -> [SafeText; 2];

    fn progress(&self, _list: &List<Self::Row>, _canvas: &Canvas) -> String {
        String::new()
    }

    /// Whether a row is to be deleted, as its last cell says.
    fn is_struck(&self, _row: &Self::Row) -> bool {
        false
    }

    fn panel(&self) -> ListPanel {
        ListPanel::None
    }

    fn draw_panel(&self, _list: &List<Self::Row>, _on: PanelFrame) {}

    fn copyable(&self, row: &Self::Row) -> Vec<Copyable>;

    fn open(&self, _list: &List<Self::Row>, _row: &Self::Row) -> Option<OpenRequest> {
        None
    }

    /// Returns the stored output that a row is of, and its line there, 1-based.
    fn output(&self, list: &List<Self::Row>, row: &Self::Row) -> Option<(PathBuf, u64)> {
        let OpenRequest { path, start, .. } = self.open(list, row)?;
        let line = match start.place {
            Some(StartAt::Line(line) | StartAt::Found(line, _)) => line,
            _ => 1,
        };
        Some((path, line))
    }

    fn serves(&self, link: &Link) -> bool;

    /// Whether an event is for this list, and not for another of its kind further down.
    fn expects(&self, _event: &Self::Event) -> bool {
        true
    }

    fn follow(&mut self, _link: Link, _on: ListContext<Self::Row>) {}

    fn handle(&mut self, event: Self::Event, on: ListContext<Self::Row>);

    /// Returns what an action does here, besides those that are the same in every list; any other is refused.
    fn handler(&self, _action: Action) -> Option<ActionHandler<Self>> {
        None
    }

    fn enter(&mut self, _text: &str, _on: ListContext<Self::Row>) -> Result<(), String> {
        Ok(())
    }

    fn ask(&mut self, _on: ListContext<Self::Row>) {}

    /// Whether the rows are still being read, so that keys that act on them wait.
    fn awaits_rows(&self, _list: &List<Self::Row>) -> bool {
        false
    }

    fn stop(&mut self, _on: ListContext<Self::Row>) -> bool {
        false
    }

    /// The list has come to the top of the stack, or is asked for anew.
    fn show(&mut self, _on: ListContext<Self::Row>) {}

    fn cover(&mut self, _on: ListContext<Self::Row>) {}

    fn close(&mut self, _on: ListContext<Self::Row>) {}
}

#[derive(Debug, Default)]
pub struct ListTitle {
    /// The place, and the places above it: `Sessions`, `Calls`.
    pub place: &'static [&'static str],
    pub figures: String,
    /// What of it needs a look; empty if nothing.
    pub alarm: String,
    /// The name of what is listed; empty if the place says it.
    pub name: SafeText,
}

pub struct PanelFrame<'a> {
    pub canvas: &'a Canvas,
    pub buffer: &'a mut Buffer,
    pub area: Rect,
    pub cost: &'a Cost,
}

struct RowsArranged<R>(Arrangement, PhantomData<fn() -> R>);

impl<R: 'static> ScreenEvent for RowsArranged<R> {}

pub struct ListContext<'a, R: 'static> {
    pub canvas: &'a Canvas,
    pub list: &'a mut List<R>,
    pub message: &'a mut Option<Message>,
    pub is_top: bool,
    pub effects: &'a mut Effects,
}

impl<R> ListContext<'_, R> {
    pub(crate) fn key(&self, action: Action) -> &'static str {
        self.canvas.keys.label(KeyContext::Lists, action)
    }

    pub(crate) fn note(self, text: impl Into<SafeText>) {
        *self.message = Some(Message::note(text));
    }
}

pub struct ListScreen<L: ListKind> {
    pub(crate) canvas: Canvas,
    pub list: List<L::Row>,
    pub of: L,
    is_on_stack: bool,
    /// Keys that wait until the rows that were asked for are shown.
    waiting_keys: Vec<KeyEvent>,
    pub(super) message: Option<Message>,
}

impl<L: ListKind> ListScreen<L> {
    pub(crate) fn new(canvas: Canvas, of: L) -> Self {
        let list = List::new(L::SPEC);
        let mut screen =
            Self { canvas, list, of, is_on_stack: false, waiting_keys: Vec::new(), message: None };
        fit(&screen.canvas, &mut screen.list, &screen.of);
        screen
    }

    /// Has the listing do something, then has workers find what the rows on the screen lack, and arrange the rows.
    fn on<T>(
        &mut self,
        is_top: bool,
        effects: &mut Effects,
        act: impl FnOnce(&mut L, ListContext<L::Row>) -> T,
    ) -> T {
        let Self { canvas, list, of, is_on_stack, message, waiting_keys } = self;
        let panel = of.panel();
        let done = act(of, ListContext { canvas, list, message, is_top, effects });
        if of.panel() != panel {
            fit(canvas, list, of);
        }
        if *is_on_stack && is_top {
            of.ask(ListContext { canvas, list, message, is_top, effects });
        }
        if let Some(task) = list.task.take() {
            effects.run(Slot::Sort, move |context| {
                if let Some(arranged) = task.run(None, &|| context.is_wanted()) {
                    context.send(RowsArranged::<L::Row>(arranged, PhantomData));
                }
            });
        }
        if !list.is_awaited() && !of.awaits_rows(list) && !waiting_keys.is_empty() {
            effects.request(ScreenRequest::Replay(std::mem::take(waiting_keys)));
        }
        done
    }

    fn on_list(&mut self, effects: &mut Effects, act: impl FnOnce(&mut List<L::Row>)) {
        self.on(true, effects, |_, on| act(on.list));
    }

    fn chosen_output(&self) -> Option<(PathBuf, u64)> {
        self.of.output(&self.list, self.list.chosen()?)
    }

    fn copy(&mut self, effects: &mut Effects) {
        let rows = self.list.marked_or_chosen();
        let copyable: Vec<Vec<Copyable>> = rows.iter().map(|row| self.of.copyable(row)).collect();
        match Copyable::join_all(&copyable) {
            none if none.is_empty() => self.message = Some(Message::note("nothing to copy here")),
            some => effects.push_layer(copy_menu(some.into_iter().map(Copyable::entry).collect())),
        }
    }
}

impl<L: ListKind> Screen for ListScreen<L> {
    fn context(&self) -> KeyContext {
        KeyContext::Lists
    }

    fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    fn say(&mut self, message: Option<Message>) {
        self.message = message;
    }

    fn serves(&self, link: &Link) -> bool {
        self.of.serves(link)
    }

    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast::<L::Event>() {
            Ok(event) if self.of.expects(&event) => {
                self.on(is_top, effects, |of, on| of.handle(event, on));
            }
            Ok(event) => return Err(event.into()),
            Err(event) => match event.downcast::<RowsArranged<L::Row>>() {
                Ok(RowsArranged(arranged, _)) => {
                    self.on(is_top, effects, |_, on| on.list.on_arrangement(arranged))
                }
                Err(event) => match event.downcast::<Link>()? {
                    link if self.of.serves(&link) => self.on(is_top, effects, |of, on| of.follow(link, on)),
                    link => return Err(link.into()),
                },
            },
        }
        Ok(())
    }

    /// Keys typed ahead wait for the rows asked for: keys, because an earlier one can change what they mean.
    fn key(&mut self, key: KeyEvent, _effects: &mut Effects) -> bool {
        let action = self.canvas.keys.action(KeyContext::Lists, key);
        let needs_no_row = matches!(action, Some(Action::Quit | Action::QuitNow | Action::Help));
        let awaits_rows = self.of.awaits_rows(&self.list);
        let leaves = matches!(action, Some(Action::Back | Action::Quit | Action::QuitNow | Action::Stores));
        if awaits_rows && leaves {
            self.waiting_keys.clear();
            return false;
        }
        let waits = (self.list.is_awaited() || awaits_rows)
            && action != Some(Action::Interrupt)
            && !(needs_no_row && self.waiting_keys.is_empty());
        if waits {
            self.waiting_keys.push(key);
        }
        waits
    }

    fn supports(&self, action: Action) -> bool {
        use Action::{Back, Choose, ChooseAll, Copy, Editor, Group, Matching, Open, Search, Sort, Stores};
        match action {
            Back | Choose | ChooseAll | Copy | Matching | Open | Search | Sort => true,
            Editor => self.chosen_output().is_some(),
            Group => !L::SPEC.groups.is_empty(),
            Stores => !self.serves(&Link::Stores(None)),
            _ => self.of.handler(action).is_some() || action.destination(None, [0, 1], 1).is_some(),
        }
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Sort => effects.push_layer(self.list.sort_menu()),
            Action::Group if self.supports(action) => self.on_list(effects, List::group_next),
            Action::Choose => self.on_list(effects, |list| {
                list.toggle_marks(count);
                list.act(Action::Down, None);
            }),
            Action::ChooseAll => self.on_list(effects, List::toggle_all),
            Action::Matching => effects.push_layer(Prompt::new(Purpose::Grep(L::SCOPE))),
            Action::Copy => self.copy(effects),
            Action::Editor => match self.chosen_output() {
                Some((path, line)) => effects.push(Effect::Edit { path: Some(path), line }),
                None => self.message = Some(Message::note("this row has no file to edit")),
            },
            Action::Search => effects.push_layer(self.list.start_filter()),
            Action::Back if self.list.unmark() => {}
            Action::Back if !self.list.filter_text().is_empty() => self.on_list(effects, List::end_filter),
            Action::Back if self.list.end_following() => {}
            Action::Back => effects.request(ScreenRequest::Back),
            Action::Stores if !self.serves(&Link::Stores(None)) => {
                self.list.stay();
                effects.show(Link::Stores(self.chosen_output().map(|(path, _)| path)));
            }
            _ => self.on(true, effects, |of, on| {
                if !on.list.act(action, count) {
                    on.list.stay();
                    let handler = of.handler(action);
                    let is_of_marked = handler.is_some() && matches!(action, Action::Delete | Action::Keep);
                    if count.is_some() && is_of_marked && on.list.marked() == 0 {
                        on.list.toggle_marks(count);
                    }
                    let opens = on.list.chosen().filter(|_| action == Action::Open);
                    match (opens.and_then(|row| of.open(on.list, row)), handler) {
                        (Some(request), _) => on.effects.push(Effect::Open(request)),
                        (None, Some(handle)) => handle(of, on),
                        (None, None) => {
                            let words = on.canvas.keys.nothing(KeyContext::Lists, on.key(action));
                            on.note(words);
                        }
                    }
                }
            }),
        }
    }

    fn stop(&mut self, effects: &mut Effects) -> bool {
        self.on(true, effects, |of, on| of.stop(on))
    }

    fn repaint(&mut self, canvas: Canvas, effects: &mut Effects) {
        self.canvas = canvas;
        fit(&self.canvas, &mut self.list, &self.of);
        self.on_list(effects, |_| ());
    }

    fn draw(&self, status: StatusRow, frame: &mut Frame, area: Rect, cost: &Cost) -> ScreenRows {
        let (places, canvas) = (layout::list(area, self.of.panel()), &self.canvas);
        self.draw_title(frame, places.title);
        if self.list.is_empty() {
            let body =
                Rect { y: places.head.y, height: places.head.height + places.list.height, ..places.list };
            line::block(frame.buffer_mut(), body, &self.of.empty(&self.list, canvas.keys), canvas.theme.dim);
        } else {
            let is_struck = |row: &L::Row| self.of.is_struck(row);
            self.list.draw(canvas, frame.buffer_mut(), (places.head, places.list), is_struck);
        }
        if let Some(area) = places.panel {
            if area.x > 0 {
                let divider = Rect { x: area.x - 1, width: 1, ..area };
                line::vertical_rule(frame.buffer_mut(), divider, canvas);
            }
            self.of.draw_panel(&self.list, PanelFrame { canvas, buffer: frame.buffer_mut(), area, cost });
        }
        line::rule(frame.buffer_mut(), places.rule, canvas);
        line::rows(frame.buffer_mut(), places.detail, self.of.details(&self.list), canvas);
        if status != StatusRow::Left {
            self.draw_status(frame.buffer_mut(), places.status);
        }
        ScreenRows { rule: places.rule, status: places.status }
    }

    fn show(&mut self, effects: &mut Effects) {
        self.is_on_stack = true;
        self.list.resume();
        self.on(true, effects, |of, on| of.show(on));
    }

    fn cover(&mut self, effects: &mut Effects) {
        let Self { canvas, list, of, message, .. } = self;
        list.cover();
        of.cover(ListContext { canvas, list, message, is_top: false, effects });
    }

    fn close(&mut self, effects: &mut Effects) {
        self.is_on_stack = false;
        self.on(false, effects, |of, on| of.close(on));
    }

    fn enter(&mut self, purpose: Purpose, text: &str, effects: &mut Effects) -> Result<(), String> {
        match purpose {
            Purpose::Grep(scope) => Link::lines(text, scope).map(|link| effects.show(link)),
            Purpose::Find => self.on(true, effects, |of, on| of.enter(text, on)),
            _ => self.on(true, effects, |_, on| on.list.enter(purpose, text)),
        }
    }

    fn type_on(&mut self, purpose: Purpose, text: &str, effects: &mut Effects) {
        if purpose == Purpose::Filter {
            self.on_list(effects, |list| list.filter_by(text));
        }
    }

    fn give_up_typing(&mut self, purpose: Purpose, effects: &mut Effects) {
        if purpose == Purpose::Filter {
            self.on_list(effects, List::give_up_filter);
        }
    }

    fn sort_by(&mut self, column: usize, effects: &mut Effects) {
        self.on_list(effects, |list| list.sort_by(column));
    }
}

fn fit<L: ListKind>(canvas: &Canvas, list: &mut List<L::Row>, of: &L) {
    let (columns, rows) = canvas.size;
    let places = layout::list(Rect::new(0, 0, columns, rows), of.panel());
    list.resize(columns, places.list.height.into());
}
