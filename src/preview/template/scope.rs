//! What templates and figures see when evaluated: facts, parameters, and which totals are still being counted.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use minijinja::value::{Object, Value as Var};

use crate::base::lock;
use crate::preview::model::{Part, PlanError, WAITING};
use crate::preview::template::uses::{self, ReadFor, Uses};
use crate::preview::template::{CompiledFigure, Figure, Template, Templates, describe};
use crate::text::units::TotalsMask;

/// Every figure and slot besides the parameters: those that `docs/policies.md` explains, then those of single strategies.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "kept", "head", "tail", "stdout", "stderr", "stderr_whole", "stdout_empty", "stderr_empty", "stderr_given",
    "path", "exit_code", "stream", "pieces", "lines", "bytes", "units", "points", "size", "raw_bytes",
    "kept_lines", "kept_bytes", "kept_points", "kept_size", "kept_empty",
    "removed_lines", "removed_bytes", "removed_points", "removed_size", "removed", "unit", "hit",
    "middle_lines", "rest_lines", "first", "last", "next", "count", "more", "stop",
    "partial", "line_bytes", "rest_bytes", "head_lines", "tail_lines", "is_empty", "is_blank", "json_units",

    "elided", "gap", "marker", "over", "many", "full", "clipped", "line_cut", "text_cut", "cut_size", "shown",
    "begins", "tail_empty", "number", "head_size", "composed_size", "composed_bytes", "blank", "ended", "included",
];

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A whole number, 0 or more.
    Integer(u64),
    /// `true` or `false`.
    Boolean(bool),
    /// Text, possibly one of a few words.
    Text(String),
}

impl Value {
    /// Converts a value of a policy file; `None` if it has another type.
    pub(crate) fn from_toml(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Integer(number) => u64::try_from(*number).ok().map(Self::Integer),
            toml::Value::Boolean(flag) => Some(Self::Boolean(*flag)),
            toml::Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Number(u64),
    Signed(i64),
    Text(String),
    Flag(bool),
    /// The place of parts: their index among the slots.
    Slot(usize),
    /// Unknown until these totals are counted.
    Waiting(TotalsMask),
    Nothing,
}

impl From<Result<u64, TotalsMask>> for Fact {
    fn from(figure: Result<u64, TotalsMask>) -> Self {
        figure.map_or_else(Self::Waiting, Self::Number)
    }
}

pub(crate) type Facts = BTreeMap<&'static str, Fact>;

/// Surrounds a slot's index in rendered text, unless a variable's text holds it. No template does.
pub(super) const SLOT: char = '\0';
/// The marks that then replace it: private characters, at least one of them in no text.
const OTHER_SLOTS: RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';

fn waiting(mark: char) -> String {
    format!("{mark}{WAITING}{mark}")
}

pub(super) fn is_waiting(text: &str) -> bool {
    let is_mark = |mark: char| mark == SLOT || OTHER_SLOTS.contains(&mark);
    text.chars().next().is_some_and(|mark| is_mark(mark) && text == waiting(mark))
}

/// A template's variables; records which of them had to be shown as `…`.
#[derive(Debug)]
struct Scene {
    facts: Facts,
    outside: Arc<Facts>,
    params: Arc<BTreeMap<String, Value>>,
    /// What surrounds a slot's index, or a waiting figure, in the rendered text.
    mark: char,
    waiting: Mutex<TotalsMask>,
}

impl Object for Scene {
    fn get_value(self: &Arc<Self>, key: &Var) -> Option<Var> {
        let key = key.as_str()?;
        let Some(fact) = self.facts.get(key).or_else(|| self.outside.get(key)) else {
            return self.params.get(key).map(variable);
        };
        Some(match fact {
            Fact::Number(number) => Var::from(*number),
            Fact::Signed(number) => Var::from(*number),
            Fact::Text(text) => Var::from(text.as_str()),
            Fact::Flag(flag) => Var::from(*flag),
            Fact::Slot(index) => Var::from(format!("{0}{index}{0}", self.mark)),
            Fact::Nothing => Var::from(()),
            Fact::Waiting(want) => {
                *lock(&self.waiting) |= *want;
                Var::from(waiting(self.mark))
            }
        })
    }
}

pub(super) fn variable(value: &Value) -> Var {
    match value {
        Value::Integer(number) => Var::from(*number),
        Value::Boolean(flag) => Var::from(*flag),
        Value::Text(text) => Var::from(text.as_str()),
    }
}

/// Returns the value of a figure; a negative one is 0.
pub(super) fn whole(source: &str, value: Result<Var, minijinja::Error>) -> Result<u64, String> {
    let value = value.map_err(|error| describe(&error))?;
    let number = i128::try_from(value).map_err(|_| format!("`{source}` is not a whole number"))?;
    Ok(u64::try_from(number.max(0)).unwrap_or(u64::MAX))
}

/// A policy's templates and figures with its current parameters.
pub(crate) struct Scope<'a> {
    policy: &'a str,
    templates: &'a Templates,
    params: Arc<BTreeMap<String, Value>>,
    /// Facts that do not come from the output: the path, the exit code, the stream.
    outside: Arc<Facts>,
    /// Bytes that the templates have created so far.
    made: Cell<usize>,
}

