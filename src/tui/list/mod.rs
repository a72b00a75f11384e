//! A list of rows: the selected one stays so and visible whatever is filtered, sorted, grouped or found anew.

mod arrange;
mod cursor;
mod draw;
pub mod screen;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::human::{count, thousands};
use crate::rows::column::{ListSpec, RowLook, SortColumn};
use crate::rows::{BatchText, RowTable, TextTable};
use crate::text::label::SafeText;

use super::event::Purpose;
use super::keys::{Action, KeyContext, KeyMap};
use super::popup::menu::{Menu, MenuEntry};
use super::popup::prompt::Prompt;
use arrange::{ArrangeTask, Arrangement, Landing, ListOptions, RowTexts, RunningTask};
use cursor::FollowState;

/// Up to this many rows are read, even off the screen, if filter or order needs it.
const MAX_READ: usize = 20_000;

/// Up to this many rows are arranged at once, between two keys; a worker arranges more.
const AT_ONCE: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownRow<'a> {
    Row(usize),
    Heading(&'a [SafeText; 3]),
}

pub struct List<R: 'static> {
    spec: &'static ListSpec<R>,
    pub(crate) look: RowLook,
    rows: RowTable<R>,
    /// The rows that replace those once a worker has arranged them.
    next: Option<RowTable<R>>,
    words: RowTexts,
    pub(crate) texts: TextTable,
    options: ListOptions,
    shown: Arrangement,
    running: Option<RunningTask>,
    /// The running task, until a worker has it.
    task: Option<ArrangeTask<R>>,
    /// As [`AT_ONCE`], but in tests.
    at_once: usize,
    /// The number of rows arranged so far; each time adds the number of all.
    pub arranged: u64,
    marks: BTreeSet<u32>,
    /// The rows that letters lead back to, by their keys; `'` to where the user was before the last jump.
    letters: BTreeMap<String, u64>,
    chosen: usize,
    /// Whether a row was selected by the user. Until then the first stays selected while rows come in.
    has_moved: bool,
    following: FollowState,
    /// Whether the last row of the first order is the newest.
    pub(crate) grows_at_end: bool,
    /// The first row of the screen, counted with headings.
    top: usize,
    pub(crate) height: usize,
    /// The filter and the index of the selected row before the filter was opened.
    before: Option<(String, Option<usize>)>,
}

