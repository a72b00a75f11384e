//! The input of a plan: an output, what is known about it already, and how the command ended.

use std::ops::Deref;

use crate::text::units::{self, Figures, Measure, TotalsMask};

words! {
    /// One of a command's outputs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Stream {
        /// Standard output, or the only output.
        Stdout => "stdout",
        /// Standard error, if the policy treats it separately (`--stderr`).
        Stderr => "stderr",
    }
}

/// Figures of a whole output; `None` if not counted yet.
pub type Totals = Figures<Option<u64>>;

impl Totals {
    /// Returns totals with nothing counted.
    pub const fn unknown() -> Self {
        Self {
            line_feeds: None,
            decoded_bytes: None,
            units: None,
            points: None,
            bad_bytes: None,
            lone_returns: None,
        }
    }

    /// Counts everything immediately.
    pub fn count(bytes: &[u8]) -> Self {
        Self::from_measure(&units::measure_all(bytes, TotalsMask::ALL), TotalsMask::ALL)
    }

    /// Takes the figures of `want` from a complete measure of the whole; the others remain unknown.
    #[doc(hidden)]
    pub fn from_measure(measure: &Measure, want: TotalsMask) -> Self {
        measure.zip(Figures::MASKS, |figure, mask| want.contains(mask).then_some(figure))
    }

    /// Fills the gaps from `other`.
    pub fn or(self, other: Self) -> Self {
        self.zip(other, Option::or)
    }

    pub(super) fn less(self, part: &Measure) -> Self {
        self.zip(*part, |total, part| Some(total?.saturating_sub(part)))
    }

    pub(super) fn plus(self, part: &Measure) -> Self {
        self.zip(*part, |total, part| Some(total?.saturating_add(part)))
    }

    /// Returns which figures are known.
    pub fn known(&self) -> TotalsMask {
        let known = self.zip(Figures::MASKS, |figure, mask| figure.map_or(TotalsMask::NOTHING, |_| mask));
        let Figures { line_feeds, decoded_bytes, units, points, bad_bytes, lone_returns } = known;
        line_feeds | decoded_bytes | units | points | bad_bytes | lone_returns
    }
}

static UNKNOWN: Totals = Totals::unknown();

/// One output: its bytes, and what is known about all of them.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// The raw bytes, not necessarily text; they may be a map.
    pub bytes: &'a [u8],
    /// Figures of all of `bytes`; those that are known must be correct.
    pub totals: &'a Totals,
}

/// Finds lines without reading everything before them, as a block index does.
pub trait LineIndex {
    /// Returns the offset at which a line (0-based, ended by LF) begins; `None` if unknown or beyond the end.
    fn line_start(&self, line: u64) -> Option<usize>;
}

/// Everything that a plan depends on, except the policy.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The output; standard output if the two are separate.
    pub output: Output<'a>,
    /// Standard error, for policies that treat it separately.
    pub stderr: Option<Output<'a>>,
    /// The command's exit status, for policies that depend on it.
    pub exit_code: Option<i32>,
    /// The path printed by notices (and read tools).
    pub saved_as: &'a str,
    /// The same for standard error.
    pub saved_as_stderr: &'a str,
    /// An index of `output`, if there is one: it makes distant windows cheap.
    pub lines: Option<&'a dyn LineIndex>,
    /// Returns whether the plan is still wanted, if that may change meanwhile. Once it is not, the plan ends early
    /// with [`PlanError::Cancelled`](super::PlanError::Cancelled).
    pub wanted: Option<&'a dyn Fn() -> bool>,
}

/// What a plan needs to know besides the output's bytes, owned by whoever opened the output. `B` holds bytes.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct InputContext<B> {
    /// The path that notices (and read tools) print.
    pub saved_as: String,
    /// The same for standard error.
    pub saved_as_stderr: String,
    pub stderr: Option<(B, Totals)>,
    pub exit_code: Option<i32>,
}

impl<B: Deref<Target = [u8]>> InputContext<B> {
    pub fn input<'a>(&'a self, output: Output<'a>) -> Input<'a> {
        let stderr = self.stderr.as_ref().map(|(bytes, totals)| Output { bytes, totals });
        Input {
            stderr,
            exit_code: self.exit_code,
            saved_as_stderr: &self.saved_as_stderr,
            ..Input::new(output, &self.saved_as)
        }
    }
}

impl<'a> Input<'a> {
    /// A single output saved at `saved_as`, with nothing counted yet; for [`plan_counted`](super::plan_counted).
    pub fn from_bytes(bytes: &'a [u8], saved_as: &'a str) -> Self {
        Self::new(Output { bytes, totals: &UNKNOWN }, saved_as)
    }

    /// A single output saved at `saved_as`; everything else is absent.
    pub fn new(output: Output<'a>, saved_as: &'a str) -> Self {
        Self {
            output,
            stderr: None,
            exit_code: None,
            saved_as,
            saved_as_stderr: "",
            lines: None,
            wanted: None,
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.is_none_or(|wanted| wanted())
    }

    /// Returns the path at which a stream is saved.
    pub fn saved_path(&self, stream: Stream) -> &'a str {
        match stream {
            Stream::Stdout => self.saved_as,
            Stream::Stderr => self.saved_as_stderr,
        }
    }

    /// Returns the output of a stream; an absent standard error is empty.
    pub fn stream(&self, stream: Stream) -> Output<'a> {
        match stream {
            Stream::Stdout => self.output,
            Stream::Stderr => self.stderr.unwrap_or(Output { bytes: &[], totals: &UNKNOWN }),
        }
    }
}

/// One value for standard output (or the only output) and one for standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerStream<T> {
    /// For standard output, or the only output.
    pub stdout: T,
    /// For standard error, if it is separate.
    pub stderr: T,
}

impl<T> PerStream<T> {
    pub(crate) fn each(mut value: impl FnMut(Stream) -> T) -> Self {
        Self { stdout: value(Stream::Stdout), stderr: value(Stream::Stderr) }
    }

    /// Returns one stream's value.
    pub fn get(&self, stream: Stream) -> &T {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    /// Returns one stream's value mutably.
    pub fn get_mut(&mut self, stream: Stream) -> &mut T {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Returns both values, standard output's first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.stdout, &self.stderr].into_iter()
    }
}
