//! `overspill call`: prints one text of one call, byte for byte.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::args::{CallArgs, CallTexts};
use crate::cli::safe::SafeWriter;
use crate::cli::{CommandResult, Failure, json, say};
use crate::config::Config;
use crate::human::{count, thousands};
use crate::session::copies::RelatedSessions;
use crate::session::examine::{CallInspector, Paths};
use crate::session::facts::FirstBytes;
use crate::session::model::{Call, TextPiece};
use crate::session::sent::{MessageProof, NotSent, request_of, write_request};
use crate::session::text;
use crate::session::transcript::Transcript;
use crate::source::Source;

use super::row::{CallJson, Secrets, examiner};
use super::select;

/// The longest text in `--json`, in bytes.
const MAX_JSON: usize = 16 << 20;

/// A call as in `--json`, with the text that was asked for.
#[derive(Debug, Serialize)]
struct CallTextJson {
    version: u64,
    #[serde(flatten)]
    call: CallJson,
    what: &'static str,
    text: String,
    text_is_cut: bool,
}

pub(crate) fn run(config: &Config, args: &CallArgs) -> CommandResult {
    let found = select::call(config, &args.id)?;
    let transcript = found.opened.transcript();
    let call = found.call.and_then(|at| transcript.calls.get(at));
    let Some(call) = call else {
        let words = format!("`{}` names a session; add a call as in SESSION:CALL", args.id);
        return Err(Failure::Usage(words).into());
    };
    let examiner = examiner(config, transcript.agent, Paths::Known);
    let inspector = CallInspector { examiner: &examiner, file: &found.file, transcript };
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        let secrets = if args.what.raw { Secrets::Show } else { Secrets::Mask };
        let mut first = FirstBytes::new(MAX_JSON);
        let what = write(call, inspector, &args.what, &mut first)?;
        let text = secrets.shown(&String::from_utf8_lossy(&first.bytes));
        let call = CallJson::new(inspector, call, secrets);
        json(&mut out, &CallTextJson { version: 1, call, what, text, text_is_cut: first.is_more })?;
        return Ok(out.flush()?);
    }
    let related = || RelatedSessions::find(&config.env, &found.file, &()).with(call);
    let copies = found.copies.unwrap_or_else(related);
    if copies > 0 {
        say(&format!("this call is also in {}", count(copies, "session")));
    }
    let mut out = io::BufWriter::new(SafeWriter::stdout());
    write(call, inspector, &args.what, &mut out)?;
    out.flush()?;
    Ok(out.get_mut().end()?)
}

/// Writes the text that was asked for, and returns its name.
fn write(
    call: &Call,
    inspector: CallInspector,
    what: &CallTexts,
    out: &mut impl Write,
) -> anyhow::Result<&'static str> {
    let transcript = inspector.transcript;
    if what.spill {
        return spill(call, inspector, out).map(|()| "spill");
    }
    if what.raw {
        let record = call.first().and_then(|first| first.record).or(call.record);
        let record = record.ok_or_else(|| Failure::Failed("the call has no record".into()))?;
        pieces(transcript, &[TextPiece::Raw(record)], out)?;
        return Ok("raw");
    }
    if what.display {
        let Some(copy) = call.display.first() else {
            return Err(Failure::Failed("the agent recorded no copy for its own screen".into()).into());
        };
        say(&format!("{}: a copy for the agent's own screen, which the model never got", copy.name));
        pieces(transcript, std::slice::from_ref(&copy.text), out)?;
        return Ok("display");
    }
    if what.request {
        return request(call, transcript, out).map(|()| "request");
    }
    let best = inspector.best(call);
    let result = if what.recorded { call.first() } else { best.first() };
    let result = result.ok_or_else(|| Failure::Failed("the call has no result".into()))?;
    if let Some(why) = best.not_sent.filter(|_| what.sent) {
        let words = format!("{why}; --recorded prints what the history holds");
        return Err(Failure::Failed(words).into());
    }
    if let (Some(NotSent::Message(why)), false) = (best.not_sent, what.recorded) {
        say(&format!("as recorded, not as sent: {why}"));
    }
    pieces(transcript, &result.pieces, out)?;
    Ok(result.evidence.as_str())
}

/// Writes the request that first carried the result.
fn request(call: &Call, transcript: &Transcript, mut out: &mut impl Write) -> anyhow::Result<()> {
    let request = request_of(transcript, call).map_err(|why| Failure::Failed(why.to_string()))?;
    let of = |wanted: fn(MessageProof) -> bool| {
        request.messages.iter().filter(|message| wanted(message.proof)).count() as u64
    };
    let unproven = of(|proof| matches!(proof, MessageProof::Unproven(_)));
    let missing = of(|proof| proof == MessageProof::Missing);
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
        say(&format!("{} characters of the record are no text, and stand as U+FFFD", facts.replaced));
    }
    Ok(())
}

fn spill(call: &Call, inspector: CallInspector, out: &mut impl Write) -> anyhow::Result<()> {
    let Some(state) = inspector.spill(call) else {
        return Err(Failure::Failed("the result names no spill".into()).into());
    };
    let Some(path) = state.path() else {
        let cited = call.cites.first().map(|cite| cite.path.display().to_string()).unwrap_or_default();
        return Err(Failure::Failed(format!("{cited}: the spill is {}", state.as_str())).into());
    };
    if !inspector.is_known(path) {
        say(&format!("{}: the file that the records name; it is in no known store", path.display()));
    }
    crate::cli::view::copy_to(Source::glance_at_entry(path)?, out)
}
