//! What a pane shows: a document, made of ranges of the file and of text that is not in it, joined end to end.

use std::ops::Range;

use crate::preview::{Input, Part, Preview, Stream};

/// What the bytes of a chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Bytes of the output, unchanged.
    Kept,
    /// Other text in place of bytes of the output.
    Changed,
    /// Text that the agent added.
    Notice,
    /// overspill's own words: within a notice, `…` for a figure that is still being counted; among facts, their names.
    Own,
}

impl Class {
    /// Whether it belongs to a notice.
    pub fn is_notice(self) -> bool {
        matches!(self, Self::Notice | Self::Own)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Range(Stream, Range<usize>),
    Text(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) class: Class,
    pub(crate) body: Body,
    /// The range of the output that the chunk shows or replaces; `None` for a notice.
    stands_for: Option<(Stream, Range<usize>)>,
    /// The offset of its start in the document, in bytes.
    pub(crate) start: u64,
}

impl Chunk {
    /// Whether its bytes are those of the range for which it stands.
    fn is_range(&self) -> bool {
        matches!(self.body, Body::Range(..))
    }
}

/// A document: chunks joined end to end. Positions are byte offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doc {
    pub(crate) chunks: Vec<Chunk>,
    len: u64,
}

impl Doc {
    /// Creates a document of the first `len` bytes of the output.
    pub fn file(len: usize) -> Self {
        let mut doc = Self::default();
        if len > 0 {
            doc.push(Class::Kept, Body::Range(Stream::Stdout, 0..len), Some((Stream::Stdout, 0..len)));
        }
        doc
    }

    /// Creates a document of texts that are in no output, joined.
    pub(crate) fn of(texts: impl IntoIterator<Item = (Class, Vec<u8>)>) -> Self {
        let mut doc = Self::default();
        texts.into_iter().for_each(|(class, text)| doc.push(class, Body::Text(text), None));
        doc
    }

    /// Creates a document of a preview: kept parts as ranges of the output, all others as text.
    pub fn preview(preview: &Preview, input: &Input) -> Self {
        let mut doc = Self::default();
        for part in &preview.parts {
            match part {
                Part::Kept { source, range, .. } => {
                    let stands_for = Some((*source, range.clone()));
                    doc.push(Class::Kept, Body::Range(*source, range.clone()), stands_for);
                }
                Part::Changed { source, range, .. } => {
                    let text = part.text(input).into_bytes();
                    doc.push(Class::Changed, Body::Text(text), Some((*source, range.clone())));
                }
                Part::Notice { text } => doc.push(Class::Notice, Body::Text(text.clone().into_bytes()), None),
                Part::Counting => doc.push(Class::Own, Body::Text(part.text(input).into_bytes()), None),
            }
        }
        doc
    }

    /// Sets notices off that are ranges of the document in bytes, in order: where the document is all that is left of an
    /// output, and the agent's own words are among it.
    pub(crate) fn with_notices(self, notices: &[Range<usize>]) -> Self {
        let mut doc = Self::default();
        for chunk in &self.chunks {
            let (start, end) = (chunk.start as usize, self.end_of_chunk(chunk) as usize);
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

    fn end_of_chunk(&self, chunk: &Chunk) -> u64 {
        chunk.start + self.length_of(chunk)
    }

    /// Adds a part of a chunk of another document.
    fn push_part(&mut self, chunk: &Chunk, class: Class, part: Range<usize>) {
        let body = match &chunk.body {
            Body::Range(stream, range) => {
                Body::Range(*stream, range.start + part.start..range.start + part.end)
            }
            Body::Text(text) => Body::Text(text.get(part.clone()).unwrap_or_default().to_vec()),
        };
        let stands_for = match (&body, &chunk.stands_for) {
            (Body::Range(stream, range), Some(_)) => Some((*stream, range.clone())),
            (_, stands_for) => stands_for.clone(),
        };
        self.push(class, body, stands_for);
    }

    fn push(&mut self, class: Class, body: Body, stands_for: Option<(Stream, Range<usize>)>) {
        let len = match &body {
            Body::Range(_, range) => range.len(),
            Body::Text(text) => text.len(),
        };
        if len > 0 {
            self.chunks.push(Chunk { class, body, stands_for, start: self.len });
            self.len += len as u64;
        }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the document has no bytes.
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

    /// Returns the class of the byte at `at`.
    pub fn class_at(&self, at: u64) -> Class {
        self.chunks.get(self.chunk_at(at)).map_or(Class::Kept, |chunk| chunk.class)
    }

    /// Iterates over the pieces of `range`, in order, each with its class.
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

    /// Returns the offset in the output that belongs to a position. For a notice, that is the cut: the end of what was
    /// kept before it, or else the start of what is kept after it.
    pub fn to_file(&self, at: u64) -> usize {
        let n = self.chunk_at(at);
        let Some(chunk) = self.chunks.get(n) else { return 0 };
        if let Some(offset) = standing(chunk, at) {
            return offset;
        }
        let on_stdout = |chunk: &Chunk| match &chunk.stands_for {
            Some((Stream::Stdout, range)) => Some(range.clone()),
            _ => None,
        };
        let before = self.chunks[..n].iter().rev().find_map(on_stdout).map(|range| range.end);
        let after = || self.chunks[n..].iter().find_map(on_stdout).map(|range| range.start);
        before.or_else(after).unwrap_or(0)
    }

    /// Returns the offset in the output of the byte at a position, if it is one of the output's own, unchanged.
    pub fn kept_at(&self, at: u64) -> Option<usize> {
        let chunk = self.chunks.get(self.chunk_at(at)).filter(|chunk| chunk.class == Class::Kept)?;
        standing(chunk, at)
    }

    /// Returns the position that shows an offset of the output. Inside a gap, that is the notice that stands for the
    /// gap.
    pub fn from_file(&self, offset: usize) -> u64 {
        let mut gap = 0;
        for chunk in &self.chunks {
            match &chunk.stands_for {
                Some((Stream::Stdout, range)) if range.contains(&offset) => {
                    return within(chunk, range, offset);
                }
                Some((Stream::Stdout, range)) if range.start > offset => return gap,
                Some((Stream::Stdout, _)) => gap = chunk.start + self.length_of(chunk),
                _ => {}
            }
        }
        gap.min(self.len)
    }

    fn length_of(&self, chunk: &Chunk) -> u64 {
        match &chunk.body {
            Body::Range(_, range) => range.len() as u64,
            Body::Text(text) => text.len() as u64,
        }
    }

    /// Returns the ranges of the output that the document shows, in order; adjacent ranges are joined.
    pub fn shown(&self) -> Vec<Range<usize>> {
        let mut shown: Vec<Range<usize>> = Vec::new();
        for (_, range) in
            self.chunks.iter().filter_map(|c| c.stands_for.as_ref()).filter(|s| s.0 == Stream::Stdout)
        {
            match shown.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => shown.push(range.clone()),
            }
        }
        shown
    }
}

fn standing(chunk: &Chunk, at: u64) -> Option<usize> {
    match &chunk.stands_for {
        Some((Stream::Stdout, range)) => {
            let into = (at - chunk.start) as usize;
            Some(if chunk.is_range() { range.start + into } else { range.start })
        }
        _ => None,
    }
}

fn within(chunk: &Chunk, range: &Range<usize>, offset: usize) -> u64 {
    if chunk.is_range() { chunk.start + (offset - range.start) as u64 } else { chunk.start }
}

#[cfg(test)]
pub(crate) mod tests;
