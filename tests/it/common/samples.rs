//! Sample outputs, the same on every machine.

/// The path that notices print.
pub const SAVED_AS: &str = "/home/me/.local/share/opencode/tool-output/tool_c8d4f08d5001AbCdEfGhIjKlMn";

/// A coloured build log of this many lines, with an error on the last but 21st.
pub fn build_log(lines: usize) -> Vec<u8> {
    let mut log = Vec::new();
    for n in 1..=lines {
        let line = match n {
            _ if n + 21 == lines => {
                "\x1b[1m\x1b[91merror[E0308]\x1b[0m\x1b[1m: mismatched types\x1b[0m".to_owned()
            }
            _ if n % 97 == 50 => format!("\x1b[33mwarning\x1b[0m: unused variable: `x{n}`"),
            _ => format!("\x1b[1m\x1b[92m   Compiling\x1b[0m crate-{n:04} v1.{}.{}", n % 7, n % 10),
        };
        log.extend_from_slice(line.as_bytes());
        log.push(b'\n');
    }
    log
}

/// Short lines of a test run, this many; the twelfth from the end fails.
pub fn test_log(lines: usize) -> Vec<u8> {
    let mut log = Vec::new();
    for n in 1..=lines {
        let line = match n {
            _ if n + 11 == lines => "\x1b[31merror\x1b[0m: unit_x failed".to_owned(),
            _ if n % 97 == 50 => format!("\x1b[33mskip\x1b[0m unit_{n}"),
            _ => format!("\x1b[32mok\x1b[0m   unit_{n}"),
        };
        log.extend_from_slice(line.as_bytes());
        log.push(b'\n');
    }
    log
}

/// Bytes that would do harm if they reached a terminal raw, and similar ones.
pub fn hostile() -> Vec<u8> {
    [
        &b"title: \x1b]0;owned\x07 done\n"[..],
        b"clipboard: \x1b]52;c;b3duZWQ=\x1b\\ done\n",
        b"questions: \x1b[c\x1b[5n\x1b[6n\x1bZ done\n",
        b"screen: \x1b[2J\x1b[H\x1b[?1049l done\n",
        b"8-bit: \x9b31m \xc2\x9b31m \x90q\x9c done\n",
        b"backspace: safe\x08\x08\x08\x08evil, return: safe\revil\n",
        "direction: \u{202e}evil\u{202c} zero: a\u{200b}b wide: 日本\n".as_bytes(),
        b"broken: \xff \xf0\x9f\x98 \xe2\x82 nul: \0\n",
        b"colour: \x1b[31mred \x1b[1;4mbold\x1b[0m plain\n",
        b"and a long line after all of it that goes on and on and on past the right edge of the screen to wrap",
    ]
    .concat()
}