/// Maximum number of bytes that a policy's templates create for one preview, all its lines together.
const MAX_RENDERED: usize = 128 << 20;

impl<'a> Scope<'a> {
    pub(crate) fn new(
        policy: &'a str,
        templates: &'a Templates,
        params: BTreeMap<String, Value>,
        outside: Facts,
    ) -> Self {
        Self { policy, templates, params: Arc::new(params), outside: Arc::new(outside), made: Cell::new(0) }
    }

    /// Returns an error for a mistake in the policy file that only shows in use.
    pub(crate) fn fault(&self, message: impl ToString) -> PlanError {
        PlanError::Policy { policy: self.policy.to_owned(), message: message.to_string() }
    }

    fn scene(&self, facts: Facts, mark: char) -> Scene {
        let (outside, params) = (Arc::clone(&self.outside), Arc::clone(&self.params));
        Scene { facts, outside, params, mark, waiting: Mutex::default() }
    }

    pub(crate) fn figure(&self, figure: &Figure) -> Result<u64, PlanError> {
        let (source, compiled) = match &self.templates.figures[figure.0] {
            CompiledFigure::Number(number) => return Ok(*number),
            CompiledFigure::Expression { source, compiled } => (source, compiled),
        };
        if let Some(Value::Integer(number)) = self.params.get(source) {
            return Ok(*number);
        }
        let value = compiled.eval(Var::from_object(self.scene(Facts::new(), SLOT)));
        whole(source, value).map_err(|message| self.fault(message))
    }

    /// Evaluates a figure that is at least 1.
    pub(crate) fn positive(&self, figure: &Figure) -> Result<u64, PlanError> {
        self.figure(figure).map(|figure| figure.max(1))
    }

    pub(crate) fn optional(&self, figure: &Option<Figure>) -> Result<Option<u64>, PlanError> {
        figure.as_ref().map(|figure| self.figure(figure)).transpose()
    }

    /// Returns the totals on which it depends which slots are in a template's text; `None` if those may be all.
    pub(crate) fn undecided(&self, template: &Template, facts: &Facts) -> Option<TotalsMask> {
        let source = || self.templates.source_of(template).ok();
        let read = || uses::read(source()?.source(), &|_| false, ReadFor::Slots);
        let Uses { exact, tested, expressions, .. } =
            self.templates.get(template).slot_uses.get_or_init(read).as_ref()?;
        let is_slot = |name: &String| matches!(facts.get(name.as_str()), Some(Fact::Slot(_)));
        let with_slots = expressions.iter().filter(|names| names.iter().any(is_slot)).flatten();
        let wants = exact.iter().chain(tested).chain(with_slots).filter_map(|name| facts.get(name.as_str()));
        Some(wants.fold(TotalsMask::NOTHING, |sum, fact| match fact {
            Fact::Waiting(want) => sum | *want,
            _ => sum,
        }))
    }

