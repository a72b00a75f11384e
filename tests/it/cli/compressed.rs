//! Files that are compressed as gzip or zstd are what they hold, whatever they are called.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::cli::numbered;
use crate::common::home::Home;

pub fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: impl AsRef<[u8]>) -> Vec<u8> {
    compress_to_vec(text.as_ref(), CompressionLevel::Fastest)
}

#[test]
fn every_command_shows_what_a_compressed_file_holds() {
    let home = Home::new();
    let text = numbered(5000);
    home.file("raw", &text);
    let (first, rest) = text.split_at(text.len() / 3);
    // Some agents' tools refuse a file by its ending, and the length of a name counts in notices.
    home.file("two", [gzip(first), gzip(rest)].concat());
    home.file("log", zstd(&text));
    for name in ["two", "log"] {
        assert!(home.run(&[name]).ok().text() == text, "{name}");
        let both = |command: &[&str]| {
            [name, "raw"].map(|name| {
                let saved = ["--saved-as", "/P"].into_iter().filter(|_| command[0] == "preview");
                let words: Vec<&str> = command.iter().copied().chain(saved).chain([name]).collect();
                home.run(&words).ok().text().replace(name, "NAME")
            })
        };
        for command in
            [&["preview"][..], &["read", "-p", "opencode/read"], &["compare"], &["grep", "-n", "17"]]
        {
            let [unpacked, plain] = both(command);
            assert_eq!(unpacked, plain, "{command:?} {name}");
        }
    }
    let notice = String::from_utf8(home.run(&["preview", "raw"]).stdout).unwrap();
    home.file("notice", gzip(notice));
    assert!(home.run(&["explain", "notice"]).text().contains("opencode/output"));
}

#[test]
fn a_compressed_file_that_is_damaged_is_named_with_its_fault() {
    let home = Home::new();
    let text = numbered(50_000);
    for (name, packed) in [("a.gz", gzip(&text)), ("a.zst", zstd(&text))] {
        let mut wrong = packed.clone();
        wrong[packed.len() / 2] ^= 0x55;
        let short = if name == "a.gz" { "ends too early" } else { "is damaged" };
        for (bytes, fault) in [(&packed[..packed.len() / 2], short), (&wrong, "is damaged")] {
            let fault = format!("the compressed file {fault}");
            home.file(name, bytes);
            let shown = home.run(&[name]).stdout;
            assert!(!shown.is_empty(), "{name}: what came before {fault} is shown");
            assert!(bytes.len() == packed.len() || text.as_bytes().starts_with(&shown), "{name}");
            for command in [&[][..], &["preview"], &["read", "-p", "opencode/read"]] {
                let ran = home.run(&[command, &[name]].concat());
                assert_eq!(ran.status, 1, "{command:?} {name}: {}", ran.stderr);
                assert!(ran.stderr.contains(&format!("{name}: {fault}")), "{}", ran.stderr);
            }
            home.run(&["grep", "x", name]).fails(2, &[name, &fault]);
        }
    }
}

#[test]
fn ignores_bytes_after_the_last_gzip_member() {
    let home = Home::new();
    let text = numbered(5000);
    for padding in [&[0; 512][..], b"no member\n"] {
        home.file("padded", [&gzip(&text), padding].concat());
        assert_eq!(home.run(&["padded"]).ok().text(), text);
    }
}

#[test]
fn does_not_decompress_a_stored_output() {
    let home = Home::new();
    let packed = gzip(numbered(100));
    let path = home.private_entry("opencode", "tool_ffa1b2c3d001aaaaaaaaaaaaaa", &packed, 1);
    assert!(home.run(&[path.to_str().unwrap()]).ok().stdout == packed);
    home.file("tiny", [0x1f, 0x8b]);
    assert_eq!(home.run(&["tiny"]).ok().stdout, [0x1f, 0x8b]);
}
