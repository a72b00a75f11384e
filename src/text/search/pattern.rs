//! Patterns that match within lines, compiled so that no match can contain a line feed.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ast::{self, Ast, ClassSetItem};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};

use crate::text::ansi::{self, ESC};
use crate::text::supply::OwnBytes;
use crate::text::utf16::{self, ByteOrder};

use super::escapes;
use super::needle::{Needle, PATIENCE, Sighting, rare_byte};
use super::severity::{self, Severity};

/// Maximum nesting depth of the form without line feeds: slightly deeper than what can be typed.
const NEST_LIMIT: u32 = 1000;

/// A compiled pattern: smart case (a capital letter makes it case-sensitive), `^` and `$` match at line ends.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    hir: Hir,
    pub(super) regex: Regex,
    /// What every match contains, if that can be found faster than the pattern.
    pub(super) needle: Option<Needle>,
    /// A byte that every match contains, in its two cases.
    rare: Option<[u8; 2]>,
    /// The form for lines with escape sequences, from the first such line on; `None` if that is too large.
    through_escapes: OnceLock<Option<Regex>>,
    /// What it finds, if lines of JSON count by their level.
    severity: Option<Severity>,
    /// The order of the UTF-16 in which it finds text.
    utf16: Option<ByteOrder>,
    /// Whether a match goes on to the end of its line: a line has one at most.
    pub(super) is_to_line_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct PatternError {
    /// What is wrong, in one line, without the pattern.
    pub why: String,
    /// The position in the pattern, in characters (0-based), if known.
    pub at: Option<usize>,
}

impl PatternError {
    fn new(why: impl ToString, text: &str, span: &ast::Span) -> Self {
        let before = text.get(..span.start.offset).unwrap_or(text);
        Self { why: why.to_string(), at: Some(before.chars().count()) }
    }

    /// Says what is wrong, and where: `unclosed group at column 4`.
    pub fn describe(&self) -> String {
        match self.at {
            Some(at) => format!("{} at column {}", self.why, at + 1),
            None => self.why.clone(),
        }
    }
}

