//! Keys, pastes and sizes against whole screens, over outputs of every kind.
#![no_main]

mod common;
mod safe;

use std::path::PathBuf;

use common::bench::{Bench, policy};
use common::samples::{build_log, hostile};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use overspill::internals::tui::app::{Event, Message};
use ratatui::buffer::Buffer;
use safe::is_safe;
use tempfile::TempDir;

/// No sequence is longer; more of one run finds less than more runs.
const MAX_EVENTS: usize = 120;

const POLICIES: [&str; 9] = [
    "opencode/output",
    "opencode/read",
    "opencode/shell",
    "claude-code/bash",
    "pi/bash",
    "basic/smart",
    "basic/stdout-stderr",
    "t15/output",
    "copilot-cli/tool",
];

const NAMED: [KeyCode; 14] = [
    KeyCode::Tab,
    KeyCode::Enter,
    KeyCode::Esc,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::F(5),
];

thread_local! {
    static HOME: TempDir = home();
}

fn outputs() -> [Vec<u8>; 6] {
    [
        Vec::new(),
        build_log(2500),
        hostile().repeat(8),
        vec![b'x'; 200 << 10],
        "e\u{301}\u{202e}\u{200d}👩\u{200d}👧\u{e0041}".repeat(3000).into_bytes(),
        (0..=255).cycle().take(40_000).collect(),
    ]
}

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (number, output) in outputs().into_iter().enumerate() {
        std::fs::write(home.path().join(format!("output-{number}")), output).unwrap();
    }
    home
}

fuzz_target!(|data: &[u8]| {
    let _ = HOME.with(|home| all(Unstructured::new(data), home.path().to_owned()));
});

fn all(mut data: Unstructured, home: PathBuf) -> Result<()> {
    let size = size(&mut data)?;
    let mut bench = match data.int_in_range(0..=7)? {
        6 | 7 => Bench::new(size),
        number => Bench::open(size, &home.join(format!("output-{number}")), policy(data.choose(&POLICIES)?)),
    };
    for step in 0..MAX_EVENTS {
        if data.is_empty() {
            break;
        }
        let event = event(&mut data)?;
        let effects = bench.update(event);
        bench.carry_out(effects);
        if step % 4 == 0 {
            assert_safe(&bench.draw().0);
        }
    }
    assert_safe(&bench.draw().0);
    Ok(())
}

fn size(data: &mut Unstructured) -> Result<(u16, u16)> {
    Ok((data.arbitrary::<u8>()?.into(), u16::from(data.arbitrary::<u8>()?) % 64))
}

fn event(data: &mut Unstructured) -> Result<Event> {
    Ok(match data.arbitrary::<u8>()? {
        0..4 => {
            let (width, height) = size(data)?;
            Event::Resize(width, height)
        }
        4..8 => Event::Paste(String::from_utf8_lossy(data.arbitrary()?).into_owned()),
        8 => Event::Message(Message::note("a word from a worker")),
        9..14 => Event::Key(KeyEvent::new(KeyCode::Char(data.arbitrary()?), KeyModifiers::NONE)),
        14..24 => Event::Key(KeyEvent::new(KeyCode::Char(ascii(data)?), KeyModifiers::CONTROL)),
        24..80 => Event::Key(KeyEvent::new(*data.choose(&NAMED)?, KeyModifiers::NONE)),
        _ => Event::Key(KeyEvent::new(KeyCode::Char(ascii(data)?), KeyModifiers::NONE)),
    })
}

fn ascii(data: &mut Unstructured) -> Result<char> {
    Ok(char::from(data.int_in_range(b' '..=b'~')?))
}

fn assert_safe(buffer: &Buffer) {
    for cell in buffer.content() {
        assert!(is_safe(cell.symbol()) && cell.symbol().len() <= 32, "{:?}", cell.symbol());
    }
}
