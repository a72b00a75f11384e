//! Turns a policy file into a policy, where all of it is compiled and checked, and nothing later; and a policy back into a
//! file, with other defaults.

use toml::Spanned;

use crate::base::fs::plain_file::ellipsize;
use crate::base::toml_check::{Mistake, Spot};
use crate::preview::limits::{Cap, Limits, Refuse};
use crate::preview::policy::param::{Param, keys};
use crate::preview::policy::schema::{FILE, PolicySchema, VariantSchema};
use crate::preview::policy::{Policy, PolicyError};
use crate::preview::section::{self, Fault, Keys, Section};
use crate::preview::strategy::Keep;
#[cfg(feature = "app")]
use crate::preview::template::Value;
use crate::preview::template::{Compiler, Figure, PolicyOrigin, Template, Templates};

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
    pub schema: VariantSchema,
    pub limits: Option<Limits>,
    pub keep: Option<Keep>,
    pub texts: Option<Texts>,
}

/// The templates of what the model reads.
#[derive(Debug)]
pub(crate) struct Texts {
    pub whole: Template,
    pub cut: Template,
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

pub(super) struct PolicySource<'a> {
    pub text: &'a str,
    pub path: &'a str,
}

impl PolicySource<'_> {
    fn error(&self, mistake: Mistake) -> PolicyError {
        let Mistake { spot: Spot { line, column }, key, words, .. } = mistake;
        let (key, message) = (key.map(|key| ellipsize(&key)), ellipsize(&words));
        PolicyError::Invalid { file: self.path.to_owned(), line, column, key, message }
    }

    pub(super) fn at(&self, at: usize, key: &str, words: String) -> PolicyError {
        let spot = Spot::new(self.text, at);
        self.error(Mistake { spot, key: Some(key.to_owned()), words, top: None })
    }

    fn fault(&self, fault: Fault) -> PolicyError {
        let mut spot = Spot::new(self.text, fault.at);
        if let Some(line) = fault.line {
            let line = self.first_line(fault.at) + line.saturating_sub(1);
            spot = Spot { line, column: spot.column.filter(|_| line == spot.line) };
        }
        self.error(Mistake { spot, key: Some(fault.key), words: fault.message, top: None })
    }

    /// Returns the line on which the text of a template begins: the one below if its opening quotes end the line.
    fn first_line(&self, at: usize) -> usize {
        let value = self.text.get(at..).unwrap_or_default();
        let is_below = ["\"\"\"\n", "'''\n"].iter().any(|quotes| value.starts_with(quotes));
        Spot::new(self.text, at).line + usize::from(is_below)
    }
}