impl Pattern {
    /// Compiles `text` (syntax of the `regex` crate). An explicit line feed is an error; one that a class such as `\s`
    /// or `[^x]` would allow is removed from the class.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        Self::in_text(text, None)
    }

    /// Compiles `text` to match in UTF-16 of an order, or else in UTF-8.
    ///
    /// # Errors
    /// `text` is not a pattern, or has something that cannot be searched for in UTF-16.
    pub fn in_text(text: &str, utf16: Option<ByteOrder>) -> Result<Self, PatternError> {
        let ast = ast::parse::Parser::new()
            .parse(text)
            .map_err(|error| PatternError::new(error.kind(), text, error.span()))?;
        let letters = ast::visit(&ast, Letters::default())
            .map_err(|span| PatternError::new("a match cannot span lines", text, &span))?;
        let hir = TranslatorBuilder::new()
            .multi_line(true)
            .utf8(false)
            .case_insensitive(!letters.capital)
            .build()
            .translate(text, &ast)
            .map_err(|error| PatternError::new(error.kind(), text, error.span()))?;
        let hir = match utf16 {
            Some(order) => utf16::encoded(within_lines(hir), order)
                .map_err(|what| PatternError { why: format!("no search for {what} in UTF-16"), at: None })?,
            None => within_lines(hir),
        };
        let regex = compiled(&hir)
            .ok_or_else(|| PatternError { why: "it is too large to search with".to_owned(), at: None })?;
        Ok(Self {
            text: text.to_owned(),
            needle: Needle::longest(&hir),
            rare: rare_byte(&hir),
            hir,
            regex,
            through_escapes: OnceLock::new(),
            severity: None,
            utf16,
            is_to_line_end: false,
        })
    }

    /// Compiles `text` so that a match goes on to the end of its line: a line has one at most.
    ///
    /// # Errors
    /// If `text` is not a pattern, or matches empty text, and with it every line.
    pub fn to_line_end(text: &str) -> Result<Self, PatternError> {
        let own = Self::new(text)?;
        if own.regex.is_match(b"") {
            return Err(PatternError { why: "it matches every line".to_owned(), at: None });
        }
        Ok(Self { is_to_line_end: true, ..own })
    }

    /// Compiles a built-in pattern, which matches no empty text, like [`Pattern::to_line_end`]; JSON counts by its level.
    pub(super) fn for_severity(text: &str, severity: Severity) -> Result<Self, PatternError> {
        Ok(Self { severity: Some(severity), is_to_line_end: true, ..Self::new(text)? })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn same(&self, other: &Pattern) -> bool {
        self.text == other.text
    }

    /// Returns the non-empty matches in whole lines, in order; each lies within one line.
    pub fn in_lines<'a>(&'a self, lines: impl Into<OwnBytes<'a>>) -> impl Iterator<Item = Range<usize>> + 'a {
        self.find_from(lines, 0)
    }

    /// Returns the non-empty matches that start at or after `at`, in order; what precedes `at` counts for `^` and `\b`.
    pub fn find_from<'a>(
        &'a self,
        bytes: impl Into<OwnBytes<'a>>,
        at: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let own = bytes.into();
        let bytes = own.as_slice();
        let mut sieve = Sieve::new(self, bytes);
        let (mut part, mut regex) = (at..at, &self.regex);
        std::iter::from_fn(move || {
            loop {
                while part.start < part.end {
                    let Some(found) = regex.find_at(&bytes[..part.end], part.start) else { break };
                    if !self.is_aligned(own, found.range()) {
                        part.start = found.start() + 1;
                        continue;
                    }
                    let rest = &bytes[found.end()..part.end];
                    let mut found = found.range();
                    if self.is_to_line_end {
                        found.end += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    }
                    part.start = found.end + usize::from(found.is_empty());
                    let by_level = |severity| severity::is_by_level(severity, bytes, &found);
                    if !found.is_empty() && self.severity.is_none_or(by_level) {
                        return Some(found);
                    }
                }
                (part, regex) = sieve.next(part.end)?;
            }
        })
    }

    /// Returns, of whole lines, those with a match, even an empty one, in order, each with its line feed.
    pub fn lines_in<'a>(
        &'a self,
        bytes: OwnBytes<'a>,
        lines: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let bytes = bytes.part(0..lines.end.min(bytes.len()));
        let mut sieve = Sieve::new(self, bytes.as_slice());
        let (mut part, mut regex) = (lines.start..lines.start, &self.regex);
        std::iter::from_fn(move || {
            loop {
                if !part.is_empty()
                    && let Some(at) = self.certain(regex, bytes.part(0..part.end), part.start)
                {
                    let start = sieve.line_start(part.start, at);
                    part.start = sieve.line_end(at);
                    return Some(start..part.start);
                }
                (part, regex) = sieve.next(part.end)?;
            }
        })
    }

    /// Returns the offset at or after `at` by which a match, even an empty one, is certain; the match is in the same line.
    pub fn certain_at(&self, bytes: OwnBytes, at: usize) -> Option<usize> {
        let is_plain = self.is_as_it_stands() || memchr::memchr(ESC, &bytes[at..]).is_none();
        if is_plain {
            return self.certain(&self.regex, bytes, at);
        }
        self.may_be_in(&bytes).then(|| self.certain(self.through_escapes(), bytes, at))?
    }

    fn certain(&self, regex: &Regex, bytes: OwnBytes, at: usize) -> Option<usize> {
        let found = match self.utf16 {
            None => regex.shortest_match_at(&bytes, at)?,
            Some(_) => {
                let mut starts = at..bytes.len() + 1;
                let found = std::iter::from_fn(|| {
                    let found = regex.find_at(&bytes, starts.next()?)?;
                    starts.start = found.start() + 1;
                    Some(found.range())
                });
                found.into_iter().find(|found| self.is_aligned(bytes, found.clone()))?.end
            }
        };
        // After the last line feed there is no line.
        (found < bytes.len() || bytes.last() != Some(&b'\n')).then_some(found)
    }

    /// Whether escape sequences are text to it like any other: the built-in patterns allow for them where they occur.
    fn is_as_it_stands(&self) -> bool {
        self.severity.is_some() || self.utf16.is_some()
    }

    /// Whether bytes with escape sequences may have a match. The form through these takes the start of a sequence for the end
    /// of a word, even where the word goes on after it.
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        let has_match = |bytes: &[u8]| self.regex.is_match(bytes);
        !self.hir.properties().look_set().contains_word()
            || has_match(bytes)
            || has_match(&ansi::stripped(bytes))
    }

    /// Returns what finds matches in lines with escape sequences, as if these were not there.
    fn through_escapes(&self) -> &Regex {
        let through = self.through_escapes.get_or_init(|| compiled(&escapes::pass_through(&self.hir)));
        through.as_ref().unwrap_or(&self.regex)
    }

    /// Whether a match in UTF-16 begins and ends between characters, as far as is known where in the file the bytes stand.
    /// At the start and the end of a line, one may take in half of the line feed.
    fn is_aligned(&self, bytes: OwnBytes, found: Range<usize>) -> bool {
        let edge = match self.utf16 {
            None => return true,
            Some(ByteOrder::Little) => found.end,
            Some(ByteOrder::Big) => found.start,
        };
        bytes.offset().is_none_or(|offset| (offset + edge) % 2 == 0)
    }
}

