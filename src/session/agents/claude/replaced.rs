//! Results that the agent replaced by a notice because together they were too large.

use crate::session::content::{cited, start_of};
use crate::session::context::ResultId;
use crate::session::entry::RecordEntry;
use crate::session::json::Kind;
use crate::session::model::{Call, Citation, CutState, DisplayCopy, TextPiece};
use crate::session::transcript::Transcript;

/// Reads that several large results of a turn were replaced together. `is_seen` returns whether the model has seen the result
/// of the call with a number; if not, it only ever gets the replacement. Returns the results that it had otherwise.
pub(super) fn replace(
    entry: RecordEntry,
    is_seen: &dyn Fn(u32) -> bool,
    out: &mut Transcript,
) -> Vec<ResultId> {
    let mut replaced = Vec::new();
    for replacement in entry.record.list("replacements") {
        let id = replacement.name("toolUseId");
        let text = replacement.get("replacement").filter(|text| text.kind() == Kind::String);
        let (Some(id), Some(text)) = (id, text) else { continue };
        let Some(number) = out.call_number(entry.thread, &id) else { continue };
        let Some(call) = out.calls.get_mut(number as usize) else { continue };
        match call.results.len().checked_sub(1) {
            // One that was replaced before was seen: an event names it.
            Some(last) if last > 0 || is_seen(number) => {
                replaced.push(ResultId { call: number, result: last as u32 })
            }
            _ => keep_for_screen(call),
        }
        if let Some(path) = framed_path(&start_of(text)) {
            call.cut = CutState::Spill;
            call.cites.push(Citation::new(path));
        }
        entry.add_result(Some(text), call);
    }
    replaced
}

/// What the model never saw is a copy for the agent's own screen.
fn keep_for_screen(call: &mut Call) {
    let texts = call.results.drain(..).flat_map(|result| result.pieces);
    let copies = texts.filter(|piece| matches!(piece, TextPiece::Json(_)));
    call.display.extend(copies.map(|text| DisplayCopy { name: "tool_result", text, most: Some(0) }));
}

/// Returns the path in the frame `<persisted-output>`, which must begin the text.
pub(super) fn framed_path(start: &str) -> Option<String> {
    let after = |words| cited(start, "<persisted-output>\n", words);
    after(" Full output saved to: ").or_else(|| after(" were saved to: "))
}
