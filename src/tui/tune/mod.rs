//! Limits judged on many outputs: which settings or policies keep the most errors for the fewest tokens.

pub(crate) mod changed;
pub mod measuring;
mod plot;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::human::{count, size, span_left, thousands};
use crate::config::{EffectivePolicy, LimitsFrom, Overrides};
use crate::corpus::tune::{TuneGrid, TuneMove, TuneSetting, describe_share};
use crate::corpus::{TuneChoice, TuneFigures, TunePolicies, TuneRun};
use crate::preview::Policy;
use crate::rows::column::{ListSpec, joined};
use crate::rows::settings::{self, TuneRow, beside_best, policy_rows, setting_rows};
use crate::store::{RootReport, StoreSpec};
use crate::text::label::SafeText;
use crate::text::search::Pattern;

use super::event::Purpose;
use super::footer::Footer;
use super::job::Slot;
use super::keys::{Action, KeyContext, KeyMap};
use super::list::List;
use super::list::screen::{ActionHandler, ListContext, ListKind, ListTitle, PanelFrame};
use super::outputs::none_yet;
use super::pager::drawer;
use super::popup::menu::Copyable;
use super::popup::prompt::Prompt;
use super::screen::{ChangedStart, Effects, Link, TuneStart};
use super::target::PagerInput;
use super::widget::canvas::Canvas;
use super::widget::layout::ListPanel;
use measuring::TuneReport;

const BAR: u64 = 16;

#[derive(Debug, Default)]
enum TuneState {
    #[default]
    Listing,
    Measuring,
    /// It was stopped; the figures are of some of the outputs.
    Stopped,
    Done,
    /// There are no outputs; what became of listing each directory of the stores.
    Empty(Vec<(Arc<StoreSpec>, Vec<RootReport>)>),
    Failed(SafeText),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TuneRows {
    /// The settings of a policy that are worth choosing between.
    #[default]
    Settings,
    Policies,
}

impl TuneRows {
    fn slot(self) -> Slot {
        match self {
            Self::Settings => Slot::Tune,
            Self::Policies => Slot::TunePolicies,
        }
    }
}

#[derive(Default)]
pub struct Tuning {
    of: TuneRows,
    start: Option<TuneStart>,
    job: u64,
    state: TuneState,
    run: Option<Arc<TuneRun>>,
    figures: TuneFigures,
    /// The settings applied in this session, by policy.
    applied: BTreeMap<String, TuneSetting>,
}

impl ListKind for Tuning {
    type Row = TuneRow;
    type Event = TuneReport;
    const SPEC: &'static ListSpec<TuneRow> = &settings::SPEC;

    fn footer(&self, list: &List<TuneRow>) -> Footer {
        match self.of {
            TuneRows::Settings if self.is_running() => Footer::MEASURING,
            TuneRows::Settings if list.rows().is_empty() => Footer::NO_SETTINGS,
            TuneRows::Settings => Footer::SETTINGS,
            TuneRows::Policies if list.rows().is_empty() => Footer::NO_POLICIES,
            TuneRows::Policies => Footer::POLICIES,
        }
    }

    fn title(&self, _: &List<TuneRow>) -> ListTitle {
        let policy = self.grid().map(|(policy, _)| policy.policy.name().to_owned());
        let alarm = match self.figures.unreadable.0 {
            0 => String::new(),
            some => format!("{} unreadable", thousands(some)),
        };
        ListTitle {
            place: match self.of {
                TuneRows::Settings => &["Settings"],
                TuneRows::Policies => &["Policies"],
            },
            figures: joined([policy, Some(self.describe_outputs())]).to_string(),
            alarm,
            name: self.start.as_ref().map(|start| start.place.clone()).unwrap_or_default(),
        }
    }

