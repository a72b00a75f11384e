//! What keys do in the list of stored outputs.

use crossterm::event::KeyEvent;

use crate::corpus::TunePolicies;
use crate::human::{count, size, thousands};
use crate::store::{DeleteMode, Entry, EntryStatus, Marked, Why};
use crate::text::label::{label, shell};
use crate::tui::event::Message;
use crate::tui::job::{Pace, Slot};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::popup::sort_menu::SortMenu;
use crate::tui::screen::{Effect, Effects, OpenRequest, ScreenRequest};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cursor::ListCursor;
use crate::tui::widget::layout;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::event::StoresEvent;
use super::got::{BESIDE, Glance};
use super::keeping::Copying;
use super::sort_columns::STORE_COLUMNS;
use super::{ListState, jobs};

/// The screen of stored outputs.
pub struct StoresScreen {
    /// The size and capabilities of the terminal.
    pub canvas: Canvas,
    pub listing: ListState,
    /// The selected entry and its preview, shown beside the list.
    pub glance: Option<Glance>,
    /// The entry that is being copied in order to keep it.
    pub copying: Option<Copying>,
    /// The last message about unreadable directories, so that it is not repeated.
    pub(crate) told_unlisted: String,
    /// A message for the status line.
    pub message: Option<Message>,
}

