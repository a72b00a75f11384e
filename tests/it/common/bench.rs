//! The screens without a terminal: takes keys, returns a drawn screen; requested effects are carried out at once.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use overspill::internals::config::{Config, EffectivePolicy, Overrides};
use overspill::internals::corpus::{FindEnd, find_in_stores};
use overspill::internals::document::reader::Cost;
use overspill::internals::output::{Subject, Target};
use overspill::internals::source::{Change, MapView, Source};
use overspill::internals::store::{self, Env, ScanStep, StoreSpec, Stores};
use overspill::internals::text::index::BlockIndex;
use overspill::internals::text::search::SeverityPatterns;
use overspill::internals::text::units;
use overspill::internals::tui::Services;
use overspill::internals::tui::app::{App, ContentChange, Effect, Effects, Event, OutputEvent, OutputsEvent};
use overspill::internals::tui::calls::Calls;
use overspill::internals::tui::job::{Job, Slot};
use overspill::internals::tui::list::screen::ListScreen;
use overspill::internals::tui::outputs::Outputs;
use overspill::internals::tui::pager::Pager;
use overspill::internals::tui::popup::prompt::Prompt;
use overspill::internals::tui::screen::{Layer, Link};
use overspill::internals::tui::sessions::Sessions;
use overspill::internals::tui::target::PagerInput;
use overspill::internals::tui::widget::canvas::Canvas;
use overspill::internals::tui::widget::theme::Theme;
use overspill::preview::{Catalog, Certainty, Policy};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

use super::looks;
use super::samples::SAVED_AS;

/// Jobs that are only noted: they wait for others, or their results are made by the tests.
const LEFT_ALONE: [Slot; 5] =
    [Slot::PlanBeside, Slot::Keep, Slot::FindSessions, Slot::SumSessions, Slot::OpenSession];

/// Blocks per chunk that a worker counts; small, so that there are several chunks.
const CHUNK_BLOCKS: usize = 2;

/// The screens, the file that they show, and the requested effects that are not carried out here.
pub struct Bench {
    pub app: App,
    pub source: Option<Source>,
    /// Copying, opening in an editor, and so on.
    pub asked: Vec<Effect>,
    /// Where stores are searched.
    pub env: Env,
    /// The current time.
    pub now: Timestamp,
    /// What jobs were given last, and the home directory that it is of.
    services: Option<(PathBuf, Arc<Services>)>,
}

/// Returns a built-in policy.
pub fn policy(name: &str) -> Policy {
    Catalog::builtin().get(name).expect("a built-in policy")
}

/// Two of the many stores; the others are in directories that tests share with the machine.
pub fn looked_at() -> Vec<Arc<StoreSpec>> {
    let stores = Stores::builtin();
    ["opencode", "overspill"].iter().flat_map(|name| stores.named(name)).cloned().collect()
}

/// Returns a policy for the picker.
fn choice(policy: Policy) -> EffectivePolicy {
    let is_current = Catalog::builtin().is_current(&policy);
    EffectivePolicy::chosen(policy, is_current)
}

/// Describes an output, which is always called `build.log`.
pub fn subject(policy: Policy) -> Subject {
    let certainty = Certainty::Reconstructed;
    let policy = EffectivePolicy { certainty, ..EffectivePolicy::chosen(policy, true) };
    let mut subject = Subject::new("build.log".into(), SAVED_AS.into(), policy);
    subject.context.saved_as_stderr = format!("{SAVED_AS}.stderr");
    subject
}

impl Bench {
    /// Creates screens without an output.
    pub fn new(size: (u16, u16)) -> Self {
        Self {
            app: App::new(Canvas::new(size, Theme::named("16"), true)),
            source: None,
            asked: Vec::new(),
            env: Env::hermetic(Path::new("/nowhere")),
            now: Timestamp::from_str("2026-11-21T12:00:00Z").expect("a time"),
            services: None,
        }
    }

    /// Opens a file under a policy and counts all of it.
    pub fn open(size: (u16, u16), path: &Path, policy: Policy) -> Self {
        let mut bench = Self::new(size);
        let effects = bench.start(path, policy);
        bench.carry_out(effects);
        bench
    }

