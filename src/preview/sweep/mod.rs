//! Previews of one output under many settings of one policy, in figures: without making each of them.
//!
//! For policies that keep whole lines of one end, what a setting keeps follows from where its lines and its size end,
//! and the length of the notice from how long its figures are; both are looked up. Every other preview is planned.
//! Tests hold that both ways agree.

mod lines;

use std::collections::HashMap;
use std::ops::Range;

use super::input::{Input, Output, Stream, Totals};
use super::measure::Text;
use super::model::{Direction, LimitHit, Part, PlanError, Preview, Unit};
use super::plan::counts::{NOTICE_FIGURES, NoticeFigure, NoticeFigures, SPAN_FIGURES};
use super::plan::{plan, view};
use super::policy::Policy;
use super::strategy::LinesKept;
use super::template::{Facts, Scope, Template};
use crate::text::units::{Decoding, Measure, TotalsMask};

pub(crate) use lines::Marks;
use lines::{KeptLines, VisitedText, size_of};

/// Goes through settings of a policy, output after output.
pub(crate) struct Sweep<'p> {
    settings: Vec<Setting<'p>>,
    /// How the words of both templates differ in length; none if every preview is planned.
    pub(crate) deciders: Option<[Deciders; 2]>,
    pub(crate) plans: u64,
}

struct Setting<'p> {
    policy: &'p Policy,
    scope: Scope<'p>,
    /// The words that are known already, by whether it cuts and the lengths of their figures.
    words: HashMap<(bool, u128), Words>,
}

#[derive(Debug)]
pub(crate) enum SweptPreview {
    /// One stretch of the output, and words around it.
    Lines {
        /// The length of the preview in UTF-8 bytes.
        bytes: u64,
        truncated: bool,
        /// What is kept, in bytes of the output.
        range: Range<usize>,
    },
    Planned(Box<Preview>),
    /// The tool replies with this error.
    Refused(String),
}

impl<'p> Sweep<'p> {
    /// Prepares settings, which are one policy with different values of its parameters.
    pub(crate) fn new(settings: &'p [Policy]) -> Self {
        let deciders = settings.first().and_then(deciders);
        let prepare =
            |policy: &'p Policy| Setting { policy, scope: policy.scope(Facts::new()), words: HashMap::new() };
        Self { settings: settings.iter().map(prepare).collect(), deciders, plans: 0 }
    }

    /// Passes on, in the order of the settings, what the model gets of an output that is saved at `saved_as`.
    ///
    /// # Errors
    /// The policy file has a mistake that only shows in use.
    pub(crate) fn each(
        &mut self,
        bytes: &[u8],
        marks: &Marks,
        saved_as: &str,
        mut take: impl FnMut(usize, SweptPreview),
    ) -> Result<(), PlanError> {
        let totals = Totals::from_measure(&marks.total(), TotalsMask::ALL);
        let input = Input::new(Output { bytes, totals: &totals }, saved_as);
        let Some(first) = self.settings.first() else { return Ok(()) };
        let text = view(&input, first.policy, Stream::Stdout)?;
        let mut visited = VisitedText::new(&text, marks);
        for (number, setting) in self.settings.iter_mut().enumerate() {
            let swept = match &self.deciders {
                Some(deciders) => setting.lines(&mut visited, deciders, &input, &mut self.plans)?,
                None => None,
            };
            let swept = match swept {
                Some(swept) => swept,
                None => {
                    self.plans += 1;
                    match plan(&input, setting.policy) {
                        Ok(preview) => SweptPreview::Planned(Box::new(preview)),
                        Err(PlanError::Agent { message }) => SweptPreview::Refused(message),
                        Err(error) => return Err(error),
                    }
                }
            };
            take(number, swept);
        }
        Ok(())
    }
}

/// Returns how the words of a policy that keeps whole lines differ in length; none for other policies.
fn deciders(policy: &Policy) -> Option<[Deciders; 2]> {
    let (file, texts) = (&policy.file, policy.texts());
    policy.keep().lines_kept()?;
    let is_plain = file.refuse.is_none()
        && file.cap.is_none()
        && file.reads.is_none()
        && texts.together.is_none()
        && adds_up(policy.unit());
    if !is_plain {
        return None;
    }
    Some([Deciders::new(policy, &texts.whole)?, Deciders::new(policy, &texts.cut)?])
}

