//! What keys do in the list of stored outputs.

use crossterm::event::{KeyEvent, KeyModifiers};

use crate::human::{count, size};
use crate::store::{Asked, CleanRule, Doomed, Entry, Manner, Marked, Status, UNFINISHED, Why, clean_plan};
use crate::text::label::{label, shell};
use crate::tui::app::{App, Effect, Effects, Message, Overlay, Screen};
use crate::tui::keys::{self, Action, Place};
use crate::tui::popup::prompt::{Prompt, Purpose};
use crate::tui::widget::layout;

use super::glance::Glance;
use super::sort::Arranged;
use super::{Cleaning, Listing, Scanned};

impl App {
    /// Begins with the list of stored outputs.
    pub fn start_with_stores(&mut self, effects: &mut Effects) {
        self.go_to_stores(effects)
    }

    pub(crate) fn go_to_stores(&mut self, effects: &mut Effects) {
        self.screen = Screen::Stores;
        effects.push(Effect::Scan(self.listing.start_look()))
    }

    /// The directories have changed: looks again, if the list is on the screen.
    pub(crate) fn stores_changed(&mut self, effects: &mut Effects) {
        match self.screen {
            Screen::Stores => effects.push(Effect::Scan(self.listing.start_look())),
            Screen::Pager => {}
        }
    }

    /// Rows of the list on the screen.
    pub(crate) fn list_height(&self) -> usize {
        let area = ratatui::layout::Rect::new(0, 0, self.size.0, self.size.1);
        usize::from(layout::stores(area).list.height)
    }

    /// Rows are in another order than they were, or others.
    pub(crate) fn list_arranged(&mut self, arranged: Arranged, effects: &mut Effects) {
        self.listing.arranged(arranged, effects);
        self.typed_ahead(effects)
    }

    /// Entries have come, or all of them have.
    pub(crate) fn list_scanned(&mut self, scanned: Scanned, effects: &mut Effects) {
        self.listing.scanned(scanned, effects);
        self.typed_ahead(effects)
    }

    /// Takes in the keys that waited, once they need not wait any more.
    fn typed_ahead(&mut self, effects: &mut Effects) {
        self.settle_list(effects);
        if self.listing.is_awaited() {
            return;
        }
        for key in std::mem::take(&mut self.listing.held) {
            self.key(key, effects);
            // The rest would be for a screen that is not there yet, or not any more: it must not act on this one.
            if effects.iter().any(|effect| matches!(effect, Effect::Open(_) | Effect::Quit)) {
                self.listing.held.clear();
                break;
            }
        }
    }

    /// Whether a key waits: what is typed ahead acts on the rows that were asked for, not on those that are still
    /// shown. Keys wait, and not what they do, since it may be one before them that says what they mean: a letter
    /// after `/` is text.
    pub(crate) fn is_to_wait(&self, key: KeyEvent) -> bool {
        let action = keys::action(Place::Stores, key);
        let needs_no_row = matches!(action, Some(Action::Quit | Action::Help | Action::Facts));
        let is_interrupt = needs_no_row && key.modifiers.contains(KeyModifiers::CONTROL);
        self.screen == Screen::Stores
            && self.listing.is_awaited()
            && !is_interrupt
            && !(needs_no_row && self.listing.held.is_empty())
    }

    /// Has a key wait until the rows are there that were asked for.
    pub(crate) fn wait_for_rows(&mut self, key: KeyEvent) {
        self.listing.touched = true;
        self.listing.held.push(key);
    }

    pub(crate) fn act_on_list(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        self.listing.touched = true;
        let height = self.list_height();
        let (at, times) = (self.listing.chosen, count.unwrap_or(1) as usize);
        let page = height.saturating_sub(1).max(1);
        let half = (height / 2).max(1);
        let to = match action {
            Action::Down => at.saturating_add(times),
            Action::Up => at.saturating_sub(times),
            Action::HalfDown => at.saturating_add(half * times),
            Action::HalfUp => at.saturating_sub(half * times),
            Action::PageDown => at.saturating_add(page * times),
            Action::PageUp => at.saturating_sub(page * times),
            Action::Start => count.map_or(0, |n| (n as usize).saturating_sub(1)),
            Action::End => count.map_or(usize::MAX, |n| (n as usize).saturating_sub(1)),
            _ => return self.change_list(action, effects),
        };
        self.listing.go(to, height);
        self.peek(effects)
    }

