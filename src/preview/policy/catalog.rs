//! All policies by name; each is parsed only when asked for.

use std::collections::BTreeMap;
use std::path::Path;

use crate::fs::plain_file::{self, few_words};

use super::load::parse;
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

impl Policy {
    /// Reads a policy from the text of a policy file and checks all of it: parameters, figures and templates.
    ///
    /// # Errors
    /// [`PolicyError::Invalid`] with the line and the key; the file's name is `policy`.
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
