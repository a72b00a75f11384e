//! The policy picker, over the drawer: a list of what each policy makes of the output.

use std::cmp::{Ordering, Reverse};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::human::{size, thousands, tokens};
use crate::base::lock;
use crate::compare::{Comparison, kept_matches};
use crate::config::EffectivePolicy;
use crate::output::plan::PlanTask;
use crate::preview::TotalsMask;
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{LAST, ListColumn, ListSpec, MOST_FIRST, NAMES, RowCell, RowLook, Tone, key_of};
use crate::source::{self, ViewSupply};
use crate::text::search::Pattern;
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::list::List;
use crate::tui::popup::menu::copy_menu;
use crate::tui::screen::Effects;

use super::planning::{AfterPlan, ViewPoint};
use super::{ComparedReply, Counting, OutputEvent, Pager};

const AROUND: u16 = 3;

/// The fewest rows of the screen for one row of prose, and for three.
const TALL: [u16; 2] = [12, 20];

pub struct Picker {
    pub list: List<PolicyRow>,
    before: ViewPoint,
    /// The rows that a worker fills in, the most urgent first.
    wanted: Vec<usize>,
    is_comparing: bool,
    of: CountedFile,
}

impl Picker {
    /// Returns the rows of the whole picker on a screen of this many: at most two thirds of them.
    pub(crate) fn height(&self, screen: u16) -> u16 {
        let all = (self.list.rows().len() as u16).saturating_add(AROUND + prose_rows(screen));
        all.min((screen / 3 * 2).max(AROUND + 2)).min(most_below(screen))
    }

    pub(crate) fn fit(&mut self, (columns, rows): (u16, u16)) {
        let height = self.height(rows).saturating_sub(AROUND + prose_rows(rows));
        self.list.resize(columns.saturating_sub(2), height.into());
    }
}

/// Returns how many rows of a screen something below the output may have: the output keeps six, or half of a low screen.
pub(crate) fn most_below(screen: u16) -> u16 {
    screen.saturating_sub(6).max((screen / 2).min(4))
}

pub(super) fn prose_rows(screen: u16) -> u16 {
    match screen {
        _ if screen < TALL[0] => 0,
        _ if screen < TALL[1] => 1,
        _ => 3,
    }
}

impl Pager {
    pub(crate) fn open_picker(&mut self, choices: Vec<EffectivePolicy>, effects: &mut Effects) {
        if !self.drawer.is_open() {
            return;
        }
        let (used, candidates) = (&self.output.subject.policy, &self.output.subject.candidates);
        let is = |a: &EffectivePolicy, b: &EffectivePolicy| a.policy.name() == b.policy.name();
        let row = |mut choice: EffectivePolicy| {
            let rank = match &choice {
                one if is(one, used) => PolicyRank::InUse,
                one if candidates.iter().any(|other| is(one, other)) => PolicyRank::Candidate,
                one if one.is_current => PolicyRank::Current,
                _ => PolicyRank::Earlier,
            };
            // The policy in use is listed with its limits as they are now.
            if rank == PolicyRank::InUse {
                choice = EffectivePolicy { is_current: choice.is_current, ..used.clone() };
            }
            let of = CountedFile::default();
            PolicyRow { choice: choice.into(), rank, made: None, of, matches: None, errors: (0, false) }
        };
        let mut list = List::new(&SPEC);
        list.set_rows(choices.into_iter().map(row).collect::<Vec<_>>());
        let (before, of) = (self.view_point(), CountedFile::default());
        let mut picker = Picker { list, before, wanted: Vec::new(), is_comparing: false, of };
        picker.fit(self.canvas.size);
        self.save_anchor();
        self.drawer.picker = Some(picker);
        self.restore_anchor();
        self.refresh_picker();
        self.compare_wanted(effects);
    }

    fn compare_wanted(&mut self, effects: &mut Effects) {
        if let Some(picker) = &mut self.drawer.picker {
            // Those on the screen first.
            let mut wanted: Vec<usize> = picker.list.rows_on_screen().collect();
            let others = (0..picker.list.rows().len()).filter(|n| !wanted.contains(n)).collect::<Vec<_>>();
            wanted.extend(others);
            picker.is_comparing &= picker.wanted == wanted;
            picker.wanted = wanted;
        }
        self.compare_on(effects);
    }

