//! A text to read: a document, made of ranges of a file and of text that is not in it, joined end to end.

pub mod filter;
pub mod fold;
pub mod reader;
pub mod scans;
pub mod scroll;

use std::ops::Range;

use crate::preview::{Input, Part, Preview, Stream};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Kept,
    /// Other text in place of bytes of the output.
    Changed,
    Notice,
    /// overspill's own words: within a notice, `…` for a figure that is still being counted; among facts, their names.
    Own,
}

impl Class {
    pub fn is_notice(self) -> bool {
        matches!(self, Self::Notice | Self::Own)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Range(Stream, Range<usize>),
    /// Other text, and the range of the output that it replaces, if it does.
    Text(Vec<u8>, Option<(Stream, Range<usize>)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) class: Class,
    pub(crate) body: Body,
    pub(crate) start: u64,
}

impl Body {
    fn len(&self) -> usize {
        match self {
            Self::Range(_, range) => range.len(),
            Self::Text(text, _) => text.len(),
        }
    }
}

impl Chunk {
    fn end(&self) -> u64 {
        self.start + self.body.len() as u64
    }

    fn on_stdout(&self) -> Option<&Range<usize>> {
        match &self.body {
            Body::Range(Stream::Stdout, range) | Body::Text(_, Some((Stream::Stdout, range))) => Some(range),
            _ => None,
        }
    }

    /// Returns the offset in the output of the byte at a position in it; where it replaces a range, the start of that.
    fn to_file(&self, at: u64) -> Option<usize> {
        let into = if matches!(self.body, Body::Range(..)) { at - self.start } else { 0 };
        Some(self.on_stdout()?.start + into as usize)
    }
}

/// The most lines of changed text that are told apart: more than an agent gives, and each takes about 150 bytes.
const MAX_LINES: usize = 100_000;

/// Returns where the second line and those after it start in changed text, and where in the bytes that it replaces; none if
/// these have not as many, or there are too many.
fn line_starts(text: &[u8], bytes: &[u8]) -> Vec<[usize; 2]> {
    fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
        memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).filter(|at| *at < bytes.len())
    }
    let in_text: Vec<usize> = starts(text).take(MAX_LINES + 1).collect();
    // One line, which may be long, is one anyway.
    if in_text.is_empty() || in_text.len() > MAX_LINES {
        return Vec::new();
    }
    let in_bytes: Vec<usize> = starts(bytes).take(in_text.len() + 1).collect();
    let are_as_many = in_text.len() == in_bytes.len();
    let both = in_text.into_iter().zip(in_bytes).map(|(text, bytes)| [text, bytes]);
    both.filter(|_| are_as_many).collect()
}

/// A document: chunks joined end to end. Positions are byte offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doc {
    pub(crate) chunks: Vec<Chunk>,
    len: u64,
}

impl Doc {
    pub fn file(len: usize) -> Self {
        let mut doc = Self::default();
        if len > 0 {
            doc.push(Class::Kept, Body::Range(Stream::Stdout, 0..len));
        }
        doc
    }

    /// Creates a document of texts that are in no output, joined.
    pub(crate) fn from_texts(texts: impl IntoIterator<Item = (Class, Vec<u8>)>) -> Self {
        let mut doc = Self::default();
        texts.into_iter().for_each(|(class, text)| doc.push(class, Body::Text(text, None)));
        doc
    }

    /// Creates a document of a preview: kept parts as ranges of the output, all others as text.
    pub fn preview(preview: &Preview, input: &Input) -> Self {
        let mut doc = Self::default();
        for part in &preview.parts {
            let text = || part.text(input).into_bytes();
            match part {
                Part::Kept { source, range, .. } => {
                    doc.push(Class::Kept, Body::Range(*source, range.clone()));
                }
                Part::Changed { source, range, .. } => {
                    let (text, bytes) = (text(), &input.stream(*source).bytes[range.clone()]);
                    let mut from = [0, 0];
                    for to in line_starts(&text, bytes).into_iter().chain([[text.len(), bytes.len()]]) {
                        let replaced = range.start + from[1]..range.start + to[1];
                        let line = text[from[0]..to[0]].to_vec();
                        doc.push(Class::Changed, Body::Text(line, Some((*source, replaced))));
                        from = to;
                    }
                }
                Part::Notice { .. } => doc.push(Class::Notice, Body::Text(text(), None)),
                Part::Counting => doc.push(Class::Own, Body::Text(text(), None)),
            }
        }
        doc
    }

