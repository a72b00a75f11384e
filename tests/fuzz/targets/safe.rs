//! What may reach a terminal, for every target: nothing that acts on it, nothing that cannot be seen.

use overspill::internals::text::cells::is_plain;

/// Whether `text` holds no control, bidi, tag or invisible character; joiners and variation selectors only in emoji.
pub fn is_safe(text: &str) -> bool {
    let emoji = |c: char| matches!(c as u32, 0xa9..=0xae | 0x203c..=0x3299 | 0x1f000..=0x1faff | 0xfe0f);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let kept = match c {
            '\u{200d}' => emoji(before) && emoji(next),
            '\u{fe0e}' | '\u{fe0f}' => emoji(before) || next == '\u{20e3}',
            _ => !c.is_control() && is_plain(c),
        };
        if !kept {
            return false;
        }
        before = c;
    }
    true
}
