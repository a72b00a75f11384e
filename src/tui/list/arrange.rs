//! Which rows a list shows: those that have all words of its filter, in order and in groups, arranged at once or by a worker.

use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::base::human::count;
use crate::rows::column::{ListSpec, RowLook, RowOrder};
use crate::rows::{BATCH, RowTable, TextTable};
use crate::text::label::SafeText;

use super::List;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListOptions {
    pub filter: String,
    pub sort: usize,
    pub reversed: bool,
    pub group: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupHeading {
    pub before: usize,
    /// The same, with the headings before it.
    pub place: usize,
    /// The name of the group, what follows it, and what the group adds up to.
    pub words: [SafeText; 3],
}

#[derive(Debug, Clone, Default)]
pub(super) struct Arrangement {
    pub options: ListOptions,
    pub all: usize,
    pub searched: usize,
    pub order: Arc<Vec<u32>>,
    pub headings: Vec<GroupHeading>,
    pub sum: String,
    /// Maps row numbers of the replaced table to this one's; `None` if the row is gone.
    pub moved: HashMap<u32, Option<u32>>,
}

pub(super) struct ArrangeTask<R: 'static> {
    pub spec: &'static ListSpec<R>,
    pub look: RowLook,
    pub rows: RowTable<R>,
    pub texts: TextTable,
    pub options: ListOptions,
    /// Sorted candidates; `None` to filter and sort all rows.
    pub among: Option<Arc<Vec<u32>>>,
    /// The table that `rows` replaces, and the numbers of its rows to find again.
    pub replaced: Option<(RowTable<R>, Vec<u32>)>,
}