    fn empty(&self, list: &List<TuneRow>, keys: &KeyMap) -> Vec<SafeText> {
        let [back, policies] =
            [Action::Back, Action::Policy].map(|action| keys.label(KeyContext::Lists, action));
        let unreadable = || self.figures.unreadable.1.first().cloned().unwrap_or_default();
        let words = match &self.state {
            TuneState::Empty(reports) if reports.is_empty() => {
                let place = self.start.as_ref().map(|start| start.place.clone()).unwrap_or_default();
                let why = "limits are tried on whole outputs".to_owned();
                vec![format!("No output was saved here: {place}."), why]
            }
            TuneState::Empty(reports) => return none_yet(reports, list.height),
            TuneState::Failed(words) => {
                let next = match self.of {
                    TuneRows::Settings => format!("{policies} picks another policy"),
                    TuneRows::Policies => format!("{back} goes back"),
                };
                vec![words.to_string(), String::new(), next]
            }
            _ if !list.rows().is_empty() => return list.no_match("", keys),
            TuneState::Listing => vec!["listing the outputs…".to_owned()],
            TuneState::Measuring => vec!["measuring…".to_owned()],
            TuneState::Stopped => vec!["stopped before any output was measured".to_owned()],
            TuneState::Done => vec!["None of the outputs can be read.".to_owned(), unreadable()],
        };
        words.into_iter().map(SafeText::from).collect()
    }

    fn details(&self, list: &List<TuneRow>) -> [SafeText; 2] {
        let Some(row) = list.chosen() else { return Default::default() };
        let (figures, limits) = (&self.figures, row.setting.describe(row.unit));
        match self.run.as_ref().map(|run| &run.choice) {
            Some(TuneChoice::Policies(of)) => {
                let Some(found) = of.policies.get(row.number) else { return Default::default() };
                let limits = format!("{limits} · limits from: {}", found.limits_from);
                let words = format!("{}: {}", found.policy.name(), found.policy.summary());
                [words.into(), limits.into()]
            }
            Some(TuneChoice::Settings { policy, grid }) if row.is_present => {
                let now = describe_share(row.figures.kept_matches, figures.matches);
                let others = beside_best(&figures.settings, grid.current);
                let kept = match figures.matches {
                    0 => format!("no {} in these outputs, so the fewest tokens are best", self.matches()),
                    _ => format!("{now} of {}; {others}", self.matches()),
                };
                let from = format!("now: {limits} (limits from: {})", policy.limits_from);
                [from.into(), kept.into()]
            }
            Some(TuneChoice::Settings { grid, .. }) => {
                let now = figures.settings.get(grid.current).copied().unwrap_or_default();
                let buys = TuneMove::new(&row.figures, &now, figures.matches).describe(self.matches());
                let setting = format!("{limits}: {buys}");
                let fits = setting.chars().count() + 2 <= usize::from(list.look.width);
                let changed = figures.changed.get(row.number).copied().unwrap_or_default();
                let outputs = count(figures.outputs, "output");
                let changed = format!("cuts {} of {outputs} differently", thousands(changed));
                [if fits { setting } else { buys }.into(), changed.into()]
            }
            None => Default::default(),
        }
    }

    /// Returns a bar with how far measuring is, and the time left: `━━━━──── 1,234 of 10,000 · 12 s left`.
    fn progress(&self, _: &List<TuneRow>, canvas: &Canvas) -> String {
        let (done, all) = self.figures.done;
        match self.state {
            TuneState::Listing | TuneState::Measuring if all == 0 => "listing the outputs…".to_owned(),
            TuneState::Listing | TuneState::Measuring => {
                let (so_far, whole) = self.figures.progress;
                let filled = u128::from(so_far) * u128::from(BAR) / u128::from(whole.max(1));
                let filled = filled.min(BAR.into()) as usize;
                let glyphs = canvas.glyphs();
                let bar = glyphs.done.repeat(filled) + &glyphs.ahead.repeat(BAR as usize - filled);
                let left = self.figures.left.map(|left| format!(" · {} left", span_left(left)));
                format!("{bar} {} of {}{}", thousands(done), thousands(all), left.unwrap_or_default())
            }
            _ => String::new(),
        }
    }