    /// Opens a file; returns the first effects without carrying them out.
    pub fn start(&mut self, path: &Path, policy: Policy) -> Vec<Effect> {
        let source = Source::open(path).expect("a file");
        let effects = self.show(subject(policy), &source);
        self.source = Some(source);
        let (plans, rest) = effects.into_iter().partition(|effect| is_job(effect, Slot::Plan));
        self.carry_out(plans);
        rest
    }

    /// Opens a file in place of the output that was requested last; returns the requested effects.
    pub fn open_requested(&mut self, path: &Path, policy: Policy) -> Vec<Effect> {
        let request = self.asked.iter().rev().find_map(|effect| match effect {
            Effect::Open(request) => Some(request.clone()),
            _ => None,
        });
        let request = request.expect("an output is requested");
        let source = Source::open(path).expect("a file");
        let (view, subject) = (source.view(), subject(policy));
        self.source = Some(source);
        self.show_opened(PagerInput { start: request.start, ..PagerInput::new(subject, view) })
    }

    /// Puts an output on the screen; returns the requested effects.
    pub fn show_opened(&mut self, opened: PagerInput) -> Vec<Effect> {
        self.act(|app, effects| app.open(opened, effects))
    }

    /// Does something to the screens; returns the requested effects.
    pub fn act(&mut self, act: impl FnOnce(&mut App, &mut Effects)) -> Vec<Effect> {
        let mut effects = self.app.effects();
        act(&mut self.app, &mut effects);
        effects.outside
    }

    /// Sends an event to the screens; returns the requested effects.
    pub fn update(&mut self, event: impl Into<Event>) -> Vec<Effect> {
        self.act(|app, effects| app.update(event, effects))
    }

    /// Shows an output; returns the requested effects.
    pub fn show(&mut self, subject: Subject, source: &Source) -> Vec<Effect> {
        self.show_file(0, 1, subject, source)
    }

    /// Shows one of several outputs named on the command line, by its index; returns the requested effects.
    pub fn show_file(&mut self, file: usize, files: usize, subject: Subject, source: &Source) -> Vec<Effect> {
        self.show_view_of((file, files), subject, source.view())
    }

    fn show_view_of(
        &mut self,
        (file, files): (usize, usize),
        subject: Subject,
        view: MapView,
    ) -> Vec<Effect> {
        self.show_opened(PagerInput { file, files, is_named: true, ..PagerInput::new(subject, view) })
    }

    /// Shows an output that is in no file, as one named on the command line.
    pub fn show_view(&mut self, subject: Subject, view: MapView) -> Vec<Effect> {
        self.show_view_of((0, 1), subject, view)
    }

    /// Returns the output on the screen.
    pub fn pager(&self) -> &Pager {
        self.app.output().expect("an output")
    }

    /// Returns the list of stored outputs.
    pub fn stores(&self) -> &ListScreen<Outputs> {
        self.app.screen().expect("the list of stored outputs")
    }

    /// Returns the sessions.
    pub fn sessions(&self) -> &ListScreen<Sessions> {
        self.app.screen().expect("a list of sessions")
    }

    /// Returns the list of calls.
    pub fn calls(&self) -> &ListScreen<Calls> {
        self.app.screen().expect("a list of calls")
    }

    /// Changes what the terminal can show.
    pub fn repaint(&mut self, canvas: Canvas) {
        let mut effects = self.app.effects();
        self.app.repaint(canvas, &mut effects);
        self.carry_out(effects.outside);
    }

    /// Starts with the stores; returns the requested effects.
    pub fn start_with_stores(&mut self) -> Vec<Effect> {
        self.act(|app, effects| app.go_to(Link::Stores(None), effects))
    }

