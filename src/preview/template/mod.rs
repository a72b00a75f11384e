//! Notices and figures: minijinja templates and expressions over what a plan knows.

pub(crate) mod filters;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Object, Value as Var};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::text::units::Want;

use super::bounds;
use super::model::Unit;
use super::policy::Policy;
use super::policy::param::Value;
use super::policy::schema::{Figure, FigureForm};

/// What stands in a notice for a figure that is still being counted.
pub(crate) const WAITING: &str = "…";
/// Surrounds a slot's index in rendered text; no path and no policy file holds it.
const SLOT: char = '\0';

const COUNTED: Want = Want::LINE_FEEDS.with(Want::LONE_RETURNS);

/// Every figure and slot that a template may name besides the parameters, and the totals on which it rests.
/// `docs/policies.md` says what each is.
const NAMES: &[(&str, Want)] = &[
    ("kept", Want::NOTHING),
    ("head", Want::NOTHING),
    ("tail", Want::NOTHING),
    ("stdout", Want::NOTHING),
    ("stderr", Want::NOTHING),
    ("stderr_whole", Want::NOTHING),
    ("path", Want::NOTHING),
    ("exit_code", Want::NOTHING),
    ("stream", Want::NOTHING),
    ("stdout_empty", Want::NOTHING),
    ("stderr_empty", Want::NOTHING),
    ("stderr_given", Want::NOTHING),
    ("unit", Want::NOTHING),
    ("hit", Want::NOTHING),
    ("over", Want::NOTHING),
    ("partial", Want::NOTHING),
    ("gap", Want::NOTHING),
    ("kept_empty", Want::NOTHING),
    ("is_empty", Want::NOTHING),
    ("is_blank", Want::NOTHING),
    ("json_units", Want::NOTHING),
    ("kept_lines", Want::NOTHING),
    ("kept_size", Want::NOTHING),
    ("kept_bytes", Want::NOTHING),
    ("raw_bytes", Want::NOTHING),
    ("more", Want::LINE_FEEDS),
    ("many", Want::NOTHING),
    ("full", Want::NOTHING),
    ("clipped", Want::NOTHING),
    ("line_cut", Want::NOTHING),
    ("text_cut", Want::NOTHING),
    ("cut_size", Want::NOTHING),
    ("elided", Want::NOTHING),
    ("shown", Want::NOTHING),
    ("begins", Want::NOTHING),
    ("marker", Want::NOTHING),
    ("tail_empty", Want::NOTHING),
    ("kept_points", Want::NOTHING),
    ("removed_points", Want::POINTS),
    ("rest_lines", Want::LINE_FEEDS),
    ("next", Want::NOTHING),
    ("number", Want::NOTHING),
    ("stop", Want::NOTHING),
    ("line_bytes", Want::NOTHING),
    ("rest_bytes", Want::NOTHING),
    ("pieces", Want::LINE_FEEDS),
    ("lines", Want::LINE_FEEDS),
    ("removed_lines", Want::LINE_FEEDS),
    ("middle_lines", Want::LINE_FEEDS),
    ("first", Want::LINE_FEEDS),
    ("last", Want::LINE_FEEDS),
    ("count", COUNTED),
    ("bytes", Want::DECODED_BYTES),
    ("removed_bytes", Want::DECODED_BYTES),
    ("units", Want::UNITS),
    ("points", Want::POINTS),
    ("size", Want::NOTHING),
    ("removed_size", Want::NOTHING),
    ("removed", Want::LINE_FEEDS),
    ("head_lines", Want::NOTHING),
    ("tail_lines", Want::NOTHING),
    ("head_size", Want::NOTHING),
    ("composed_size", Want::NOTHING),
    ("composed_bytes", Want::NOTHING),
    ("blank", Want::NOTHING),
    ("ended", Want::NOTHING),
    ("included", Want::NOTHING),
];
/// Those that are measured in the policy's own unit.
const IN_UNIT: [&str; 3] = ["size", "removed_size", "removed"];

/// One figure of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Number(u64),
    Signed(i64),
    Text(String),
    Flag(bool),
    /// The place of parts: their index in what [`render`] is given.
    Slot(usize),
    /// Not known before these totals are.
    Waiting(Want),
    Nothing,
}

impl From<Result<u64, Want>> for Fact {
    fn from(figure: Result<u64, Want>) -> Self {
        figure.map_or_else(Self::Waiting, Self::Number)
    }
}