impl Setting<'_> {
    /// Returns what the model gets; none if only a plan tells.
    fn lines(
        &mut self,
        visited: &mut VisitedText,
        [whole, cut]: &[Deciders; 2],
        input: &Input,
        plans: &mut u64,
    ) -> Result<Option<SweptPreview>, PlanError> {
        let Some(kept) = self.kept(visited)? else { return Ok(None) };
        let is_cut = kept.hit.is_some();
        let measure = visited.measure(&kept.range);
        let figures = figures(visited.text, self.policy.unit(), &kept, &measure);
        let key = (is_cut, if is_cut { cut } else { whole }.key(&figures));
        let words = match self.words.get(&key) {
            Some(words) => *words,
            None => {
                *plans += 2;
                let Some(words) = measure_words(self.policy, input, &kept.range)? else { return Ok(None) };
                self.words.insert(key, words);
                words
            }
        };
        let decoded = figures.kept_decoded.unwrap_or_default();
        let path = (input.saved_as.len() as u64).saturating_mul(words.per_path);
        Ok(Some(SweptPreview::Lines {
            bytes: words.fixed + path + words.slots.saturating_mul(decoded),
            truncated: is_cut && !visited.text.is_empty() && kept.range != visited.text.body,
            range: kept.range,
        }))
    }

    /// Returns the lines that are kept of the output, and the limit that cut it.
    fn kept(&self, visited: &mut VisitedText) -> Result<Option<KeptLines>, PlanError> {
        let text = visited.text;
        let context = self.policy.context(&self.scope);
        let Some(strategy) = self.policy.keep().lines_kept() else { return Ok(None) };
        let unit = match strategy {
            LinesKept::Whole(pieces) => pieces.ruler.unit(&context),
            LinesKept::Held(_) | LinesKept::Rolling(_) => Unit::Bytes,
        };
        let is_lossy = text.decoding == Decoding::Lossy;
        if !adds_up(unit) || !is_lossy && (unit, context.unit) != (Unit::Bytes, Unit::Bytes) {
            return Ok(None);
        }
        let Ok(over) = context.limits.test(text, &self.scope, context.unit)? else { return Ok(None) };
        let Some(over) = over else {
            let (range, count) = (text.body.clone(), text.line_count().unwrap_or_default());
            let from = context.direction.unwrap_or(Direction::Head);
            return Ok(Some(KeptLines { range, count, hit: None, from }));
        };
        visited.select(strategy, &context, over)
    }
}

fn figures<'a>(text: &'a Text<'a>, unit: Unit, kept: &KeptLines, measure: &Measure) -> NoticeFigures<'a> {
    let lines = text.line_count();
    let size = |unit| Ok(size_of(text, unit, &kept.range, measure));
    let decoded = match text.decoding {
        Decoding::Lossy => measure.decoded_bytes,
        Decoding::Go => kept.range.len() as u64 + 2 * measure.bad_bytes,
    };
    let last = lines.unwrap_or_default();
    let (first, last) = match kept.from {
        Direction::Head => (1, kept.count),
        Direction::Tail => ((last + 1).saturating_sub(kept.count), last),
    };
    NoticeFigures {
        text,
        unit,
        lines,
        kept_lines: Ok(kept.count),
        kept_feeds: Ok(measure.line_feeds),
        kept_bytes: size(Unit::Bytes),
        kept_decoded: Ok(decoded),
        kept_points: Ok(measure.points),
        kept_size: size(unit),
        hit: kept.hit,
        span: Some((Ok(first), Ok(last))),
        is_kept_empty: kept.range.is_empty(),
    }
}