#[cfg(test)]
thread_local! {
    /// How many policy files this thread has parsed: a start is to parse only what it needs.
    pub(crate) static PARSED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Parses a policy file, and checks all of a person's: keys, parameters, figures and templates.
pub(super) fn parse(text: &str, path: &str, origin: PolicyOrigin) -> Result<Policy, PolicyError> {
    #[cfg(test)]
    PARSED.set(PARSED.get() + 1);
    let source = PolicySource { text, path };
    if origin == PolicyOrigin::Own
        && let Some(first) = crate::base::toml_check::check(text, FILE).1.into_iter().next()
    {
        return Err(source.error(first));
    }
    let schema: PolicySchema = toml::from_str(text).map_err(|error| {
        source.error(Mistake::unread(Spot::new(text, error.span().map_or(0, |span| span.start))))
    })?;
    let mut params: Vec<Param> = Vec::new();
    for param in &schema.params {
        let (at, written) = (param.span().start, param.get_ref());
        let read = Param::from_schema(written, schema.unit);
        let read = read.map_err(|(key, message)| source.at(at, key, message))?;
        if let Some(name) =
            keys(&read).into_iter().find(|name| params.iter().any(|other| keys(other).contains(name)))
        {
            let words = format!("another parameter has the name `{name}`, too; give each its own");
            return Err(source.at(at, "name", words));
        }
        params.push(read);
    }
    let mut file = compile(schema, params, origin).map_err(|fault| source.fault(fault))?;
    if origin == PolicyOrigin::Own {
        file.templates
            .templates
            .iter_mut()
            .for_each(|template| template.place.1 = source.first_line(template.place.1));
    }
    Ok(Policy::new(file, text, Some(path).filter(|_| origin == PolicyOrigin::Own)))
}

fn compile(schema: PolicySchema, params: Vec<Param>, origin: PolicyOrigin) -> Result<PolicyFile, Fault> {
    let defaults = params.iter().map(|param| (param.name.clone(), param.default.clone()));
    let mut compiler = Compiler::new(origin, defaults.collect());
    let empty = Spanned::new(0..0, Section::default());
    let (when, text) = (schema.when.as_ref().unwrap_or(&empty), schema.text.as_ref().unwrap_or(&empty));
    let rules = Rules {
        limits: read(when, "`[when]`", &mut compiler, |keys| keys.read())?,
        keep: read(&schema.keep, "`[keep]`", &mut compiler, Keep::read)?,
        texts: read(text, "`[text]`", &mut compiler, Texts::read)?,
    };
    if !rules.limits.has_any() && !rules.keep.decides_itself() {
        let (at, what) = schema
            .when
            .as_ref()
            .map_or((schema.keep.span().start, "is missing"), |when| (when.span().start, "has no limit"));
        let words =
            format!("this table {what}, so nothing would ever be cut; it has `lines`, `size` or both");
        return Err(Fault { at, line: None, key: "when".to_owned(), message: words });
    }
    let refuse = read_any(&schema.refuse, "`[refuse]`", &mut compiler, |keys| keys.read())?;
    let reads =
        schema.reads.as_ref().map(|reads| section::figure(reads, "reads", &mut compiler)).transpose()?;
    let cap = read_any(&schema.cap, "`[cap]`", &mut compiler, |keys| keys.read())?;
    let variants = schema.variants.iter().map(|variant| read_variant(variant, &mut compiler));
    let variants = variants.collect::<Result<_, _>>()?;
    Ok(PolicyFile { schema, params, templates: compiler.finish(), rules, refuse, reads, cap, variants })
}

fn read_variant(schema: &VariantSchema, compiler: &mut Compiler) -> Result<Variant, Fault> {
    Ok(Variant {
        schema: schema.clone(),
        limits: read_any(&schema.when, "`[variant.when]`", compiler, |keys| keys.read())?,
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

#[cfg(feature = "app")]
impl Policy {
    /// Returns the policy's file as written, except that the values that were set are the defaults. Returns `None` if
    /// the file is in a form in which they cannot be put in place; what is returned has been read back.
    pub(crate) fn written(&self) -> Option<String> {
        let mut text = self.text.to_string();
        for (name, value) in &self.set {
            let variant = self.variant().filter(|variant| variant.schema.defaults.contains_key(name));
            text = match variant {
                Some(variant) => with_variant_default(&text, &variant.schema.tools, name, value)?,
                None => with_default(&text, name, value)?,
            };
        }
        let read = Policy::parse(&text).ok()?;
        let same = |name: &String| read.get(name) == self.get(name);
        self.params().iter().all(|param| same(&param.name)).then_some(text)
    }
}

/// Returns the text with another default in the table of a parameter.
#[cfg(feature = "app")]
fn with_default(text: &str, name: &str, value: &Value) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_table = |line: &str| line.starts_with('[');
    let key =
        |line: &str| line.split_once('=').map(|(key, rest)| (key.trim().to_owned(), rest.trim().to_owned()));
    let quoted = format!("{name:?}");
    let mut start = None;
    let mut table = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if is_table(line) {
            start = (line.trim() == "[[param]]").then_some(number);
            table.clear();
        } else if start.is_some() {
            table.extend(key(line).map(|(key, rest)| (number, key, rest)));
        }
        let next = lines.get(number + 1);
        let ends = next.is_none_or(|next| is_table(next));
        let is_it = table.iter().any(|(_, key, rest)| key == "name" && *rest == quoted);
        if ends && is_it {
            let (at, ..) = table.iter().find(|(_, key, _)| key == "default")?;
            let written = format!("default = {}", toml_of(value));
            let put = |(number, line)| if number == *at { written.as_str() } else { line };
            return Some(lines.iter().copied().enumerate().map(put).collect::<Vec<_>>().join("\n"));
        }
    }
    None
}

/// Returns the text with another default in the table of a variant, found by the tools that it is for.
#[cfg(feature = "app")]
fn with_variant_default(text: &str, tools: &[String], name: &str, value: &Value) -> Option<String> {
    let mut is_it = false;
    let mut found = false;
    let mut put = |line: &str| {
        let table = || line.parse::<toml::Table>().ok();
        if line.starts_with("tools") {
            let listed =
                table().and_then(|table| table.get("tools")?.as_array().cloned()).unwrap_or_default();
            is_it = listed.iter().map(toml::Value::as_str).eq(tools.iter().map(|tool| Some(tool.as_str())));
        }
        if !is_it || !line.starts_with("defaults") {
            return Some(line.to_owned());
        }
        (is_it, found) = (false, true);
        let mut table = table()?;
        let written = toml_of(value).parse().unwrap_or_else(|_| toml::Value::String(value.to_string()));
        let defaults = table.get_mut("defaults")?;
        defaults.as_table_mut()?.insert(name.to_owned(), written);
        Some(format!("defaults = {defaults}"))
    };
    let lines: Option<Vec<String>> = text.split('\n').map(&mut put).collect();
    lines.map(|lines| lines.join("\n")).filter(|_| found)
}

#[cfg(feature = "app")]
fn toml_of(value: &Value) -> String {
    match value {
        Value::Text(text) => toml::Value::String(text.clone()).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::preview::policy::catalog::Catalog;

    #[test]
    fn changed_limits_become_the_defaults_of_the_file() {
        let catalog = Catalog::builtin();
        let mut policy = catalog.get("opencode/output").unwrap();
        assert_eq!(policy.written().as_deref(), catalog.text("opencode/output"), "nothing was set");
        policy.set("max_lines", "3000").unwrap();
        policy.set("direction", "tail").unwrap();
        let written = policy.written().unwrap();
        assert!(written.contains("role = \"lines\"\ndefault = 3000\n"), "{written}");
        assert!(written.contains("role = \"direction\"\ndefault = \"tail\"\n"), "{written}");
        assert_eq!(written.lines().count(), catalog.text("opencode/output").unwrap().lines().count());
    }

    #[test]
    fn every_built_in_file_can_be_written_with_other_limits() {
        let catalog = Catalog::builtin();
        for name in catalog.names() {
            let mut policy = catalog.get(name).unwrap();
            let Some(lines) = policy.max_lines() else { continue };
            policy.set_max_lines(lines + 1).unwrap();
            assert!(policy.written().is_some(), "{name}");
        }
    }
}