    /// Has a worker fill in the rows that lack figures, unless one is at it.
    pub(crate) fn compare_on(&mut self, effects: &mut Effects) {
        let (severity, output) = (Counting::Severity(self.severity()), &self.output);
        let file = (output.view.generation(), output.view.len());
        let of = CountedFile { file, known: output.totals().known() };
        let patterns = [Counting::Matches, severity].map(|what| (what, self.pattern(what).cloned()));
        let Some(picker) = self.drawer.picker.as_mut().filter(|picker| !picker.is_comparing) else { return };
        let rows = picker.wanted.iter().map(|n| (*n, &picker.list.rows()[*n]));
        let due = rows.filter(|(_, row)| row.is_due(of));
        let choices: Vec<_> = due.map(|(n, row)| (n, Arc::clone(&row.choice))).collect();
        if !choices.is_empty() {
            (picker.is_comparing, picker.of) = (true, of);
            let task = output.task();
            effects.run(Slot::Compare, move |context| compare(&choices, &patterns, &task, context));
        }
    }

    pub(crate) fn on_comparison(&mut self, reply: ComparedReply, effects: &mut Effects) {
        let Some(Picker { list, is_comparing, of, .. }) = &mut self.drawer.picker else { return };
        match reply {
            ComparedReply::Row(row, made) => list.change([(row, *made)], |row, mut made| {
                if let Some(old) = &row.made {
                    (made.kept_matches, made.errors_kept) = (old.kept_matches, old.errors_kept);
                }
                (row.made, row.of) = (Some(made), *of);
            }),
            ComparedReply::Matches(what, kept) => list.change(kept, |row, kept| {
                let Some(made) = &mut row.made else { return };
                let figure = match what {
                    Counting::Matches => &mut made.kept_matches,
                    Counting::Severity(_) => &mut made.errors_kept,
                };
                *figure = Some(kept).filter(|_| made.preview_bytes.is_some());
            }),
            ComparedReply::Ended => {
                *is_comparing = false;
                self.compare_on(effects);
            }
        }
    }

    pub(crate) fn refresh_picker(&mut self) {
        let bytes = self.output.view.len();
        let total = |what| {
            let tally = self.tally(what);
            (tally.counts.total(), tally.is_whole(bytes))
        };
        let matches = self.find.pattern.as_ref().map(|_| total(Counting::Matches));
        let errors = total(Counting::Severity(self.severity()));
        let Some(Picker { list, .. }) = &mut self.drawer.picker else { return };
        let all = (0..list.rows().len()).map(|n| (n, ()));
        list.change(all, |row, ()| (row.matches, row.errors) = (matches, errors));
    }

    pub(crate) fn picker_act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let Some(Picker { list, .. }) = &mut self.drawer.picker else { return };
        match action {
            Action::Open => self.take_policy(effects),
            Action::Search => effects.push_layer(list.start_filter()),
            Action::Sort => effects.push_layer(list.sort_menu()),
            Action::Copy => effects.push_layer(copy_menu(self.limits_to_copy())),
            Action::Back if !list.filter_text().is_empty() => self.on_picker(List::end_filter, effects),
            Action::Back => drop(self.close_picker(effects)),
            _ if list.act(action, count) => self.on_picker(|_| (), effects),
            _ => {
                let (keys, place) = (self.canvas.keys, KeyContext::Lists);
                self.note(keys.nothing(place, keys.label(place, action)));
            }
        }
    }

    /// Does something to the list, then tries on the policy that is selected.
    pub(crate) fn on_picker(&mut self, act: impl FnOnce(&mut List<PolicyRow>), effects: &mut Effects) {
        let Some(picker) = &mut self.drawer.picker else { return };
        act(&mut picker.list);
        let chosen = picker.list.chosen().map(|row| Arc::clone(&row.choice));
        if let Some(choice) = chosen.filter(|choice| !choice.policy.is_same(self.output.policy())) {
            self.use_policy(EffectivePolicy::clone(&choice), AfterPlan::Hold, effects);
        }
        self.compare_wanted(effects);
    }

    fn take_policy(&mut self, effects: &mut Effects) {
        if self.drawer.picker.as_ref().is_some_and(|picker| picker.list.chosen().is_some()) {
            self.on_picker(|_| (), effects);
            self.end_picking(effects);
            self.drawer.row = 0;
            self.advise(effects);
        }
    }

    /// Closes the picker, and returns what was shown when it was opened. The current line is held.
    fn end_picking(&mut self, effects: &mut Effects) -> Option<ViewPoint> {
        self.drawer.picker.as_ref()?;
        self.save_anchor();
        let picker = self.drawer.picker.take()?;
        self.restore_anchor();
        effects.stop([Slot::Compare]);
        Some(picker.before)
    }

    /// Goes back to the drawer, under the policy that it had. Returns false if no policies are shown.
    pub(crate) fn close_picker(&mut self, effects: &mut Effects) -> bool {
        let Some(before) = self.end_picking(effects) else { return false };
        self.return_to(before, effects);
        self.message = None;
        true
    }
}

