//! Tests labels, fitting and printing.

use proptest::prelude::*;

use crate::text::cells::laws::{any_show, hostile, is_safe};
use crate::text::layout::ANCHOR;

use super::*;

fn printed(bytes: &[u8], colour: bool) -> String {
    let mut out = Vec::new();
    write_safe(&mut out, bytes, &Show::PAGER, colour).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_label_is_one_line_and_names_unprintable_characters() {
    let table: &[(&[u8], &str)] = &[
        (b"plain.log", "plain.log"),
        ("näme 日本 👩‍🚀".as_bytes(), "näme 日本 👩‍🚀"),
        (b"a\nb\r\n\tc", "a^Jb^M^J^Ic"),
        (b"\x1b]52;c;AAAA\x07\x1b[31mred", "^[]52;c;AAAA^G^[[31mred"),
        (b"..\xff\0", "..<FF>^@"),
        ("txt.\u{202e}exe".as_bytes(), "txt.<202E>exe"),
        (b"", ""),
        (b"\n", "^J"),
    ];
    for (bytes, expected) in table {
        assert_eq!(label(bytes), *expected);
    }
}

#[test]
fn safe_text_is_safe_however_it_is_made() {
    let raw = "a\u{1b}[31m\u{202e}日\n";
    let safe = "a^[[31m<202E>日^J";
    for text in
        [SafeText::new(raw), SafeText::from(raw), raw.to_owned().into(), SafeText::from_bytes(raw.as_bytes())]
    {
        assert_eq!(&*text, safe);
        assert_eq!(SafeText::from(&*text), text);
        assert_eq!((text.columns(), format!("{text:>19}")), (17, format!("   {safe}")));
        assert_eq!((&*text.fit(5), &*text.padded(19)), ("a^…^J", &*format!("{safe}  ")));
    }
    assert_eq!(&*SafeText::from_bytes(b"\xff"), "<FF>");
    let marks = SafeText::new("\u{301}".repeat(100));
    assert!(is_safe(&SafeText::new(format!("{marks}{marks}"))), "joined, it is made safe again");
}

#[test]
fn fitting_keeps_both_ends() {
    let table = [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abc…fg"),
        ("abcdefg", 5, "ab…fg"),
        ("abcdefg", 1, "…"),
        ("abcdefg", 0, ""),
        ("", 0, ""),
        ("日本語日本語", 7, "日…本語"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ];
    for (text, columns, expected) in table {
        assert_eq!(fit(text, columns), expected, "{text} in {columns}");
    }
    assert_eq!([fit("abcdefgh", 1), fit("abcdefgh", 0)], ["…", ""]);
}

#[test]
fn printing_rewrites_styles_and_resets_them_at_line_ends() {
    assert_eq!(printed(b"\x1b[31mred\nplain\n", true), "\x1b[31mred\x1b[0m\nplain\n");
    assert_eq!(printed(b"\x1b[1;31mred", true), "\x1b[1m\x1b[31mred\x1b[0m");
    assert_eq!(printed(b"\x1b[31m\x1b[32m\x1b[0mx\n", true), "x\n");
    assert_eq!(printed(b"a\rb\x1b]0;t\x07\r\n", true), "a\x1b[7m^M\x1b[0mb\n");
    assert_eq!(printed(b"a\rb\x1b[31mc\tx\n", false), "a^Mbc   x\n");
    assert_eq!(printed(b"", true), "");
    assert_eq!(printed(b"\n\n", false), "\n\n");
}

#[test]
fn a_long_line_is_printed_whole_in_its_colours() {
    let mut line = b"\x1b[1m".to_vec();
    line.resize(ANCHOR - 2, b'x');
    line.extend(b"\x1b[31m\xc3\xa9");
    line.resize(3 * ANCHOR, b'y');
    let out = printed(&line, false);
    assert_eq!(out.matches('x').count(), ANCHOR - 6);
    assert_eq!(out.matches('y').count(), 3 * ANCHOR - (ANCHOR + 5));
    assert!(out.contains('é'));
    assert!(printed(&line, true).ends_with("y"));
}

#[test]
fn errors_of_the_terminal_are_passed_on() {
    struct Closed;
    impl io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = write_safe(&mut Closed, b"x", &Show::PAGER, true).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

/// Removes SGR sequences as `anstyle` writes them; anything else that begins with ESC stays.
fn without_own_sgr(text: &str) -> String {
    regex::Regex::new("\x1b\\[[0-9;:]*m").unwrap().replace_all(text, "").into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_label_is_safe_and_stays_as_it_is(bytes in hostile()) {
        let once = label(&bytes);
        prop_assert!(is_safe(&once));
        prop_assert_eq!(label(once.as_bytes()), once.clone());
    }

    #[test]
    fn fitted_text_fits(text in any::<String>(), columns in 0..40_usize) {
        let safe = label(text.as_bytes());
        let fitted = fit(&safe, columns);
        prop_assert!(columns_of(&fitted) <= columns);
        prop_assert!(is_safe(&fitted));
        prop_assert!(columns_of(&safe) > columns || fitted == safe);
    }

    #[test]
    fn print_has_no_sequence_of_the_input(bytes in hostile(), show in any_show()) {
        let mut plain = Vec::new();
        let mut coloured = Vec::new();
        write_safe(&mut plain, &bytes, &show, false).unwrap();
        write_safe(&mut coloured, &bytes, &show, true).unwrap();
        let plain = String::from_utf8(plain).unwrap();
        prop_assert!(plain.split('\n').all(is_safe));
        prop_assert_eq!(without_own_sgr(&String::from_utf8(coloured).unwrap()), plain.clone());
        let ends = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
        prop_assert_eq!(ends(plain.as_bytes()), ends(&bytes));
    }
}

#[test]
fn folds_prose_at_spaces_and_long_paths_anywhere() {
    let rows = |text| fold(text, 10);
    assert_eq!(rows("one three seven"), ["one three", "seven"]);
    assert_eq!(rows("/a/path/that/is/long"), ["/a/path/th", "at/is/long"]);
    assert_eq!(rows("a /path/that"), ["a /path/th", "at"]);
    assert_eq!(rows("short"), ["short"]);
}

#[test]
fn wide_text_is_folded_by_columns() {
    assert_eq!(fold("日本語のファイル名", 10), ["日本語のフ", "ァイル名"]);
    assert_eq!(fold("/a/日本語のファイル", 10), ["/a/日本語", "のファイル"], "no half of a character");
    assert_eq!(fold("日本語 のファイル", 10), ["日本語", "のファイル"]);
    assert_eq!(fold("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
    assert_eq!(fold("日本", 1), ["日", "本"]);
}
