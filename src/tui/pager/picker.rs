//! The policy picker: a list of what each policy makes of the output, over the drawer. The preview of the selected policy
//! shows above it.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::human::{lines, size, thousands, tokens};
use crate::output::words::{limits_in_words, size_in_words};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{LARGEST, ListColumn, ListSpec, NAMES, RowCell, RowLook, Tone, key_of};
use crate::text::label::SafeText;
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::list::List;
use crate::tui::popup::copying;
use crate::tui::screen::Effects;
use crate::tui::widget::frame;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::Pager;
use super::comparing::Comparisons;
use super::event::Counting;
use super::planning::{AfterPlan, ViewPoint};
use super::view::drawer::MIN_PANES;

/// Rows of the picker besides its list: the border and the heading.
const AROUND: u16 = 3;

/// From this many rows of the screen on there are three rows of prose, below that one.
const TALL: u16 = 20;

/// Why a policy is listed where it is: the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PolicyRank {
    InUse,
    /// It may have made this output, according to the output's store.
    Candidate,
    Current,
    /// It is an earlier form of a policy.
    Earlier,
}

/// How many matches, or errors, the output has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatchTotal {
    all: u64,
    is_whole: bool,
}

#[derive(Debug, Clone)]
pub struct PolicyRow {
    pub choice: Arc<EffectivePolicy>,
    rank: PolicyRank,
    /// `None` until it is made.
    made: Option<Arc<Comparison>>,
    /// `None` without a search.
    matches: Option<MatchTotal>,
    errors: MatchTotal,
}

