//! `overspill show` of a session or a call: what is known of it, or one text of a call, byte for byte.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};

use crate::base::human::{NamedFact, count, thousands};
use crate::cli::args::{CallText, ShowArgs, TextForm};
use crate::cli::table::print_facts;
use crate::cli::terminal::SafeWriter;
use crate::cli::{CommandResult, add, input, print_json, say};
use crate::config::Config;
use crate::rows::column::RowLook;
use crate::rows::lost::LostCounts;
use crate::session::call_details::FirstBytes;
use crate::session::copies::{count_copies, related_calls};
use crate::session::examine::CallInspector;
use crate::session::model::{Call, TextPiece};
use crate::session::sent::{NotSentReason, RequestMessage, request_of, write_request};
use crate::session::text::{self, mask};
use crate::session::transcript::Transcript;
use crate::source::Source;
use crate::{rows, store};

use super::SelectedSession;
use super::list::{self, row_of};

/// The words before the reason why a recorded text may differ from the one that was sent.
pub(crate) const NOT_SENT: &str = "as recorded, not as sent";

/// The longest text in `--json`, in bytes.
const MAX_JSON: usize = 16 << 20;

pub(crate) fn run(config: &Config, found: &SelectedSession, args: &ShowArgs) -> CommandResult {
    match (args.text, args.json) {
        (Some(which), false) => print(config, found, which, TextForm::Text),
        (which, true) if found.call.is_some() || which.is_some() => {
            let (call, inspector) = (found.require_call()?, found.inspector());
            let text = which.map(|which| text_fields(call, inspector, which)).transpose()?;
            let mut fields = json!({ "version": 1, "kind": "call" });
            let related = related_calls(&config.env, &found.file, &());
            add(&mut fields, rows::calls::json(inspector, call, &related));
            add(&mut fields, text.unwrap_or_default());
            print_json(&fields)
        }
        (_, true) => {
            let mut fields = json!({ "version": 1, "kind": "session" });
            add(&mut fields, rows::sessions::json(&row_of(config, &found.file)?, crate::base::env::now()));
            print_json(&fields)
        }
        (None, false) => {
            let facts = facts(config, found)?.into_iter();
            print_facts(11, facts.map(|(name, value)| (name, mask(&value).into_owned())))
        }
    }
}

/// By default prints what the model got, by the best evidence.
pub(crate) fn print(
    config: &Config,
    found: &SelectedSession,
    which: Option<CallText>,
    form: TextForm,
) -> CommandResult {
    let call = found.require_call()?;
    let related = || count_copies(&related_calls(&config.env, &found.file, &()), call);
    let copies = found.copies.unwrap_or_else(related);
    if copies > 0 {
        say(&format!("this call is also in {}", count(copies, "session")));
    }
    let mut out = io::BufWriter::new(SafeWriter::in_form(form));
    write(call, found.inspector(), which, &mut out)?;
    out.flush()?;
    Ok(out.get_mut().end()?)
}

fn text_fields(call: &Call, inspector: CallInspector, which: Option<CallText>) -> anyhow::Result<Value> {
    let mut first = FirstBytes::new(MAX_JSON);
    let what = write(call, inspector, which, &mut first)?;
    let mut fields = json!({ "what": what });
    // Moved, because it may be long.
    fields["text"] = mask(&String::from_utf8_lossy(&first.bytes)).into_owned().into();
    fields["text_is_cut"] = first.is_more.into();
    Ok(fields)
}

