//! The list of `overspill watch`: each output as an agent stores it, newest last, with what the model got of it.

use std::any::Any;
use std::cmp::Ordering;
use std::path::PathBuf;

use crate::corpus::{ErrorsLost, WatchNews, WatchedGot, WatchedOutput};
use crate::human::{count, size, thousands};
use crate::text::ansi;
use crate::text::label::SafeText;
use crate::text::search::Severity;

use super::event::{Event, Message, ScreenEvent};
use super::footer::FooterState;
use super::keys::{Action, KeyContext};
use super::list::List;
use super::list::column::{LARGEST, ListColumn, ListSpec, RowCell, RowLook, Tone, WIDE};
use super::list::screen::{ListContext, ListKind, ListTitle};
use super::screen::{Effect, Link, OpenRequest};
use super::widget::table::CellSide::{Left, Right};

/// The list holds this many outputs at most; then the oldest makes room.
const MAX_ROWS: usize = 10_000;

/// The most columns of the screen for an agent's name.
const AGENT: usize = 14;

/// Below this many columns, the time has no seconds.
const NARROW: u16 = 72;

static SPEC: ListSpec<WatchRow> = ListSpec {
    noun: "output",
    columns: &[
        ListColumn::new("time", Left, 8, time).yields(2).sorts(
            'w',
            ["oldest first", "newest first"],
            |_, _| Ordering::Equal,
        ),
        ListColumn::new("agent", Left, AGENT, |row: &WatchRow, _| RowCell::plain(row.agent.clone()))
            .yields(3),
        ListColumn::new("size", Right, 8, |row: &WatchRow, _| RowCell::plain(size(row.size)))
            .yields(1)
            .sorts('b', LARGEST, |a, b| b.size.cmp(&a.size)),
        ListColumn::new("model got", Right, 27, got),
        ListColumn::new("lost", Right, 15, lost),
        ListColumn::new("first lost error, else the first line", Left, 0, |row: &WatchRow, _| {
            RowCell::new(row.text.clone(), if row.lost() > 0 { Tone::Plain } else { Tone::Dim })
        }),
    ],
    groups: &[],
    words: &[
        ("cut", |row, _| row.got.is_cut()),
        ("lost", |row, _| {
            row.found.is_some_and(|(severity, found)| severity == Severity::Error && found.lost > 0)
        }),
    ],
    known: |row| row.id.to_string(),
    key: |row| row.number,
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

/// The new outputs. On the last row the list follows: new outputs are selected as they come.
#[derive(Debug, Default)]
pub struct NewOutputs {
    /// What the outputs add up to, also those that made room.
    sums: WatchSums,
    /// The directories that are watched; `None` until they are known.
    watched: Option<WatchedDirs>,
}

#[derive(Debug, Clone)]
pub struct WatchRow {
    /// How many came before it.
    number: u64,
    path: PathBuf,
    agent: SafeText,
    id: SafeText,
    /// When it was stored, in local time.
    time: SafeText,
    size: u64,
    got: WatchedGot,
    found: Option<(Severity, ErrorsLost)>,
    /// Whether it is known which errors there are.
    is_known: bool,
    /// The line of the first lost error, or else the first line of the output.
    text: SafeText,
    /// The line at which it opens, 1-based.
    open_at: Option<u64>,
}

/// What the outputs add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct WatchSums {
    outputs: u64,
    cut: u64,
    errors_lost: u64,
}

/// The directories that are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedDirs {
    there: Vec<SafeText>,
    /// The number of those that are not there.
    absent: usize,
}

impl ScreenEvent for WatchNews {}

impl ListKind for NewOutputs {
    type Row = WatchRow;
    const SPEC: &'static ListSpec<WatchRow> = &SPEC;
    const CONTEXT: KeyContext = KeyContext::Lists;

    fn footer(&self, list: &List<WatchRow>) -> FooterState {
        if list.rows().is_empty() { FooterState::WatchEmpty } else { FooterState::Watch }
    }

    fn title(&self, list: &List<WatchRow>) -> ListTitle {
        let WatchSums { outputs, cut, errors_lost } = self.sums;
        let figures = match outputs {
            0 => String::new(),
            _ => format!("{} · {} cut", count(outputs, "output"), thousands(cut)),
        };
        let alarm = match errors_lost {
            0 => String::new(),
            lost => format!("{} lost", count(lost, "error")),
        };
        let state = match list.len().saturating_sub(list.number()) {
            _ if list.is_empty() => String::new(),
            0 => "following".to_owned(),
            newer => format!("{} newer", thousands(newer as u64)),
        };
        ListTitle { place: &["Watch"], figures, alarm, name: SafeText::default(), state }
    }

    fn empty(&self, list: &List<WatchRow>) -> Vec<SafeText> {
        match &self.watched {
            None => vec!["listing the stores…".into()],
            Some(watched) => watched.describe(list.height()),
        }
    }

    fn details(&self, list: &List<WatchRow>) -> [SafeText; 2] {
        list.chosen().map(details).unwrap_or_default()
    }

    fn copied(&self, row: &WatchRow) -> Option<Vec<u8>> {
        Some(row.path.as_os_str().as_encoded_bytes().to_vec())
    }

    fn serves(&self, event: &dyn Any) -> bool {
        matches!(event.downcast_ref(), Some(Link::Watch))
    }

    fn update(&mut self, event: Event, on: ListContext<WatchRow>) -> Result<(), Event> {
        match event.downcast() {
            Ok(news) => self.take_news(news, on),
            Err(event) => match event.downcast()? {
                Link::Watch => {}
                other => return Err(other.into()),
            },
        }
        Ok(())
    }