/// Plans a preview, with two paths, to see how long its words are; none if it keeps something else than this range.
fn measure_words(policy: &Policy, input: &Input, range: &Range<usize>) -> Result<Option<Words>, PlanError> {
    let with = |saved_as| plan(&Input { saved_as, ..*input }, policy);
    let (without_path, with_path) = (with("")?, with("p")?);
    let length = |preview: &Preview| -> u64 {
        preview.parts.iter().map(|part| if part.range().is_none() { part.byte_len(input) } else { 0 }).sum()
    };
    let fixed = length(&without_path);
    let mut kept = without_path.parts.iter().filter(|part| part.range().is_some());
    let is_same = kept.clone().all(|part| matches!(part, Part::Kept { range: kept, .. } if kept == range));
    let slots = kept.by_ref().count() as u64;
    let is_there = slots > 0 || range.is_empty();
    let words = Words { fixed, per_path: length(&with_path).saturating_sub(fixed), slots };
    Ok((is_same && is_there).then_some(words))
}

/// The bits that a figure takes in a key: its number of digits is at most 20.
const BITS: u32 = 5;

/// What decides the length of a template's words.
#[derive(Debug, Default)]
pub(crate) struct Deciders {
    /// The figures in them.
    figures: Vec<NoticeFigure>,
    /// What chooses among words.
    choices: Vec<fn(&NoticeFigures) -> u32>,
}

/// The length of the words around what is kept, in bytes.
#[derive(Debug, Clone, Copy)]
struct Words {
    pub fixed: u64,
    /// For each byte of the path.
    pub per_path: u64,
    /// How many times what is kept is printed.
    pub slots: u64,
}

impl Deciders {
    /// Reads them off a template of a policy; none if its length depends on more than how long its figures are.
    fn new(policy: &Policy, template: &Template) -> Option<Self> {
        let is_param = |name: &str| policy.params().iter().any(|param| param.name == name);
        let uses = policy.file.templates.uses(template, &is_param)?;
        if ["kept", "path"].into_iter().any(|name| uses.exact.contains(name)) {
            return None;
        }
        let mut all = Self::default();
        for name in &uses.printed {
            match name.as_str() {
                "kept" | "path" | "exit_code" | "stream" => {}
                name => match choice(name) {
                    Some(choice) => all.choices.push(choice),
                    None => all.figures.push(figure(name)?),
                },
            }
        }
        for name in &uses.exact {
            if !matches!(name.as_str(), "exit_code" | "stream" | "partial" | "kept_empty") {
                all.choices.push(choice(name)?);
            }
        }
        (all.figures.len() + all.choices.len() < (u128::BITS / BITS) as usize).then_some(all)
    }

    /// Returns what all figures have in common for which the words are as long.
    fn key(&self, figures: &NoticeFigures) -> u128 {
        let first = u128::from(figures.is_kept_empty);
        let lengths = self.figures.iter().map(|figure| digits(figure(figures).unwrap_or_default()));
        let codes = lengths.chain(self.choices.iter().map(|choice| choice(figures)));
        codes.fold(first, |key, code| key << BITS | u128::from(code))
    }
}

/// Returns what tells apart the words that a name of the engine's chooses among.
fn choice(name: &str) -> Option<fn(&NoticeFigures) -> u32> {
    match name {
        "unit" => Some(|figures| figures.is_by_lines().into()),
        "hit" => Some(|figures| match figures.hit {
            None => 0,
            Some(LimitHit::Lines) => 1,
            Some(LimitHit::Size(_)) => 2,
            Some(LimitHit::Matches) => 3,
        }),
        "is_empty" => Some(|figures| figures.text.is_empty().into()),
        _ => None,
    }
}

fn figure(name: &str) -> Option<NoticeFigure> {
    let figure = NOTICE_FIGURES.iter().chain(&SPAN_FIGURES).find(|(known, _)| *known == name);
    figure.map(|(_, figure)| *figure)
}

/// Returns the number of decimal digits; 0 for 0, which templates may treat on its own.
fn digits(number: u64) -> u32 {
    number.checked_ilog10().map_or(0, |log| log + 1)
}

/// Whether sizes in a unit add up over lines.
fn adds_up(unit: Unit) -> bool {
    matches!(unit, Unit::Bytes | Unit::Utf16 | Unit::Chars)
}