static SPEC: ListSpec<PolicyRow> =
    ListSpec {
        noun: "policy",
        columns: &[
            ListColumn::new("policy", Left, 24, |row: &PolicyRow, _| {
                let tone = if row.rank == PolicyRank::Earlier { Tone::Dim } else { Tone::Plain };
                RowCell::new(row.choice.policy.name(), tone)
            })
            .sorts('n', NAMES, |a, b| {
                (a.rank, a.choice.policy.name()).cmp(&(b.rank, b.choice.policy.name()))
            }),
            ListColumn::new("matches", Right, 15, |row: &PolicyRow, _| {
                row.matches.map_or_else(RowCell::default, |all| kept_of(row, all, |made| made.finds_kept))
            })
            .sorts('m', LARGEST, |a, b| by(a, b, |made| made.finds_kept.map(Reverse))),
            ListColumn::new("errors", Right, 15, |row: &PolicyRow, _| match row.errors.all {
                0 => RowCell::default(),
                _ => kept_of(row, row.errors, |made| made.errors_kept),
            })
            .yields(4)
            .sorts('e', LARGEST, |a, b| by(a, b, |made| made.errors_kept.map(Reverse))),
            ListColumn::new("lines", Right, 11, |row, _| figure(row, |made| made.kept_lines, thousands))
                .sorts('l', LARGEST, |a, b| by(a, b, |made| made.kept_lines.map(Reverse))),
            ListColumn::new("bytes", Right, 9, |row, _| figure(row, |made| made.kept_bytes, size))
                .yields(2)
                .sorts('b', LARGEST, |a, b| by(a, b, |made| made.kept_bytes.map(Reverse))),
            ListColumn::new("tokens", Right, 7, |row, _| figure(row, |made| made.preview_bytes, tokens))
                .sorts('t', ["fewest first", "most first"], |a, b| by(a, b, |made| made.preview_bytes)),
            ListColumn::new("keeps", Left, 9, |row: &PolicyRow, _| {
                RowCell::plain(
                    row.made.as_ref().and_then(|made| made.keeps).map_or("", |keeps| keeps.as_str()),
                )
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
            PolicyRank::InUse => RowCell::new("*", Tone::Accent),
            _ => RowCell::plain(" "),
        },
    };

/// The list, and what was shown before a policy was tried on.
pub struct Picker {
    pub list: List<PolicyRow>,
    pub(super) comparisons: Comparisons,
    before: ViewPoint,
}

impl Picker {
    /// Returns the policies whose rows are wanted, in the order of need: those on the screen, then the others.
    fn wanted(&self) -> Vec<EffectivePolicy> {
        let on_screen: Vec<usize> = self.list.rows_on_screen().collect();
        let others = (0..self.list.rows().len()).filter(|n| !on_screen.contains(n));
        let all = on_screen.iter().copied().chain(others);
        all.map(|n| EffectivePolicy::clone(&self.list.rows()[n].choice)).collect()
    }

    /// Returns the rows of the whole picker on a screen of this many: at most two thirds of them.
    pub(crate) fn height(&self, screen: u16) -> u16 {
        let all = (self.list.rows().len() as u16).saturating_add(AROUND + prose_rows(screen));
        all.min((screen / 3 * 2).max(AROUND + 2)).min(screen.saturating_sub(MIN_PANES))
    }

    pub(crate) fn fit(&mut self, (columns, rows): (u16, u16)) {
        let height = self.height(rows).saturating_sub(AROUND + prose_rows(rows));
        self.list.resize(columns.saturating_sub(2), height.into());
    }
}

fn prose_rows(screen: u16) -> u16 {
    if screen < TALL { 1 } else { 3 }
}

impl Pager {
    pub(crate) fn open_picker(&mut self, choices: Vec<EffectivePolicy>, effects: &mut Effects) {
        if !self.drawer.is_open() {
            return;
        }
        let (used, candidates) = (&self.output.subject.policy, &self.output.subject.candidates);
        let is = |a: &EffectivePolicy, b: &EffectivePolicy| a.policy.name() == b.policy.name();
        let row = |choice: EffectivePolicy| {
            let rank = match &choice {
                choice if is(choice, used) => PolicyRank::InUse,
                choice if candidates.iter().any(|one| is(one, choice)) => PolicyRank::Candidate,
                choice if choice.is_current => PolicyRank::Current,
                _ => PolicyRank::Earlier,
            };
            // The policy in use is listed with its limits as they are now.
            let choice = match rank {
                PolicyRank::InUse => EffectivePolicy { is_current: choice.is_current, ..used.clone() },
                _ => choice,
            };
            let errors = MatchTotal { all: 0, is_whole: false };
            PolicyRow { choice: Arc::new(choice), rank, made: None, matches: None, errors }
        };
        let rows: Vec<PolicyRow> = choices.into_iter().map(row).collect();
        let comparisons = Comparisons::default();
        let mut picker = Picker { list: List::new(&SPEC), comparisons, before: self.view_point() };
        picker.list.set_rows(rows);
        picker.fit(self.canvas.size);
        self.drawer.picker = Some(picker);
        self.compare_wanted(effects);
    }

    fn compare_wanted(&mut self, effects: &mut Effects) {
        let wanted = self.drawer.picker.as_ref().map(Picker::wanted);
        wanted.into_iter().for_each(|wanted| self.compare(wanted, effects));
        self.refresh_picker();
    }

    pub(crate) fn refresh_picker(&mut self) {
        let bytes = self.output.view.len();
        let total = |counts: &crate::text::search::MatchCounts| MatchTotal {
            all: counts.total(),
            is_whole: counts.counted_bytes() >= bytes,
        };
        let matches = self.find.pattern.as_ref().map(|_| total(&self.find.tally.counts));
        let errors = total(&self.tally(Counting::Severity(self.severity())).counts);
        let Some(picker) = &mut self.drawer.picker else { return };
        let made = |row: &PolicyRow| picker.comparisons.row(row.choice.policy.name()).cloned().map(Arc::new);
        let renewed = |row: &PolicyRow| PolicyRow { made: made(row), matches, errors, ..row.clone() };
        let rows: Vec<PolicyRow> = picker.list.rows().iter().map(renewed).collect();
        picker.list.set_rows(rows);
    }

    pub(crate) fn picker_act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let Some(picker) = &mut self.drawer.picker else { return };
        let list = &mut picker.list;
        match action {
            Action::Open => self.take_policy(effects),
            Action::Search => {
                list.start_filter();
                effects.lay(Prompt::with(Purpose::Filter, list.filter_text()));
            }
            Action::Sort => effects.lay(list.sort_menu()),
            Action::Copy => effects.lay(copying::menu(self.limits_to_copy())),
            Action::Back if !list.filter_text().is_empty() => self.on_picker(List::end_filter, effects),
            Action::Back => drop(self.close_picker(effects)),
            _ if list.act(action, count) => self.on_picker(|_| (), effects),
            _ => {
                let help = self.canvas.keys.of(KeyContext::Lists, Action::Help);
                self.note(format!("that does nothing here; {help} for help"));
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
            self.drawer.picker = None;
            self.drawer.row = 0;
            effects.stop([Slot::Compare]);
            self.advise(effects);
        }
    }

    /// Goes back to the drawer, under the policy that it had. Returns false if no policies are shown.
    pub(crate) fn close_picker(&mut self, effects: &mut Effects) -> bool {
        let Some(Picker { before, .. }) = self.drawer.picker.take() else { return false };
        effects.stop([Slot::Compare]);
        self.return_to(before, effects);
        self.message = None;
        true
    }
}

/// Compares two rows by a figure, the smallest first; what has none comes last, what made no preview at the very end.
fn by<T: Ord>(a: &PolicyRow, b: &PolicyRow, of: fn(&Comparison) -> Option<T>) -> Ordering {
    let key = |row: &PolicyRow| {
        let made = row.made.as_ref();
        let figure = made.and_then(|made| of(made));
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
fn kept_of(row: &PolicyRow, total: MatchTotal, of: fn(&Comparison) -> Option<u64>) -> RowCell {
    let more = if total.is_whole { "" } else { "+" };
    match row.made.as_ref().map(|made| (of(made), made.is_ok())) {
        Some((Some(kept), _)) => {
            let tone = if kept < total.all { Tone::Warning } else { Tone::Plain };
            RowCell::new(format!("{}/{}{more}", thousands(kept), thousands(total.all)), tone)
        }
        Some((None, false)) => RowCell::dim("–"),
        _ => RowCell::dim("…"),
    }
}

/// Says which limit cut the output: `over 50 KB`; or why there is no preview.
fn cut_by(row: &PolicyRow, _: &RowLook) -> RowCell {
    let Some(made) = &row.made else { return RowCell::default() };
    let policy = &row.choice.policy;
    let limit = match made.truncated_by {
        Some("lines") => policy.max_lines().map(lines),
        Some("matches") | None => None,
        Some(_) => policy.max_size().map(|most| size_in_words(policy, most)),
    };
    match limit {
        _ if !made.is_ok() => RowCell::new(made.cut_by(), Tone::Warning),
        Some(limit) => RowCell::plain(format!("over {limit}")),
        None => RowCell::plain(made.cut_by()),
    }
}

/// Describes a policy in this many rows: what it does; where that is known from; its era and limits.
fn prose(choice: &EffectivePolicy, rows: u16) -> Vec<SafeText> {
    let policy = &choice.policy;
    let era = match choice.is_current {
        true => String::new(),
        false => policy.era().span().map_or("earlier: ".to_owned(), |span| format!("{span}: ")),
    };
    let summary = format!("{era}{}", policy.summary());
    if rows == 1 {
        return vec![summary.into()];
    }
    let known = format!("{} · {}", policy.source(), policy.confidence().as_str());
    let words = [policy.version(), limits_in_words(policy), format!("limits from: {}", choice.origin())];
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    vec![summary.into(), known.into(), words.join(" · ").into()]
}

pub(super) fn draw(pager: &Pager, picker: &Picker, frame: &mut Frame, place: Rect) {
    let canvas = &pager.canvas;
    let inner = frame::draw(canvas, frame, place, title(pager, picker), keys(canvas.keys, place.width));
    let prose_rows = prose_rows(canvas.size.1).min(inner.height);
    let head = Rect { height: inner.height.min(1), ..inner };
    let rows = inner.height.saturating_sub(prose_rows + head.height);
    let list = Rect { y: head.bottom(), height: rows, ..inner };
    picker.list.draw(canvas, frame.buffer_mut(), (head, list), |_| false);
    let Some(row) = picker.list.chosen() else {
        return line::centred(frame.buffer_mut(), list, ["No policy has these words."], canvas.theme.dim);
    };
    for (text, y) in prose(&row.choice, prose_rows).into_iter().zip(list.bottom()..inner.bottom()) {
        let text = line::head(text, usize::from(inner.width).saturating_sub(2), canvas.glyphs());
        let spans = [Span::plain("  "), Span::new(text, canvas.theme.dim)];
        line::spans(frame.buffer_mut(), Rect { y, height: 1, ..inner }, &spans);
    }
}

/// Names the output, so that the figures cannot be taken for limits.
fn title(pager: &Pager, picker: &Picker) -> String {
    let (list, name) = (&picker.list, &pager.output.subject.name);
    let filter = match list.filter_text() {
        "" => String::new(),
        words => format!(" · filter: {words}"),
    };
    let [order, _] = list.order_in_words();
    format!(
        " Policies: {} of {} · what each makes of {name}{filter} · sort: {order} ",
        list.len(),
        list.rows().len()
    )
}

fn keys(keys: &KeyMap, width: u16) -> String {
    let hint = |action, words| format!("{} {words}", keys.of(KeyContext::Lists, action));
    let hints = [
        hint(Action::Open, "use"),
        hint(Action::Back, "back"),
        hint(Action::Search, "filter"),
        hint(Action::Sort, "sort"),
    ];
    frame::foot(&hints, width)
}