pub(super) fn supports(action: Action) -> bool {
    matches!(action, Action::Open | Action::Search | Action::Sort | Action::Copy | Action::Back)
        || action.destination(None, [0, 1], 1).is_some()
}

/// Why a policy is listed where it is: the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PolicyRank {
    InUse,
    /// It may have made this output, according to the output's store.
    Candidate,
    Current,
    Earlier,
}

/// The state of the output that figures are of: the generation and length of the file, and the totals that were known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CountedFile {
    file: (u64, usize),
    known: TotalsMask,
}

#[derive(Debug, Clone)]
pub struct PolicyRow {
    pub choice: Arc<EffectivePolicy>,
    rank: PolicyRank,
    made: Option<Comparison>,
    of: CountedFile,
    /// How many there are in the file, and whether all are counted; `None` without a search.
    matches: Option<(u64, bool)>,
    errors: (u64, bool),
}

impl PolicyRow {
    /// Whether its figures are missing, or lack totals which are known by now.
    fn is_due(&self, now: CountedFile) -> bool {
        let made = self.made.as_ref().filter(|_| self.of.file == now.file);
        made.is_none_or(|made| made.missing.meets(now.known.without(self.of.known)))
    }
}

static SPEC: ListSpec<PolicyRow> = ListSpec {
    noun: "policy",
    columns: &[
        ListColumn::new("policy", Left, 24, |row: &PolicyRow, _| {
            let tone = if row.rank == PolicyRank::Earlier { Tone::Dim } else { Tone::Plain };
            RowCell::new(row.choice.policy.name(), tone)
        })
        .sorts('n', NAMES, |a, b| (a.rank, a.choice.policy.name()).cmp(&(b.rank, b.choice.policy.name()))),
        ListColumn::new("matches", Right, 15, |row: &PolicyRow, _| {
            row.matches.map_or_else(RowCell::default, |all| kept_of(row, all, |made| made.kept_matches))
        })
        .yields(LAST)
        .sorts('m', MOST_FIRST, |a, b| by(a, b, |made| made.kept_matches.map(Reverse))),
        ListColumn::new("errors", Right, 15, |row: &PolicyRow, _| match row.errors.0 {
            0 => RowCell::default(),
            _ => kept_of(row, row.errors, |made| made.errors_kept),
        })
        .yields(4)
        .sorts('e', MOST_FIRST, |a, b| by(a, b, |made| made.errors_kept.map(Reverse))),
        ListColumn::new("lines", Right, 11, |row, _| figure(row, |made| made.numbered[0], thousands))
            .yields(LAST + 2)
            .sorts('l', MOST_FIRST, |a, b| by(a, b, |made| made.numbered[0].map(Reverse))),
        ListColumn::new("bytes", Right, 9, |row, _| figure(row, |made| made.kept_bytes, size))
            .yields(2)
            .sorts('b', MOST_FIRST, |a, b| by(a, b, |made| made.kept_bytes.map(Reverse))),
        ListColumn::new("tokens", Right, 7, |row, _| figure(row, |made| made.preview_bytes, tokens))
            .yields(LAST + 1)
            .sorts('t', ["fewest first", "most first"], |a, b| by(a, b, |made| made.preview_bytes)),
        ListColumn::new("keeps", Left, 9, |row: &PolicyRow, _| {
            RowCell::plain(row.made.as_ref().and_then(|made| made.keeps).map_or("", |keeps| keeps.as_str()))
        })
        .yields(3),
        ListColumn::new("cut by", Left, 0, cut_by),
    ],
    groups: &[],
    words: &[("earlier", |row, _| row.rank == PolicyRank::Earlier)],
    known: |row| row.choice.policy.summary().to_owned(),
    key: |row| key_of(row.choice.policy.name()),
    sum: |_| String::new(),
    mark: |row| match row.rank {
        PolicyRank::InUse => RowCell::new("@", Tone::Accent),
        _ => RowCell::plain(" "),
    },
};

