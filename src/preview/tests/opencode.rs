//! Tests opencode's policies, by the documents' examples.

use super::*;

const HINT: &str = "The tool call succeeded but the output was truncated. Full output saved to: /P\nUse Grep to search the full content or Read with offset/limit to view specific sections.";
const ABC: &[u8] = b"aaa\nbbbb\nccccc\n";

#[test]
fn output_examples() {
    let head = |set: &[(&str, &str)]| preview("opencode/output", set, ABC);
    assert_eq!(head(&[("max_lines", "2")]), format!("aaa\nbbbb\n\n...2 lines truncated...\n\n{HINT}"));
    assert_eq!(head(&[("max_bytes", "9")]), format!("aaa\nbbbb\n\n...7 bytes truncated...\n\n{HINT}"));
    let tail = [("max_lines", "2"), ("direction", "tail")];
    assert_eq!(head(&tail), format!("...2 lines truncated...\n\n{HINT}\n\nccccc\n"));
    assert_eq!(head(&[]), "aaa\nbbbb\nccccc\n");
    let huge = [vec![b'y'; 200_000], vec![b'\n']].concat();
    assert_eq!(preview("opencode/output", &[], &huge), format!("\n\n...200001 bytes truncated...\n\n{HINT}"));
}

#[test]
fn output_names_the_task_tool_where_there_is_one() {
    let set = [("max_lines", "1"), ("task_tool", "true")];
    let expected = "aaa\n\n...3 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /P\nUse the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context.";
    assert_eq!(preview("opencode/output", &set, ABC), expected);
}

#[test]
fn a_limit_of_0_keeps_nothing() {
    let none = format!("\n\n...4 lines truncated...\n\n{HINT}");
    assert_eq!(preview("opencode/output", &[("max_lines", "0")], ABC), none);
    assert_eq!(
        preview("opencode/output", &[("max_bytes", "0")], b"a"),
        format!("\n\n...1 bytes truncated...\n\n{HINT}")
    );
    assert_eq!(preview("opencode/output", &[("max_bytes", "0")], b""), "");
    assert_eq!(
        preview("opencode/output", &[("max_lines", "0")], b""),
        format!("\n\n...1 lines truncated...\n\n{HINT}")
    );
    assert_eq!(
        preview("opencode/output", &[("max_bytes", "0")], b"\n"),
        format!("\n\n...1 bytes truncated...\n\n{HINT}")
    );
}

#[test]
fn an_invalid_byte_counts_as_three() {
    let planned = planned("opencode/output", &[("max_bytes", "5")], b"\xff\xff");
    assert!(planned.truncated);
    assert_eq!(planned.total.bytes, Some(6));
    assert!(!super::planned("opencode/output", &[("max_bytes", "6")], b"\xff\xff").truncated);
}

#[test]
fn metadata_is_the_beginning_in_units() {
    let set = [("max_units", "3")];
    assert_eq!(preview("opencode/metadata", &set, b"abc"), "abc");
    assert_eq!(preview("opencode/metadata", &set, b"abcd"), "abc\n\n...");
    assert_eq!(preview("opencode/metadata", &set, "ab\u{1F600}".as_bytes()), "ab\u{FFFD}\n\n...");
    assert_eq!(preview("opencode/metadata", &[("max_units", "0")], b"a"), "\n\n...");
}

#[test]
fn read_examples() {
    let read = |set: &[(&str, &str)], bytes: &[u8]| preview("opencode/read", set, bytes);
    let start = "<path>/P</path>\n<type>file</type>\n<content>\n";
    let all = format!("{start}1: aaa\n2: bbbb\n3: ccccc\n\n(End of file - total 3 lines)\n</content>");
    assert_eq!(read(&[], ABC), all);
    let window = format!("{start}2: bbbb\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)\n</content>");
    assert_eq!(read(&[("offset", "2"), ("limit", "1")], ABC), window);
    assert_eq!(read(&[], b""), format!("{start}\n\n(End of file - total 0 lines)\n</content>"));
    let capped = format!(
        "{start}1: aaa\n\n(Output capped at 50 KB. Showing lines 1-1. Use offset=2 to continue.)\n</content>"
    );
    assert_eq!(read(&[("max_bytes", "7")], ABC), capped);
    let ends = format!("{start}1: a\n2: b\n3: c\n4: \n5: d\n\n(End of file - total 5 lines)\n</content>");
    assert_eq!(read(&[], b"a\rb\r\nc\n\rd\r"), ends);
}

#[test]
fn read_cuts_long_lines_in_units() {
    let cut = preview("opencode/read", &[("line_units", "3")], "abc\nabcd\nab\u{1F600}\n".as_bytes());
    let suffix = "... (line truncated to 2000 chars)";
    assert!(cut.contains(&format!("1: abc\n2: abc{suffix}\n3: ab\u{FFFD}{suffix}\n\n(End")), "{cut}");
}

#[test]
fn an_offset_past_the_end_is_the_agents_error() {
    for (name, offset) in [("opencode/read", "4"), ("opencode/read-2026-01", "3")] {
        let totals = Totals::count(ABC);
        let input = Input::new(Output { bytes: ABC, totals: &totals }, "/P");
        let error = plan(&input, &policy(name, &[("offset", offset)])).unwrap_err();
        assert_eq!(error.to_string(), format!("Offset {offset} is out of range for this file (3 lines)"));
    }
}

#[test]
fn the_classic_read_numbers_with_five_digits() {
    let read = preview("opencode/read-2026-01", &[("limit", "2")], ABC);
    let expected = "<file>\n00001| aaa\n00002| bbbb\n\n(File has more lines. Use 'offset' parameter to read beyond line 2)\n</file>";
    assert_eq!(read, expected);
}
