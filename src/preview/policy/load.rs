//! Turns a policy file into a policy: everything is compiled and checked here, and nothing later.

use toml::Spanned;

use crate::fs::plain_file::{few, few_words};
use crate::preview::cap::Cap;
use crate::preview::limits::Limits;
use crate::preview::refuse::Refuse;
use crate::preview::section::{self, Fault, Keys, Section};
use crate::preview::strategy::Keep;
use crate::preview::template::Compiler;

use super::param::Param;
use super::rules::{PolicyFile, Rules, Texts, Variant};
use super::schema::{PolicySchema, VariantSchema};
use super::{Policy, PolicyError};

/// Maximum number of parameters, and of variants: each template is checked against all of them.
const MOST_TABLES: usize = 100;

/// The file that is being read, for errors.
struct Source<'a> {
    text: &'a str,
    path: &'a str,
}

impl Source<'_> {
    fn error(&self, at: usize, lines: usize, key: Option<String>, message: String) -> PolicyError {
        let line = self.text[..at.min(self.text.len())].matches('\n').count() + 1 + lines;
        let (key, message) = (key.map(|key| few_words(&key)), few_words(&message));
        PolicyError::Invalid { file: self.path.to_owned(), line, key, message }
    }

    /// Returns an error at byte `at`; the key is the one whose value contains that byte.
    fn at(&self, at: usize, message: String) -> PolicyError {
        let line = self.text[..at.min(self.text.len())].matches('\n').count();
        let key = self.text.lines().nth(line).and_then(|line| {
            let (key, _) = line.split_once('=')?;
            Some(key.rsplit(['{', ',']).next().unwrap_or(key).trim().to_owned())
        });
        self.error(at, 0, key, message)
    }

    fn fault(&self, fault: Fault) -> PolicyError {
        // The text of a template begins on the line below if its opening quotes end the line.
        let is_below = self.text.get(fault.at..).is_some_and(|value| value.starts_with("\"\"\"\n"));
        let lines = fault.line.map_or(0, |line| line.saturating_sub(1) + usize::from(is_below));
        self.error(fault.at, lines, Some(fault.key), fault.message)
    }
}

/// Parses a policy file and checks all of it: keys, parameters, figures and templates.
pub(super) fn parse(text: &str, path: &str) -> Result<Policy, PolicyError> {
    let source = Source { text, path };
    let schema: PolicySchema = toml::from_str(text)
        .map_err(|error| source.at(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    for (name, count) in [("param", schema.params.len()), ("variant", schema.variants.len())] {
        few(name, count, MOST_TABLES).map_err(|message| source.at(0, message))?;
    }
    let mut params = Vec::new();
    for param in &schema.params {
        let read = Param::from_schema(param.get_ref());
        params.push(read.map_err(|message| source.at(param.span().start, message))?);
    }
    let file = compile(schema, params).map_err(|fault| source.fault(fault))?;
    Ok(Policy::new(file, text))
}

fn compile(schema: PolicySchema, params: Vec<Param>) -> Result<PolicyFile, Fault> {
    let mut compiler =
        Compiler::new(params.iter().map(|param| (param.name.clone(), param.default.clone())).collect());
    let empty = Spanned::new(0..0, Section::default());
    let (when, text) = (schema.when.as_ref().unwrap_or(&empty), schema.text.as_ref().unwrap_or(&empty));
    let rules = Rules {
        limits: read(when, "`[when]`", &mut compiler, Limits::read)?,
        keep: read(&schema.keep, "`[keep]`", &mut compiler, Keep::read)?,
        texts: read(text, "`[text]`", &mut compiler, Texts::read)?,
    };
    let refuse = read_any(&schema.refuse, "`[refuse]`", &mut compiler, Refuse::read)?;
    let reads = schema.reads.as_ref().map(|reads| section::figure(reads, "reads", &compiler)).transpose()?;
    let cap = read_any(&schema.cap, "`[cap]`", &mut compiler, Cap::read)?;
    let variants = schema.variants.iter().map(|variant| read_variant(variant, &mut compiler));
    let variants = variants.collect::<Result<_, _>>()?;
    Ok(PolicyFile { schema, params, templates: compiler.finish(), rules, refuse, reads, cap, variants })
}

fn read_variant(schema: &VariantSchema, compiler: &mut Compiler) -> Result<Variant, Fault> {
    let VariantSchema { tools, defaults, lines, unit, .. } = schema.clone();
    Ok(Variant {
        tools,
        defaults,
        lines,
        unit,
        limits: read_any(&schema.when, "`[variant.when]`", compiler, Limits::read)?,
        keep: read_any(&schema.keep, "`[variant.keep]`", compiler, Keep::read)?,
        texts: read_any(&schema.text, "`[variant.text]`", compiler, Texts::read)?,
    })
}

fn read<T>(
    section: &Spanned<Section>,
    owner: &str,
    compiler: &mut Compiler,
    read: impl FnOnce(&mut Keys) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut keys = Keys::new(section, owner, compiler);
    let value = read(&mut keys)?;
    keys.finish()?;
    Ok(value)
}

fn read_any<T>(
    section: &Option<Spanned<Section>>,
    owner: &str,
    compiler: &mut Compiler,
    table: impl FnOnce(&mut Keys) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    section.as_ref().map(|section| read(section, owner, compiler, table)).transpose()
}
