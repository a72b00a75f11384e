//! Notices and figures: minijinja templates and expressions, compiled when a policy is loaded.

mod bounds;
pub(crate) mod filters;
#[cfg(feature = "records")]
pub(crate) mod pattern;
pub(crate) mod scope;
pub(crate) mod uses;

use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Expression, UndefinedBehavior};
use serde::Deserialize;

use crate::base::toml_check::nearest;
pub use scope::Value;
pub(crate) use scope::{Fact, Facts, Scope};

#[cfg(feature = "records")]
use pattern::{NoticePattern, TextPattern};
use scope::{NAMES, SLOT};
use uses::Uses;

#[cfg(test)]
thread_local! {
    /// How many templates and expressions this thread has compiled.
    pub(crate) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

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

/// A template in a policy file: its place among the policy's [`Templates`].
#[derive(Debug, Deserialize)]
pub(crate) struct Template(pub usize);

/// A whole number in a policy file: its place among the figures of the policy's [`Templates`].
#[derive(Debug, Deserialize)]
pub(crate) struct Figure(pub usize);

#[derive(Debug)]
pub(crate) struct Templates {
    environment: Environment<'static>,
    pub templates: Vec<CompiledTemplate>,
    figures: Vec<CompiledFigure>,
}

#[derive(Debug, Default)]
pub(crate) struct CompiledTemplate {
    name: String,
    /// Its key in the policy's file, and where its text begins there: the byte, then the line.
    pub place: (String, usize),
    /// The figures and parameters that it uses, read when first asked for.
    mentioned: OnceLock<HashSet<String>>,
    /// Which of them decide which slots it holds, read when first asked for; `None` if that is not simple.
    slot_uses: OnceLock<Option<Uses>>,
    /// What recognises its texts, and the notices of all templates but this one; made when first asked for.
    #[cfg(feature = "records")]
    text_pattern: OnceLock<Option<TextPattern>>,
    #[cfg(feature = "records")]
    other_notices: OnceLock<Vec<NoticePattern>>,
}

#[derive(Debug)]
enum CompiledFigure {
    Number(u64),
    /// Computed from the parameters.
    Expression {
        source: String,
        compiled: Box<Expression<'static, 'static>>,
    },
}

impl Templates {
    pub(crate) fn get(&self, template: &Template) -> &CompiledTemplate {
        &self.templates[template.0]
    }

    pub(crate) fn mention(&self, template: &Template, name: &str) -> bool {
        let Ok(source) = self.source_of(template) else { return false };
        let mentioned = || self.get(template).mentioned.get_or_init(|| source.undeclared_variables(false));
        source.source().contains(name) && mentioned().contains(name)
    }

    fn source_of(&self, template: &Template) -> Result<minijinja::Template<'_, '_>, minijinja::Error> {
        self.environment.get_template(&self.get(template).name)
    }

    /// Reads how a template uses its figures; none if that is not simple. `is_param` knows the parameters.
    #[cfg(feature = "app")]
    pub(crate) fn uses(&self, template: &Template, is_param: &dyn Fn(&str) -> bool) -> Option<Uses> {
        uses::read(self.source_of(template).ok()?.source(), is_param, uses::ReadFor::Length)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyOrigin {
    /// It is compiled in: the tests have checked it.
    BuiltIn,
    /// A person, who may be wrong: all of it is checked.
    Own,
}

/// Says what to do about a name that is none of these.
fn remedy<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known)
        .map_or("declare it in [[param]]".to_owned(), |best| format!("did you mean `{best}`?"))
}

#[derive(Debug)]
pub(crate) struct Compiler {
    origin: PolicyOrigin,
    /// The policy's parameters, at their defaults.
    params: BTreeMap<String, Value>,
    pub templates: Templates,
}

impl Compiler {
    pub(crate) fn new(origin: PolicyOrigin, params: BTreeMap<String, Value>) -> Self {
        let environment = environment().clone();
        Self {
            origin,
            params,
            templates: Templates { environment, templates: Vec::new(), figures: Vec::new() },
        }
    }

    /// Compiles a template, which may use only known names. The error has its line in the template, 1-based.
    pub(crate) fn template(&mut self, source: &str) -> Result<Template, (usize, String)> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        if source.contains(SLOT) {
            return Err((1, "a template cannot hold a NUL".to_owned()));
        }
        if self.origin == PolicyOrigin::Own {
            bounds::check_template(&self.params, source, syntax())?;
        }
        let Templates { environment, templates, .. } = &mut self.templates;
        let name = templates.len().to_string();
        let wrong = |error: minijinja::Error| (error.line().unwrap_or(1), describe(&error));
        environment.add_template_owned(name.clone(), source.to_owned()).map_err(wrong)?;
        if self.origin == PolicyOrigin::Own {
            let mentioned = environment.get_template(&name).map_err(wrong)?.undeclared_variables(false);
            let is_unknown =
                |name: &&String| !self.params.contains_key(*name) && !NAMES.contains(&name.as_str());
            if let Some(name) = mentioned.iter().filter(is_unknown).min() {
                let line = source.lines().position(|line| line.contains(name.as_str()));
                let known = self.params.keys().map(String::as_str).chain(NAMES.iter().copied());
                let words = format!("there is no figure or parameter `{name}`; {}", remedy(name, known));
                return Err((line.map_or(1, |at| at + 1), words));
            }
        }
        templates.push(CompiledTemplate { name, ..CompiledTemplate::default() });
        Ok(Template(templates.len() - 1))
    }

    pub(crate) fn number(&mut self, number: u64) -> Figure {
        self.push(CompiledFigure::Number(number))
    }

    fn push(&mut self, figure: CompiledFigure) -> Figure {
        self.templates.figures.push(figure);
        Figure(self.templates.figures.len() - 1)
    }

    /// Compiles an expression, which may use only parameters.
    pub(crate) fn figure(&mut self, source: &str) -> Result<Figure, String> {
        #[cfg(test)]
        COMPILED.set(COMPILED.get() + 1);
        if self.origin == PolicyOrigin::Own {
            bounds::check_expression(&self.params, source)?;
        }
        let compiled = environment().compile_expression_owned(source.to_owned());
        let compiled = compiled.map_err(|error| describe(&error))?;
        if self.origin == PolicyOrigin::Own {
            let used = compiled.undeclared_variables(false);
            if let Some(name) = used.iter().filter(|name| !self.params.contains_key(*name)).min() {
                let remedy = remedy(name, self.params.keys().map(String::as_str));
                return Err(format!("there is no parameter `{name}`; {remedy}"));
            }
            let params = self.params.iter().map(|(name, value)| (name.as_str(), scope::variable(value)));
            scope::whole(source, compiled.eval(minijinja::Value::from(BTreeMap::from_iter(params))))?;
        }
        let (source, compiled) = (source.to_owned(), Box::new(compiled));
        Ok(self.push(CompiledFigure::Expression { source, compiled }))
    }

    pub(crate) fn place(&mut self, template: &Template, key: &str, at: usize) {
        self.templates.templates[template.0].place = (key.to_owned(), at);
    }
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) if error.kind() == minijinja::ErrorKind::SyntaxError => {
            format!("cannot be read: {}", detail.replace("unexpected end of input", "it ends too early"))
        }
        Some(detail) if error.kind() == minijinja::ErrorKind::UndefinedError => {
            format!("{detail}; leave it out, or keep by a strategy that tells it")
        }
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
