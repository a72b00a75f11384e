//! A witness: an output of which a policy makes a given text. Where nobody kept the real output, it proves that the policy
//! makes such a text, with its limits and its words, but neither what the real output was, nor the totals of the notices.

mod shape;

use std::ops::{ControlFlow, Range};

use super::input::{Input, Output, Stream, Totals};
use super::model::{Fragment, LimitHit, Part, Preview};
use super::plan::{CountedPlan, TotalsFor, plan_counting};
use super::policy::Policy;
use crate::text::units;

use shape::{Filler, Notices, OutputShape, UNKNOWNS};

/// The longest witness that is built, in bytes.
const MAX_WITNESS: usize = 16 << 20;

/// Maximum number of bytes of outputs that are planned for one text, so that hostile records do not take long.
const MAX_PLANNED: usize = 8 * MAX_WITNESS;

/// Maximum number of outputs that are planned for one text.
const MAX_TRIED: usize = 300;

/// How often the filler is corrected.
const MAX_STEPS: usize = 6;

/// What the text was made of besides the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanContext<'a> {
    /// The path that the notices print; empty if there is none.
    pub saved_as: &'a str,
    /// The exit status of the command, if the policy takes it.
    pub exit_code: Option<i32>,
    /// The bytes of the decoded output, if the records tell them apart from the notice: the witness has as many.
    pub total: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Witness {
    pub by: LimitHit,
    /// What of the text is not of the output, as ranges in bytes.
    #[cfg_attr(not(feature = "app"), allow(dead_code, reason = "only the screens colour notices"))]
    pub added: Vec<Range<usize>>,
}

/// Looks for an output of which `policy` makes `text`, cutting it. Such an output is what `text` keeps, with a filler where
/// its notice says that something was left out. `None` if none was found, which proves nothing.
pub(crate) fn witness(policy: &Policy, text: &str, around: PlanContext) -> Option<Witness> {
    let mut search = Search { policy, text, around, left: MAX_PLANNED, tries: MAX_TRIED };
    let lead = search.lead();
    let shapes = shape::shapes(policy, text, around.saved_as);
    let shapes: Vec<OutputShape> = shapes.into_iter().map(|shape| shape.without(&lead)).collect();
    if let Some(total) = around.total {
        return shapes.iter().find_map(|shape| search.with_size(shape, total));
    }
    // What needs little is tried first.
    (0..shape::STARTS)
        .find_map(|start| shapes.iter().find_map(|shape| search.approach(shape, shape.start(start)?)))
}

/// What is looked for, and how much of it may still be tried.
struct Search<'a> {
    policy: &'a Policy,
    text: &'a str,
    around: PlanContext<'a>,
    left: usize,
    tries: usize,
}

