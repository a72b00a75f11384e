//! All policies by name; each is parsed only when asked for.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use crate::fs::plain_file::{self, few, few_words};
use crate::preview::template;

use super::param::Param;
use super::schema::{Figure, FigureForm, KeepForm, PolicyForm, TextForm, WhenForm};
use super::{Policy, PolicyError};

/// The policies compiled in, as (name, TOML): every file of `assets/policies`.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// Policy files by name; a person's own win over those built in.
#[derive(Debug, Clone)]
pub struct Catalog {
    files: BTreeMap<String, File>,
}

#[derive(Debug, Clone)]
struct File {
    text: String,
    /// What errors call it.
    path: String,
    own: bool,
}

impl Catalog {
    /// The policies that ship with the program.
    pub fn builtin() -> Self {
        let files = BUILTIN.iter().map(|(name, text)| {
            let file = File { text: (*text).to_owned(), path: format!("built-in {name}"), own: false };
            ((*name).to_owned(), file)
        });
        Self { files: files.collect() }
    }

    /// Adds every `*.toml` of a directory; a missing directory has none. Each takes the name that it states inside
    /// and wins over a built-in one. Good files are added even when another is at fault.
    ///
    /// # Errors
    /// The first file that cannot be read or used, with its line and key.
    pub fn load_dir(&mut self, directory: &Path) -> Result<(), PolicyError> {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(directory, &error)),
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        let mut first = Ok(());
        for path in paths {
            first = first.and(self.load_file(&path));
        }
        first
    }

    fn load_file(&mut self, path: &Path) -> Result<(), PolicyError> {
        let text = plain_file::read(path).map_err(|error| unreadable(path, &error))?;
        // A shell makes the file before `overspill policies NAME >FILE` has printed anything.
        if text.is_empty() {
            return Ok(());
        }
        let shown = path.display().to_string();
        let policy = parse(&text, &shown)?;
        self.files.insert(policy.name().to_owned(), File { text, path: shown, own: true });
        Ok(())
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// A policy with its parameters at their defaults.
    ///
    /// # Errors
    /// There is none of that name (the error lists those there are), or its file is at fault.
    pub fn get(&self, name: &str) -> Result<Policy, PolicyError> {
        let Some(file) = self.files.get(name) else {
            let known = self.names().map(str::to_owned).collect();
            return Err(PolicyError::Unknown { name: few_words(name), known });
        };
        parse(&file.text, &file.path)
    }

    /// A policy's file, as written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(|file| file.text.as_str())
    }

    /// Whether a policy is a person's own file.
    pub fn is_own(&self, name: &str) -> bool {
        self.files.get(name).is_some_and(|file| file.own)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> PolicyError {
    PolicyError::Read { file: path.display().to_string(), message: error.to_string() }
}

/// Most parameters, and most variants: each template is checked against all of them.
const MOST_TABLES: usize = 100;

/// Where in a file something is wrong, for its error.
struct Fault<'a> {
    text: &'a str,
    path: &'a str,
}

impl Fault<'_> {
    /// An error at byte `at`, `lines` further down; the key is the one whose value holds that byte.
    fn at(&self, at: usize, lines: usize, message: String) -> PolicyError {
        let before = &self.text[..at.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let key = self.text.lines().nth(line - 1).and_then(|line| {
            let (key, _) = line.split_once('=')?;
            Some(few_words(key.rsplit(['{', ',']).next().unwrap_or(key).trim()))
        });
        let message = few_words(&message);
        PolicyError::Form { file: self.path.to_owned(), line: line + lines, key, message }
    }
}

impl Policy {
    /// Reads a policy from the text of a policy file and checks all of it: parameters, figures and templates.
    ///
    /// # Errors
    /// [`PolicyError::Form`] with the line and the key; the file's name is `policy`.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        parse(text, "policy")
    }

    /// The policy of this name (`agent/tool`) that ships with overspill.
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] lists those that there are.
    pub fn builtin(name: &str) -> Result<Self, PolicyError> {
        Catalog::builtin().get(name)
    }
}

/// Reads a policy file and checks all of it: parameters, figures and templates.
fn parse(text: &str, path: &str) -> Result<Policy, PolicyError> {
    let fault = Fault { text, path };
    let form: PolicyForm = toml::from_str(text).map_err(|error| {
        fault.at(error.span().map_or(0, |span| span.start), 0, error.message().to_owned())
    })?;
    for (name, count) in [("param", form.params.len()), ("variant", form.variants.len())] {
        few(name, count, MOST_TABLES).map_err(|message| fault.at(0, 0, message))?;
    }
    let mut params = Vec::new();
    for param in &form.params {
        let read = Param::from_form(param.get_ref());
        params.push(read.map_err(|message| fault.at(param.span().start, 0, message))?);
    }
    let policy = Policy::new(form, params);
    check(&policy, &fault)?;
    Ok(policy)
}

fn check(policy: &Policy, fault: &Fault) -> Result<(), PolicyError> {
    let form = policy.form();
    check_tables(policy, fault, Some(&form.when), Some(&form.keep), Some(&form.text))?;
    if let Some(refuse) = &form.refuse {
        check_figure(policy, fault, &refuse.sample)?;
        check_figure(policy, fault, &refuse.controls)?;
        check_template(policy, fault, &refuse.words)?;
    }
    if let Some(reads) = &form.reads {
        check_figure(policy, fault, reads)?;
    }
    if let Some(cap) = &form.cap {
        check_figure(policy, fault, &cap.over)?;
        check_figure(policy, fault, &cap.size)?;
        check_template(policy, fault, &cap.notice)?;
    }
    for variant in &form.variants {
        check_tables(policy, fault, variant.when.as_ref(), variant.keep.as_ref(), variant.text.as_ref())?;
    }
    Ok(())
}

fn check_tables(
    policy: &Policy,
    fault: &Fault,
    when: Option<&WhenForm>,
    keep: Option<&KeepForm>,
    text: Option<&TextForm>,
) -> Result<(), PolicyError> {
    let figures = when.into_iter().flat_map(|when| [&when.lines, &when.size, &when.also_size, &when.raw]);
    let figures = figures.chain(keep.into_iter().flat_map(KeepForm::figures));
    for figure in figures.flatten() {
        check_figure(policy, fault, figure)?;
    }
    let templates = text.into_iter().flat_map(|text| [&text.whole, &text.cut, &text.together]);
    let templates = templates.chain(
        keep.into_iter()
            .flat_map(|keep| [&keep.number, &keep.past_end, &keep.gap, &keep.before, &keep.after]),
    );
    for template in templates.flatten() {
        check_template(policy, fault, template)?;
    }
    if let Some(remove) = keep.and_then(|keep| keep.remove.as_ref()) {
        let broken = |error| fault.at(remove.span().start, 0, error);
        plain_file::regex(remove.get_ref()).map_err(broken)?;
    }
    Ok(())
}

fn check_figure(policy: &Policy, fault: &Fault, figure: &Figure) -> Result<(), PolicyError> {
    let FigureForm::Expression(expression) = figure.get_ref() else { return Ok(()) };
    template::check_figure(policy, expression).map_err(|message| fault.at(figure.span().start, 0, message))
}

fn check_template(policy: &Policy, fault: &Fault, template: &Spanned<String>) -> Result<(), PolicyError> {
    template::check_template(policy, template.get_ref()).map_err(|(line, message)| {
        let opening = fault.text[template.span().start..].starts_with("\"\"\"\n");
        fault.at(template.span().start, line.saturating_sub(1) + usize::from(opening), message)
    })
}
