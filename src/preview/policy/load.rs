//! Turns a policy file into a policy, all of it compiled and checked; and a policy back into a file, with other defaults.

use toml::Spanned;

use crate::base::fs::plain_file::ellipsize;
use crate::base::toml_check::{Mistake, Spot, check_whole};
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
    pub limits: Limits,
    pub keep: Keep,
    pub texts: Texts,
    pub refuse: Option<Refuse>,
    pub reads: Option<Figure>,
    pub cap: Option<Cap>,
    pub variants: Vec<Variant>,
}

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
        self.fault(Fault { at, line: None, key: key.to_owned(), message: words })
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
    if origin == PolicyOrigin::Own {
        check_whole(text, FILE).map_err(|mistake| source.error(mistake))?;
    }
    let schema = toml::from_str(text).map_err(|error| source.error(Mistake::unread(text, &error)));
    let schema: PolicySchema = schema?;
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
    let limits: Limits = read(when, "`[when]`", &mut compiler, |keys| keys.read())?;
    let keep = read(&schema.keep, "`[keep]`", &mut compiler, Keep::read)?;
    let texts = read(text, "`[text]`", &mut compiler, Texts::read)?;
    if !limits.has_any() && !keep.decides_itself {
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
    Ok(PolicyFile {
        schema,
        params,
        templates: compiler.templates,
        limits,
        keep,
        texts,
        refuse,
        reads,
        cap,
        variants,
    })
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
    /// Returns the policy's file with the values that were set as defaults; `None` if that does not read back as it should.
    pub(crate) fn written(&self) -> Option<String> {
        let places = self.set.iter().map(|(name, value)| {
            let varied = self.variant().and_then(|variant| variant.schema.defaults.get(name));
            let plain = || self.file.schema.params.iter().find(|param| param.get_ref().name == *name);
            let default = varied.or_else(|| Some(&plain()?.get_ref().default))?;
            Some((default.span(), value))
        });
        let mut places = places.collect::<Option<Vec<_>>>()?;
        places.sort_by_key(|(place, _)| place.start);
        let mut text = self.text.to_string();
        for (place, value) in places.into_iter().rev() {
            let written = match value {
                Value::Text(text) => toml::Value::String(text.clone()).to_string(),
                other => other.to_string(),
            };
            text.replace_range(place, &written);
        }
        let read = Policy::parse(&text).ok()?;
        let same = |name: &String| read.get(name) == self.get(name);
        self.params().iter().all(|param| same(&param.name)).then_some(text)
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
