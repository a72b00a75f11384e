//! The records of a log: the same whatever their lengths, by one thread and by several.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use super::{LogFile, LogStep, MAX_RECORD, records};

/// A record as it was handed out: its place, and its number, or nothing if it is broken.
type Found = (u64, Option<i64>);

/// Reads from a place on; returns what was found, where the unfinished rest begins, and where to go on.
fn read(path: &Path, from: u64) -> (Vec<Found>, Option<u64>, u64) {
    let (mut found, mut rest) = (Vec::new(), None);
    let log = LogFile::open(path, &|| true).unwrap();
    let next = records(&log, from, &mut |step| {
        match step {
            LogStep::Record(start, Ok(record)) => found.push((start, record.get("n").and_then(|n| n.int()))),
            LogStep::Record(start, Err(_)) => found.push((start, None)),
            LogStep::Beginning(start, record) | LogStep::Shortened(start, record, _) => {
                found.push((start, record.ok().and_then(|record| record.get("n")?.int())));
            }
            LogStep::Unfinished(at) => rest = Some(at.start),
        }
        ControlFlow::Continue(())
    });
    let ControlFlow::Continue(next) = next.unwrap() else { panic!("nothing broke it off") };
    (found, rest, next)
}

fn read_text(text: &str, from: u64) -> (Vec<Found>, Option<u64>, u64) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    read(file.path(), from)
}

#[test]
fn whole_lines_are_read_and_a_partial_one_waits() {
    let first = vec![(0, Some(1)), (11, Some(2)), (20, None)];
    assert_eq!(read_text("{\"n\":1}\n\n  {\"n\":2}\r\n{x}\n{\"n\"", 0), (first, Some(24), 24));
    assert_eq!(read_text("{\"n\":1}\n{\"n\":3}\n", 8), (vec![(8, Some(3))], None, 16));
    assert_eq!(read_text("", 0), (vec![], None, 0));
    assert_eq!(read_text("{}\n", 99), (vec![], None, 99));
}

#[test]
fn a_whole_object_needs_no_line_feed() {
    assert_eq!(read_text("{\"n\":1} ", 0), (vec![(0, Some(1))], None, 8));
    assert_eq!(read_text("12", 0), (vec![], Some(0), 0), "more digits may follow");
}

#[test]
fn reading_can_be_broken_off() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    (0..200_000).for_each(|n| writeln!(file, "{{\"n\":{n},\"more\":\"0123456789\"}}").unwrap());
    let mut count = 0;
    let ended = records(&LogFile::open(file.path(), &|| true).unwrap(), 0, &mut |_| {
        count += 1;
        if count < 50_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((ended.unwrap(), count), (ControlFlow::Break(()), 50_000));
}

#[test]
fn lines_of_all_lengths_are_read_in_order_by_several_threads() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let (mut expected, mut at) = (Vec::new(), 0);
    // Around the lengths at which pieces end, and beyond the longest that is copied; then very many short ones.
    let lengths = [0, 10, 4095, 524_200, 524_288, 600_000, 2_097_152, 2_200_000, 5_000_000, 30];
    let long = lengths.iter().copied().chain((0..20).map(|n| n * 9973)).chain([3_000_000]);
    for (n, len) in long.chain(std::iter::repeat_n(0, 60_000)).enumerate() {
        let line = format!("{{\"text\":\"{}\",\"n\":{n}}}\n", "x".repeat(len));
        file.write_all(line.as_bytes()).unwrap();
        expected.push((at, Some(n as i64)));
        at += line.len() as u64;
    }
    file.write_all(b"{\"n\":").unwrap();
    let (found, rest, next) = read(file.path(), 0);
    assert!(found == expected, "{} of {} records", found.len(), expected.len());
    assert_eq!((rest, next), (Some(at), at));
    let (found, ..) = read(file.path(), expected[5].0);
    assert!(found == expected[5..]);
}

#[test]
fn a_long_line_without_its_end_waits() {
    let text = |end: &str| format!("{{\"n\":1}}\n{{\"n\":2,\"text\":\"{}{end}", "x".repeat(6_000_000));
    let (found, rest, next) = read_text(&text(""), 0);
    assert_eq!((found, rest, next), (vec![(0, Some(1))], Some(8), 8));
    let whole = text("\"}");
    let (found, rest, next) = read_text(&whole, 0);
    assert_eq!((found, rest, next), (vec![(0, Some(1)), (8, Some(2))], None, whole.len() as u64));
}

#[test]
fn records_between_long_ones_are_read() {
    let long = |n: usize| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "x".repeat(MAX_RECORD));
    let text = format!("{}{{\"n\":2}}\n{{\"n\":3}}\n{}{{bad\n{{\"n\":5}}", long(1), long(4));
    let (found, rest, next) = read_text(&text, 0);
    let numbers: Vec<_> = found.into_iter().map(|(_, n)| n).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3), Some(4), None, Some(5)]);
    assert_eq!((rest, next), (None, text.len() as u64));
}

#[test]
fn a_long_record_is_read_shortened_or_by_its_beginning() {
    let of_text = |len: usize| {
        format!("{{\"n\":1}}\n{{\"n\":2,\"text\":\"{}\",\"m\":3}}\n{{\"n\":3}}\n", "x".repeat(len))
    };
    let blank = |len: usize| of_text(1).replace("\"x\"", &format!("[{}]", " ".repeat(len)));
    let file = tempfile::NamedTempFile::new().unwrap();
    for (text, is_whole, is_long) in [
        (of_text(MAX_RECORD - 100), true, false),
        (of_text(MAX_RECORD + 1_000_000), true, true),
        (of_text(40_000_000), true, true),
        (blank(MAX_RECORD + 3_000_000), true, true),
        (blank(MAX_RECORD + 5_000_000), false, true),
    ] {
        std::fs::write(file.path(), text).unwrap();
        let mut found = Vec::new();
        let log = LogFile::open(file.path(), &|| true).unwrap();
        let ended = records(&log, 0, &mut |step| {
            let (kind, record) = match step {
                LogStep::Record(_, record) => ("whole", record.unwrap()),
                LogStep::Shortened(_, record, _) => ("shortened", record.unwrap()),
                LogStep::Beginning(_, record) => ("beginning", record.unwrap()),
                LogStep::Unfinished(_) => panic!("all lines end"),
            };
            assert!(record.get("text").map_or(0, |text| text.range().len()) <= MAX_RECORD + (4 << 20));
            found.push((record.get("n").and_then(|n| n.int()), record.get("m").is_some(), kind));
            ControlFlow::Continue(())
        });
        assert_eq!(ended.unwrap(), ControlFlow::Continue(log.size()));
        let kind = match (is_long, is_whole) {
            (false, _) => "whole",
            (true, true) => "shortened",
            (true, false) => "beginning",
        };
        assert_eq!(found, [(Some(1), false, "whole"), (Some(2), is_whole, kind), (Some(3), false, "whole")]);
    }
    let whole = of_text(MAX_RECORD + 9);
    let cut = &whole[..whole.len() - 20];
    std::fs::write(file.path(), cut).unwrap();
    assert_eq!(read(file.path(), 0).1, Some(8), "it may go on");
}