    /// Presses keys: characters stand for themselves, `<Tab>` and the like for the others.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named =
                rest.strip_prefix('<').and_then(|r| r.split_once('>')).filter(|(name, _)| name.len() > 1);
            let (code, after) = match named {
                Some((name, after)) => (named_key(name.trim_start_matches('^')), after),
                None => (KeyCode::Char(first), &rest[first.len_utf8()..]),
            };
            let is_control = named.is_some_and(|(name, _)| name.starts_with('^'));
            let modifiers = if is_control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            let effects = self.update(Event::Key(KeyEvent::new(code, modifiers)));
            self.carry_out(effects);
            rest = after;
        }
        self
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, size: (u16, u16)) -> &mut Self {
        let effects = self.update(Event::Resize(size.0, size.1));
        self.carry_out(effects);
        self
    }

    /// Checks whether the file has changed, as the program does when its watcher calls.
    pub fn look(&mut self) -> Change {
        let source = self.source.as_mut().expect("a file");
        let content = source.refresh();
        let (view, path) = (source.view(), source.path_status());
        let effects =
            self.update(OutputEvent::Changed(ContentChange { view, content, path, streaming: false }));
        self.carry_out(effects);
        content
    }

    /// Carries out effects, and those that they lead to. Jobs are done at once.
    pub fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let more = match effect {
                Effect::Run(job) if job.slot() == Slot::Scan => self.scan(),
                Effect::Run(job) if !LEFT_ALONE.contains(&job.slot()) => self.run(job),
                other => {
                    self.asked.push(other);
                    Vec::new()
                }
            };
            self.carry_out(more);
        }
    }

    /// Does a job; returns the effects that its events request.
    pub fn run(&mut self, job: Job) -> Vec<Effect> {
        self.events(job).into_iter().flat_map(|event| self.update(event)).collect()
    }

    /// Does a job; returns what it reports.
    pub fn events(&mut self, job: Job) -> Vec<Event> {
        let home = self.env.home().to_owned();
        if self.services.as_ref().is_none_or(|(of, _)| *of != home) {
            self.services = Some((home, Arc::new(services(&self.env, self.now))));
        }
        let services = self.services.as_ref().expect("they were just made").1.clone();
        job.run_here(&services)
    }

    /// Sends events to the screens, and carries out what they request.
    pub fn receive(&mut self, events: Vec<Event>) {
        for event in events {
            let effects = self.update(event);
            self.carry_out(effects);
        }
    }

    /// Whether the jobs in a slot were abandoned.
    pub fn stops(&self, slot: Slot) -> bool {
        self.asked.iter().any(|effect| matches!(effect, Effect::Stop(stopped) if *stopped == slot))
    }

    /// Returns how many of the jobs that were left alone are in this slot.
    pub fn jobs(&self, slot: Slot) -> usize {
        self.asked.iter().filter(|effect| is_job(effect, slot)).count()
    }

    /// Returns an event as a job reports it that was left alone: the one of this index among those of its slot.
    pub fn report(&self, slot: Slot, job: usize, event: impl Into<Event>) -> Event {
        let jobs = self.asked.iter().filter_map(|effect| match effect {
            Effect::Run(job) if job.slot() == slot => Some(job),
            _ => None,
        });
        jobs.into_iter().nth(job).expect("such a job").report(event)
    }

    /// Counts at most `most` blocks from `from`.
    pub fn count(&mut self, from: usize, most: usize) -> Vec<Effect> {
        let view = self.pager().output.view.clone();
        let index = BlockIndex::new(view.len() as u64);
        let mut effects = Vec::new();
        let to = index.blocks().min(from.saturating_add(most));
        for first in (from..to).step_by(CHUNK_BLOCKS) {
            let blocks = first..(first + CHUNK_BLOCKS).min(to);
            let range = index.range(blocks.clone());
            let counts = BlockIndex::count(&view, index.block(), blocks);
            let measure = units::measure(&view, range.clone(), units::TotalsMask::ALL);
            let measured = range.start as u64..range.end as u64;
            let event = OutputEvent::Counted { counts, measure, measured };
            effects.extend(self.update(event));
        }
        effects
    }

    fn scan(&mut self) -> Vec<Effect> {
        let listing = store::list(&looked_at(), &self.env, self.now);
        self.scanned(listing)
    }

    /// Sends the result of a scan of the stores to the screens.
    pub fn scanned(&mut self, listing: store::Listing) -> Vec<Effect> {
        let store::Listing { entries, reports, .. } = listing;
        let (now, user) = (self.now, self.env.uid());
        let own = store::OwnStore::open(&self.env).ok().flatten();
        let kept = own.and_then(|own| own.kept(&self.env).ok()).unwrap_or_default();
        self.update(OutputsEvent::Scanned(ScanStep::Begun { now, user, kept }));
        let mut effects = self.update(OutputsEvent::Scanned(ScanStep::Some(entries)));
        effects.extend(self.update(OutputsEvent::Scanned(ScanStep::All(reports))));
        effects
    }

    /// Draws, and measures the cost.
    pub fn draw(&self) -> (Buffer, Cost) {
        let (buffer, cost, _) = self.frame();
        (buffer, cost)
    }

    fn frame(&self) -> (Buffer, Cost, Position) {
        let cost = Cost::default();
        let (width, height) = self.app.canvas.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
        let drawn = terminal.draw(|frame| self.app.draw(frame, &cost)).expect("a frame");
        let buffer = drawn.buffer.clone();
        let cursor = terminal.get_cursor_position().expect("a cursor");
        (buffer, cost, cursor)
    }

    /// Returns the screen as text, followed by its styles, with the cursor during input.
    pub fn screen(&self) -> String {
        let (buffer, _, cursor) = self.frame();
        let typing = self.layer::<Prompt>().is_some().then(|| format!("cursor {} {}\n", cursor.x, cursor.y));
        looks::snapshot(&buffer) + &typing.unwrap_or_default()
    }

    /// Returns the uppermost pop-up if it is of this type.
    pub fn layer<L: Layer>(&self) -> Option<&L> {
        self.app.layers().next_back().and_then(|layer| (layer as &dyn Any).downcast_ref())
    }

    /// Returns the rows of the screen as text.
    pub fn rows(&self) -> Vec<String> {
        looks::rows(&self.draw().0)
    }

    /// Returns the status line: the last one, or that above the limits drawer.
    pub fn status(&self) -> String {
        let mut rows = self.rows();
        let is_below = |row: &String| row.starts_with("┌ What if") || row.starts_with("┌ Policies:");
        let below = rows.iter().position(is_below).unwrap_or(rows.len());
        rows.truncate(below);
        rows.pop().unwrap_or_default()
    }

    /// Returns the path of a file that was requested to be opened.
    pub fn opened(&self) -> Option<&PathBuf> {
        self.asked.iter().find_map(|effect| match effect {
            Effect::Open(request) => Some(&request.path),
            _ => None,
        })
    }
}

