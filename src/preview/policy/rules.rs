//! What a policy file says, compiled: limits, strategies, templates, and what differs for some tools.

use crate::preview::cap::Cap;
use crate::preview::limits::Limits;
use crate::preview::measure::rules::LineRule;
use crate::preview::model::Unit;
use crate::preview::refuse::Refuse;
use crate::preview::section::{Fault, Keys};
use crate::preview::strategy::Keep;
use crate::preview::template::{Figure, Template, Templates};

use super::param::Param;
use super::schema::PolicySchema;

/// A policy file, compiled.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    pub schema: PolicySchema,
    pub params: Vec<Param>,
    pub templates: Templates,
    pub rules: Rules,
    pub refuse: Option<Refuse>,
    pub reads: Option<Figure>,
    pub cap: Option<Cap>,
    pub variants: Vec<Variant>,
}

/// What cuts an output.
#[derive(Debug)]
pub(crate) struct Rules {
    pub limits: Limits,
    pub keep: Keep,
    pub texts: Texts,
}

/// What differs for some values of the tool parameter.
#[derive(Debug)]
pub(crate) struct Variant {
    pub tools: Vec<String>,
    pub defaults: toml::Table,
    pub limits: Option<Limits>,
    pub keep: Option<Keep>,
    pub texts: Option<Texts>,
    pub lines: Option<LineRule>,
    pub unit: Option<Unit>,
}

/// What the model reads: templates.
#[derive(Debug)]
pub(crate) struct Texts {
    /// Of an output that was not cut.
    pub whole: Template,
    /// Of one that was.
    pub cut: Template,
    /// Of both streams.
    pub together: Option<Template>,
}

impl Texts {
    /// Without a template, what was kept is given as it is.
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        Ok(Self {
            whole: keys.template_or("whole", "{{ kept }}")?,
            cut: keys.template_or("cut", "{{ kept }}")?,
            together: keys.optional_template("together")?,
        })
    }

    /// Whether any of them names a figure.
    pub(crate) fn mention(&self, name: &str) -> bool {
        [&self.whole, &self.cut].into_iter().chain(&self.together).any(|template| template.mentions(name))
    }
}
