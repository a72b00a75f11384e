//! Regular expressions that agents use on what they keep.

use std::ops::Range;

use regex::bytes::{Captures, Regex};
use serde::Deserialize;

use crate::base::fs::plain_file;
use crate::text::supply::OwnBytes;

/// A regular expression that searches nothing but bytes of our own: the output's may change at any moment.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Expression(Regex);

impl Expression {
    pub(crate) fn new(source: &str) -> Result<Self, regex::Error> {
        Regex::new(source).map(Self)
    }

    /// Returns the first match that starts at or after `at`.
    pub(crate) fn find_at(&self, bytes: OwnBytes, at: usize) -> Option<Range<usize>> {
        self.0.find_at(bytes.as_slice(), at).map(|found| found.range())
    }

    pub(crate) fn find_all(&self, bytes: OwnBytes) -> Vec<Range<usize>> {
        self.0.find_iter(bytes.as_slice()).map(|found| found.range()).collect()
    }

    pub(crate) fn captures<'a>(&self, bytes: OwnBytes<'a>) -> Option<Captures<'a>> {
        self.0.captures(bytes.as_slice())
    }
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(source: String) -> Result<Self, String> {
        plain_file::regex(&source).map(Self)
    }
}