impl<R> ArrangeTask<R> {
    /// Does the task; returns `None` as soon as `is_wanted` returns false. `known` holds the words of rows.
    pub(super) fn run(
        &self,
        mut known: Option<&mut RowTexts>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Option<Arrangement> {
        let ListOptions { sort, reversed, group, ref filter } = self.options;
        let terms = terms(self.spec, filter);
        let mut has = |n: &u32| terms.is_empty() || self.has_all(&terms, *n as usize, known.as_deref_mut());
        let mut shown = Vec::new();
        let candidates = || Arc::new((0..self.rows.len() as u32).collect());
        let candidates: Arc<Vec<u32>> = self.among.clone().unwrap_or_else(candidates);
        for batch in candidates.chunks(BATCH) {
            if !is_wanted() {
                return None;
            }
            shown.extend(batch.iter().copied().filter(&mut has));
        }
        if self.among.is_none() {
            shown = match self.spec.columns.iter().filter_map(|column| column.order.as_ref()).nth(sort) {
                Some((_, RowOrder::Compare(by))) => {
                    shown.sort_by(|a, b| by(&self.rows[*a as usize], &self.rows[*b as usize]));
                    shown
                }
                Some((_, RowOrder::Whole(order))) => order(&self.rows, &shown),
                None => shown,
            };
            if reversed {
                shown.reverse();
            }
        }
        if !is_wanted() {
            return None;
        }
        let sum = (self.spec.sum)(&mut shown.iter().map(|n| &self.rows[*n as usize]));
        let (order, headings) = match group.and_then(|group| self.spec.groups.get(group)) {
            None => (shown, Vec::new()),
            Some(group) => self.grouped(shown, *group),
        };
        Some(Arrangement {
            options: self.options.clone(),
            all: self.rows.len(),
            searched: self.texts.read,
            order: Arc::new(order),
            headings,
            sum,
            moved: self.moved(),
        })
    }

    /// Whether a row has all words of a filter. `known` holds the words of rows.
    fn has_all(&self, terms: &[Term], number: usize, known: Option<&mut RowTexts>) -> bool {
        let (spec, row, look, text) = (self.spec, &self.rows[number], &self.look, self.texts.get(number));
        let mut made = None;
        let words = known.map_or(&mut made, |known| known.entry(number).or_default());
        terms.iter().all(|term| match term {
            Term::Meaning(at) => (spec.words[*at].1)(row, look),
            Term::Column(at, text) => {
                let cell = (spec.columns[*at].cell)(row, look).text.to_lowercase();
                // Agent `pi` must not match copilot-cli or overspill.
                let is_letter = |c: char| c.is_ascii_alphanumeric();
                let begins = |at: usize| !text.starts_with(is_letter) || !cell[..at].ends_with(is_letter);
                cell.match_indices(text).any(|(at, _)| begins(at))
            }
            Term::Text(word) => {
                let words = words.get_or_insert_with(|| words_of(spec, row, look).into());
                word.find(words.as_bytes()).is_some() || word.find(text).is_some()
            }
        })
    }

    /// Puts the rows of a group together, in the order of its first row, each group under a heading.
    fn grouped(&self, shown: Vec<u32>, group: fn(&R) -> String) -> (Vec<u32>, Vec<GroupHeading>) {
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let all = shown.len();
        for row in shown {
            let name = group(&self.rows[row as usize]);
            let at = *known.entry(name.clone()).or_insert(groups.len());
            if at == groups.len() {
                groups.push((name, Vec::new()));
            }
            groups[at].1.push(row);
        }
        let (mut order, mut headings) = (Vec::with_capacity(all), Vec::new());
        for (name, members) in groups {
            let sum = (self.spec.sum)(&mut members.iter().map(|n| &self.rows[*n as usize]));
            let (name, rule) = name.split_at(name.find(" · ").unwrap_or(name.len()));
            let sum = if sum.is_empty() { sum } else { format!(" · {sum}") };
            let sum = format!(" · {}{sum}", count(members.len() as u64, self.spec.noun));
            let (before, words) = (order.len(), [name, rule, &sum].map(SafeText::from));
            headings.push(GroupHeading { before, place: before + headings.len(), words });
            order.extend(members);
        }
        (order, headings)
    }

    fn moved(&self) -> HashMap<u32, Option<u32>> {
        let Some((old, wanted)) = &self.replaced else { return HashMap::new() };
        let mut moved: HashMap<u32, Option<u32>> = wanted.iter().map(|n| (*n, None)).collect();
        if moved.is_empty() {
            return moved;
        }
        let wanted: HashMap<u64, u32> =
            moved.keys().filter_map(|n| Some(((self.spec.key)(old.get(*n as usize)?), *n))).collect();
        for (row, n) in self.rows.iter().zip(0..) {
            if let Some(before) = wanted.get(&(self.spec.key)(row)) {
                moved.insert(*before, Some(n));
            }
        }
        moved
    }
}

enum Term {
    /// The row meets the condition of a word of the list, by its index.
    Meaning(usize),
    /// A word in the column of this index begins with this.
    Column(usize, String),
    Text(Box<Finder<'static>>),
}

/// Understands a filter: a word with a meaning, `COLUMN:TEXT`, or text.
fn terms<R>(spec: &ListSpec<R>, filter: &str) -> Vec<Term> {
    let filter = filter.to_lowercase();
    let term = |word: &str| {
        if let Some(at) = spec.words.iter().position(|(known, _)| *known == word) {
            return Term::Meaning(at);
        }
        let named = word.split_once(':').and_then(|(name, rest)| {
            Some((spec.columns.iter().position(|column| column.table.heading == name)?, rest))
        });
        match named {
            Some((column, rest)) => Term::Column(column, rest.to_owned()),
            None => Term::Text(Box::new(Finder::new(word).into_owned())),
        }
    };
    filter.split_whitespace().map(term).collect()
}

/// Whether every row that matches `filter` also matches `before`.
fn narrows<R>(spec: &ListSpec<R>, filter: &str, before: &str) -> bool {
    let is_text = |filter| terms(spec, filter).iter().all(|term| matches!(term, Term::Text(_)));
    filter.starts_with(before) && is_text(filter) && is_text(before)
}

fn words_of<R>(spec: &ListSpec<R>, row: &R, look: &RowLook) -> String {
    let mut words = String::with_capacity(256);
    for column in spec.columns {
        words.push_str(&(column.cell)(row, look).text);
        words.push(' ');
    }
    words.push_str(&(spec.known)(row));
    words.to_lowercase()
}

/// What rows say, in lower case, by their numbers; `None` until somebody asks.
pub(super) type RowTexts = HashMap<usize, Option<Box<str>>>;

/// Which row is to be selected once the rows are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Landing {
    pub row: Option<usize>,
    /// If `row` is not shown: select the first row, not the one now at the cursor's place.
    pub else_first: bool,
}

impl Landing {
    pub(super) const FIRST: Self = Self { row: None, else_first: true };
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RunningTask {
    /// Whether the user asked for it, and keys that act on a row wait for the result.
    pub is_awaited: bool,
    /// Which row to select when done; `None` for the one selected then.
    pub landing: Option<Landing>,
    pub is_stale: bool,
}

impl<R: Clone> List<R> {
    /// Whether all rows are shown in the first order, which goes by what does not change in a row.
    pub(super) fn is_plain(&self) -> bool {
        let ListOptions { sort, group, filter, .. } = &self.options;
        *sort == 0 && group.is_none() && filter.is_empty()
    }

