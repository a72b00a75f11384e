//! A list: rows of one kind, which of them are shown and in which order, and which is selected. The selected row stays
//! selected and visible whatever is filtered, sorted, grouped or found anew.

pub mod column;
mod filter;
pub mod screen;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::human::count;
use crate::text::label::SafeText;
use crate::tui::keys::Action;
use crate::tui::popup::sort_menu::SortColumn;
use crate::tui::widget::cursor::ListCursor;

use column::{ListSpec, RowLook};
use filter::RowTexts;

/// The heading of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Heading {
    /// The number of rows before it.
    before: usize,
    /// The same, with the headings before it.
    place: usize,
    words: SafeText,
}

/// What stands in a row of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownRow<'a> {
    /// A row, by its index.
    Row(usize),
    Heading(&'a SafeText),
}

/// The state of a list.
pub struct List<R: 'static> {
    spec: &'static ListSpec<R>,
    look: RowLook,
    rows: Vec<R>,
    texts: RowTexts,
    /// The indices of the rows that are shown, in order.
    order: Vec<usize>,
    headings: Vec<Heading>,
    /// The index in `order` of the selected row.
    chosen: usize,
    /// The first row of the screen, counted with headings.
    top: usize,
    /// Rows of the screen.
    height: usize,
    /// The index of the column that sorts, among those that do.
    sort: usize,
    reversed: bool,
    group: Option<usize>,
    filter: String,
    /// The filter and the index of the selected row before the filter was opened.
    before: Option<(String, Option<usize>)>,
}

impl<R> List<R> {
    pub(crate) fn new(spec: &'static ListSpec<R>) -> Self {
        Self {
            spec,
            look: RowLook::default(),
            rows: Vec::new(),
            texts: RowTexts::default(),
            order: Vec::new(),
            headings: Vec::new(),
            chosen: 0,
            top: 0,
            height: 1,
            sort: 0,
            reversed: false,
            group: None,
            filter: String::new(),
            before: None,
        }
    }

    /// Drops the rows, the filter, the order and the groups.
    pub(crate) fn clear(&mut self) {
        *self = Self { look: self.look, height: self.height, ..Self::new(self.spec) };
    }

    /// Returns all rows, shown or not.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Replaces the rows. `same` is whether a row before and one now are of the same thing.
    pub(crate) fn set_rows(&mut self, rows: Vec<R>, same: impl Fn(&R, &R) -> bool) {
        let chosen = self.chosen().and_then(|chosen| rows.iter().position(|row| same(chosen, row)));
        self.rows = rows;
        self.texts.clear();
        self.before = self.before.take().map(|(filter, _)| (filter, chosen));
        self.arrange_around(chosen);
    }

    /// Adds rows that come last in the first order, up to `max` rows in all.
    pub(crate) fn extend(&mut self, rows: Vec<R>, max: usize) {
        let before = self.rows.len();
        self.rows.extend(rows.into_iter().take(max.saturating_sub(before)));
        if self.is_plain() && !self.reversed {
            self.order.extend(before..self.rows.len());
            self.settle();
        } else {
            self.arrange();
        }
    }

    /// Adds a row as the last. From `max` rows on, the first makes room.
    pub(crate) fn push(&mut self, row: R, max: usize) {
        let chosen = self.chosen_index();
        self.rows.push(row);
        let is_full = self.rows.len() > max;
        if is_full {
            self.rows.remove(0);
            self.texts.clear();
        }
        self.arrange_around(chosen.map(|chosen| chosen.saturating_sub(usize::from(is_full))));
    }

    /// Changes some rows, and shows them where they belong then.
    pub(crate) fn change<T>(
        &mut self,
        changes: impl IntoIterator<Item = (usize, T)>,
        change: impl Fn(&mut R, T),
    ) {
        for (n, to) in changes {
            if let Some(row) = self.rows.get_mut(n) {
                change(row, to);
                self.texts.forget(n);
            }
        }
        // Workers report many changes, one at a time, and a list may have 100,000 rows.
        if !self.is_plain() {
            self.arrange();
        }
    }

    /// Whether all rows are shown in the first order, which goes by what does not change in a row.
    fn is_plain(&self) -> bool {
        self.sort == 0 && self.group.is_none() && self.filter.is_empty()
    }