/// Compares two rows by a figure, the smallest first; what has none comes last, what made no preview at the very end.
fn by<T: Ord>(a: &PolicyRow, b: &PolicyRow, of: fn(&Comparison) -> Option<T>) -> Ordering {
    let key = |row: &PolicyRow| {
        let made = row.made.as_ref();
        let figure = made.and_then(of);
        (made.is_none_or(|made| !made.is_ok()), figure.is_none(), figure)
    };
    key(a).cmp(&key(b))
}

/// Formats a figure: `…` while it is being made or counted, `–` if there is none.
fn figure(row: &PolicyRow, of: fn(&Comparison) -> Option<u64>, words: fn(u64) -> String) -> RowCell {
    let Some(made) = &row.made else { return RowCell::dim("…") };
    match of(made) {
        Some(number) => RowCell::plain(words(number)),
        None if made.missing.is_empty() => RowCell::dim("–"),
        None => RowCell::dim("…"),
    }
}

/// Formats the matches that the model gets, of all: `2/14`, with `+` while they are being counted.
fn kept_of(row: &PolicyRow, (all, is_whole): (u64, bool), of: fn(&Comparison) -> Option<u64>) -> RowCell {
    let more = if is_whole { "" } else { "+" };
    match row.made.as_ref().map(|made| (of(made), made.is_ok())) {
        Some((Some(kept), _)) => {
            let tone = if kept < all { Tone::Warning } else { Tone::Plain };
            RowCell::new(format!("{}/{}{more}", thousands(kept), thousands(all)), tone)
        }
        Some((None, false)) => RowCell::dim("–"),
        _ => RowCell::dim("…"),
    }
}

fn cut_by(row: &PolicyRow, _: &RowLook) -> RowCell {
    let Some(made) = &row.made else { return RowCell::default() };
    RowCell::new(made.cut_by(), if made.is_ok() { Tone::Plain } else { Tone::Warning })
}

/// Plans the preview under policies, and reports the rows as they are made, then what they keep, then the end.
fn compare(
    choices: &[(usize, Arc<EffectivePolicy>)],
    patterns: &[(Counting, Option<Pattern>); 2],
    task: &PlanTask,
    context: &JobContext,
) {
    let report = |reply| context.report(OutputEvent::Compared(reply));
    let kept = Mutex::new(Vec::new());
    let make = |(): &mut (), at: usize| {
        let (row, choice) = &choices[at];
        if !context.wait_turn() {
            return ControlFlow::Break(());
        }
        let mut made = task.compare(choice, &|| context.is_wanted());
        if !context.is_wanted() {
            return ControlFlow::Break(());
        }
        let stretches = std::mem::take(&mut made.kept);
        lock(&kept).push((*row, stretches));
        report(ComparedReply::Row(*row, Box::new(made)))
    };
    // A policy that reads the whole output must not hold up the others, so there are several threads.
    source::share_out(choices.len(), || (), make);
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (rows, kept): (Vec<usize>, Vec<Vec<Range<usize>>>) = kept.into_iter().unzip();
    for (what, pattern) in patterns {
        let mut supply = ViewSupply::from(&task.view);
        let count = |pattern| kept_matches(&task.view, &mut supply, pattern, &kept, || context.wait_turn());
        if let Some(matches) = pattern.as_ref().and_then(count) {
            let _ = report(ComparedReply::Matches(*what, rows.iter().copied().zip(matches).collect()));
        }
    }
    if context.wait_turn() {
        let _ = report(ComparedReply::Ended);
    }
}