impl StoresScreen {
    /// Creates an empty list.
    pub(crate) fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            listing: ListState::default(),
            glance: None,
            copying: None,
            told_unlisted: String::new(),
            message: None,
        }
    }

    pub(super) fn handle(&mut self, event: StoresEvent, effects: &mut Effects) {
        match event {
            StoresEvent::Changed => {}
            StoresEvent::Deleted(message) => self.message = Some(message),
            StoresEvent::Scanned(scanned) => {
                self.listing.scanned(scanned, effects);
                self.tell_unlisted();
            }
            StoresEvent::Sorted(sorted) => self.listing.take_sorted(*sorted, effects),
            StoresEvent::Copied(bytes) => self.copied(bytes),
            StoresEvent::Kept { id, keep, fault } => self.kept(id, keep, fault, effects),
            StoresEvent::Peeked(peeks) => {
                peeks.into_iter().for_each(|(entry, peek)| self.listing.details.peeks.set(&entry, peek));
            }
            StoresEvent::TextRead { number, batch, text } => {
                self.listing.take_text(number, batch, text, effects);
            }
            StoresEvent::Weighed(entry, got) => self.listing.details.got.set(&entry, got),
            StoresEvent::Cited(entry, call) => self.listing.details.calls.set(&entry, call),
            StoresEvent::Glanced(glance) => self.glanced(*glance),
        }
    }

    /// Reports the directories that cannot be read, unless the message is the same as last time.
    pub(crate) fn tell_unlisted(&mut self) {
        let words = self.listing.unlisted();
        if words != self.told_unlisted {
            self.message = (!words.is_empty()).then(|| Message::error(words.clone()));
            self.told_unlisted = words;
        }
    }

    /// Returns the number of rows of the list on the screen.
    pub(crate) fn list_height(&self) -> usize {
        let area = ratatui::layout::Rect::new(0, 0, self.canvas.size.0, self.canvas.size.1);
        usize::from(layout::stores(area).list.height)
    }

    /// Whether a key has to wait. Keys typed ahead must act on the rows that were requested, not on those still shown.
    /// The keys wait rather than their actions because an earlier key can change their meaning: a letter after `/` is
    /// text.
    pub(crate) fn is_to_wait(&self, key: KeyEvent) -> bool {
        let action = self.canvas.keys.action(KeyContext::Stores, key);
        let needs_no_row =
            matches!(action, Some(Action::Quit | Action::QuitNow | Action::Help | Action::Facts));
        let is_interrupt = action == Some(Action::Interrupt);
        self.listing.is_awaited() && !is_interrupt && !(needs_no_row && self.listing.held.is_empty())
    }

    /// Holds a key back until the requested rows are shown.
    pub(crate) fn wait_for_rows(&mut self, key: KeyEvent) {
        self.listing.touched = true;
        self.listing.held.push(key);
    }

    /// Carries out an action.
    pub(super) fn carry_out(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if action == Action::ToCall {
            return self.go_to_call(effects);
        }
        self.listing.touched = true;
        let height = self.list_height();
        let mut cursor = ListCursor { chosen: self.listing.chosen, top: self.listing.top };
        if !cursor.act(action, count, self.listing.shown().len(), height) {
            return self.change_list(action, effects);
        }
        self.listing.go(cursor.chosen, height);
        self.peek(effects);
    }

    fn change_list(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Open => self.open_chosen(effects),
            Action::Sort => {
                let (used, reversed) = (self.listing.sort_column(), self.listing.is_reversed());
                effects.lay(SortMenu::new(STORE_COLUMNS.to_vec(), used, reversed));
            }
            Action::SortReverse => self.rearranged(ListState::reverse, effects),
            Action::Group => self.rearranged(ListState::group_next, effects),
            Action::Filter => {
                self.listing.start_filter();
                effects.lay(Prompt::with(Purpose::Filter, self.listing.filter_text()));
                self.settle(effects);
            }
            Action::Grep => effects.lay(Prompt::new(Purpose::Grep)),
            Action::Tune => self.tune_outputs(TunePolicies::Around(Box::default()), effects),
            Action::Policy => self.tune_outputs(TunePolicies::Current, effects),
            Action::Refresh => self.scan(effects),
            Action::Copy => self.copy_chosen(effects),
            Action::Choose => {
                self.listing.toggle_mark();
                self.listing.go(self.listing.chosen + 1, self.list_height());
                self.settle(effects);
            }
            Action::Delete | Action::Undo => {
                match action {
                    Action::Delete => self.delete_marked(),
                    _ => self.undo_deletion(),
                }
                self.settle(effects);
            }
            Action::DeleteNow => self.delete_now(effects),
            Action::CleanOverdue => self.offer_cleaning(effects),
            Action::Keep => self.keep_chosen(effects),
            Action::Back if self.give_up_copying(effects) => {}
            Action::Back if self.listing.unmark() => self.settle(effects),
            Action::Back if !self.listing.filter_text().is_empty() => {
                self.rearranged(ListState::unfilter, effects);
            }
            Action::Back => effects.request(ScreenRequest::Back),
            _ => {}
        }
    }

    /// Shows only the entries that contain all of these words.
    pub(super) fn filter_by(&mut self, words: &str, effects: &mut Effects) {
        self.rearranged(|listing, effects| listing.filter(words, effects), effects);
    }

    /// Shows the list as it was before the prompt of the filter was opened.
    pub(super) fn leave_filter(&mut self, effects: &mut Effects) {
        self.rearranged(ListState::give_up_filter, effects);
    }

    /// Sorts by a column, an index into [`crate::store::SortBy::ALL`].
    pub(super) fn sort(&mut self, column: usize, effects: &mut Effects) {
        self.rearranged(|listing, effects| listing.sort_by(column, effects), effects);
    }

    fn rearranged(&mut self, change: impl FnOnce(&mut ListState, &mut Effects), effects: &mut Effects) {
        change(&mut self.listing, effects);
        self.settle(effects)
    }

    /// Scans all stores again.
    pub(crate) fn scan(&mut self, effects: &mut Effects) {
        let number = self.listing.start_look();
        effects.run(Slot::Scan, move |context| jobs::scan(number, context));
    }

    /// Adjusts the list after a change of size, order or content.
    pub(crate) fn settle(&mut self, effects: &mut Effects) {
        let height = self.list_height();
        self.listing.settle(height);
        self.peek(effects)
    }

    /// Requests what the rows on the screen still lack: their first lines, how much the model got, and the preview of
    /// the selected entry if the screen is wide enough.
    fn peek(&mut self, effects: &mut Effects) {
        let height = self.list_height();
        let unread = self.listing.unread(height);
        if !unread.is_empty() {
            effects.run(Slot::Other, move |context| jobs::peek_all(unread, context));
        }
        let unweighed = self.listing.unweighed(height);
        if !unweighed.is_empty() {
            effects.run(Slot::MeasureKept, move |context| jobs::measure_kept(unweighed, context));
        }
        let uncited = self.listing.uncited(height);
        if !uncited.is_empty() {
            effects.run(Slot::Other, move |context| jobs::find_calls(uncited, context));
        }
        let chosen = self.listing.chosen().filter(|entry| entry.status == EntryStatus::Ok).map(Entry::path);
        let glance = self.glance.as_ref().map(|glance| &glance.path);
        if self.canvas.size.0 >= layout::WIDE
            && let Some(path) = chosen.filter(|path| Some(path) != glance)
        {
            self.glance = Some(Glance::awaited(path.clone()));
            effects.run_at(Pace::Soon(BESIDE), Slot::PlanBeside, move |context| {
                jobs::plan_beside(path, context)
            });
        }
    }

    /// Handles a finished preview; drops it if its entry is no longer selected.
    pub(crate) fn glanced(&mut self, glance: Glance) {
        if self.glance.as_ref().is_some_and(|awaited| awaited.path == glance.path) {
            self.glance = Some(glance);
        }
    }

    fn open_chosen(&mut self, effects: &mut Effects) {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return };
        effects.push(Effect::Open(OpenRequest::stored(path, None)));
    }

    fn copy_chosen(&mut self, effects: &mut Effects) {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return };
        let text = shell::word(path.as_os_str().as_encoded_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text))
    }

    /// Marks entries for deletion, except those that cannot be deleted or are kept. If there are several, those with
    /// more than one hard link are refused too.
    fn delete_marked(&mut self) {
        let entries = self.listing.take_marked();
        let mode = if entries.len() == 1 { DeleteMode::Single } else { DeleteMode::Bulk };
        let mut refused = None;
        let mut to_delete = Vec::new();
        for entry in entries {
            match self.refusal(&entry, mode) {
                Some(why) => refused = refused.or(Some(format!("{}: {why}", label(entry.id().as_bytes())))),
                None => to_delete.push(Marked { entry, why: Why::Asked, mode }),
            }
        }
        let linked = to_delete.iter().any(|marked| marked.entry.status == EntryStatus::HardLinked);
        self.listing.pending.mark(to_delete);
        self.message = Some(match refused {
            Some(why) => Message::error(why),
            None if linked => {
                let [undo, now] = [Action::Undo, Action::DeleteNow].map(|action| self.key_of(action));
                let words = "it has other names (hard link), which stay";
                Message::note(format!("{words}: {undo} undo, {now} delete now"))
            }
            None => Message::note(self.pending_words()),
        });
        self.listing.go(self.listing.chosen + 1, self.list_height());
    }

    /// Returns why an entry cannot be deleted, or `None` if it can.
    fn refusal(&self, entry: &Entry, mode: DeleteMode) -> Option<String> {
        let unusual = entry.status.words();
        match entry.status {
            _ if self.listing.is_kept(entry) => {
                let keep = self.key_of(Action::Keep);
                Some(format!("kept forever; {keep} stops keeping it, then it can be deleted"))
            }
            EntryStatus::Ok | EntryStatus::Unfinished | EntryStatus::FutureTime => None,
            EntryStatus::HardLinked if mode == DeleteMode::Single => None,
            EntryStatus::HardLinked => {
                let delete = self.key_of(Action::Delete);
                Some(format!("{unusual}: it has other names; {delete} on it alone deletes it"))
            }
            _ => Some(format!("{unusual}: not deleted by overspill")),
        }
    }

    /// Describes what is marked for deletion.
    pub fn pending_words(&self) -> String {
        let pending = &self.listing.pending;
        let what = count(pending.len() as u64, "output");
        let [undo, now] = [Action::Undo, Action::DeleteNow].map(|action| self.key_of(action));
        format!("{what} ({}) to delete: {undo} undo · {now} delete now · leaving asks", size(pending.bytes()))
    }

    pub(super) fn key_of(&self, action: Action) -> &'static str {
        self.canvas.keys.of(KeyContext::Stores, action)
    }

    fn undo_deletion(&mut self) {
        let back = self.listing.pending.undo().len();
        self.message = Some(Message::note(match back {
            0 => "nothing to undo".to_owned(),
            n => match self.listing.pending.len() {
                0 => format!("restored {}", thousands(n as u64)),
                left => {
                    format!(
                        "restored {} · {} still marked for deletion",
                        thousands(n as u64),
                        thousands(left as u64)
                    )
                }
            },
        }));
    }

    /// Goes to a row of the list.
    pub(crate) fn go_to_row(&mut self, text: &str, effects: &mut Effects) -> Result<(), String> {
        let row: usize = text.parse().map_err(|_| format!("'{text}' is not the number of a row"))?;
        self.listing.touched = true;
        self.listing.go(row.saturating_sub(1), self.list_height());
        self.peek(effects);
        Ok(())
    }
}
