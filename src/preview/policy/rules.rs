//! The compiled content of a policy file: limits, strategies, templates, and variants for some tools.

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

#[derive(Debug)]
pub(crate) struct Rules {
    pub limits: Limits,
    pub keep: Keep,
    pub texts: Texts,
}

/// The differences for some values of the tool parameter.
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

/// The templates of what the model reads.
#[derive(Debug)]
pub(crate) struct Texts {
    /// For an output that was not cut.
    pub whole: Template,
    /// For an output that was cut.
    pub cut: Template,
    /// For both streams together.
    pub together: Option<Template>,
}

impl Texts {
    /// What was not cut is passed on unchanged by default.
    pub(crate) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        Ok(Self {
            whole: keys.template_or("whole", "{{ kept }}")?,
            cut: keys.field("cut")?,
            together: keys.field("together")?,
        })
    }

    /// Whether any of them uses a figure.
    pub(crate) fn mention(&self, name: &str, templates: &Templates) -> bool {
        let all = [&self.whole, &self.cut].into_iter().chain(&self.together);
        all.into_iter().any(|template| templates.mention(template, name))
    }
}