impl Search<'_> {
    /// Returns what the policy puts before any output, such as a line with its exit status; empty if nothing.
    fn lead(&self) -> String {
        let counted = self.plan(b"x");
        let first = counted.as_ref().and_then(|counted| notice(counted.preview.parts.first()?));
        first.unwrap_or_default().to_owned()
    }

    /// Tries an output of a size that is known, whatever the figures of the notices.
    fn with_size(&mut self, shape: &OutputShape, total: u64) -> Option<Witness> {
        let left = total.checked_sub(shape.output([0; UNKNOWNS]).0.len() as u64)?;
        self.make(shape, [0, left.try_into().ok()?, 0])?.break_value()
    }

    /// Corrects a filler until the figures of the notices are those of the text: they depend on it linearly.
    fn approach(&mut self, shape: &OutputShape, start: Filler) -> Option<Witness> {
        let mut filler = start;
        let mut slopes = None;
        for _ in 0..MAX_STEPS {
            let made = match self.make(shape, filler)? {
                ControlFlow::Break(found) => return Some(found),
                ControlFlow::Continue(made) => made,
            };
            let missing = shape.notices.minus(&made).filter(|missing| !missing.is_empty())?;
            if slopes.is_none() {
                slopes = Some(self.slopes(shape, filler, &made)?);
            }
            let more = shape::solve(&missing, slopes.as_ref()?, filler.map(f64::from));
            let next = shape::longer(filler, more);
            if next == filler {
                return None;
            }
            filler = next;
        }
        None
    }

    /// Returns how much each figure grows with each kind of letters; 0 where more of them lead to other words.
    fn slopes(&mut self, shape: &OutputShape, at: Filler, made: &Notices) -> Option<[Vec<f64>; UNKNOWNS]> {
        let mut slopes = [const { Vec::new() }; UNKNOWNS];
        for (slope, more) in slopes.iter_mut().zip(shape::PROBES) {
            let other = self.make(shape, shape::longer(at, more))?.continue_value();
            let grown = other.and_then(|other| other.minus(made));
            let grown = grown.unwrap_or_else(|| vec![0.0; made.figures.len()]);
            *slope = grown.iter().map(|figure| figure / more.iter().sum::<f64>()).collect();
        }
        Some(slopes)
    }

    /// Applies the policy to a shape with its filler. Breaks if it makes the text, else returns its notices; `None` on failure.
    fn make(&mut self, shape: &OutputShape, filler: Filler) -> Option<ControlFlow<Witness, Notices>> {
        let size = shape.size(filler).filter(|size| *size <= MAX_WITNESS)?;
        self.tries = self.tries.checked_sub(1)?;
        self.left = self.left.checked_sub(size)?;
        let (bytes, filled) = shape.output(filler);
        let counted = self.plan(&bytes)?;
        let input = self.input(&bytes, &counted.totals.stdout);
        let preview = counted.preview;
        let is_same = preview.truncated
            && !keeps(&preview, &filled)
            && preview.byte_len(&input) == self.text.len() as u64
            && preview.text(&input) == self.text;
        Some(match preview.truncated_by.filter(|_| is_same) {
            Some(by) => ControlFlow::Break(Witness { by, added: added(&preview, &input) }),
            None => {
                let notices = preview.parts.iter().filter_map(notice);
                ControlFlow::Continue(Notices::new(notices, self.around.saved_as))
            }
        })
    }

    fn plan(&self, bytes: &[u8]) -> Option<CountedPlan> {
        let totals = Totals::unknown();
        let count = |_, want| Some(units::measure_all(bytes, want));
        plan_counting(&self.input(bytes, &totals), self.policy, TotalsFor::Text, count).ok()
    }

    fn input<'b>(&'b self, bytes: &'b [u8], totals: &'b Totals) -> Input<'b> {
        let PlanContext { saved_as, exit_code, .. } = self.around;
        Input { exit_code, ..Input::new(Output { bytes, totals }, saved_as) }
    }
}

fn notice(part: &Part) -> Option<&str> {
    match part {
        Part::Notice { text } => Some(text),
        _ => None,
    }
}

/// Returns what of the text of a preview is not of the output, as ranges in bytes: notices, and what a cut line ends in.
fn added(preview: &Preview, input: &Input) -> Vec<Range<usize>> {
    let mut end = 0;
    let mut place = |len: usize| {
        end += len;
        end - len..end
    };
    let mut added = Vec::new();
    for part in &preview.parts {
        let Part::Changed { fragments, source, decoding, .. } = part else {
            let range = place(part.byte_len(input) as usize);
            added.extend(notice(part).is_some().then_some(range));
            continue;
        };
        for fragment in fragments {
            let range = place(fragment.byte_len(input, *source, *decoding) as usize);
            added.extend(matches!(fragment, Fragment::Text(_)).then_some(range));
        }
    }
    added
}

/// Whether anything of the filler was kept: then it would be a part of the text, and prove nothing.
fn keeps(preview: &Preview, filler: &Range<usize>) -> bool {
    let ranges = preview.parts.iter().filter_map(Part::range);
    let is_filler = |range: &Range<usize>| range.start < filler.end && filler.start < range.end;
    ranges.filter(|(source, _)| *source == Stream::Stdout).any(|(_, range)| is_filler(&range))
}
