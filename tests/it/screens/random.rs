//! Random keys, sizes and outputs from fixed seeds: no panic, and nothing but safe characters on the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overspill::internals::tui::app::{Event, Message};
use ratatui::buffer::Buffer;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::rng::Rng;
use crate::common::samples::{build_log, hostile};

/// Number of key sequences, and keys per sequence.
const SEQUENCES: u64 = 40;
const KEYS: usize = 40;

/// Keys that have a meaning somewhere, and some that have none.
const CHARS: &str =
    "abcdfghjklnopqrsuvwxyzCDFGKNOQRSTUW0123456789+-<>[]{}/?:'*=.,|&\u{1f600}\u{301}é \t\u{1b}";

const NAMED: [KeyCode; 14] = [
    KeyCode::Tab,
    KeyCode::Enter,
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
    KeyCode::F(5),
];

pub(super) fn key(rng: &mut Rng) -> KeyEvent {
    let chars: Vec<char> = CHARS.chars().collect();
    let code = if rng.below(3) == 0 { rng.choose(&NAMED) } else { KeyCode::Char(rng.choose(&chars)) };
    let modifiers = if rng.below(12) == 0 { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
    KeyEvent::new(code, modifiers)
}

pub(super) fn size(rng: &mut Rng) -> (u16, u16) {
    let (width, height) = rng.choose(&[(1, 1), (200, 60), (200, 60), (80, 24), (141, 9)]);
    (1 + rng.below(width) as u16, 1 + rng.below(height) as u16)
}

pub(super) fn event(rng: &mut Rng) -> Event {
    let words = ["\u{202e}a\tb\u{1b}[31m\r\n", "2001 500", "(", "err", "\u{0}\u{9b}31m"];
    match rng.below(20) {
        0 => {
            let (width, height) = size(rng);
            Event::Resize(width, height)
        }
        1 => Event::Paste(rng.choose(&words).to_owned()),
        2 => Event::Message(Message::note("a word from a worker")),
        _ => Event::Key(key(rng)),
    }
}

/// Whether a character must never reach a terminal: controls, and what reorders or hides text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
}

#[track_caller]
pub(super) fn assert_safe(buffer: &Buffer) {
    for cell in buffer.content() {
        assert!(!cell.symbol().chars().any(is_unsafe), "{:?}", cell.symbol());
        assert!(cell.symbol().len() <= 32, "{:?}", cell.symbol());
    }
}

pub(super) fn outputs() -> [Vec<u8>; 6] {
    [
        Vec::new(),
        build_log(2500),
        hostile().repeat(8),
        vec![b'x'; 200 << 10],
        "e\u{301}\u{202e}\u{200d}👩\u{200d}👧\u{e0041}".repeat(3000).into_bytes(),
        (0..=255).cycle().take(40_000).collect(),
    ]
}

#[test]
fn random_keys_do_no_harm() {
    let home = Home::new();
    let policies =
        ["opencode/output", "opencode/read", "claude-code/bash", "pi/bash", "basic/smart", "t15/output"];
    for (number, output) in outputs().into_iter().enumerate() {
        home.file(&format!("output-{number}"), output);
    }
    for seed in 1..=SEQUENCES {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let path = home.at(&format!("output-{}", rng.below(6)));
        let mut bench = Bench::open(size(&mut rng), &path, policy(rng.choose(&policies)));
        for step in 0..KEYS {
            let effects = bench.update(event(&mut rng));
            bench.carry_out(effects);
            if step % 3 == 0 {
                assert_safe(&bench.draw().0);
            }
        }
        assert_safe(&bench.draw().0);
    }
}