fn compiled(hir: &Hir) -> Option<Regex> {
    RegexBuilder::new(&hir.to_string()).nest_limit(NEST_LIMIT).build().ok()
}

/// Divides bytes into the parts that may have a match: what the needle finds, and lines with escape sequences.
struct Sieve<'a> {
    pattern: &'a Pattern,
    bytes: &'a [u8],
    patience: usize,
    /// The next part to search as it is.
    plain: Range<usize>,
    /// The next line to search through its escape sequences.
    coloured: Range<usize>,
}

impl<'a> Sieve<'a> {
    fn new(pattern: &'a Pattern, bytes: &'a [u8]) -> Self {
        Self { pattern, bytes, patience: PATIENCE, plain: 0..0, coloured: 0..0 }
    }

    /// Returns the next bytes to search at or after `from`, and with what: from there or the start of a line to the end of a
    /// line, including its line feed, so that everything that surrounds a match is included.
    fn next(&mut self, from: usize) -> Option<(Range<usize>, &'a Regex)> {
        if self.coloured.end <= from {
            self.coloured = self.next_coloured(from);
        }
        if self.plain.end <= from {
            self.plain = self.next_plain(from);
        }
        let plain = self.plain.start.max(from)..self.plain.end.min(self.coloured.start);
        if !plain.is_empty() {
            return Some((plain, &self.pattern.regex));
        }
        let coloured = self.coloured.clone();
        (!coloured.is_empty()).then(|| (coloured, self.pattern.through_escapes()))
    }

    fn next_plain(&mut self, from: usize) -> Range<usize> {
        let len = self.bytes.len();
        let Some(needle) = &self.pattern.needle else { return from.min(len)..len };
        match needle.find(self.bytes, from.min(len), &mut self.patience) {
            Sighting::Nowhere => len..len,
            Sighting::TooOften(at) => self.line_start(from, at)..len,
            Sighting::At(at) => self.line_start(from, at)..self.line_end(at),
        }
    }

    /// Returns the next line with an escape sequence that may have a match: it has the byte that every match contains.
    fn next_coloured(&self, from: usize) -> Range<usize> {
        let len = self.bytes.len();
        let mut at = if self.pattern.is_as_it_stands() { len } else { from.min(len) };
        while let Some(escape) = memchr::memchr(ESC, &self.bytes[at..]) {
            let line = self.line_start(from, at + escape)..self.line_end(at + escape);
            let rare = self.pattern.rare.map(|[byte, other]| {
                memchr::memchr2(byte, other, &self.bytes[line.start..]).map(|rare| line.start + rare)
            });
            // What precedes `from` counts, too.
            let whole = self.line_start(0, line.start)..line.end;
            at = match rare {
                Some(None) => break,
                Some(Some(rare)) if !line.contains(&rare) => self.line_start(line.end, rare),
                _ if self.pattern.may_be_in(&self.bytes[whole]) => return line,
                _ => line.end,
            }
        }
        len..len
    }

    /// Returns where the line of `at` starts, or `from` if that is later.
    fn line_start(&self, from: usize, at: usize) -> usize {
        from + memchr::memrchr(b'\n', &self.bytes[from..at]).map_or(0, |feed| feed + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |feed| at + feed + 1)
    }
}

/// Looks for capital letters, which make a pattern case-sensitive, and for a line feed outside a class.
#[derive(Default)]
struct Letters {
    capital: bool,
}

impl Letters {
    fn see(&mut self, literal: &ast::Literal) {
        self.capital |= literal.c.is_uppercase();
    }
}

impl ast::Visitor for Letters {
    type Output = Self;
    type Err = ast::Span;

    fn finish(self) -> Result<Self, ast::Span> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ast::Span> {
        match ast {
            Ast::Literal(literal) if literal.c == '\n' => return Err(literal.span),
            Ast::Literal(literal) => self.see(literal),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ast::Span> {
        match item {
            ClassSetItem::Literal(literal) => self.see(literal),
            ClassSetItem::Range(range) => {
                self.see(&range.start);
                self.see(&range.end);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Rewrites a pattern to match within lines: no line feed, start and end of the text are those of the line, which may end
/// with CR LF, no groups.
fn within_lines(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End | Look::EndLF) => {
            // A CR before the line feed is not shown, so it is no reason for a match to fail.
            Hir::concat(vec![utf16::optional(Hir::literal(*b"\r")), Hir::look(Look::EndLF)])
        }
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(mut repetition) => {
            let sub = std::mem::replace(&mut *repetition.sub, Hir::empty());
            *repetition.sub = within_lines(sub);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => within_lines(*capture.sub),
        HirKind::Concat(subs) => Hir::concat(subs.into_iter().map(within_lines).collect()),
        HirKind::Alternation(subs) => Hir::alternation(subs.into_iter().map(within_lines).collect()),
    }
}
