//! Notices and figures: minijinja templates and expressions, compiled when a policy is loaded.

mod bounds;
pub(crate) mod facts;
pub(crate) mod filters;
mod mark;
#[cfg(feature = "records")]
pub(crate) mod pattern;
pub(crate) mod scope;
pub(crate) mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
#[cfg(feature = "records")]
use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Expression, UndefinedBehavior};

use crate::preview::value::Value;
use crate::text::units::TotalsMask;

use facts::{Fact, Facts};
use mark::SLOT;
#[cfg(feature = "records")]
use pattern::{NoticePattern, TextPattern};
use uses::SlotDeciders;

#[cfg(test)]
thread_local! {
    /// How many templates and expressions this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the environment in which all templates and expressions are compiled.
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

/// The compiled templates of one policy.
#[derive(Debug)]
pub(crate) struct Templates(Environment<'static>);

/// One of a policy's compiled templates.
#[derive(Debug)]
pub(crate) struct Template {
    /// Its name in the policy's [`Templates`].
    name: String,
    /// The figures and parameters that it uses.
    mentioned: BTreeSet<String>,
    /// Those that decide which slots it holds; `None` if that is not simple.
    deciders: Option<SlotDeciders>,
    /// What recognises its texts, and the notices of all templates but this one; made when first asked for.
    #[cfg(feature = "records")]
    text_pattern: OnceLock<Option<TextPattern>>,
    #[cfg(feature = "records")]
    other_notices: OnceLock<Vec<NoticePattern>>,
}

impl Template {
    /// Returns the totals that have yet to be counted before it is settled which slots are in the text; `None` if that
    /// may depend on everything that the text lacks.
    pub(crate) fn unsettled(&self, facts: &Facts) -> Option<TotalsMask> {
        let SlotDeciders { conditions, expressions } = self.deciders.as_ref()?;
        let is_slot = |name: &String| matches!(facts.get(name.as_str()), Some(Fact::Slot(_)));
        let with_slots = expressions.iter().filter(|names| names.iter().any(is_slot)).flatten();
        let wants = conditions.iter().chain(with_slots).filter_map(|name| facts.get(name.as_str()));
        Some(wants.fold(TotalsMask::NOTHING, |sum, fact| match fact {
            Fact::Waiting(want) => sum | *want,
            _ => sum,
        }))
    }

    /// Whether it uses a figure.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.mentioned.contains(name)
    }
}

/// A whole number in a policy file.
#[derive(Debug)]
pub(crate) enum Figure {
    Number(u64),
    /// Computed from the parameters.
    Expression {
        source: String,
        compiled: Box<Expression<'static, 'static>>,
    },
}

#[cfg(feature = "app")]
impl Templates {
    /// Reads how a template uses its figures; none if that is not simple. `is_param` knows the parameters.
    pub(crate) fn uses(&self, template: &Template, is_param: &dyn Fn(&str) -> bool) -> Option<uses::Uses> {
        uses::uses(self.0.get_template(&template.name).ok()?.source(), is_param)
    }
}

/// Compiles the templates and figures of one policy file.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// The policy's parameters, at their defaults.
    params: BTreeMap<String, Value>,
    templates: Environment<'static>,
    count: usize,
}

impl Compiler {
    /// Creates a compiler for a policy with these parameters.
    pub(crate) fn new(params: BTreeMap<String, Value>) -> Self {
        Self { params, templates: environment().clone(), count: 0 }
    }

    /// Compiles a template, which may use only known names. The error has its line in the template, 1-based.
    pub(crate) fn template(&mut self, source: &str) -> Result<Template, (usize, String)> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        if source.contains(SLOT) {
            return Err((1, "a template cannot hold a NUL".to_owned()));
        }
        bounds::check_template(&self.params, source, syntax())?;
        let name = self.count.to_string();
        self.count += 1;
        let wrong = |error: minijinja::Error| (error.line().unwrap_or(1), describe(&error));
        self.templates.add_template_owned(name.clone(), source.to_owned()).map_err(wrong)?;
        let compiled = self.templates.get_template(&name).map_err(wrong)?;
        let mentioned: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
        match mentioned.iter().find(|name| !self.params.contains_key(*name) && !facts::is_known(name)) {
            Some(name) => {
                let line = source.lines().position(|line| line.contains(name.as_str()));
                Err((line.map_or(1, |at| at + 1), format!("there is no figure or parameter `{name}`")))
            }
            None => Ok(Template {
                name,
                mentioned,
                deciders: uses::slot_deciders(source),
                #[cfg(feature = "records")]
                text_pattern: OnceLock::new(),
                #[cfg(feature = "records")]
                other_notices: OnceLock::new(),
            }),
        }
    }

    /// Compiles an expression, which may use only parameters.
    pub(crate) fn figure(&self, source: &str) -> Result<Figure, String> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        bounds::check_expression(&self.params, source)?;
        let compiled = environment().compile_expression_owned(source.to_owned());
        let compiled = compiled.map_err(|error| describe(&error))?;
        let named: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
        match named.iter().find(|name| !self.params.contains_key(*name)) {
            Some(name) => Err(format!("there is no parameter `{name}`")),
            None => Ok(Figure::Expression { source: source.to_owned(), compiled: Box::new(compiled) }),
        }
    }

    /// Returns the compiled templates.
    pub(crate) fn finish(self) -> Templates {
        Templates(self.templates)
    }
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) if error.kind() == minijinja::ErrorKind::SyntaxError => {
            format!("cannot be read: {}", detail.replace("unexpected end of input", "it ends too early"))
        }
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