    fn change_list(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Open => return self.open_chosen(effects),
            Action::Sort => return self.rearranged(Listing::sort_next, effects),
            Action::SortReverse => return self.rearranged(Listing::reverse, effects),
            Action::Group => return self.rearranged(Listing::group_next, effects),
            Action::Filter => self.prompt = Some(Prompt::with(Purpose::Filter, self.listing.filter_text())),
            Action::Refresh => return self.go_to_stores(effects),
            Action::Copy => return self.copy_chosen(effects),
            Action::CountLines => return self.count_lines(effects),
            Action::Choose => {
                self.listing.toggle_mark();
                self.listing.go(self.listing.chosen + 1, self.list_height());
            }
            Action::Delete => self.delete_marked(),
            Action::Undo => self.undo_deletion(),
            Action::DeleteNow => return self.delete_now(effects),
            Action::CleanOverdue => self.offer_cleaning(),
            Action::Keep => return self.keep_chosen(effects),
            Action::Back if self.listing.unmark() => {}
            Action::Back if !self.listing.filter_text().is_empty() => {
                return self.rearranged(|listing, effects| listing.filter("", effects), effects);
            }
            Action::Back | Action::Other if self.output.is_some() => self.screen = Screen::Pager,
            _ => {}
        }
        self.settle_list(effects)
    }

    fn rearranged(&mut self, change: impl FnOnce(&mut Listing, &mut Effects), effects: &mut Effects) {
        change(&mut self.listing, effects);
        self.settle_list(effects)
    }

    /// After a change of size, order or content.
    pub(crate) fn settle_list(&mut self, effects: &mut Effects) {
        let height = self.list_height();
        self.listing.settle(height);
        self.peek(effects)
    }

    /// First lines are read for what is on the screen only; the chosen entry's preview, where there is room.
    fn peek(&mut self, effects: &mut Effects) {
        let height = self.list_height();
        let unread = self.listing.unread(height);
        if !unread.is_empty() {
            effects.push(Effect::Peek(unread));
        }
        let chosen = self.listing.chosen().filter(|entry| entry.status == Status::Ok).map(Entry::path);
        let glance = self.glance.as_ref().map(|glance| &glance.path);
        if self.size.0 >= layout::WIDE
            && let Some(path) = chosen.filter(|path| Some(path) != glance)
        {
            self.glance = Some(Glance::awaited(path.clone()));
            effects.push(Effect::Glance(path));
        }
    }

    /// The preview of an entry is there; that of one which is no longer chosen is dropped.
    pub(crate) fn glanced(&mut self, glance: Glance) {
        if self.glance.as_ref().is_some_and(|awaited| awaited.path == glance.path) {
            self.glance = Some(glance);
        }
    }

    fn open_chosen(&mut self, effects: &mut Effects) {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return };
        self.listing.opened = true;
        effects.push(Effect::Open(path))
    }

    fn copy_chosen(&mut self, effects: &mut Effects) {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return };
        let text = shell::word(path.as_os_str().as_encoded_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text))
    }

    /// Counts the lines of the marked entries, or else of the chosen one; the marks stay.
    fn count_lines(&mut self, effects: &mut Effects) {
        let wanted = self.listing.marked_or_chosen().into_iter().cloned().collect();
        match self.listing.details.uncounted(wanted) {
            none if none.is_empty() => {}
            wanted => effects.push(Effect::CountLines(wanted)),
        }
    }

    /// What cannot be deleted, or is kept, is not marked for it; of several, nothing that has other names.
    fn delete_marked(&mut self) {
        let entries = self.listing.take_marked();
        let manner = if entries.len() == 1 { Manner::Single } else { Manner::Bulk };
        let mut refused = None;
        let mut doomed = Vec::new();
        for entry in entries {
            match self.refusal(&entry, manner) {
                Some(why) => refused = refused.or(Some(format!("{}: {why}", label(entry.id().as_bytes())))),
                None => doomed.push(Marked { entry, why: Why::Asked, manner }),
            }
        }
        let linked = doomed.iter().any(|marked| marked.entry.status == Status::HardLinked);
        self.listing.pending.mark(doomed);
        self.message = Some(match refused {
            Some(why) => Message::error(why),
            None if linked => {
                Message::note("it has other names (hard link), which stay: U undo, ! delete now")
            }
            None => Message::note(self.pending_words()),
        });
        self.listing.go(self.listing.chosen + 1, self.list_height());
    }

    /// Why an entry is not deleted, however much one asks.
    fn refusal(&self, entry: &Entry, manner: Manner) -> Option<String> {
        let unusual = entry.status.words();
        match entry.status {
            _ if self.listing.is_kept(entry) => {
                Some("kept for ever; K takes that back, then it can be deleted".into())
            }
            Status::Ok | Status::Unfinished | Status::FutureTime => None,
            Status::HardLinked if manner == Manner::Single => None,
            Status::HardLinked => Some(format!("{unusual}: it has other names; x on it alone deletes it")),
            _ => Some(format!("{unusual}: not deleted by overspill")),
        }
    }

    /// What is struck through, in words.
    pub fn pending_words(&self) -> String {
        let pending = &self.listing.pending;
        let what = count(pending.len() as u64, "output");
        format!("{what} · {} to be deleted when you quit: U undo, ! delete now", size(pending.bytes()))
    }

    fn undo_deletion(&mut self) {
        let back = self.listing.pending.undo().len();
        self.message = Some(Message::note(match back {
            0 => "nothing to undo".to_owned(),
            n => format!("{n} no longer to be deleted"),
        }));
    }

    /// What was marked for deletion goes now.
    fn delete_now(&mut self, effects: &mut Effects) {
        if self.listing.pending.is_empty() {
            self.message = Some(Message::note("nothing is struck through; x marks for deletion"));
            return;
        }
        effects.push(Effect::Delete(self.take_doomed()))
    }

    /// What is to be deleted on leaving.
    pub fn take_doomed(&mut self) -> Vec<Marked> {
        self.listing.pending.take()
    }

    /// Shows what is overdue, before anything happens to it.
    fn offer_cleaning(&mut self) {
        let Some(now) = self.listing.now else { return };
        let rule = CleanRule { asked: Asked::ByHand, older_than: None, max_total: None };
        let stock = self.listing.stock().clone();
        let mut plan = clean_plan(stock.iter(), self.listing.kept(), now, &rule);
        plan.doomed.sort_by_key(|doomed| stock.entry(doomed.index as u32).identity.modified);
        if plan.doomed.is_empty() {
            self.message = Some(Message::note("nothing is overdue"));
            return;
        }
        self.listing.cleaning = Some(Cleaning { plan, stock });
        self.overlay = Some(Overlay::Clean(0));
    }

    /// What was shown as overdue is marked for deletion, whatever has come since.
    pub(crate) fn accept_cleaning(&mut self) {
        let Some(Cleaning { plan, stock }) = self.listing.cleaning.take() else { return };
        let mark = |doomed: &Doomed| {
            let entry = stock.entry(doomed.index as u32).clone();
            Marked { entry, why: doomed.why, manner: Manner::Bulk }
        };
        self.listing.pending.mark(plan.doomed.iter().map(mark));
        self.message = Some(Message::note(self.pending_words()));
    }

    /// Our own entries are kept in place; another agent's is copied into our store.
    fn keep_chosen(&mut self, effects: &mut Effects) {
        let Some(entry) = self.listing.chosen().cloned() else { return };
        if entry.status == Status::Unfinished {
            self.message = Some(Message::error(format!(
                "{}: {UNFINISHED}; keep it once it is whole",
                label(entry.id_bytes())
            )));
            return;
        }
        let kept = self.listing.is_kept(&entry);
        if !kept && !entry.is_own() {
            let words = format!("{}: copying {} to keep it", label(entry.id_bytes()), size(entry.size()));
            self.message = Some(Message::note(words));
        }
        effects.push(Effect::Keep { entry, keep: !kept })
    }

    /// An entry has been kept, or no longer is, or that failed.
    pub(crate) fn kept(&mut self, id: String, keep: bool, fault: Option<String>, effects: &mut Effects) {
        self.message = Some(match (&fault, keep) {
            (Some(fault), _) => Message::error(fault.clone()),
            (None, true) => Message::note(format!("{id} is kept for ever in overspill's own store")),
            (None, false) => Message::note(format!("{id} is no longer kept for ever")),
        });
        if fault.is_none() {
            self.listing.set_kept(id, keep);
        }
        effects.push(Effect::Scan(self.listing.start_look()))
    }
}