/// The figures of one plan, by name.
pub(crate) type Facts = BTreeMap<&'static str, Fact>;

/// A template's variables; remembers which of them had to be shown as `…`.
#[derive(Debug)]
struct Scene {
    facts: Facts,
    params: Arc<BTreeMap<String, Value>>,
    waiting: Mutex<Want>,
}

impl Object for Scene {
    fn get_value(self: &Arc<Self>, key: &Var) -> Option<Var> {
        let key = key.as_str()?;
        let Some(fact) = self.facts.get(key) else {
            return self.params.get(key).map(variable);
        };
        Some(match fact {
            Fact::Number(number) => Var::from(*number),
            Fact::Signed(number) => Var::from(*number),
            Fact::Text(text) => Var::from(text.as_str()),
            Fact::Flag(flag) => Var::from(*flag),
            Fact::Slot(index) => Var::from(format!("{SLOT}{index}{SLOT}")),
            Fact::Nothing => Var::from(()),
            Fact::Waiting(want) => {
                *self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner) |= *want;
                Var::from(WAITING)
            }
        })
    }
}

fn variable(value: &Value) -> Var {
    match value {
        Value::Integer(number) => Var::from(*number),
        Value::Boolean(flag) => Var::from(*flag),
        Value::Text(text) => Var::from(text.as_str()),
    }
}

fn parameters(policy: &Policy) -> BTreeMap<String, Value> {
    let value = |name: &str| policy.get(name).unwrap_or(Value::Integer(0));
    policy.params().iter().map(|param| (param.name.clone(), value(&param.name))).collect()
}

/// What all templates and expressions are compiled with. Made once: that takes longer than to render a line.
fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_syntax(syntax());
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        filters::add_to(&mut environment);
        environment
    });
    &ENVIRONMENT
}

fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// A stretch of a rendered template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Span {
    Text(String),
    Slot(usize),
}

/// A rendered template: its stretches, and the totals that it still lacks.
pub(crate) struct Rendered {
    pub spans: Vec<Span>,
    pub waiting: Want,
}

/// A template compiled under a policy's parameters as they are, to be rendered for line after line.
pub(crate) struct Template<'a> {
    compiled: minijinja::Template<'a, 'a>,
    params: Arc<BTreeMap<String, Value>>,
    /// Bytes that it has made so far.
    made: Cell<usize>,
}

/// Most bytes that a template makes for one preview, all its lines together.
const MOST_MADE: usize = 128 << 20;

#[cfg(test)]
thread_local! {
    /// How many templates this thread has compiled to render them.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl<'a> Template<'a> {
    /// Compiles a template. The error, here as in rendering, is a mistake in a policy file that only shows in use.
    pub fn new(policy: &Policy, template: &'a str) -> Result<Self, String> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        let compiled = environment().template_from_named_str("notice", template);
        let compiled = compiled.map_err(|error| describe(&error))?;
        Ok(Self { compiled, params: Arc::new(parameters(policy)), made: Cell::new(0) })
    }

    /// Renders it.
    pub fn render(&self, facts: Facts) -> Result<Rendered, String> {
        let scene = Arc::new(Scene { facts, params: Arc::clone(&self.params), waiting: Mutex::default() });
        let text = self.compiled.render(Var::from_dyn_object(Arc::clone(&scene)));
        let text = text.map_err(|error| describe(&error))?;
        self.made.set(self.made.get() + text.len());
        if self.made.get() > MOST_MADE {
            return Err(
                "a template makes over 128 MiB for one preview; shorten it, or lower the limits".to_owned()
            );
        }
        let waiting = *scene.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(Rendered { spans: spans(&text), waiting })
    }

    /// Renders it where it has no slots.
    pub fn render_plain(&self, facts: Facts) -> Result<(String, Want), String> {
        let rendered = self.render(facts)?;
        let texts = rendered.spans.into_iter().filter_map(|span| match span {
            Span::Text(text) => Some(text),
            Span::Slot(_) => None,
        });
        Ok((texts.collect(), rendered.waiting))
    }
}

/// Renders a template once.
pub(crate) fn render(policy: &Policy, template: &str, facts: &Facts) -> Result<Rendered, String> {
    Template::new(policy, template)?.render(facts.clone())
}

/// Renders a template that has no slots, once.
pub(crate) fn render_plain(policy: &Policy, template: &str, facts: &Facts) -> Result<(String, Want), String> {
    Template::new(policy, template)?.render_plain(facts.clone())
}

