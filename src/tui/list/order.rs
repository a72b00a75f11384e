//! How the rows of a list are put in order: at once or through a worker, and where the cursor lands.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rows::batch::RowTable;

use super::List;
use super::arrange::{ArrangeTask, Arrangement, ListOptions, narrows};

/// Which row is to be selected once the rows are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Landing {
    pub row: Option<usize>,
    /// Whether else the first one is; or the one that stands at the place of the one selected now.
    pub else_first: bool,
}

impl Landing {
    pub(super) const FIRST: Self = Self { row: None, else_first: true };
}

/// The newest task, while a worker does it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningTask {
    /// Whether the user asked for it, and keys that act on a row wait for the result.
    pub is_awaited: bool,
    /// Where the cursor is to land; `None` on the row selected when it is done.
    pub landing: Option<Landing>,
    /// Whether rows have changed since it began.
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

    /// Filters, sorts and groups anew: at once, or through a worker.
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
            arranged.into_iter().for_each(|arranged| self.take(arranged, landing));
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

    pub(super) fn take_task(&mut self) -> Option<ArrangeTask<R>> {
        self.task.take()
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
    pub(super) fn take_arranged(&mut self, arranged: Arrangement) {
        let Some(running) = self.running.take() else { return };
        self.take(arranged, running.landing);
        match running.is_stale && !self.is_plain() {
            true => self.arrange(None, false),
            false => self.catch_up(),
        }
        self.search_texts();
    }

    fn take(&mut self, arranged: Arrangement, landing: Option<Landing>) {
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
        self.shown = arranged;
        match landing.row.and_then(|row| self.shown_at(row)) {
            Some(at) => self.chosen = at,
            None if landing.else_first => (self.chosen, self.top) = (0, 0),
            None => {}
        }
        self.chosen = self.chosen.min(self.len().saturating_sub(1));
        self.go_on_following(is_new);
        if landing.row.is_some() || !landing.else_first {
            self.top = self.place_of(self.chosen).saturating_sub(above);
        }
        self.clamp();
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
