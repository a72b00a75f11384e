//! What a request that is itself in the records carried to the model: found by place, and proven by hash.

pub mod log;
mod message;
mod request;
mod results;

pub use message::{MessageFault, MessageRole, is_proven, look};
pub use request::{RequestMessage, request_of, write_request};
pub use results::{BestResult, FirstForm, NotSentReason, best, own_hashes, text_of};
