//! The policy picker: a list of what each policy makes of the output, over the drawer. The preview of the selected policy
//! shows above it.

use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::config::EffectivePolicy;
use crate::output::describe::describe_limits;
use crate::text::label::SafeText;
use crate::tui::event::Purpose;
use crate::tui::footer::{Hint, describe_hints};
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::list::List;
use crate::tui::popup::copying;
use crate::tui::popup::prompt::Prompt;
use crate::tui::screen::Effects;
use crate::tui::widget::line::{self, Span};

use Action as A;

use super::Pager;
use super::comparing::{CompareJob, CountedFile, MatchTotal, PolicyRank, PolicyRow, SPEC};
use super::event::{ComparedReply, Counting};
use super::planning::{AfterPlan, ViewPoint};
use super::view::drawer::MIN_PANES;

/// Rows of the picker besides its list: the border and the heading.
const AROUND: u16 = 3;

/// From this many rows of the screen on there are three rows of prose, below that one.
const TALL: u16 = 20;

pub struct Picker {
    pub list: List<PolicyRow>,
    before: ViewPoint,
    /// The rows that a worker fills in, the most urgent first.
    wanted: Vec<usize>,
    is_comparing: bool,
    /// What it compares the policies on.
    of: CountedFile,
}

impl Picker {
    /// Returns the rows in the order of need: those on the screen, then the others.
    fn by_need(&self) -> Vec<usize> {
        let on_screen: Vec<usize> = self.list.rows_on_screen().collect();
        let others = (0..self.list.rows().len()).filter(|n| !on_screen.contains(n));
        on_screen.iter().copied().chain(others).collect()
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
        let row = |choice: EffectivePolicy| match &choice {
            // The policy in use is listed with its limits as they are now.
            choice if is(choice, used) => {
                let used = EffectivePolicy { is_current: choice.is_current, ..used.clone() };
                PolicyRow::new(used, PolicyRank::InUse)
            }
            one if candidates.iter().any(|other| is(one, other)) => {
                PolicyRow::new(choice, PolicyRank::Candidate)
            }
            one if one.is_current => PolicyRow::new(choice, PolicyRank::Current),
            _ => PolicyRow::new(choice, PolicyRank::Earlier),
        };
        let mut list = List::new(&SPEC);
        list.set_rows(choices.into_iter().map(row).collect::<Vec<_>>());
        let (before, of) = (self.view_point(), CountedFile::default());
        let mut picker = Picker { list, before, wanted: Vec::new(), is_comparing: false, of };
        picker.fit(self.canvas.size);
        self.hold();
        self.drawer.picker = Some(picker);
        self.hold_still();
        self.refresh_picker();
        self.compare_wanted(effects);
    }

    fn compare_wanted(&mut self, effects: &mut Effects) {
        if let Some(picker) = &mut self.drawer.picker {
            let wanted = picker.by_need();
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
            let job = CompareJob { choices, patterns, task: output.task() };
            effects.run(Slot::Compare, move |context| job.run(context));
        }
    }

    pub(crate) fn compared(&mut self, reply: ComparedReply, effects: &mut Effects) {
        let Some(Picker { list, is_comparing, of, .. }) = &mut self.drawer.picker else { return };
        match reply {
            ComparedReply::Row(row, made) => list.change([(row, *made)], |row, made| row.set_made(made, *of)),
            ComparedReply::Matches(what, kept) => list.change(kept, |row, kept| row.set_kept(what, kept)),
            ComparedReply::Ended => {
                *is_comparing = false;
                self.compare_on(effects);
            }
        }
    }

    /// Tells the rows how many matches and errors there are.
    pub(crate) fn refresh_picker(&mut self) {
        let bytes = self.output.view.len();
        let total = |what| {
            let tally = self.tally(what);
            MatchTotal { all: tally.counts.total(), is_whole: tally.is_whole(bytes) }
        };
        let matches = self.find.pattern.as_ref().map(|_| total(Counting::Matches));
        let totals = (matches, total(Counting::Severity(self.severity())));
        let Some(Picker { list, .. }) = &mut self.drawer.picker else { return };
        list.change((0..list.rows().len()).map(|n| (n, totals)), PolicyRow::set_totals);
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
                let help = self.canvas.keys.label(KeyContext::Lists, Action::Help);
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
            self.end_picking(effects);
            self.drawer.row = 0;
            self.advise(effects);
        }
    }

    /// Closes the picker, and returns what was shown when it was opened. The current line is held.
    fn end_picking(&mut self, effects: &mut Effects) -> Option<ViewPoint> {
        self.drawer.picker.as_ref()?;
        self.hold();
        let picker = self.drawer.picker.take()?;
        self.hold_still();
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
    let words = [policy.version(), describe_limits(policy), format!("limits from: {}", choice.origin())];
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    vec![summary.into(), known.into(), words.join(" · ").into()]
}

/// Whether an action does something in the list of policies.
pub(super) fn knows(action: Action) -> bool {
    matches!(action, A::Open | A::Search | A::Sort | A::Copy | A::Back)
        || action.destination(None, 0, 1).is_some()
}

const HINTS: &[Hint] =
    &[(&[A::Open], "use"), (&[A::Back], "back"), (&[A::Search], "filter"), (&[A::Sort], "sort")];

pub(super) fn draw(pager: &Pager, picker: &Picker, frame: &mut Frame, place: Rect) {
    let canvas = &pager.canvas;
    let foot = line::box_keys(&describe_hints(KeyContext::Lists, HINTS, canvas.keys), place.width);
    let inner = line::boxed(canvas, frame, place, title(pager, picker), foot);
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
    let [order, _] = list.describe_order();
    format!(
        " Policies: {} of {} · what each makes of {name}{filter} · sort: {order} ",
        list.len(),
        list.rows().len()
    )
}
