//! What counts as cut, by the words and details with which agents tell it.

use std::os::unix::fs::MetadataExt;

use overspill::internals::session::model::CutState;
use overspill::internals::session::spill::state_of;
use serde_json::{Value, json};

use super::call;
use super::compacted::{goose, pi, pi_call};
use super::verify::{lines, made_of, told_of_spill};

#[test]
fn pi_grep_find_and_ls_are_cut_at_limits_the_call_did_not_set() {
    let cut = |tool: &str, arguments: Value, details: Value| {
        let home = tempfile::tempdir().unwrap();
        let [mut called, mut got] = pi_call("1");
        let block = &mut called["message"]["content"][0];
        (block["name"], block["arguments"]) = (json!(tool), arguments);
        (got["message"]["toolName"], got["message"]["details"]) = (json!(tool), details);
        call(pi(home.path(), &[called, got]).transcript(), "1").cut
    };
    let limits = [("grep", "matchLimitReached"), ("find", "resultLimitReached"), ("ls", "entryLimitReached")];
    for (tool, limit) in limits {
        assert_eq!(cut(tool, json!({}), json!({limit: 100})), CutState::NoSpill, "{tool}");
        assert_eq!(cut(tool, json!({"limit": 20}), json!({limit: 20})), CutState::No, "{tool}");
        assert_eq!(cut(tool, json!({}), json!({})), CutState::No, "{tool}");
    }
    let asked = json!({"pattern": "x", "limit": 20});
    assert_eq!(cut("grep", asked, json!({"linesTruncated": true})), CutState::NoSpill);
}

/// The verdict needs a policy that has the notice in one text, or puts a file in the place of any text.
#[test]
fn a_goose_cut_that_no_policy_makes_is_not_checked() {
    let home = tempfile::tempdir().unwrap();
    let notice = "[Output exceeded 2000 line limit (9000 lines total). Full output saved to /t/stdout-0. Read it with …]";
    let larger = "The response returned from the tool call was larger (250000 characters) and is stored in the file \
        which you can use other tools to examine or search in: /t/mcp_response_1.txt";
    for (text, path) in [
        (format!("{}\n{notice}", "1\n".repeat(50)), "/t/stdout-0"),
        (larger.to_owned(), "/t/mcp_response_1.txt"),
    ] {
        let content = json!([{"type": "text", "text": text}]);
        let got =
            json!([{"type": "toolResponse", "id": "c1", "toolResult": {"value": {"content": content}}}]);
        let opened = goose(home.path(), &[("user", got, true, true)]);
        let call = call(opened.transcript(), "c1");
        assert_eq!((call.cut, call.cites[0].path.to_str()), (CutState::Spill, Some(path)));
        assert!(told_of_spill(opened.transcript(), lines(), path).starts_with('?'), "{path}");
    }
}

/// pi claims the size of the text that it decodes from a spill.
#[test]
fn recognises_a_pi_spill_that_is_not_utf_8() {
    let home = tempfile::tempdir().unwrap();
    let spill = home.path().join("pi-bash-0123456789abcdef.log");
    let path = spill.to_str().unwrap();
    let bad = b"li\xffe\n".repeat(3000);
    let marked = [&b"\xef\xbb\xbf"[..], &b"line\n".repeat(3000)].concat();
    for (whole, decoded) in [(b"line\n".repeat(3000), 15_000), (bad.clone(), 21_000), (marked, 15_000)] {
        let found = |file: &[u8]| {
            std::fs::write(&spill, file).unwrap();
            let [called, mut got] = pi_call("c1");
            got["message"]["content"][0]["text"] = json!(made_of(&whole, "pi/bash", &[], path));
            let truncation = json!({"truncated": true, "totalBytes": decoded});
            got["message"]["details"] = json!({"truncation": truncation, "fullOutputPath": path});
            let opened = pi(home.path(), &[called, got]);
            let uid = home.path().metadata().unwrap().uid();
            let state = state_of(call(opened.transcript(), "c1"), home.path(), uid).unwrap();
            (state.as_str(), told_of_spill(opened.transcript(), file, path))
        };
        assert_eq!(found(&whole), ("here", "= pi/bash".to_owned()));
        // The size tells of another file only what its text could not be.
        assert_eq!(found(&whole[..3000]).0, "other");
        let other = found(&whole[..12_000]);
        assert!(other.1.starts_with('≈'), "{other:?}");
    }
}
