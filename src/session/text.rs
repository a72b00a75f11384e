//! The texts of results: decoded from the records piece by piece, in bounded memory.

use std::io;

use super::json::Decoder;
use super::model::{RecordSpan, TextPiece};
use super::transcript::Transcript;

/// How many bytes of the records are read at once.
const CHUNK: u64 = 1 << 20;

/// What a decoded text is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// The length in UTF-8 bytes.
    pub bytes: u64,
    /// How many characters are U+FFFD in place of invalid text in the records.
    pub replaced: u64,
    /// The number of images, which have no text.
    pub images: u64,
    /// Whether `take` stopped before the end.
    pub is_stopped: bool,
}

/// Hands a text to `take`, piece by piece, as long as that returns true.
pub fn decode(
    transcript: &Transcript,
    pieces: &[TextPiece],
    take: &mut dyn FnMut(&str) -> bool,
) -> io::Result<TextFacts> {
    let mut facts = TextFacts::default();
    for piece in pieces {
        let mut counted = |text: &str| {
            facts.bytes += text.len() as u64;
            let goes_on = take(text);
            facts.is_stopped |= !goes_on;
            goes_on
        };
        match piece {
            TextPiece::Image => facts.images += 1,
            TextPiece::Added(text) => drop(counted(text)),
            TextPiece::Json(span) => facts.replaced += json(transcript, *span, &mut counted)?,
            TextPiece::Raw(span) => raw(transcript, *span, &mut counted)?,
        }
        if facts.is_stopped {
            break;
        }
    }
    Ok(facts)
}

/// Returns a text of at most `most` bytes; a longer one is cut at a character, and `is_stopped` says so.
pub fn to_text(
    transcript: &Transcript,
    pieces: &[TextPiece],
    most: usize,
) -> io::Result<(String, TextFacts)> {
    let mut text = String::new();
    let facts = decode(transcript, pieces, &mut |piece| {
        let room = most - text.len();
        let fitting = (0..=room.min(piece.len())).rev().find(|at| piece.is_char_boundary(*at));
        text.push_str(&piece[..fitting.unwrap_or(0)]);
        fitting == Some(piece.len())
    })?;
    Ok((text, facts))
}

fn json(transcript: &Transcript, span: RecordSpan, take: &mut dyn FnMut(&str) -> bool) -> io::Result<u64> {
    // Without the quotes.
    let inside = span.part(1, span.len().saturating_sub(2));
    let mut decoder = Decoder::default();
    chunks(transcript, inside, &mut |chunk| decoder.push(chunk, take))?;
    Ok(decoder.finish(take))
}

fn raw(transcript: &Transcript, span: RecordSpan, take: &mut dyn FnMut(&str) -> bool) -> io::Result<()> {
    let (mut goes_on, mut held) = (true, Vec::new());
    chunks(transcript, span, &mut |chunk| {
        held.extend_from_slice(chunk);
        let whole = held.len() - unfinished_len(&held);
        goes_on = goes_on && take(&String::from_utf8_lossy(&held[..whole]));
        held.drain(..whole);
    })?;
    if goes_on && !held.is_empty() {
        take(&String::from_utf8_lossy(&held));
    }
    Ok(())
}

/// Returns how many bytes at the end begin a character of which the rest is to follow.
fn unfinished_len(bytes: &[u8]) -> usize {
    let len = |lead: u8| match lead {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        _ => 0,
    };
    let lasts = bytes.iter().rev().take(3).zip(1..);
    lasts.filter(|(lead, count)| len(**lead) > *count).map(|(_, count)| count).next().unwrap_or(0)
}

fn chunks(transcript: &Transcript, span: RecordSpan, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut done = 0;
    while done < span.len() {
        let part = span.part(done, (span.len() - done).min(CHUNK));
        let bytes = transcript.read(part, CHUNK)?;
        if bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the record is shorter than it was"));
        }
        done += bytes.len() as u64;
        take(&bytes);
    }
    Ok(())
}