    /// Sets off notices, ranges in bytes, in order: where the document is all that is left of an output.
    pub(crate) fn with_notices(self, notices: &[Range<usize>]) -> Self {
        let mut doc = Self::default();
        for chunk in &self.chunks {
            let (start, end) = (chunk.start as usize, chunk.end() as usize);
            let mut at = start;
            for notice in notices.iter().filter(|notice| notice.start < end && notice.end > start) {
                let notice = notice.start.max(at)..notice.end.min(end);
                doc.push_part(chunk, chunk.class, at - start..notice.start - start);
                doc.push_part(chunk, Class::Notice, notice.start - start..notice.end - start);
                at = notice.end;
            }
            doc.push_part(chunk, chunk.class, at - start..end - start);
        }
        doc
    }

    fn push_part(&mut self, chunk: &Chunk, class: Class, part: Range<usize>) {
        let body = match &chunk.body {
            Body::Range(stream, range) => {
                Body::Range(*stream, range.start + part.start..range.start + part.end)
            }
            Body::Text(text, replaced) => {
                Body::Text(text.get(part).unwrap_or_default().to_vec(), replaced.clone())
            }
        };
        self.push(class, body);
    }

    fn push(&mut self, class: Class, body: Body) {
        let len = body.len();
        if len > 0 {
            self.chunks.push(Chunk { class, body, start: self.len });
            self.len += len as u64;
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over the starts of notices, in order; adjacent notices count as one.
    pub fn notices(&self) -> impl Iterator<Item = u64> + '_ {
        let is_notice = |n: usize| self.chunks[n].class.is_notice();
        let first = move |n: &usize| is_notice(*n) && (*n == 0 || !is_notice(*n - 1));
        (0..self.chunks.len()).filter(first).map(|n| self.chunks[n].start)
    }

    pub(crate) fn chunk_at(&self, at: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.start <= at).saturating_sub(1)
    }

    pub(crate) fn end_of(&self, chunk: usize) -> u64 {
        self.chunks.get(chunk + 1).map_or(self.len, |next| next.start)
    }

    pub fn class_at(&self, at: u64) -> Class {
        self.chunks.get(self.chunk_at(at)).map_or(Class::Kept, |chunk| chunk.class)
    }

    pub fn classes(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, Class)> + '_ {
        let first = self.chunk_at(range.start);
        self.chunks[first.min(self.chunks.len())..]
            .iter()
            .enumerate()
            .take_while(move |(_, chunk)| chunk.start < range.end)
            .map(move |(n, chunk)| {
                let run = chunk.start.max(range.start)..self.end_of(first + n).min(range.end);
                (run, chunk.class)
            })
    }

    /// Returns the offset in the output that belongs to a position: for a notice the cut, the end of what was kept.
    pub fn to_file(&self, at: u64) -> usize {
        let n = self.chunk_at(at);
        let Some(chunk) = self.chunks.get(n) else { return 0 };
        let before = || self.chunks[..n].iter().rev().find_map(Chunk::on_stdout).map(|range| range.end);
        let after = || self.chunks[n..].iter().find_map(Chunk::on_stdout).map(|range| range.start);
        chunk.to_file(at).or_else(before).or_else(after).unwrap_or(0)
    }

    /// Returns the offset in the output of the byte at a position, if it is one of the output's own, unchanged.
    pub fn kept_at(&self, at: u64) -> Option<usize> {
        self.chunks.get(self.chunk_at(at)).filter(|chunk| chunk.class == Class::Kept)?.to_file(at)
    }

    /// Returns the offset in the output of the line at a position, if that is one of the output's own, also if changed.
    pub(crate) fn line_at(&self, at: u64) -> Option<usize> {
        let chunk = self.chunks.get(self.chunk_at(at)).filter(|chunk| !chunk.class.is_notice())?;
        let is_line = match &chunk.body {
            Body::Text(text, _) => memchr::memchr(b'\n', text).is_none_or(|feed| feed + 1 == text.len()),
            Body::Range(..) => true,
        };
        is_line.then(|| chunk.to_file(at)).flatten()
    }

    /// Returns the position that shows an offset of the output: inside a gap, that of the notice that stands for it.
    pub fn from_file(&self, offset: usize) -> u64 {
        let mut gap = 0;
        for chunk in &self.chunks {
            match chunk.on_stdout() {
                Some(range) if range.contains(&offset) => {
                    let is_range = matches!(chunk.body, Body::Range(..));
                    return chunk.start + if is_range { (offset - range.start) as u64 } else { 0 };
                }
                Some(range) if range.start > offset => return gap,
                Some(_) => gap = chunk.end(),
                None => {}
            }
        }
        gap.min(self.len)
    }
}

#[cfg(test)]
pub(crate) mod tests;