/// Whether an effect is a job in this slot.
pub fn is_job(effect: &Effect, slot: Slot) -> bool {
    matches!(effect, Effect::Run(job) if job.slot() == slot)
}

/// Returns what the screens do by the configuration: of the stores that are looked at.
fn services(env: &Env, now: Timestamp) -> Services {
    let mut config = Config::builtin(env.clone());
    config.stores.change(|stores| stores.specs = looked_at());
    let config = Arc::new(config);
    let [for_find, for_open] = [&config; 2].map(Arc::clone);
    Services {
        config,
        find: Box::new(move |pattern, is_wanted, take| {
            find_in_stores((&for_find, &Arc::default(), now), pattern, is_wanted, take)
        }),
        open: Box::new(move |path, _| {
            let source = Source::open(path).map_err(|error| error.to_string())?;
            let found = for_open.resolve(&Overrides::default(), Some(path));
            let policy = found.map_err(|error| error.to_string())?;
            let subject = Subject { policy, ..subject(self::policy("opencode/output")) };
            Ok(Target { subject, source, under: None })
        }),
        load_policies: Box::new(|name| match name {
            Some(name) => Catalog::builtin().get(name).ok().map(choice).into_iter().collect(),
            None => ["opencode/metadata", "opencode/output", "opencode/read"].map(policy).map(choice).into(),
        }),
        ..no_services(env.clone())
    }
}

/// Returns services that find nothing.
pub fn no_services(env: Env) -> Services {
    Services {
        config: Arc::new(Config::builtin(env)),
        open: Box::new(|path, _| Err(format!("{}: not opened", path.display()))),
        find: Box::new(|_, _, _| FindEnd::default()),
        load_policies: Box::new(|_| Vec::new()),
        severities: SeverityPatterns::default(),
        sessions: Arc::default(),
    }
}

fn named_key(name: &str) -> KeyCode {
    match name {
        "Tab" => KeyCode::Tab,
        "F1" => KeyCode::F(1),
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Backspace" => KeyCode::Backspace,
        letter if letter.len() == 1 => {
            KeyCode::Char(letter.to_ascii_lowercase().chars().next().unwrap_or_default())
        }
        other => panic!("no key <{other}>"),
    }
}