impl<R: Clone> List<R> {
    pub(crate) fn new(spec: &'static ListSpec<R>) -> Self {
        Self {
            spec,
            look: RowLook::default(),
            rows: RowTable::default(),
            next: None,
            words: RowTexts::default(),
            texts: TextTable::default(),
            options: ListOptions::default(),
            shown: Arrangement::default(),
            running: None,
            task: None,
            at_once: AT_ONCE,
            arranged: 0,
            marks: BTreeSet::new(),
            letters: BTreeMap::new(),
            chosen: 0,
            has_moved: false,
            following: FollowState::default(),
            grows_at_end: false,
            top: 0,
            height: 1,
            before: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        let Self { look, height, .. } = *self;
        *self = Self { look, height, ..Self::new(self.spec) };
    }

    pub fn rows(&self) -> &RowTable<R> {
        &self.rows
    }

    pub(crate) fn set_rows(&mut self, rows: impl Into<RowTable<R>>) {
        self.next = Some(rows.into());
        self.texts = TextTable::default();
        self.arrange(None, false);
    }

    /// Adds rows that come last in the first order.
    pub(crate) fn extend(&mut self, rows: Vec<R>) {
        let before = self.rows.len();
        self.rows.add(rows);
        if self.is_plain() && !self.options.reversed && self.running.is_none() {
            self.shown.all = self.rows.len();
            Arc::make_mut(&mut self.shown.order).extend(before as u32..self.rows.len() as u32);
            self.clamp();
        } else {
            self.arrange(None, false);
        }
    }

    /// Adds rows, and shows them once they are a good part of the whole, so that many small additions cost little.
    pub(crate) fn add(&mut self, rows: Vec<R>) {
        self.rows.add(rows);
        self.catch_up();
    }

    fn catch_up(&mut self) {
        let (all, shown) = (self.rows.len(), self.shown.all);
        if self.running.is_none() && all > shown && all - shown >= shown / 4 {
            self.finish_adding();
        }
    }

    pub(crate) fn finish_adding(&mut self) {
        let row = self.chosen_index().filter(|_| self.has_moved);
        self.arrange(Some(Landing { row, else_first: row.is_none() }), false);
    }

    pub(crate) fn change<T>(
        &mut self,
        changes: impl IntoIterator<Item = (usize, T)>,
        change: impl Fn(&mut R, T),
    ) {
        for (n, to) in changes {
            if let Some(row) = self.rows.get_mut(n) {
                change(row, to);
                self.words.remove(&n);
            }
        }
        // Workers report many changes, one at a time, and a list may have a million rows.
        if let Some(running) = &mut self.running {
            running.is_stale = true;
        } else if !self.is_plain() {
            self.arrange(None, false);
        }
    }

    /// Only for changes that no cell shows.
    pub(crate) fn row_mut(&mut self, row: usize) -> Option<&mut R> {
        self.rows.get_mut(row)
    }

    pub(crate) fn set_text(&mut self, batch: usize, text: BatchText) {
        self.texts.set(batch, Arc::new(text));
        self.search_texts();
    }

    /// Filters again once what was read meanwhile is a good part of the whole.
    fn search_texts(&mut self) {
        let (read, searched) = (self.texts.read, self.shown.searched);
        let is_due = read == self.rows.batches().len() || read - searched.min(read) >= searched / 4;
        if read > searched && is_due && self.running.is_none() && !self.options.filter.is_empty() {
            self.arrange(None, false);
        }
    }

    pub(crate) fn is_replaced(&self) -> bool {
        self.next.is_some()
    }

    pub(crate) fn resize(&mut self, width: u16, height: usize) {
        self.look.width = width;
        self.height = height.max(1);
        self.clamp();
    }

    pub fn len(&self) -> usize {
        self.shown.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.shown.order.is_empty()
    }

    /// Returns how many rows there are, or how many of them the filter shows: `3 of 12 calls`.
    pub(crate) fn describe_count(&self) -> String {
        let all = count(self.rows.len() as u64, self.spec.noun);
        let is_filtered = !self.options.filter.is_empty();
        if is_filtered { format!("{} of {all}", thousands(self.len() as u64)) } else { all }
    }

    /// Returns what stands in place of rows of which the filter shows none.
    pub(crate) fn no_match(&self, yet: &str, keys: &KeyMap) -> Vec<SafeText> {
        let (filter, back) = (&self.options.filter, keys.label(KeyContext::Lists, Action::Back));
        vec![format!("nothing matches \u{201c}{filter}\u{201d}{yet}; {back} shows all").into()]
    }

    pub(crate) fn sum(&self) -> &str {
        &self.shown.sum
    }

    /// Returns the numbers of the rows shown, cheap to share with a worker.
    pub(crate) fn order(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.shown.order)
    }