fn facts(config: &Config, found: &SelectedSession) -> anyhow::Result<Vec<NamedFact>> {
    let (inspector, severities) = (found.inspector(), config.severities());
    if let Some(call) = found.call() {
        let related = related_calls(&config.env, &found.file, &());
        let row = list::call_row(call, inspector, &related, &severities);
        return Ok(rows::calls::facts(&row, inspector.facts(call, inspector.best(call).first.as_ref())));
    }
    let (now, mut spills) = (crate::base::env::now(), Vec::new());
    let mut row = row_of(config, &found.file)?;
    row.lost.set(LostCounts::count_all(&inspector, &severities, &mut spills, &|| true));
    let spills = spills.iter().map(PathBuf::as_path).collect();
    let entries = store::entries_at(&spills, &config.stores, &config.env, now, &|| true);
    row.expires.set(entries.values().map(|entry| entry.expires).min());
    let look = RowLook { now, ..RowLook::default() };
    Ok(rows::sessions::facts(&row, &look).into())
}

/// Writes the text that was asked for, and returns its name.
fn write(
    call: &Call,
    inspector: CallInspector,
    which: Option<CallText>,
    out: &mut impl Write,
) -> anyhow::Result<&'static str> {
    let transcript = inspector.transcript;
    match which {
        Some(CallText::Spill) => return spill(call, inspector, out).map(|()| "spill"),
        Some(CallText::Request) => return request(call, transcript, out).map(|()| "request"),
        Some(CallText::Display) => {
            let copy = call.display.first().context("the agent recorded no copy for its own screen")?;
            say(&format!("{}: a copy for the agent's own screen, which the model never got", copy.name));
            pieces(transcript, std::slice::from_ref(&copy.text), out)?;
            return Ok("display");
        }
        Some(CallText::Sent | CallText::Recorded) | None => {}
    }
    let best = inspector.best(call);
    let result = if which == Some(CallText::Recorded) { call.first() } else { best.first.as_ref() };
    let result = result.context("the call has no result")?;
    match (best.not_sent, which) {
        (Some(why), Some(CallText::Sent)) => {
            bail!("{why}; --text=recorded prints what the history holds");
        }
        (Some(NotSentReason::Message(why)), None) => say(&format!("{NOT_SENT}: {why}")),
        _ => {}
    }
    pieces(transcript, &result.pieces, out)?;
    Ok(result.evidence.as_str())
}

fn request(call: &Call, transcript: &Transcript, mut out: &mut impl Write) -> anyhow::Result<()> {
    let request = request_of(transcript, call).map_err(|why| anyhow!(why.to_string()))?;
    let of = |is: fn(&RequestMessage) -> bool| request.messages.iter().filter(|one| is(one)).count() as u64;
    let unproven = of(|message| matches!(message, RequestMessage::Blob(_, Some(_))));
    let missing = of(|message| matches!(message, RequestMessage::Missing));
    let all = count(request.messages.len() as u64, "message");
    if unproven > 0 {
        say(&format!("{} of {all} do not have the hash that the request names", thousands(unproven)));
    }
    if missing > 0 {
        say(&format!("{} of {all} are not in the records; null stands for each", thousands(missing)));
    }
    Ok(write_request(transcript, &request, &mut out)?)
}

fn pieces(transcript: &Transcript, pieces: &[TextPiece], out: &mut impl Write) -> anyhow::Result<()> {
    let mut written = Ok(());
    let facts = text::decode(transcript, pieces, &mut |piece| {
        written = out.write_all(piece.as_bytes());
        written.is_ok()
    })?;
    written?;
    if facts.images > 0 {
        say(&format!("{} image(s) have no text", facts.images));
    }
    if facts.replaced > 0 {
        say(&format!("{} invalid characters were replaced by U+FFFD", facts.replaced));
    }
    Ok(())
}

fn spill(call: &Call, inspector: CallInspector, out: &mut impl Write) -> anyhow::Result<()> {
    let state = inspector.spill(call).context("this result has no spill file")?;
    let Some(path) = state.path() else {
        let cited = call.cites.first().map(|cite| cite.path.display().to_string()).unwrap_or_default();
        bail!("{cited}: the spill is {}", state.as_str());
    };
    if !inspector.is_known(path) {
        say(&format!("{}: the file that the records name; it is in no known store", path.display()));
    }
    input::copy(Source::open_entry_unlocked(path)?, out)
}