    /// Renders a template with these parts in its slots, and returns the totals that it still lacks.
    pub(crate) fn render(
        &self,
        template: &Template,
        facts: Facts,
        slots: &[(&str, Vec<Part>)],
    ) -> Result<(Vec<Part>, TotalsMask), PlanError> {
        let (key, first) = &self.templates.get(template).place;
        let wrong = |error: minijinja::Error| {
            let line = first + error.line().unwrap_or(1).saturating_sub(1);
            self.fault(format!("line {line}, `{key}`: {}", describe(&error)))
        };
        let compiled = self.templates.source_of(template).map_err(wrong)?;
        let mark = mark(&[&facts, &self.outside], &self.params, compiled.source());
        let scene = Arc::new(self.scene(facts, mark));
        let text = compiled.render(Var::from_dyn_object(Arc::clone(&scene))).map_err(wrong)?;
        self.made.set(self.made.get() + text.len());
        if self.made.get() > MAX_RENDERED {
            return Err(self.fault(
                "its templates make over 128 MiB for one preview; shorten them, or lower the limits",
            ));
        }
        let waiting = *lock(&scene.waiting);
        Ok((parts(&text, mark, slots), waiting))
    }

    /// Renders a template without slots, and returns the totals that it still lacks.
    pub(crate) fn render_waiting(
        &self,
        template: &Template,
        facts: Facts,
    ) -> Result<(String, TotalsMask), PlanError> {
        let (parts, waiting) = self.render(template, facts, &[])?;
        let texts = parts.into_iter().filter_map(|part| match part {
            Part::Notice { text } => Some(text),
            Part::Counting => Some(WAITING.to_owned()),
            Part::Kept { .. } | Part::Changed { .. } => None,
        });
        Ok((texts.collect(), waiting))
    }

    /// Renders a template without slots.
    pub(crate) fn render_text(&self, template: &Template, facts: Facts) -> Result<String, PlanError> {
        self.render_waiting(template, facts).map(|(words, _)| words)
    }

    /// Renders a template that may be absent, which gives no text.
    pub(crate) fn render_optional(
        &self,
        template: Option<&Template>,
        facts: Facts,
    ) -> Result<String, PlanError> {
        template.map_or(Ok(String::new()), |template| self.render_text(template, facts))
    }

    /// Renders a template of one `number`; empty if there is no template.
    pub(crate) fn render_number(
        &self,
        template: Option<&Template>,
        number: u64,
    ) -> Result<String, PlanError> {
        self.render_optional(template, Facts::from([("number", Fact::Number(number))]))
    }

    pub(crate) fn refusal(&self, template: &Template, facts: Facts) -> PlanError {
        match self.render_text(template, facts) {
            Ok(message) => PlanError::Agent { message },
            Err(error) => error,
        }
    }
}

/// Returns a character that is in no text which the template can render.
fn mark(facts: &[&Facts; 2], params: &BTreeMap<String, Value>, template: &str) -> char {
    let in_fact = |fact: &Fact, mark| matches!(fact, Fact::Text(text) if text.contains(mark));
    let in_param = |param: &Value, mark| matches!(param, Value::Text(text) if text.contains(mark));
    let is_free = |mark: &char| {
        !facts.iter().any(|facts| facts.values().any(|fact| in_fact(fact, *mark)))
            && !params.values().any(|param| in_param(param, *mark))
    };
    let others = OTHER_SLOTS.filter(|mark| !template.contains(*mark));
    std::iter::once(SLOT).chain(others).find(is_free).unwrap_or(SLOT)
}

fn parts(text: &str, mark: char, slots: &[(&str, Vec<Part>)]) -> Vec<Part> {
    let slot = |index: &str| slots.get(index.parse::<usize>().ok()?).map(|(_, parts)| parts.clone());
    let pieces = text.split(mark).enumerate().flat_map(|(at, piece)| match (at % 2, piece) {
        (0, "") => Vec::new(),
        (0, piece) => vec![Part::Notice { text: piece.to_owned() }],
        (_, WAITING) => vec![Part::Counting],
        (_, index) => slot(index).unwrap_or_default(),
    });
    pieces.collect()
}