    pub(super) fn arrange_asked(&mut self, row: Option<usize>) {
        self.arrange(Some(Landing { row, else_first: false }), true);
    }

    pub(super) fn arrange(&mut self, landing: Option<Landing>, is_asked: bool) {
        let rows = self.next.as_ref().unwrap_or(&self.rows).clone();
        let all = rows.len();
        self.arranged += all as u64;
        let before = &self.shown.options;
        let is_part = ListOptions { filter: before.filter.clone(), ..self.options.clone() } == *before
            && self.next.is_none()
            && (before.group, self.shown.all, self.shown.searched) == (None, all, self.texts.read)
            && is_asked
            && !self.running.is_some_and(|running| running.is_stale)
            && narrows(self.spec, &self.options.filter, &before.filter);
        let landing = landing.or(self.running.and_then(|running| running.landing));
        let replaced = self.next.as_ref().map(|_| self.replaced(landing));
        let task = ArrangeTask {
            spec: self.spec,
            look: self.look,
            rows,
            texts: self.texts.clone(),
            options: self.options.clone(),
            among: is_part.then(|| Arc::clone(&self.shown.order)),
            replaced,
        };
        if all <= self.at_once {
            if task.replaced.is_some() {
                self.words.clear();
            }
            let arranged = task.run(Some(&mut self.words), &|| true);
            (self.running, self.task) = (None, None);
            arranged.into_iter().for_each(|arranged| self.show_arranged(arranged, landing));
            return;
        }
        let is_awaited = is_asked || self.is_awaited();
        self.running = Some(RunningTask { is_awaited, landing, is_stale: false });
        self.task = Some(task);
    }

    fn replaced(&self, landing: Option<Landing>) -> (RowTable<R>, Vec<u32>) {
        let before = self.before.as_ref().and_then(|(_, row)| *row);
        let rows = [self.chosen_index(), landing.and_then(|landing| landing.row), before];
        let rows = rows.into_iter().flatten().map(|row| row as u32);
        (self.rows.clone(), rows.chain(self.marks.iter().copied()).collect())
    }

    pub(super) fn resume(&mut self) {
        if let Some(running) = self.running.filter(|_| self.task.is_none()) {
            self.arrange(running.landing, running.is_awaited);
        }
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.running.is_some_and(|running| running.is_awaited)
    }

    /// Takes in the answer of a worker, unless the rows have been arranged otherwise since.
    pub(super) fn on_arrangement(&mut self, arranged: Arrangement) {
        let Some(running) = self.running.take() else { return };
        self.show_arranged(arranged, running.landing);
        match running.is_stale && !self.is_plain() {
            true => self.arrange(None, false),
            false => self.catch_up(),
        }
        self.search_texts();
    }

    fn show_arranged(&mut self, arranged: Arrangement, landing: Option<Landing>) {
        let above = self.chosen_on_screen();
        let mut landing = self.landing(landing);
        let is_new = self.next.is_some();
        if let Some(next) = self.next.take() {
            let found = |row: usize| self.find(row as u32, &arranged.moved, &next).map(|row| row as usize);
            landing.row = landing.row.and_then(found);
            let before = self.before.as_ref().and_then(|(_, row)| *row).and_then(found);
            let marks = self.marks.iter().filter_map(|row| found(*row as usize)?.try_into().ok()).collect();
            self.before.iter_mut().for_each(|(_, row)| *row = before);
            (self.marks, self.rows) = (marks, next);
        }
        let is_regrouped = self.shown.options.group != arranged.options.group;
        self.shown = arranged;
        match landing.row.and_then(|row| self.shown_at(row)) {
            Some(at) => self.chosen = at,
            None if landing.else_first => (self.chosen, self.top) = (0, 0),
            None => {}
        }
        let last = self.len().saturating_sub(1);
        self.chosen = if self.is_at_end() { last } else { self.chosen.min(last) };
        self.go_on_following(is_new);
        if landing.row.is_some() || !landing.else_first {
            self.top = self.place_of(self.chosen).saturating_sub(above);
        }
        self.clamp();
        if is_regrouped {
            self.show_heading();
        }
    }

    fn find(&self, row: u32, moved: &HashMap<u32, Option<u32>>, next: &RowTable<R>) -> Option<u32> {
        if let Some(found) = moved.get(&row) {
            return *found;
        }
        // It was selected or marked since the worker began.
        let key = (self.spec.key)(self.rows.get(row as usize)?);
        next.iter().zip(0..).find(|(row, _)| (self.spec.key)(row) == key).map(|(_, n)| n)
    }
}
