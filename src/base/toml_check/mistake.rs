//! A mistake in a file that a person wrote: where it is, and what to write instead.

use std::fmt;
use std::ops::Range;

use crate::base::fs::plain_file::ellipsize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// The line, 1-based.
    pub line: usize,
    /// The column in characters, 1-based; `None` if unknown.
    pub column: Option<usize>,
}

impl Spot {
    pub(crate) fn new(text: &str, at: usize) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column: Some(column) }
    }
}

impl fmt::Display for Spot {
    /// Formats as `3:14`, or `3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Some(column) => write!(f, "{}:{column}", self.line),
            None => write!(f, "{}", self.line),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub spot: Spot,
    pub key: Option<String>,
    /// What is wrong and what is allowed, as a continuation of the key.
    pub words: String,
    /// The key at the top of the file that it lies under; `None` if the file cannot be read at all.
    pub top: Option<String>,
}

impl Mistake {
    /// Describes what no rule foresaw: something here cannot be read.
    pub(crate) fn unread(spot: Spot) -> Self {
        Self {
            spot,
            key: None,
            words: "this cannot be read; compare it with the documentation".to_owned(),
            top: None,
        }
    }
}

impl fmt::Display for Mistake {
    /// Formats as ``3:14: `key`: words``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{}: `{}`: {}", self.spot, ellipsize(key), self.words),
            None => write!(f, "{}: {}", self.spot, self.words),
        }
    }
}

/// Describes text that is not TOML.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Mistake {
    let span = error.span().unwrap_or(0..0);
    Mistake {
        spot: Spot::new(text, span.start),
        key: None,
        words: explain(text, &span, error.message()),
        top: None,
    }
}

/// What the parser says, and what a person can do about it; the first whose beginning fits counts.
const SYNTAX: &[(&str, &str)] = &[
    ("string values must be quoted", "text stands in quotes: key = \"text\""),
    ("key with no value", "a key needs a value: key = \"text\""),
    ("missing value", "the value is missing after `=`"),
    ("missing assignment", "`=` is missing between the key and its value"),
    ("extra `=`", "there is one `=` too many"),
    ("extra assignment", "there is one `=` too many"),
    ("unquoted keys cannot be empty", "the key before `=` is missing"),
    ("invalid unquoted key", "a key of other characters than letters, digits, - and _ stands in quotes"),
    ("invalid basic string", "the text has no closing quote on this line"),
    ("invalid literal string", "the text has no closing quote on this line"),
    ("invalid multi-line", "the text has no closing quotes"),
    ("unclosed array table", "the name of the table is not closed; write [[name]]"),
    ("unclosed table", "the name of the table is not closed; write [name]"),
    ("unclosed array", "the list is not closed with `]`"),
    ("unclosed inline table", "the table is not closed with `}`"),
    ("missing comma", "a comma or the closing bracket is missing"),
    ("extra comma", "there is one comma too many"),
    ("duplicate key", "this is here twice; leave one out"),
    ("recursion limit", "the dotted key has too many parts (too much recursion)"),
    ("cannot recurse", "lists or tables are nested too deeply (too much recursion)"),
    (
        "missing escaped value",
        "a backslash in \"...\" stands before an escape, such as \\n; write \\\\, or use '...'",
    ),
    ("too few unicode", "\\u takes four hexadecimal digits, and \\U eight"),
    ("unexpected leading zero", "a number does not start with 0"),
];

fn explain(text: &str, span: &Range<usize>, message: &str) -> String {
    let known = SYNTAX.iter().find(|(start, _)| message.starts_with(start));
    let shown = text.get(span.clone()).and_then(|text| text.lines().next()).unwrap_or_default().trim();
    let shown: String = shown.chars().take(30).collect();
    match known {
        Some(("string values must be quoted", _)) if shown.is_empty() => {
            "not TOML: the value is missing after `=`".to_owned()
        }
        Some((_, words)) if shown.is_empty() => format!("not TOML: {words}"),
        Some((_, words)) => format!("not TOML at `{shown}`: {words}"),
        None if shown.is_empty() => "not TOML; lines are key = value or [table]".to_owned(),
        None => format!("not TOML at `{shown}`; lines are key = value or [table]"),
    }
}
