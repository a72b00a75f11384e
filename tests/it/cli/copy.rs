//! `overspill FILE` without a terminal: the file unchanged, as `less` does.

use std::io::{Read, Write};

use crate::cli::EXAMPLE;
use crate::common::home::{Home, fifo, finish};

#[test]
fn without_a_terminal_a_file_is_copied_unchanged() {
    let home = Home::new();
    let all_bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    for content in [EXAMPLE.as_bytes(), b"", b"no line feed", b"\x1b[31m\xff\0\x1b]0;title\x07", &all_bytes] {
        home.file("out", content);
        assert!(home.run(&["out"]).ok().stdout == content);
        assert!(home.run(&["./out"]).ok().stdout == content);
    }
}

#[test]
fn without_a_terminal_standard_input_is_copied_unchanged() {
    let home = Home::new();
    for words in [&[][..], &["-"]] {
        assert_eq!(home.pipe(EXAMPLE, words).ok().text(), EXAMPLE);
    }
}

#[test]
fn without_a_terminal_several_files_follow_one_another() {
    let home = Home::new();
    home.file("a", "first\n");
    home.file("b", "second\n");
    assert_eq!(home.run(&["a", "b", "a"]).ok().text(), "first\nsecond\nfirst\n");
}

#[test]
fn without_a_terminal_a_fifo_is_copied_as_it_comes() {
    let home = Home::new();
    fifo(&home.at("pipe"));
    let mut child = home.command(&["pipe"]).spawn().unwrap();
    let mut writer = std::fs::File::options().write(true).open(home.at("pipe")).unwrap();
    writer.write_all(b"now").unwrap();
    let mut first = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"now");
    writer.write_all(b" and later").unwrap();
    drop(writer);
    assert_eq!(finish(child).ok().text(), " and later");
}

#[test]
fn a_link_to_a_file_is_followed() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    std::os::unix::fs::symlink("out", home.at("link")).unwrap();
    assert_eq!(home.run(&["link"]).ok().text(), EXAMPLE);
}
