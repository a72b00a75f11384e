//! What counts as cut, by the words and details with which agents tell it.

use overspill::internals::session::model::CutState;
use serde_json::{Value, json};

use super::call;
use super::compacted::{goose, pi, pi_call};
use super::verify::{lines, told_of_spill};

#[test]
fn what_pi_s_grep_find_and_ls_leave_out_is_lost_unless_the_call_asked_for_no_more() {
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
fn a_cut_of_goose_by_no_policy_is_not_checked() {
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
        assert!(told_of_spill(opened.transcript(), &lines(), path).starts_with('?'), "{path}");
    }
}
