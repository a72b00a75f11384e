//! The texts of a report are decoded while it is written, and no text of it is ever held whole.

use std::io;

use super::*;

/// Remembers the longest piece written, and all of them.
#[derive(Default)]
struct Pieces {
    longest: usize,
    all: Vec<u8>,
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.longest = self.longest.max(bytes.len());
        self.all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a report, and checks its texts; returns the longest piece that was written.
fn written(name: &str, set: &[(&str, &str)], bytes: &[u8]) -> usize {
    let (policy, input) = (policy(name, set), Input::from_bytes(bytes, "/P"));
    let preview = plan_counted(&input, &policy).unwrap();
    let mut pieces = Pieces::default();
    let (preview, input, policy, certainty) = (&preview, &input, &policy, Certainty::WouldGet);
    let report = Report { preview, input, policy: Some(policy), certainty, limits_from: "", store: &[] };
    serde_json::to_writer(&mut pieces, &report).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&pieces.all).unwrap();
    assert!(report["text"] == preview.text(input), "{name}");
    let texts =
        report["parts"].as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap().to_owned());
    assert!(texts.eq(preview.parts.iter().map(|part| part.text(input))), "{name}");
    pieces.longest
}

#[test]
fn streaming_writes_the_same_texts_as_the_preview() {
    let bytes = b"caf\xc3\xa9 \xff\x1b[1m\"x\"\n".repeat(9_000);
    for name in ["crush/bash", "opencode/output", "claude-code/bash", "codex/exec", "opencode/read"] {
        written(name, &[], &bytes);
    }
}

#[test]
fn a_long_text_is_written_in_pieces() {
    let bytes = "\u{20ac}".repeat(1 << 20);
    let longest = written("crush/bash", &[("max_cells", "9999999")], bytes.as_bytes());
    assert!(longest <= 1 << 20, "{longest} of {}", bytes.len());
}
