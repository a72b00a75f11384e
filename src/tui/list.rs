//! The list of stored outputs: which are shown, in which order, and which is chosen.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::store::{Entry, RootReport, StoreSpec};

use super::app::{App, Effect, Message};
use super::geometry;
use super::keys::Action;
use super::prompt::{Prompt, Purpose};

/// What a look at the stores has found.
pub struct Scanned {
    /// The entries, in no order.
    pub entries: Vec<Entry>,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// When the look was taken.
    pub now: Timestamp,
}

/// By what the list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// The youngest first.
    #[default]
    Age,
    /// The largest first.
    Size,
    /// What goes soonest first.
    Left,
    /// By agent, then age.
    Agent,
}

impl Sort {
    /// Its word on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Age => "age",
            Sort::Size => "size",
            Sort::Left => "time left",
            Sort::Agent => "agent",
        }
    }

    fn next(self) -> Self {
        match self {
            Sort::Age => Sort::Size,
            Sort::Size => Sort::Left,
            Sort::Left => Sort::Agent,
            Sort::Agent => Sort::Age,
        }
    }
}

/// The state of the list.
#[derive(Default)]
pub struct Listing {
    entries: Vec<Entry>,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// When the stores were looked at; nothing before the first look is done.
    pub now: Option<Timestamp>,
    /// Numbers of the entries that are shown, in order.
    shown: Vec<usize>,
    /// Place of the chosen entry among those shown.
    pub chosen: usize,
    /// Place of the first entry on the screen.
    pub top: usize,
    /// By what it is sorted.
    pub sort: Sort,
    /// Words that entries must have.
    pub filter: String,
    /// Whether an output was opened from here, so that Esc comes back.
    pub opened: bool,
    /// Whether a look is being taken.
    pub scanning: bool,
    /// First lines, as far as they have been read; safe to print.
    pub first_lines: HashMap<PathBuf, String>,
}

impl Listing {
    /// A look is being taken.
    pub fn start_scan(&mut self) {
        self.scanning = true;
    }

    /// Takes in what was found; the same entry stays chosen.
    pub fn scanned(&mut self, scanned: Scanned) {
        let chosen = self.chosen().map(Entry::path);
        self.scanning = false;
        self.entries = scanned.entries;
        self.reports = scanned.reports;
        self.now = Some(scanned.now);
        self.arrange(chosen);
    }

    /// The entry on which keys act.
    pub fn chosen(&self) -> Option<&Entry> {
        self.shown.get(self.chosen).map(|n| &self.entries[*n])
    }

    /// The entries that are shown, in order.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.shown.iter().map(|n| &self.entries[*n])
    }

    /// How many there are in all, and their bytes.
    pub fn total(&self) -> (usize, u64) {
        (self.entries.len(), self.entries.iter().map(Entry::size).sum())
    }

    /// Shows only what has all these words, in any order.
    pub fn filter(&mut self, words: &str) {
        let chosen = self.chosen().map(Entry::path);
        self.filter = words.to_owned();
        self.arrange(chosen);
    }

    fn arrange(&mut self, chosen: Option<PathBuf>) {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let mut shown: Vec<usize> =
            (0..self.entries.len()).filter(|n| has_all(&self.entries[*n], &words)).collect();
        let entries = &self.entries;
        match self.sort {
            Sort::Age => shown.sort_by_key(|n| std::cmp::Reverse(entries[*n].modified)),
            Sort::Size => shown.sort_by_key(|n| std::cmp::Reverse(entries[*n].size())),
            Sort::Left => shown.sort_by_key(|n| entries[*n].expires.at().unwrap_or(Timestamp::MAX)),
            Sort::Agent => shown.sort_by(|a, b| {
                let (a, b) = (&entries[*a], &entries[*b]);
                a.agent.cmp(&b.agent).then(b.modified.cmp(&a.modified))
            }),
        }
        let place = chosen.and_then(|path| shown.iter().position(|n| entries[*n].path() == path));
        self.shown = shown;
        self.chosen = place.unwrap_or(self.chosen).min(self.shown.len().saturating_sub(1));
    }

    fn go(&mut self, to: usize, height: usize) {
        self.chosen = to.min(self.shown.len().saturating_sub(1));
        self.settle(height);
    }

    /// The chosen entry stays on a screen of `height` rows.
    fn settle(&mut self, height: usize) {
        let height = height.max(1);
        self.top = self.top.clamp((self.chosen + 1).saturating_sub(height), self.chosen);
    }

    /// Entries on a screen of `height` rows whose first line has not been read.
    fn unread(&self, height: usize) -> Vec<Entry> {
        let on_screen = self.shown().skip(self.top).take(height);
        on_screen.filter(|entry| !self.first_lines.contains_key(&entry.path())).cloned().collect()
    }
}

fn has_all(entry: &Entry, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let fields = [Some(&entry.agent), entry.tool.as_ref(), entry.session.as_ref(), entry.project.as_ref()];
    let mut text = entry.id.to_lowercase();
    for field in fields.into_iter().flatten() {
        text.push(' ');
        text.push_str(&field.to_lowercase());
    }
    words.iter().all(|word| text.contains(word))
}

impl App {
    /// Begins with the list of stored outputs.
    pub fn start_with_stores(&mut self) -> Vec<Effect> {
        self.go_to_stores()
    }

    /// Rows of the list on the screen.
    pub(super) fn list_height(&self) -> usize {
        let area = ratatui::layout::Rect::new(0, 0, self.size.0, self.size.1);
        usize::from(geometry::stores(area).list.height)
    }

    pub(super) fn act_on_list(&mut self, action: Action, count: Option<u64>) -> Vec<Effect> {
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
            _ => return self.change_list(action),
        };
        self.listing.go(to, height);
        self.peek()
    }

    fn change_list(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Open => return self.open_chosen(),
            Action::Sort => {
                let chosen = self.listing.chosen().map(Entry::path);
                self.listing.sort = self.listing.sort.next();
                self.listing.arrange(chosen);
                self.message = Some(Message::note(format!("sorted by {}", self.listing.sort.word())));
            }
            Action::Filter => self.prompt = Some(Prompt::with(Purpose::Filter, &self.listing.filter)),
            Action::Refresh => return self.go_to_stores(),
            Action::Copy => return self.copy_chosen(),
            Action::Back if !self.listing.filter.is_empty() => self.listing.filter(""),
            Action::Back | Action::Other if self.output.is_some() => self.screen = super::app::Screen::Pager,
            _ => {}
        }
        self.settle_list()
    }

    /// After a change of size, order or content.
    pub(super) fn settle_list(&mut self) -> Vec<Effect> {
        let height = self.list_height();
        self.listing.settle(height);
        self.peek()
    }

    /// First lines are read for what is on the screen only.
    fn peek(&self) -> Vec<Effect> {
        let unread = self.listing.unread(self.list_height());
        if unread.is_empty() { Vec::new() } else { vec![Effect::Peek(unread)] }
    }

    fn open_chosen(&mut self) -> Vec<Effect> {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return Vec::new() };
        self.listing.opened = true;
        vec![Effect::Open(path)]
    }

    fn copy_chosen(&mut self) -> Vec<Effect> {
        let Some(path) = self.listing.chosen().map(Entry::path) else { return Vec::new() };
        let text = path.to_string_lossy().into_owned();
        self.message = Some(Message::note(format!("copied: {}", crate::text::safe::label(text.as_bytes()))));
        vec![Effect::Copy(text)]
    }
}
