//! Reads the messages of requests from the records, and works out their hashes.

use sha2::{Digest, Sha256};

use crate::session::content::MAX_NAME;
use crate::session::json::{Json, Kind, Tape};
use crate::session::model::RecordSpan;
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

use super::canonical::{canonical, hash_of};
use super::log::{MessageHash, message_hash};

/// The longest record that is looked at, in bytes: a request may have 32 MB.
const MAX_LOOKED: u64 = 32 << 20;

/// The most records of the user of which each part of the list is tried.
const MAX_TRIED: usize = 8;

/// Why a message cannot be shown to be what a request carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageFault {
    #[error("the records cannot be read")]
    Unreadable,
    #[error("the record of the message is over 32 MB")]
    TooLong,
    #[error("the message in the records does not have the hash that the request names")]
    Mismatch,
}

pub(super) fn look<T>(
    transcript: &Transcript,
    record: RecordSpan,
    look: impl FnOnce(Json, RecordPlace) -> Option<T>,
) -> Result<T, MessageFault> {
    if record.len() > MAX_LOOKED {
        return Err(MessageFault::TooLong);
    }
    let bytes = transcript.read(record, MAX_LOOKED).map_err(|_| MessageFault::Unreadable)?;
    let mut tape = Tape::default();
    let value = tape.read(&bytes).map_err(|_| MessageFault::Unreadable)?;
    let place = RecordPlace { source: record.source(), row: record.row(), start: record.start() };
    look(value, place).ok_or(MessageFault::Unreadable)
}

/// Looks at the message that was written for a request, once it is shown to have this hash.
pub(super) fn look_at_blob<T>(
    transcript: &Transcript,
    record: RecordSpan,
    hash: &MessageHash,
    then: impl FnOnce(Json, RecordPlace) -> Option<T>,
) -> Result<T, MessageFault> {
    look(transcript, record, |record, place| {
        let message = record.get("message")?;
        Some(if is_proven(message, hash) {
            then(message, place).ok_or(MessageFault::Unreadable)
        } else {
            Err(MessageFault::Mismatch)
        })
    })?
}

pub(super) fn claimed_hash(transcript: &Transcript, record: RecordSpan) -> Result<MessageHash, MessageFault> {
    look(transcript, record, |record, _| message_hash(&record.get("hash")?.short(MAX_NAME)?))
}

/// Hands out the hashes of the messages that records of one role can make up, with the records. Those of the model make up
/// one; of the user's, a request may carry any part of the list: of a long list only beginnings are tried.
pub(super) fn each_message(
    transcript: &Transcript,
    role: MessageRole,
    records: &[RecordSpan],
    take: &mut dyn FnMut(MessageHash, &[RecordSpan]),
) {
    let is_one = role == MessageRole::Assistant;
    let starts = if is_one || records.len() > MAX_TRIED { 1 } else { records.len() };
    for start in 0..starts {
        let mut hash = Sha256::new_with_prefix(b"{\"content\":[");
        let mut blocks = Blocks::default();
        for (at, record) in records.iter().enumerate().skip(start) {
            let added = look(transcript, *record, |record, _| {
                add_content(record.path(&["message", "content"])?, &mut blocks, &mut hash)
            });
            if added.is_err() {
                break;
            }
            if is_one && at + 1 < records.len() {
                continue;
            }
            let whole = hash.clone().chain_update(format!("],\"role\":\"{}\"}}", role.as_str()));
            take(whole.finalize().into(), records.get(start..=at).unwrap_or_default());
        }
    }
}

/// A piece of the list of blocks that the contents of several records make up.
pub(super) enum ContentPiece<'a> {
    /// Text between blocks, or around one that is a string.
    Between(&'static str),
    /// A block, or the string of one.
    Value(Json<'a>),
}

impl<'a> ContentPiece<'a> {
    /// Returns the piece as the records have it.
    pub(super) fn raw(&self) -> &'a [u8] {
        match self {
            Self::Between(text) => text.as_bytes(),
            Self::Value(value) => value.raw(),
        }
    }
}

/// Joins the blocks of the contents of several records.
#[derive(Default)]
pub(super) struct Blocks {
    count: u64,
}

impl Blocks {
    /// Hands out the blocks of the next content; a string is one block of text.
    pub(super) fn each(&mut self, content: Json, take: &mut dyn FnMut(ContentPiece)) {
        if content.kind() == Kind::String {
            self.separate(take);
            take(ContentPiece::Between("{\"text\":"));
            take(ContentPiece::Value(content));
            take(ContentPiece::Between(",\"type\":\"text\"}"));
        }
        for block in content.items() {
            self.separate(take);
            take(ContentPiece::Value(block));
        }
    }

    fn separate(&mut self, take: &mut dyn FnMut(ContentPiece)) {
        if self.count > 0 {
            take(ContentPiece::Between(","));
        }
        self.count += 1;
    }
}

/// Adds the blocks of a content to a hash. Returns `None` if they cannot be written.
fn add_content(content: Json, blocks: &mut Blocks, hash: &mut Sha256) -> Option<()> {
    let mut written = Ok(());
    blocks.each(content, &mut |piece| match piece {
        ContentPiece::Between(text) => hash.update(text),
        ContentPiece::Value(value) if written.is_ok() => {
            written = canonical(value, &mut |piece| hash.update(piece))
        }
        ContentPiece::Value(_) => {}
    });
    written.ok()
}

/// Who speaks in a message of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRole {
    /// The user, or a tool.
    User,
    Assistant,
    /// Another word.
    Other,
}

impl MessageRole {
    /// Returns the agent's word; empty for another one.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other => "",
        }
    }

    pub(super) fn read(message: Json) -> Self {
        let is = |role: Self| message.get("role").is_some_and(|word| word.is(role.as_str()));
        [Self::User, Self::Assistant].into_iter().find(|role| is(*role)).unwrap_or(Self::Other)
    }
}

pub fn is_proven(message: Json, hash: &MessageHash) -> bool {
    hash_of(message).is_ok_and(|found| found == *hash)
}