    /// Changes what no cell shows of a row.
    pub(crate) fn row_mut(&mut self, row: usize) -> Option<&mut R> {
        self.rows.get_mut(row)
    }

    /// Takes over the time that ages are counted to.
    pub(crate) fn set_now(&mut self, now: jiff::Timestamp) {
        self.look.now = now;
    }

    /// Takes over the size of the screen, in columns and rows of the list.
    pub(crate) fn resize(&mut self, width: u16, height: usize) {
        self.look.width = width;
        self.height = height.max(1);
        self.settle();
    }

    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Returns the index of the selected row.
    pub fn chosen_index(&self) -> Option<usize> {
        self.order.get(self.chosen).copied()
    }

    pub fn chosen(&self) -> Option<&R> {
        self.rows.get(self.chosen_index()?)
    }

    /// Selects a row by its index, if it is shown.
    pub(crate) fn choose(&mut self, row: usize) {
        if let Some(at) = self.order.iter().position(|n| *n == row) {
            self.chosen = at;
            self.settle();
        }
    }

    /// Returns the number of rows shown, without headings.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the number of the selected row among those shown, 1-based.
    pub(crate) fn number(&self) -> usize {
        self.chosen + 1
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.chosen + 1 >= self.order.len()
    }

    pub(crate) fn on_screen(&self) -> impl Iterator<Item = ShownRow<'_>> {
        let end = (self.order.len() + self.headings.len()).min(self.top + self.height);
        (self.top..end).map(|at| {
            let above = self.headings.partition_point(|heading| heading.place <= at);
            match above.checked_sub(1).map(|n| &self.headings[n]) {
                Some(heading) if heading.place == at => ShownRow::Heading(&heading.words),
                _ => ShownRow::Row(self.order[at - above]),
            }
        })
    }

    /// Iterates over the indices of the rows on the screen.
    pub(crate) fn rows_on_screen(&self) -> impl Iterator<Item = usize> + '_ {
        self.on_screen().filter_map(|shown| match shown {
            ShownRow::Row(row) => Some(row),
            ShownRow::Heading(_) => None,
        })
    }

    /// Returns the row of the screen on which the selected row stands, from 0.
    pub(crate) fn chosen_on_screen(&self) -> usize {
        self.place_of(self.chosen).saturating_sub(self.top)
    }

    /// Returns where a shown row stands, counted with headings.
    fn place_of(&self, shown: usize) -> usize {
        shown + self.headings.partition_point(|heading| heading.before <= shown)
    }

    /// Moves by an action and the number typed before it. Returns false if the action does not move.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>) -> bool {
        let mut cursor = ListCursor { chosen: self.chosen, top: 0 };
        let moved = cursor.act(action, count, self.order.len(), self.height);
        self.chosen = cursor.chosen;
        self.settle();
        moved
    }

    /// Selects the row whose number, 1-based, was typed.
    ///
    /// # Errors
    /// The text is not a number.
    pub(crate) fn go_to(&mut self, text: &str) -> Result<(), String> {
        let mut cursor = ListCursor { chosen: self.chosen, top: 0 };
        cursor.go_to(text, self.order.len(), self.height)?;
        self.chosen = cursor.chosen;
        self.settle();
        Ok(())
    }

    /// Scrolls so that the selected row is on the screen, the first of a group with its heading, and no blank rows are
    /// shown while there are others.
    fn settle(&mut self) {
        self.chosen = self.chosen.min(self.order.len().saturating_sub(1));
        let place = self.place_of(self.chosen);
        let begins = self.headings.binary_search_by_key(&self.chosen, |heading| heading.before).is_ok();
        let first = if begins && self.height > 1 { place.saturating_sub(1) } else { place };
        self.top = self.top.clamp((place + 1).saturating_sub(self.height), first);
        let all = self.order.len() + self.headings.len();
        self.top = self.top.min(all.saturating_sub(self.height));
    }

    pub(crate) fn sort_columns(&self) -> Vec<SortColumn> {
        self.spec.columns.iter().filter_map(|column| column.order.map(|(menu, _)| menu)).collect()
    }

    /// Returns the column that sorts, an index into [`List::sort_columns`], and whether its order is reversed.
    pub(crate) fn sort(&self) -> (usize, bool) {
        (self.sort, self.reversed)
    }

    /// Returns the order in words: `errors lost, most first`.
    pub(crate) fn order_in_words(&self) -> String {
        let columns = self.sort_columns();
        let column = columns.get(self.sort);
        column.map_or_else(String::new, |column| format!("{}, {}", column.name, column.order(self.reversed)))
    }

    /// Sorts by a column; if it is the one in use, in the other direction.
    pub(crate) fn sort_by(&mut self, column: usize) {
        self.reversed = self.sort == column && !self.reversed;
        self.sort = column;
        self.arrange();
    }

    pub(crate) fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    /// Groups in the next way; after the last, not at all.
    pub(crate) fn group_next(&mut self) {
        let next = self.group.map_or(0, |group| group + 1);
        self.group = Some(next).filter(|next| *next < self.spec.groups.len());
        self.arrange();
    }

    /// Returns the words that rows must have, as they were typed.
    pub fn filter_text(&self) -> &str {
        &self.filter
    }

    /// Remembers the filter and the selected row before words are typed.
    pub(crate) fn start_filter(&mut self) {
        self.before = Some((self.filter.clone(), self.chosen_index()));
        // Ages have changed since.
        self.texts.clear();
    }

    /// Shows only the rows that have all of these words. The row that was selected before they were typed stays selected
    /// if it is among them, else the first is.
    pub(crate) fn filter_by(&mut self, words: &str) {
        words.clone_into(&mut self.filter);
        let chosen = self.before.as_ref().map_or_else(|| self.chosen_index(), |(_, chosen)| *chosen);
        self.arrange_around(chosen);
        if chosen.is_some() && self.chosen_index() != chosen {
            (self.chosen, self.top) = (0, 0);
            self.settle();
        }
    }

    /// Ends the filter; the selected row stays selected.
    pub(crate) fn end_filter(&mut self) {
        self.filter.clear();
        self.arrange();
    }

    /// Shows the list as it was before the filter was opened.
    pub(crate) fn give_up_filter(&mut self) {
        if let Some((filter, chosen)) = self.before.take() {
            self.filter = filter;
            self.arrange_around(chosen);
        }
    }

    /// Filters, sorts and groups again; the selected row stays selected.
    fn arrange(&mut self) {
        self.arrange_around(self.chosen_index());
    }

    /// Does the same around another row.
    fn arrange_around(&mut self, chosen: Option<usize>) {
        let above = self.chosen_on_screen();
        let Self { spec, rows, .. } = self;
        let mut order = self.texts.matching(spec, rows, &self.look, &self.filter);
        if let Some((_, by)) = spec.columns.iter().filter_map(|column| column.order).nth(self.sort) {
            order.sort_by(|a, b| by(&rows[*a], &rows[*b]));
        }
        if self.reversed {
            order.reverse();
        }
        (self.order, self.headings) = match self.group.and_then(|group| spec.groups.get(group)) {
            None => (order, Vec::new()),
            Some(group) => grouped(rows, order, *group, spec.noun),
        };
        if let Some(at) = chosen.and_then(|chosen| self.order.iter().position(|n| *n == chosen)) {
            self.chosen = at;
        }
        self.chosen = self.chosen.min(self.order.len().saturating_sub(1));
        self.top = self.place_of(self.chosen).saturating_sub(above);
        self.settle();
    }
}

/// Puts the rows of a group together, in the order of its first row, each group under a heading.
fn grouped<R>(
    rows: &[R],
    order: Vec<usize>,
    group: fn(&R) -> String,
    noun: &str,
) -> (Vec<usize>, Vec<Heading>) {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in order {
        let name = group(&rows[row]);
        let at = *known.entry(name.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[at].1.push(row);
    }
    let (mut order, mut headings) = (Vec::with_capacity(rows.len()), Vec::new());
    for (name, members) in groups {
        let words = format!("{name} · {}", count(members.len() as u64, noun));
        let before = order.len();
        headings.push(Heading { before, place: before + headings.len(), words: words.into() });
        order.extend(members);
    }
    (order, headings)
}