    pub(crate) fn on_screen(&self) -> impl Iterator<Item = ShownRow<'_>> {
        let Arrangement { order, headings, .. } = &self.shown;
        let end = (order.len() + headings.len()).min(self.top + self.height);
        (self.top..end).map(|at| {
            let above = headings.partition_point(|heading| heading.place <= at);
            match above.checked_sub(1).map(|n| &headings[n]) {
                Some(heading) if heading.place == at => ShownRow::Heading(&heading.words),
                _ => ShownRow::Row(order[at - above] as usize),
            }
        })
    }

    pub(crate) fn rows_on_screen(&self) -> impl Iterator<Item = usize> + '_ {
        self.on_screen().filter_map(|shown| match shown {
            ShownRow::Row(row) => Some(row),
            ShownRow::Heading(_) => None,
        })
    }

    /// Returns the rows whose place goes by what has to be read, for the filter or the order; none if too many.
    pub(crate) fn placed_by(&self, words: &[&str], columns: &[&str]) -> Vec<usize> {
        let column = self.sort_columns().get(self.sort().0).map(|column| column.name);
        let needs_all = self.filter_text().split_whitespace().any(|word| words.contains(&word));
        if needs_all && self.rows.len() <= MAX_READ {
            return (0..self.rows.len()).collect();
        }
        if column.is_some_and(|name| columns.contains(&name)) { self.all_shown() } else { Vec::new() }
    }

    /// Returns the rows that are shown, on the screen or not; none if they are too many.
    pub(crate) fn all_shown(&self) -> Vec<usize> {
        self.order().iter().map(|row| *row as usize).take_while(|_| self.len() <= MAX_READ).collect()
    }

    pub(crate) fn sort_columns(&self) -> Vec<SortColumn> {
        self.spec.columns.iter().filter_map(|column| Some(column.order.as_ref()?.0)).collect()
    }

    /// Returns the column that sorts, an index into [`List::sort_columns`], and whether its order is reversed.
    pub(crate) fn sort(&self) -> (usize, bool) {
        (self.options.sort, self.options.reversed)
    }

    /// Returns the menu of columns to sort by. The column in use shows its direction; picked again, it is reversed.
    pub(crate) fn sort_menu(&self) -> Menu {
        let (used, reversed) = self.sort();
        let entry = |(n, column): (usize, SortColumn)| {
            let order = column.order(used == n && reversed);
            MenuEntry::new(column.letter, column.name, order, move |below, effects| below.sort_by(n, effects))
        };
        let entries = self.sort_columns().into_iter().enumerate().map(entry).collect();
        Menu::new(" Sort by ", "a letter picks · again reverses", entries).using(used)
    }

    /// Returns the order in words, the longest form first: `errors lost, most first`, `errors lost`.
    pub(crate) fn describe_order(&self) -> [String; 2] {
        let (columns, (sort, reversed)) = (self.sort_columns(), self.sort());
        let Some(column) = columns.get(sort) else { return Default::default() };
        let short = if reversed { format!("{} reversed", column.name) } else { column.name.to_owned() };
        [format!("{}, {}", column.name, column.order(reversed)), short]
    }

    /// Sorts by a column, an index into [`List::sort_columns`]; if it is the one in use, in the other direction.
    pub(crate) fn sort_by(&mut self, column: usize) {
        self.options.reversed = self.options.sort == column && !self.options.reversed;
        self.options.sort = column;
        self.arrange_asked(self.chosen_index());
    }

    pub(crate) fn group(&self) -> Option<usize> {
        self.options.group
    }

    pub(crate) fn group_next(&mut self) {
        let next = self.options.group.map_or(0, |group| group + 1);
        self.options.group = Some(next).filter(|next| *next < self.spec.groups.len());
        self.arrange_asked(self.chosen_index());
    }

    pub fn filter_text(&self) -> &str {
        &self.options.filter
    }

    pub(crate) fn start_filter(&mut self) -> Prompt {
        self.before = Some((self.options.filter.clone(), self.chosen_index()));
        // Ages have changed since.
        self.words.clear();
        Prompt::with(Purpose::Filter, &self.options.filter)
    }

    /// Shows only the rows that have all of these words, and selects the row selected before, if it is among them.
    pub(crate) fn filter_by(&mut self, words: &str) {
        words.clone_into(&mut self.options.filter);
        let row = self.before.as_ref().map_or_else(|| self.chosen_index(), |(_, chosen)| *chosen);
        self.arrange(Some(Landing { row, else_first: true }), true);
    }

    /// Ends the filter. The row selected before it is selected again, unless the user did something with another since.
    pub(crate) fn end_filter(&mut self) {
        self.options.filter.clear();
        let before = self.before.take().and_then(|(_, row)| row);
        self.arrange_asked(before.or_else(|| self.chosen_index()));
    }

    /// Has the selected row stay selected when the filter ends.
    pub(crate) fn stay(&mut self) {
        self.before.iter_mut().for_each(|(_, row)| *row = None);
    }

    pub(crate) fn give_up_filter(&mut self) {
        if let Some((filter, chosen)) = self.before.take() {
            self.options.filter = filter;
            self.arrange_asked(chosen);
        }
    }
}
