//! The list of sessions: which were found, which of them are shown, and in which order.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::tui::job::Slot;
use crate::tui::screen::Effects;
use crate::tui::widget::cursor::ListCursor;

use super::filter::WordFilter;
use super::job::SessionToSum;
use super::order::{self, SessionGroup};
use super::rows::{SessionRow, SessionWords, SumState};
use super::work;

/// The most sessions that are looked through for the originals of copied calls.
const MOST_EARLIER: usize = 100;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownSession {
    /// A session, by its index.
    Session(usize),
    /// The heading of a group: its name and the number of its sessions.
    Group(String, usize),
}

/// The state of the list.
#[derive(Debug, Default)]
pub struct SessionList {
    /// All sessions, the last changed first.
    rows: Vec<SessionRow>,
    /// The number of the listing that found them.
    number: u64,
    /// The number of the last listing that was started.
    asked: u64,
    shown: Vec<ShownSession>,
    pub cursor: ListCursor,
    sort: usize,
    reversed: bool,
    group: Option<SessionGroup>,
    filter: WordFilter,
    /// When the last listing arrived; `None` before the first.
    pub now: Option<Timestamp>,
}

impl SessionList {
    /// Starts a new listing and returns its number.
    pub(crate) fn start(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Takes in a listing; what is known of a session that did not change stays, and so does the selected one.
    pub(crate) fn listed(&mut self, number: u64, mut rows: Vec<SessionRow>, now: Timestamp) {
        if number != self.asked {
            return;
        }
        let chosen = self.chosen().map(|row| row.file.clone());
        let known: BTreeMap<_, _> =
            self.rows.iter().map(|row| ((&row.file.path, &row.file.id), row)).collect();
        for row in &mut rows {
            let Some(old) = known.get(&(&row.file.path, &row.file.id)) else { continue };
            row.words = row.words.take().or_else(|| old.words.clone());
            row.earlier = old.earlier.clone();
            if (old.file.size, old.file.modified) == (row.file.size, row.file.modified) {
                row.sums = match &old.sums {
                    SumState::Asked => SumState::Unknown,
                    sums => sums.clone(),
                };
            }
        }
        (self.rows, self.number, self.now) = (rows, number, Some(now));
        self.arrange();
        let is_it = |index: usize| {
            let file = &self.rows[index].file;
            chosen.as_ref().is_some_and(|chosen| (&chosen.path, &chosen.id) == (&file.path, &file.id))
        };
        let at = self.shown.iter().position(|row| matches!(row, ShownSession::Session(n) if is_it(*n)));
        self.cursor.chosen = at.unwrap_or(self.cursor.chosen);
    }

    /// Takes in what the ends of some files say.
    pub(crate) fn described(&mut self, number: u64, words: Vec<(usize, SessionWords)>) {
        if number != self.number {
            return;
        }
        for (index, words) in words {
            if let Some(row) = self.rows.get_mut(index) {
                row.words = Some(words);
            }
        }
        self.arrange_still();
    }

    /// Takes in which sessions may hold copies of each other's calls. Sums that counted copies are asked for again.
    pub(crate) fn related(&mut self, number: u64, groups: &[Vec<usize>]) {
        if number != self.number {
            return;
        }
        let mut earlier: BTreeMap<usize, Arc<[Arc<SessionFile>]>> = BTreeMap::new();
        for group in groups {
            let files = group.iter().filter_map(|n| Some(self.rows.get(*n)?.file.clone()));
            let files: Vec<_> = files.take(MOST_EARLIER).collect();
            let before = |place: usize| files.get(..place.min(files.len())).unwrap_or_default().into();
            earlier.extend(group.iter().enumerate().skip(1).map(|(place, n)| (*n, before(place))));
        }
        for (n, row) in self.rows.iter_mut().enumerate() {
            let found = earlier.remove(&n).unwrap_or_default();
            if !is_same(&found, &row.earlier) {
                row.sums = SumState::Unknown;
                row.earlier = found;
            }
        }
    }

    /// Takes in the sums of one session.
    pub(crate) fn summed(&mut self, number: u64, index: usize, sums: Option<CallSums>) {
        if number != self.number {
            return;
        }
        if let Some(row) = self.rows.get_mut(index) {
            row.sums = sums.map_or(SumState::Failed, SumState::Known);
        }
    }

    /// Asks for the sums of the sessions on the screen that lack them; an earlier request is given up.
    pub(crate) fn ask(&mut self, height: usize, effects: &mut Effects) {
        let on_screen: Vec<usize> = self.on_screen(height).filter_map(session).collect();
        let lacking: Vec<usize> =
            on_screen.into_iter().filter(|n| matches!(self.rows[*n].sums, SumState::Unknown)).collect();
        if lacking.is_empty() {
            return;
        }
        self.give_up_sums();
        let mut asked: Vec<usize> = self
            .on_screen(height)
            .filter_map(session)
            .filter(|n| matches!(self.rows[*n].sums, SumState::Unknown))
            .collect();
        // The small ones first: one of gigabytes must not hold up the others.
        asked.sort_by_key(|n| self.rows[*n].file.size);
        asked.iter().for_each(|n| self.rows[*n].sums = SumState::Asked);
        let to_sum = |index: usize| {
            let SessionRow { file, earlier, .. } = &self.rows[index];
            SessionToSum { index, file: file.clone(), earlier: earlier.clone() }
        };
        let sessions: Vec<SessionToSum> = asked.into_iter().map(to_sum).collect();
        let number = self.number;
        effects.run(Slot::SumSessions, move |context| work::sum(number, &sessions, context));
    }

    /// Gives up the sums that were asked for and have not arrived; they will be asked for again.
    pub(crate) fn give_up_sums(&mut self) {
        for row in self.rows.iter_mut().filter(|row| row.sums == SumState::Asked) {
            row.sums = SumState::Unknown;
        }
    }

    /// Returns the selected session.
    pub fn chosen(&self) -> Option<&SessionRow> {
        self.shown.get(self.cursor.chosen).and_then(session_ref).and_then(|n| self.rows.get(n))
    }

    pub fn row(&self, index: usize) -> Option<&SessionRow> {
        self.rows.get(index)
    }

    /// Returns all sessions.
    pub fn rows(&self) -> &[SessionRow] {
        &self.rows
    }

    /// Returns the number of rows shown, with headings.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Returns the number of sessions shown.
    pub fn sessions_shown(&self) -> usize {
        self.shown.iter().filter(|row| matches!(row, ShownSession::Session(_))).count()
    }

    /// Whether no rows are shown.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Iterates over the rows on a screen of `height` rows.
    pub fn on_screen(&self, height: usize) -> impl Iterator<Item = &ShownSession> {
        self.shown[self.cursor.rows(self.shown.len(), height)].iter()
    }

    /// Returns the column by which the list is sorted, an index into [`order::SESSION_COLUMNS`], and whether its order is
    /// reversed.
    pub fn sort(&self) -> (usize, bool) {
        (self.sort, self.reversed)
    }

    /// Sorts by a column; if it is the one in use, in the other direction.
    pub(crate) fn sort_by(&mut self, column: usize) {
        self.reversed = self.sort == column && !self.reversed;
        self.sort = column;
        self.arrange();
    }

    /// Reverses the order.
    pub(crate) fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    /// Groups by the next of agent, project, day, nothing.
    pub(crate) fn group_next(&mut self) {
        self.group = SessionGroup::after(self.group);
        self.arrange();
    }

    /// Returns the words that sessions must contain.
    pub fn filter_text(&self) -> &str {
        self.filter.text()
    }

    /// Remembers where the list stands before a filter is typed.
    pub(crate) fn start_filter(&mut self) {
        self.filter.start(self.cursor);
    }

    /// Shows only the sessions that contain all of these words.
    pub(crate) fn filter_by(&mut self, words: &str) {
        self.filter.set(words, &mut self.cursor);
        self.arrange();
    }

    /// Shows the list as it was before the prompt of the filter was opened.
    pub(crate) fn give_up_filter(&mut self) {
        self.filter.give_up(&mut self.cursor);
        self.arrange();
    }

    /// Filters, sorts and groups again; the selected session stays selected.
    fn arrange_still(&mut self) {
        let chosen = self.shown.get(self.cursor.chosen).and_then(session_ref);
        self.arrange();
        let at = self.shown.iter().position(|row| session_ref(row).is_some_and(|n| Some(n) == chosen));
        self.cursor.chosen = at.unwrap_or(self.cursor.chosen);
    }

    fn arrange(&mut self) {
        let words = self.filter.words();
        let rows = &self.rows;
        let mut wanted: Vec<usize> = (0..rows.len()).filter(|n| contains(&rows[*n], &words)).collect();
        wanted.sort_by(|a, b| {
            let order = order::sessions(self.sort, &rows[*a], &rows[*b]);
            if self.reversed { order.reverse() } else { order }
        });
        self.shown = match self.group {
            None => wanted.into_iter().map(ShownSession::Session).collect(),
            Some(group) => grouped(rows, wanted, group),
        };
    }
}

/// Whether two lists are of the same sessions.
fn is_same(a: &[Arc<SessionFile>], b: &[Arc<SessionFile>]) -> bool {
    let names = |file: &Arc<SessionFile>| (file.path.clone(), file.id.clone());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| names(a) == names(b))
}

/// Puts the sessions of a group together, in the order of its first session, each under a heading.
fn grouped(rows: &[SessionRow], wanted: Vec<usize>, group: SessionGroup) -> Vec<ShownSession> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for index in wanted {
        let name = group.of(&rows[index]);
        let at = *places.entry(name.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[at].1.push(index);
    }
    let of_group = |(name, members): (String, Vec<usize>)| {
        let heading = ShownSession::Group(name, members.len());
        std::iter::once(heading).chain(members.into_iter().map(ShownSession::Session))
    };
    groups.into_iter().flat_map(of_group).collect()
}

fn session(row: &ShownSession) -> Option<usize> {
    session_ref(row)
}

fn session_ref(row: &ShownSession) -> Option<usize> {
    match row {
        ShownSession::Session(index) => Some(*index),
        ShownSession::Group(..) => None,
    }
}

/// Whether a session's visible words contain all of these, in any order.
fn contains(row: &SessionRow, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let said = row.words.clone().unwrap_or_default();
    let text = format!("{} {} {} {} {}", row.agent, said.version, said.project, said.title, row.file.id);
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}
