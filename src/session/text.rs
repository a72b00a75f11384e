//! The texts of results: decoded from the records piece by piece in bounded memory, and masked where they leave the records.

use std::borrow::Cow;
use std::io;
use std::sync::LazyLock;

use regex::Regex;

use super::json::Decoder;
use super::model::{RecordSpan, TextPiece};
use super::transcript::Transcript;

/// The longest result that is shown, searched or compared, in bytes.
pub const MAX_RESULT: usize = 16 << 20;

/// How many bytes of the records are read at once.
const CHUNK: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// The length in UTF-8 bytes.
    pub bytes: u64,
    /// How many characters are U+FFFD in place of invalid text in the records.
    pub replaced: u64,
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
            TextPiece::Json(span) => {
                // Without the quotes.
                let inside = span.part(1, span.len().saturating_sub(2));
                facts.replaced += decoded(transcript, inside, Decoder::default(), &mut counted)?;
            }
            TextPiece::Raw(span) => {
                facts.replaced += decoded(transcript, *span, Decoder::plain_text(), &mut counted)?;
            }
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

/// Returns how many characters stand for invalid text.
fn decoded(
    transcript: &Transcript,
    span: RecordSpan,
    mut decoder: Decoder,
    take: &mut dyn FnMut(&str) -> bool,
) -> io::Result<u64> {
    let mut done = 0;
    while done < span.len() {
        let part = span.part(done, (span.len() - done).min(CHUNK));
        let bytes = transcript.read(part, CHUNK)?;
        if bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the record is shorter than it was"));
        }
        done += bytes.len() as u64;
        decoder.push(&bytes, take);
    }
    Ok(decoder.finish(take))
}

const MASK: &str = "[masked]";

/// Forms of keys and tokens that services use, and values that are named as secret.
const SECRETS: &str = r#"(?x)
    -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)
  | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}
  | \b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}
  | \bgh[pousr]_[A-Za-z0-9]{20,}
  | \bgithub_pat_[A-Za-z0-9_]{20,}
  | \bglpat-[A-Za-z0-9_-]{16,}
  | \bxox[abeoprs]-[A-Za-z0-9-]{10,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \bAIza[A-Za-z0-9_-]{30,}
  | \bya29\.[A-Za-z0-9_-]{20,}
  | \bnpm_[A-Za-z0-9]{30,}
  | \bhf_[A-Za-z0-9]{20,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
"#;

/// A value after a name that says it is secret: the name stays.
const NAMED: &str = r#"(?xi)
    ( \b[a-z0-9_-]*(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)[a-z0-9_-]*
      ["']?\s*[:=]\s*["']? | \bauthorization:\s*(?:bearer|basic|token)\s+ | ://[^\s/:@]+: )
    ( [^\s"',;@&]{6,} )
"#;

static FORMS: LazyLock<Option<(Regex, Regex)>> =
    LazyLock::new(|| Some((Regex::new(SECRETS).ok()?, Regex::new(NAMED).ok()?)));

/// Replaces what looks like a secret. It may miss some: masked text may still hold secrets.
pub fn mask(text: &str) -> Cow<'_, str> {
    let Some((secrets, named)) = &*FORMS else { return Cow::Borrowed(MASK) };
    let masked = secrets.replace_all(text, MASK);
    match named.replace_all(&masked, format!("${{1}}{MASK}")) {
        Cow::Borrowed(_) => masked,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_text_that_looks_like_a_secret() {
        for (text, masked) in [
            ("key sk-abcdefghijklmnop1234 end", "key [masked] end"),
            ("ghp_abcdefghijklmnopqrstuvwx", "[masked]"),
            ("AKIAIOSFODNN7EXAMPLE", "[masked]"),
            ("API_KEY=abcdef123456 make", "API_KEY=[masked] make"),
            (r#"{"password": "hunter22"}"#, r#"{"password": "[masked]"}"#),
            ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [masked]"),
            ("https://user:secret1@host/", "https://user:[masked]@host/"),
            ("-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\nafter", "[masked]\nafter"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn other_text_is_not_masked() {
        for text in ["make all", "token count: 12", "task-management", "the password is short: abc", "10:30"]
        {
            assert_eq!(mask(text), text);
        }
    }
}
