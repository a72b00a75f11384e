//! Tests the policies that their documents define, as these describe them.

use super::*;

fn ys(count: usize) -> Vec<u8> {
    vec![b'y'; count]
}

fn lines(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[test]
fn line_limit() {
    let set = [("max_lines", "2")];
    assert_eq!(preview("basic/line-limit", &set, b"a\nb"), "a\nb");
    assert_eq!(preview("basic/line-limit", &set, b"a\nb\n"), "a\nb\n\n[... 1 more lines truncated ...]");
    assert_eq!(
        preview("basic/line-limit", &[("max_lines", "0")], b"a"),
        "\n\n[... 1 more lines truncated ...]"
    );
}

#[test]
fn middle_out_counts_points() {
    let set = [("max_points", "10")];
    let cut = preview("basic/middle-out", &set, "漢".repeat(12).as_bytes());
    assert_eq!(cut, "漢漢漢漢\n\n[... 4 bytes truncated from middle ...]\n\n漢漢漢漢");
    let none = preview("basic/middle-out", &[("max_points", "2")], b"abc");
    assert_eq!(none, "\n\n[... 3 bytes truncated from middle ...]\n\nabc");
}

#[test]
fn byte_limit_tests_bytes_and_cuts_points() {
    let wide = "漢".repeat(15000);
    assert_eq!(preview("basic/byte-limit", &[], wide.as_bytes()), wide);
    let cut = preview("basic/byte-limit", &[("max_tokens", "3")], b"0123456789abcdef");
    assert_eq!(cut, "01234\n\n[... 6 bytes truncated from middle ...]\n\nbcdef");
}

#[test]
fn metadata_gives_both_sizes() {
    let cut = preview("basic/metadata", &[("max_points", "10")], b"0123456789abcdef");
    let middle = "0123\n\n[... 8 bytes truncated from middle ...]\n\ncdef";
    let expected = format!(
        "{middle}\n[Output truncated: 16 bytes -> {} bytes]\n[To see full output, write to a file and read specific sections]\n",
        middle.len()
    );
    assert_eq!(cut, expected);
}

#[test]
fn stderr_is_appended_whole() {
    let (out, err) = (Totals::count(b"0123456789"), Totals::count(b"oops\xff"));
    let output = Output { bytes: b"0123456789", totals: &out };
    let input =
        Input { stderr: Some(Output { bytes: b"oops\xff", totals: &err }), ..Input::new(output, "/P") };
    let plan = plan(&input, &policy("basic/stdout-stderr", &[("max_points", "5")])).unwrap();
    assert_eq!(
        plan.text(&input),
        "01\n\n[... 6 bytes truncated from middle ...]\n\n89\n\n[STDERR]\noops\u{FFFD}"
    );
}

#[test]
fn smart_file_and_grep() {
    let file = preview("basic/smart", &[("tool", "file")], &lines(201));
    assert!(file.contains("\n100\n\n[... 2 lines omitted ...]\n\n103\n"), "{file}");
    let grep = preview("basic/smart", &[("tool", "grep_files")], &lines(201));
    assert!(grep.ends_with("\n200\n\n[... 2 more matches truncated ...]"), "{grep}");
    let one = [ys(20481), b"\n".to_vec()].concat();
    assert_eq!(preview("basic/smart", &[("tool", "grep")], &one), "\n\n[... 2 more matches truncated ...]");
}

#[test]
fn smart_shell_keeps_errors_and_the_end() {
    let mut text = lines(600);
    let at = text.windows(4).position(|window| window == b"\n300").unwrap() + 1;
    text.splice(at..at + 3, *b"ERROR");
    let cut = preview("basic/smart", &[("tool", "shell")], &text);
    let end: Vec<String> = (582..=600).map(|line| line.to_string()).collect();
    let expected = format!(
        "[... 296 lines omitted ...]\n297\n298\n299\nERROR\n301\n302\n303\n[... 278 lines omitted ...]\n{}\n",
        end.join("\n")
    );
    assert_eq!(cut, expected);
    assert_eq!(
        preview("basic/smart", &[("tool", "shell")], &lines(600)),
        String::from_utf8(lines(600)).unwrap()
    );
}

#[test]
fn smart_shell_falls_back_to_the_middle_of_the_end() {
    let text = [b"failed\n".to_vec(), ys(60_000)].concat();
    let cut = preview("basic/smart", &[("tool", "shell")], &text);
    let half = "y".repeat(22500 - 7);
    let expected =
        format!("failed\n{half}\n\n[... 15007 bytes truncated from middle ...]\n\n{}", "y".repeat(22500));
    assert_eq!(cut, expected);
}

#[test]
fn the_end_merges_with_every_error_that_it_reaches() {
    let mut text: Vec<String> = (1..=600).map(|line| line.to_string()).collect();
    for at in [570, 584, 597] {
        text[at - 1] = "failed".to_owned();
    }
    let cut = preview("basic/smart", &[("tool", "shell")], text.join("\n").as_bytes());
    assert_eq!(cut.matches("omitted").count(), 2, "{cut}");
    assert!(cut.contains("\n573\n[... 7 lines omitted ...]\n581\n582\n583\nfailed\n585\n"), "{cut}");
}

#[test]
fn shell_keeps_whole_lines_of_both_ends_and_names_only_the_path() {
    let cut = preview("basic/shell", &[("max_bytes", "20")], b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    assert_eq!(cut, "one\ntwo\n\n[... 21 bytes left out; full output: /P ...]\n\nseven\n");
    let whole = lines(5000);
    assert_eq!(preview("basic/shell", &[], &whole).into_bytes(), whole);
    assert!(preview("basic/shell", &[], &lines(10_000)).contains("\n\n[... 18"));
}

#[test]
fn recommended_has_a_table() {
    let list = |text: &[u8]| preview("basic/recommended", &[("tool", "list")], text);
    assert_eq!(list(&lines(100)), String::from_utf8(lines(100)).unwrap());
    assert!(list(&lines(102)).ends_with("\n100\n\n[... 2 more lines truncated ...]"));
    assert_eq!(list(&ys(10250)), format!("{} [... 10 bytes of this line truncated ...]", "y".repeat(10240)));
    let error = preview("basic/recommended", &[("tool", "error")], &lines(101));
    assert!(
        error.starts_with("[... 1 earlier lines truncated ...]\n\n2\n") && error.ends_with("\n101"),
        "{error}"
    );
    let huge = [b"a\n".to_vec(), ys(10241), b"\n".to_vec()].concat();
    let tail = preview("basic/recommended", &[("tool", "error")], &huge);
    let expected = "[... 1 earlier lines truncated ...]\n\n[... 1 bytes of this line truncated ...] ";
    assert_eq!(tail, format!("{expected}{}", "y".repeat(10240)));
}

#[test]
fn legacy_slices_raw_bytes_and_crashes() {
    let set = [("max_bytes", "8"), ("max_lines", "3")];
    assert_eq!(
        preview("go-opencode/legacy", &set, b"0123\n5\n7890"),
        "0123\n\n... [3 lines truncated] ...\n\n7890"
    );
    let split = preview("go-opencode/legacy", &set, "012\u{1F600}456\u{1F600}".as_bytes());
    assert_eq!(split, "012\u{FFFD}\n\n... [1 lines truncated] ...\n\n\u{1F600}");
    let crashed = planned("go-opencode/legacy", &set, b"\n\n\n");
    assert_eq!(crashed.status, Status::Crashed("slice bounds out of range".to_owned()));
    assert!(crashed.parts.is_empty());
    assert_eq!(
        preview("go-opencode/legacy", &set, b"\n\n\n45678"),
        "\n\n\n4\n\n... [0 lines truncated] ...\n\n5678"
    );
}

#[test]
fn response_cap_is_by_tokens() {
    assert_eq!(preview("go-opencode/response-cap", &[], &ys(1_200_003)).len(), 1_200_003);
    let cut = preview("go-opencode/response-cap", &[], &ys(1_200_004));
    assert_eq!(cut, format!("{}\n\n[Output truncated due to size limit...]", "y".repeat(1_200_000)));
}

#[test]
fn line_aligned_drops_from_the_larger_side() {
    let set = [("max_bytes", "9"), ("max_lines", "4")];
    let cut = |text: &[u8]| preview("go-opencode/line-aligned", &set, text);
    assert_eq!(cut(b"aa\nbb\ncc\ndd"), "aa\n\n... [1 lines truncated] ...\n\ncc\ndd");
    assert_eq!(cut(b"1\n2\n3\n4\n5"), "1\n2\n\n... [1 lines truncated] ...\n\n4\n5");
    assert_eq!(cut(b"aaaaaaaaaaaa\nb"), "\n\n... [1 lines truncated] ...\n\nb");
}

#[test]
fn bash_shows_both_ends_under_a_header() {
    let cut = preview("go-opencode/bash", &[], &lines(2000));
    let header = "<stdout truncated: 2,001 lines total>\nFull output saved to: /P\nUse the view tool with offset/limit to read specific sections.\n\n";
    assert!(cut.starts_with(&format!("{header}--- First 500 lines ---\n1\n2\n")), "{}", &cut[..200]);
    assert!(cut.contains("\n500\n\n--- Last 500 lines ---\n1502\n") && cut.ends_with("\n2000\n"));
    let long = preview("go-opencode/bash", &[("save_failed", "true")], &ys(60000));
    assert_eq!(long, format!("<stdout truncated: 1 lines total>\n\n{}", "y".repeat(60000)));
    assert_eq!(preview("go-opencode/bash", &[], b""), "");
}

fn assembled(name: &str, out: &[u8], err: &[u8], code: i32) -> String {
    let (a, b) = (Totals::count(out), Totals::count(err));
    let output = Output { bytes: out, totals: &a };
    let stderr = Some(Output { bytes: err, totals: &b });
    let input = Input { stderr, exit_code: Some(code), ..Input::new(output, "/P") };
    plan(&input, &policy(name, &[])).unwrap().text(&input)
}

#[test]
fn go_responses_are_assembled() {
    for name in ["go-opencode/shipped", "go-opencode/bash"] {
        assert_eq!(assembled(name, b"ok\n", b"err\n", 1), "ok\n\n\nerr\n\nExit code 1");
        assert_eq!(assembled(name, b"", b"", 1), "\nExit code 1");
        assert_eq!(assembled(name, b"", b"", 0), "no output");
        assert_eq!(assembled(name, b"ok\n", b"", 0), "ok\n");
        assert_eq!(assembled(name, b"", b"e", 0), "\ne");
    }
    assert_eq!(assembled("go-opencode/2025", b"ok\n", b"", 1), "ok\n\nExit code 1");
    assert_eq!(assembled("go-opencode/2025", b"ok\n", b"e", 1), "ok\n\n\ne\nExit code 1");
}

#[test]
fn shipped_cuts_the_whole_response_again() {
    let cut = preview("go-opencode/shipped", &[], &[ys(600_000), b"\n".to_vec(), ys(700_000)].concat());
    assert!(
        cut.starts_with("<stdout truncated: 2 lines total>\nFull output saved to: /P\nUse the read tool")
    );
    assert!(cut.ends_with("y\n\n[Output truncated due to size limit. Consider using more specific search parameters or viewing smaller sections.]"));
    assert!(cut.len() < 601_000);
    let earlier = preview("go-opencode/shipped-2026-02", &[], &ys(60_000));
    assert!(earlier.contains("saved to: /P\nUse the view tool with offset/limit"), "{}", &earlier[..200]);
}

#[test]
fn t15_keeps_lines_however_large() {
    let set = [("max_lines", "2"), ("max_units", "3")];
    let notice = "<truncated-notice>\nOutput truncated to last 2 lines / 3 bytes.\nFull output saved to: /P\nUse the Read or Grep tool to access specific parts.\n</truncated-notice>";
    assert_eq!(preview("t15/output", &set, b"a\nbbbbbb\nc"), format!("bbbbbb\nc\n{notice}"));
    assert_eq!(preview("t15/output", &set, b"abcd"), format!("abcd\n{notice}"));
    let recipe = preview("t15/recipe", &[("max_lines", "1"), ("direction", "head")], b"a\nb");
    let expected = "a\n\n[Output truncated: 2 lines → 1 lines kept (head).\n Full output (3 bytes) saved to: /P\n Use Read or Grep tool to inspect specific sections.]";
    assert_eq!(recipe, expected);
    let all = preview("t15/recipe", &[("max_lines", "0")], b"a\nb");
    assert!(all.starts_with("a\nb\n\n[Output truncated: 2 lines → 0 lines kept (tail)."), "{all}");
    let generic = preview("t15/generic", &[("max_units", "2")], "a\u{1F600}b".as_bytes());
    assert_eq!(
        generic,
        "\u{FFFD}b\n\n[Output was 4 bytes, truncated to last 50k. Full content: /P. Use Read/Grep to inspect.]"
    );
}

#[test]
fn pi_30k_read() {
    let read = |set: &[(&str, &str)], text: &[u8]| preview("pi-30k/read", set, text);
    assert_eq!(read(&[], b"a\nb\n"), "a\nb\n");
    assert_eq!(read(&[("limit", "1")], b"a\nb\n"), "a\n\n[Showing lines 1-1 of 3. Use offset=2 to continue]");
    assert_eq!(read(&[("offset", "2"), ("limit", "2")], b"a\nb\n"), "b\n");
    let big = [ys(40000), b"\n".to_vec()].concat();
    assert_eq!(read(&[], &big), "[Line 1 is 39KB, exceeds 30KB limit. Use bash to read: head -c 30000 /P]");
    let second = [b"a\n".to_vec(), ys(40000)].concat();
    assert_eq!(
        read(&[("offset", "2")], &second),
        "[Line 2 is 39KB, exceeds 30KB limit. Use bash: sed -n '2p' /P | head -c 30000]"
    );
    assert_eq!(read(&[], &second), "a\n\n[Showing lines 1-1 of 2 (30KB limit). Use offset=2 to continue]");
}

#[test]
fn pi_30k_bash() {
    let bash = |text: &[u8]| preview("pi-30k/bash", &[], text);
    let huge = [ys(40000), b"\n".to_vec()].concat();
    assert_eq!(bash(&huge), "\n\n[Showing lines 2-2 of 2 (30KB limit). Full output: /P]");
    let partial =
        format!("{}\n\n[Showing last 30KB of line 1 (line is 39KB). Full output: /P]", "y".repeat(30720));
    assert_eq!(bash(&ys(40000)), partial);
    assert!(bash(&lines(2000)).ends_with("\n2000\n\n\n[Showing lines 2-2001 of 2001. Full output: /P]"));
}

#[test]
fn pi_30k_matches() {
    let grep = preview("pi-30k/grep", &[("limit", "2")], &[ys(501), b"\nb\nc\n".to_vec()].concat());
    let expected = format!(
        "{}... [truncated]\nb\n\n[2 matches limit reached. Use limit=4 for more, or refine pattern]\n\n[Some lines truncated to 500 chars. Use read tool to see full lines]",
        "y".repeat(500)
    );
    assert_eq!(grep, expected);
    assert_eq!(preview("pi-30k/grep", &[("limit", "2")], b"a\nb\n"), "a\nb\n");
    let bytes = preview("pi-30k/grep", &[("max_bytes", "3")], b"a\nb\nc\n");
    assert_eq!(bytes, "a\nb\n\n[0KB limit reached (2 of 100+ matches shown)]");
    let ls = preview("pi-30k/ls", &[("limit", "1")], b"a\nb\n");
    assert_eq!(ls, "a\n\n[1 entries limit reached. Use limit=2 for more]");
}

#[test]
fn pi_details() {
    let read = planned("pi-30k/read", &[("max_lines", "1")], b"a\nb").details.unwrap();
    assert_eq!(read["truncation"]["truncatedBy"], "lines");
    assert_eq!(read["truncation"]["totalLines"], 2);
    assert_eq!(read["truncation"]["outputBytes"], 1);
    assert_eq!(planned("pi-30k/grep", &[("limit", "1")], b"a\nb").details.unwrap()["matchLimitReached"], 1);
    assert_eq!(
        planned("pi-30k/bash", &[("max_lines", "1")], b"a\nb").details.unwrap()["fullOutputPath"],
        "/P"
    );
    assert_eq!(planned("pi-30k/bash", &[], b"a\nb").details, None);
}

#[test]
fn byte_len_of_a_long_text_stops_when_no_longer_wanted() {
    let bytes = "é\u{1F600}x".repeat(500_000).into_bytes();
    let preview = planned("basic/line-limit", &[], &bytes);
    let totals = Totals::default();
    let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/P");
    assert_eq!(preview.byte_len(&input), bytes.len() as u64);
    let asked = std::cell::Cell::new(0);
    let wanted = || asked.replace(asked.get() + 1) < 2;
    let pieces = preview.byte_len(&Input { wanted: Some(&wanted), ..input });
    assert!((1 << 20..3 << 20).contains(&pieces), "{pieces}");
}

#[test]
fn a_line_is_cut_before_a_character_that_does_not_fit() {
    let catalog = Catalog::builtin();
    let text = catalog.text("opencode/read").unwrap().replace("decoding = \"bom\"", "decoding = \"go\"");
    let text = text.replace("line_unit = \"units\"", "line_unit = \"bytes\"");
    let mut policy = Policy::parse(&text.replace("boundary = \"unit\"\n", "")).unwrap();
    policy.set("line_units", "4").unwrap();
    for line in ["ab😀cd", "ab€d", "abécd"] {
        let input = Input::from_bytes(line.as_bytes(), "/P");
        let text = plan(&input, &policy).unwrap().text(&input);
        let kept = if line.contains('é') { "abé" } else { "ab" };
        assert!(text.contains(&format!("1: {kept}... (line truncated")), "{line}: {text}");
    }
}
