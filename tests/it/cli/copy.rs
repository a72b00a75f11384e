//! `overspill FILE` without a terminal: copies the file unchanged, as `less` does.

use std::io::{Read, Write};

use crate::cli::{EXAMPLE, numbered};
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

#[test]
fn a_standard_input_that_does_not_block_is_taken_to_its_end() {
    let home = Home::new();
    for words in [&["-"][..], &["preview"], &["preview", "--save", "--keep", "never"]] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let mut child = home.command(words).stdin(reader.try_clone().unwrap()).spawn().unwrap();
        // Each line arrives only once the previous one has been read, so some reads find nothing.
        for line in numbered(50).split_inclusive('\n') {
            while rustix::io::ioctl_fionread(&reader).unwrap() > 0 && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            writer.write_all(line.as_bytes()).unwrap();
        }
        drop(writer);
        assert_eq!(finish(child).ok().text(), numbered(50), "{words:?}");
    }
}

#[test]
fn a_temporary_directory_that_is_missing_does_not_stop_a_preview() {
    let home = Home::new();
    std::fs::remove_dir(home.work().with_file_name("tmp")).unwrap();
    for words in [&["-"][..], &["preview"]] {
        assert_eq!(home.pipe(EXAMPLE, words).ok().text(), EXAMPLE);
    }
}

/// Reads the first byte, truncates the file, and reads the rest.
fn cut_while_read(home: &Home, words: &[&str]) -> crate::common::home::Ran {
    let path = home.file("log", "x".repeat(8 << 20));
    let mut child = home.command(words).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(5)).unwrap();
    finish(child)
}

#[test]
fn a_file_that_is_cut_while_it_is_copied_or_previewed_is_a_failure() {
    let home = Home::new();
    let all = ["preview", "log", "--max-bytes", "1g"];
    for words in [&["log"][..], &all] {
        let ran = cut_while_read(&home, words);
        assert_eq!(ran.status, 1, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("log: cut or rewritten meanwhile"), "{}", ran.stderr);
        let holds_only_its_own = ran.stdout.iter().all(|byte| *byte == b'x');
        assert!(holds_only_its_own || words.len() > 1, "a copy has nothing that the file never held");
    }
}