    fn act(&mut self, action: Action, on: ListContext<WatchRow>) {
        match action {
            Action::Stores => on.effects.show(Link::Stores(None)),
            Action::Follow => drop(on.list.act(Action::End, None)),
            // At its first lost error, or at the cut.
            Action::Open => on.list.chosen().into_iter().for_each(|row| {
                on.effects.push(Effect::Open(OpenRequest {
                    line: row.open_at,
                    ..OpenRequest::stored(row.path.clone(), SafeText::default())
                }));
            }),
            _ => on.refuse(Self::CONTEXT),
        }
    }
}

impl NewOutputs {
    fn take_news(&mut self, news: WatchNews, on: ListContext<WatchRow>) {
        match news {
            WatchNews::Listed { there, absent } => {
                let words = |(agent, path): &(String, PathBuf)| {
                    let path = SafeText::from_bytes(path.as_os_str().as_encoded_bytes());
                    SafeText::from(format!("{agent:<AGENT$}  {path}"))
                };
                self.watched = Some(WatchedDirs { there: there.iter().map(words).collect(), absent });
            }
            WatchNews::Output(output) => self.add(*output, on),
            WatchNews::Fault(words) => *on.message = Some(Message::error(words)),
        }
    }

    fn add(&mut self, output: WatchedOutput, on: ListContext<WatchRow>) {
        // Beneath what was opened from here, the row stays selected.
        let follows = on.list.is_at_end() && on.is_top;
        let row = WatchRow::new(self.sums.outputs, output);
        self.sums.outputs += 1;
        self.sums.cut += u64::from(row.got.is_cut());
        let errors = row.found.filter(|(severity, _)| *severity == Severity::Error);
        let lost = errors.map_or(0, |(_, found)| found.lost);
        self.sums.errors_lost = self.sums.errors_lost.saturating_add(lost);
        on.list.push(row, MAX_ROWS);
        if follows {
            on.list.act(Action::End, None);
        }
    }
}

impl WatchRow {
    fn new(number: u64, output: WatchedOutput) -> Self {
        let (found, is_known) = (output.found(), output.errors.is_some());
        let text = output.first_lost.unwrap_or(output.first_line);
        Self {
            number,
            path: output.entry.path(),
            agent: output.entry.agent().into(),
            id: SafeText::from_bytes(output.entry.id_bytes()),
            time: output.time.into(),
            size: output.entry.size(),
            got: output.got,
            found,
            is_known,
            text: SafeText::from_bytes(&ansi::printed(text.as_bytes())),
            open_at: output.open_at,
        }
    }

    /// Returns the number of errors, or of warnings if there is no error, that the model did not get.
    fn lost(&self) -> u64 {
        self.found.map_or(0, |(_, found)| found.lost)
    }
}

impl WatchedDirs {
    /// Says what is waited for, in a list of so many rows.
    fn describe(&self, height: usize) -> Vec<SafeText> {
        let absent = match self.absent {
            0 => String::new(),
            absent => format!("{} more will be watched once they exist", thousands(absent as u64)),
        };
        let heading = match self.there.len() {
            0 => "Waiting for new outputs: no agent has a store here yet".to_owned(),
            dirs if height < (dirs + 5).min(8) => format!("waiting for new outputs in {dirs} directories"),
            _ => "Waiting for new outputs in these directories:".to_owned(),
        };
        let room = height.saturating_sub(5);
        let more = self.there.len().saturating_sub(room);
        let mut words = vec![SafeText::from(heading)];
        if room > 0 {
            words.push(SafeText::default());
            words.extend(self.there.iter().take(room).cloned());
            if more > 0 {
                words.push(format!("and {more} more").into());
            }
            words.extend([SafeText::default(), absent.into()]);
        }
        let width = words.iter().map(SafeText::columns).max().unwrap_or(0);
        words.iter().map(|text| text.padded(width)).collect()
    }
}

fn time(row: &WatchRow, look: &RowLook) -> RowCell {
    let short = row.time.rsplit_once(':').filter(|_| look.width < NARROW).map(|(short, _)| short.into());
    RowCell::dim(short.unwrap_or_else(|| row.time.clone()))
}

fn got(row: &WatchRow, look: &RowLook) -> RowCell {
    let words = if look.width >= WIDE { row.got.words() } else { row.got.word() };
    RowCell::new(words, if row.got.is_cut() { Tone::Plain } else { Tone::Dim })
}

fn lost(row: &WatchRow, look: &RowLook) -> RowCell {
    let words = match row.found {
        Some((severity, found)) => {
            let of = if look.width >= WIDE { format!(" of {}", thousands(found.all)) } else { String::new() };
            let unit = if severity == Severity::Warning { " w" } else { "" };
            format!("{}{of}{unit}", thousands(found.lost))
        }
        None if row.is_known => String::new(),
        None => "–".to_owned(),
    };
    RowCell::new(words, if row.lost() > 0 { Tone::Warning } else { Tone::Dim })
}

/// Returns two lines about an output: what the model got of it, and the text of the row.
fn details(row: &WatchRow) -> [SafeText; 2] {
    let errors = row.found.map_or(String::new(), |(severity, found)| {
        format!(" · {} lost of {}", count(found.lost, severity.singular()), thousands(found.all))
    });
    let got = format!("model got {}{errors} · {}", row.got.words(), row.id);
    [got.into(), row.text.clone()]
}
