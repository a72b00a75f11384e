//! Agents' records made up for measuring: the same bytes every time, of any length, in the form of Claude Code 2.1.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What tools print, as it stands in a JSON string: code, JSON in JSON, paths, a log with colours.
const TEXTS: &[&str] = &[
    r#"     1→use std::fmt;\n     2→\n     3→/// A value of a record.\n     4→pub struct Value<'a> {\n     5→    bytes: &'a [u8],\n     6→}\n"#,
    r#"{\"name\":\"left-pad\",\"version\":\"1.3.0\",\"dependencies\":{\"a\":\"^2.0.1\",\"b\":\"~0.4\"},\"scripts\":{\"test\":\"node test\"}}\n"#,
    r#"src/main.rs:17:5: error[E0382]: borrow of moved value: `names`\n   |\n17 |     names.push(\"x\");\n   |     ^^^^^ value borrowed here after move\n"#,
    r#"\u001b[32mPASS\u001b[0m tests/unit/index.test.ts (5.123 s)\n  ✓ reads a record (12 ms)\n  ✓ says \"no\" to another (3 ms)\n"#,
    r#"drwxr-xr-x  2 user user     4096 Nov 22 05:49 node_modules\n-rw-r--r--  1 user user    60894 Nov 22 05:49 package-lock.json\n"#,
    r#"The build takes 12 s, of which 9 s are spent in one test. The test waits for a port that nobody opens, so it is best to drop it.\n"#,
];

/// A row of numbers that look random, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// A length: mostly small, seldom up to `most` bytes.
    fn length(&mut self, most: u64) -> u64 {
        let part = self.below(1000) + 1;
        most * part * part * part / 1_000_000_000
    }
}

/// Writes one session of about `len` bytes.
pub fn write(out: &mut impl Write, session: &str, len: u64, seed: u64) -> io::Result<()> {
    let mut numbers = Numbers(seed);
    let (mut done, mut turn, mut line) = (0, 0_u64, String::new());
    // Sessions whose first records have one id would be taken for copies of each other.
    let ids = RecordIds { first: seed << 32 };
    while done < len {
        line.clear();
        one_turn(&mut line, session, turn, &ids, &mut numbers);
        out.write_all(line.as_bytes())?;
        done += line.len() as u64;
        turn += 1;
    }
    out.flush()
}

/// A prompt now and then; then a thought, a call, its result twice (for the model and for the screen), and a side note.
fn one_turn(out: &mut String, session: &str, turn: u64, ids: &RecordIds, numbers: &mut Numbers) {
    let common = |n: u64| {
        let (uuid, parent) = (ids.of(turn, n), ids.parent(turn, n));
        let (minutes, seconds) = (turn / 60 % 60, turn % 60);
        format!(
            r#""parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/home/u/proj","sessionId":"{session}","version":"2.1.330","gitBranch":"main","uuid":"{uuid}","timestamp":"2026-11-22T05:{minutes:02}:{seconds:02}.{n:03}Z""#
        )
    };
    if has_prompt(turn) {
        let words = text(numbers, 600);
        out.push_str(&format!(
            "{{{},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n",
            common(0)
        ));
    }
    let usage = r#""usage":{"input_tokens":4,"cache_creation_input_tokens":1200,"cache_read_input_tokens":54000,"output_tokens":310}"#;
    let thought = text(numbers, 3000);
    out.push_str(&format!(
        "{{{},\"message\":{{\"id\":\"msg_{turn:020}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{{\"type\":\"text\",\"text\":\"{thought}\"}}],{usage}}},\"type\":\"assistant\"}}\n",
        common(1)
    ));
    let command = text(numbers, 400);
    out.push_str(&format!(
        "{{{},\"message\":{{\"id\":\"msg_{turn:020}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{turn:024}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{command}\"}}}}],{usage}}},\"requestId\":\"req_{turn:024}\",\"type\":\"assistant\"}}\n",
        common(2)
    ));
    let printed = text(numbers, 30_000);
    out.push_str(&format!(
        "{{{},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{turn:024}\",\"type\":\"tool_result\",\"content\":\"{printed}\",\"is_error\":false}}]}},\"toolUseResult\":{{\"stdout\":\"{printed}\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}},\"sourceToolAssistantUUID\":\"{}\"}}\n",
        common(3),
        ids.of(turn, 2)
    ));
    let note = text(numbers, 2000);
    out.push_str(&format!(
        "{{{},\"type\":\"attachment\",\"attachment\":{{\"type\":\"diagnostics\",\"text\":\"{note}\"}}}}\n",
        common(4)
    ));
}

fn has_prompt(turn: u64) -> bool {
    turn.is_multiple_of(20)
}

/// The ids of a session's records.
struct RecordIds {
    first: u64,
}

impl RecordIds {
    /// The id of record `n` of a turn.
    fn of(&self, turn: u64, n: u64) -> String {
        uuid(self.first + turn * 8 + n)
    }

    /// The id of the record before record `n` of a turn, as JSON: each follows the one before it.
    fn parent(&self, turn: u64, n: u64) -> String {
        let last = || turn.checked_sub(1).map(|turn| self.of(turn, 4));
        let before = match n {
            0 => last(),
            1 if !has_prompt(turn) => last(),
            n => Some(self.of(turn, n - 1)),
        };
        before.map_or("null".to_owned(), |before| format!("\"{before}\""))
    }
}

fn text(numbers: &mut Numbers, most: u64) -> String {
    let len = numbers.length(most) as usize;
    let mut text = String::with_capacity(len + 200);
    while text.len() < len {
        text.push_str(TEXTS[numbers.below(TEXTS.len() as u64) as usize]);
    }
    text
}

fn uuid(n: u64) -> String {
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{n:012x}",
        mixed >> 32,
        mixed >> 16 & 0xFFFF,
        mixed >> 4 & 0xFFF,
        mixed & 0xFFF
    )
}

/// Writes `count` sessions below a home directory, of up to 200 KB each, the youngest changed just now.
pub fn write_home(home: &Path, count: u64) -> io::Result<()> {
    let now = SystemTime::now();
    for n in 0..count {
        let project = home.join(format!(".claude/projects/-home-u-proj{}", n % 50));
        fs::create_dir_all(&project)?;
        let (session, mut numbers) = (uuid(n << 20), Numbers(n));
        let file = File::create(project.join(format!("{session}.jsonl")))?;
        let len = 2_000 + numbers.length(200_000);
        write(&mut BufWriter::new(&file), &session, len, n)?;
        let age = Duration::from_secs(60) * (n.wrapping_mul(2_654_435_761) % count) as u32;
        file.set_modified(now - age)?;
    }
    Ok(())
}