    fn copyable(&self, row: &TuneRow) -> Vec<Copyable> {
        let policy = self.run.as_ref().and_then(|run| run.policy(row.number));
        policy.map(drawer::copyable).unwrap_or_default()
    }

    fn serves(&self, link: &Link) -> bool {
        let Link::Tune(start) = link else { return false };
        matches!(start.policies, TunePolicies::Around(_)) == (self.of == TuneRows::Settings)
    }

    fn follow(&mut self, link: Link, on: ListContext<TuneRow>) {
        if let Link::Tune(start) = link
            && !self.has_measured(&start)
        {
            self.begin(start, on);
        }
    }

    fn expects(&self, report: &TuneReport) -> bool {
        (report.of, report.job) == (self.of, self.job)
    }

    fn handle(&mut self, report: TuneReport, on: ListContext<TuneRow>) {
        self.on_news(report.news, on);
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        Some(match (action, self.of) {
            (Action::Open, TuneRows::Settings) => |of, on| of.show_changed(on),
            (Action::Open, TuneRows::Policies) => |of, on| {
                let Some(row) = on.list.chosen() else { return };
                let overrides = Overrides { policy: Some(row.policy.to_string()), ..Overrides::default() };
                of.show_other(TunePolicies::Around(Box::new(overrides)), on.effects);
            },
            (Action::Apply, TuneRows::Settings) => Self::apply_chosen,
            (Action::Policy, TuneRows::Settings) => |of, on| of.show_other(TunePolicies::Current, on.effects),
            (Action::JudgeBy, _) => |of, on| {
                let find = of.start.as_ref().and_then(|start| start.find.as_ref());
                on.effects.push_layer(Prompt::with(Purpose::Find, find.map_or("", Pattern::text)));
            },
            (Action::Refresh, _) => |of, on| {
                if let Some(start) = of.start.take() {
                    // Stored outputs are listed again.
                    of.begin(TuneStart { listed: None, ..start }, on);
                }
            },
            _ => return None,
        })
    }

    fn enter(&mut self, text: &str, on: ListContext<TuneRow>) -> Result<(), String> {
        let find = match text.trim() {
            "" => None,
            text => Some(Pattern::new(text).map_err(|error| error.describe())?),
        };
        if let Some(start) = self.start.take() {
            self.begin(TuneStart { find, ..start }, on);
        }
        Ok(())
    }

    fn stop(&mut self, on: ListContext<TuneRow>) -> bool {
        let has_run = self.stop_measuring(on.effects);
        if has_run {
            let again = on.key(Action::Refresh);
            on.note(format!("stopped; figures are partial ({again} starts over)"));
        }
        has_run
    }

    fn close(&mut self, on: ListContext<TuneRow>) {
        self.stop_measuring(on.effects);
        self.let_go(on.effects);
        (self.start, self.figures) = (None, TuneFigures::default());
        on.list.clear();
    }

    fn panel(&self) -> ListPanel {
        let has_plot = self.grid().is_some() && self.figures.matches > 0;
        if has_plot { ListPanel::Above } else { ListPanel::None }
    }

    fn draw_panel(&self, list: &List<TuneRow>, on: PanelFrame) {
        if let Some((_, grid)) = self.grid() {
            let chosen = list.chosen().map(|row| row.number);
            plot::draw(&self.figures, (grid.current, chosen), self.matches(), on);
        }
    }
}

impl Tuning {
    pub(crate) fn new(of: TuneRows) -> Self {
        Self { of, ..Self::default() }
    }

    fn grid(&self) -> Option<(&EffectivePolicy, &TuneGrid)> {
        match &self.run.as_ref()?.choice {
            TuneChoice::Settings { policy, grid } => Some((policy, grid)),
            TuneChoice::Policies(_) => None,
        }
    }