fn spans(text: &str) -> Vec<Span> {
    let pieces = text.split(SLOT).enumerate().filter_map(|(at, piece)| match (at % 2, piece) {
        (0, "") => None,
        (0, piece) => Some(Span::Text(piece.to_owned())),
        (_, index) => index.parse().ok().map(Span::Slot),
    });
    pieces.collect()
}

/// A figure's value under the parameters as they are; a negative one is 0.
pub(crate) fn figure(policy: &Policy, figure: &Figure) -> Result<u64, String> {
    let expression = match figure.get_ref() {
        FigureForm::Number(number) => return Ok(*number),
        FigureForm::Expression(expression) => expression,
    };
    if let Some(Value::Integer(number)) = policy.get(expression) {
        return Ok(number);
    }
    let scene =
        Scene { facts: Facts::new(), params: Arc::new(parameters(policy)), waiting: Mutex::default() };
    let environment = environment();
    let compiled = environment.compile_expression(expression).map_err(|error| describe(&error))?;
    let value = compiled.eval(Var::from_object(scene)).map_err(|error| describe(&error))?;
    let number = i128::try_from(value).map_err(|_| format!("`{expression}` is not a whole number"))?;
    Ok(u64::try_from(number.max(0)).unwrap_or(u64::MAX))
}

pub(crate) fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Checks an expression: it parses, names parameters alone, and gives a whole number.
pub(crate) fn check_figure(policy: &Policy, expression: &str) -> Result<(), String> {
    bounds::check_expression(policy, expression)?;
    let environment = environment();
    let compiled = environment.compile_expression(expression).map_err(|error| describe(&error))?;
    let params = parameters(policy);
    let mut unknown: Vec<_> = compiled.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !params.contains_key(name));
    unknown.sort();
    match unknown.first() {
        Some(name) => Err(format!("there is no parameter `{name}`")),
        None => Ok(()),
    }
}

/// Checks a template: it parses and names only what there is. The error has its line in the template, 1-based.
pub(crate) fn check_template(policy: &Policy, template: &str) -> Result<(), (usize, String)> {
    if template.contains(SLOT) {
        return Err((1, "a template cannot hold a NUL".to_owned()));
    }
    bounds::check_template(policy, template, syntax())?;
    let environment = environment();
    let parsed = environment
        .template_from_named_str("notice", template)
        .map_err(|error| (error.line().unwrap_or(1), describe(&error)))?;
    let params = parameters(policy);
    let known = |name: &String| params.contains_key(name) || NAMES.iter().any(|(known, _)| known == name);
    let mut unknown: Vec<_> = parsed.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !known(name));
    unknown.sort();
    match unknown.first() {
        Some(name) => {
            let line = template.lines().position(|line| line.contains(name.as_str())).map_or(1, |at| at + 1);
            Err((line, format!("there is no figure or parameter `{name}`")))
        }
        None => Ok(()),
    }
}

/// Whether a policy's templates name a figure.
pub(crate) fn names(policy: &Policy, name: &str) -> bool {
    let forms = policy.text_forms();
    let templates = [&forms.whole, &forms.cut, &forms.together];
    templates.into_iter().flatten().any(|template| template.get_ref().contains(name))
}

/// Totals that a policy's templates may name when an output is cut.
pub(crate) fn needs(policy: &Policy) -> Want {
    let forms = policy.text_forms();
    let templates = [&forms.cut, &forms.together].into_iter().flatten();
    let mut wanted = templates.fold(Want::NOTHING, |sum, template| sum | named(policy, template.get_ref()));
    if policy.when().lines.is_some() && policy.when().size.is_none() {
        wanted |= Want::LINE_FEEDS;
    }
    wanted
}

fn named(policy: &Policy, template: &str) -> Want {
    let environment = environment();
    let Ok(parsed) = environment.template_from_named_str("notice", template) else { return Want::NOTHING };
    let names = parsed.undeclared_variables(false);
    let named = NAMES.iter().filter(|(name, _)| names.contains(*name));
    named.fold(Want::NOTHING, |sum, (name, want)| {
        sum | *want | if IN_UNIT.contains(name) { unit_total(policy.unit()) } else { Want::NOTHING }
    })
}

fn unit_total(unit: Unit) -> Want {
    match unit {
        Unit::Bytes | Unit::Tokens => Want::DECODED_BYTES,
        Unit::Units => Want::UNITS,
        Unit::Points | Unit::Cells => Want::POINTS,
    }
}