    fn matches(&self) -> &'static str {
        let is_find = self.start.as_ref().is_some_and(|start| start.find.is_some());
        if is_find { "matches" } else { self.figures.severity.plural() }
    }

    /// Describes what is measured: `345 outputs, 12.3 MB · 1,234 errors`.
    fn describe_outputs(&self) -> String {
        let figures = &self.figures;
        if self.run.is_none() {
            return String::new();
        }
        let outputs = match figures.done {
            (0, _) if self.is_running() => return String::new(),
            (done, all) if done < all => {
                format!("{} of {}", thousands(figures.outputs), count(all, "output"))
            }
            _ => count(figures.outputs, "output"),
        };
        format!("{outputs}, {} · {}", size(figures.bytes), figures.count_matches(self.matches()))
    }

    /// Goes to the list of the settings around limits, or of policies, on the same outputs.
    fn show_other(&self, policies: TunePolicies, effects: &mut Effects) {
        if let Some(start) = self.start.clone() {
            effects.show(Link::Tune(TuneStart { policies, ..start }));
        }
    }

    fn show_changed(&mut self, on: ListContext<TuneRow>) {
        let (Some(row), Some(run)) = (on.list.chosen(), &self.run) else { return };
        if row.is_present {
            let words = "these are the present limits; choose others to see what they would cut differently";
            return on.note(words);
        }
        let (name, matches) = (row.setting.describe(row.unit).into(), self.matches());
        let start = ChangedStart { run: Arc::clone(run), setting: row.number, name, matches };
        on.effects.show(Link::Changed(start));
    }

    /// Has outputs open under the selected setting, or again under the present one.
    fn apply_chosen(&mut self, on: ListContext<TuneRow>) {
        let (Some(row), Some((policy, _))) = (on.list.chosen(), self.grid()) else { return };
        let (name, words) = (policy.policy.name().to_owned(), row.setting.describe(row.unit));
        let words = if row.is_present || row.is_applied {
            match self.applied.remove(&name) {
                Some(_) => format!("using {name}'s own limits again"),
                None => format!("{name}'s own limits are in use"),
            }
        } else {
            let words = format!("using {words} for {name} until you quit");
            self.applied.insert(name, row.setting);
            words
        };
        self.fill(on.list);
        on.note(words);
    }

    /// Has an output open under the limits applied to its policy in this session. A recorded cut stays as it was.
    pub(super) fn adapt(&self, opened: &mut PagerInput) {
        let policy = &opened.subject.policy.policy;
        let setting = self.applied.get(policy.name()).filter(|_| opened.recorded.is_none());
        let effective = setting.and_then(|setting| setting.on(policy)).map(effective);
        opened.start.under = opened.start.under.take().or(effective.map(Box::new));
    }

    /// Shows what was measured so far. Until the user selects a row it is the present setting, or the first policy.
    fn fill(&self, list: &mut List<TuneRow>) {
        let rows = if self.figures.outputs > 0 { self.rows() } else { Vec::new() };
        let present = rows.iter().position(|row| row.is_present);
        list.set_rows(rows);
        list.begin_at(present.unwrap_or(0));
    }

    fn rows(&self) -> Vec<TuneRow> {
        let (figures, matches) = (&self.figures.settings[..], self.figures.matches);
        match self.run.as_ref().map(|run| &run.choice) {
            Some(TuneChoice::Settings { policy, grid }) => {
                let applied = self.applied.get(policy.policy.name());
                let mut rows = setting_rows(&policy.policy, grid, figures, matches);
                rows.iter_mut().for_each(|row| row.is_applied = applied == Some(&row.setting));
                rows
            }
            Some(TuneChoice::Policies(of)) => policy_rows(of, figures, matches),
            None => Vec::new(),
        }
    }
}

fn effective(policy: Policy) -> EffectivePolicy {
    EffectivePolicy { limits_from: LimitsFrom::Setting, ..EffectivePolicy::chosen(policy, true) }
}
