//! Messages as they are written to clients.

use switchboard_wire::envelope;
use switchboard_wire::{Json, RpcError};

use crate::reply::ClientReply;

/// A notification; `params` is the text of an object, or nothing.
pub(crate) fn notification(method: &str, params: &str) -> String {
    envelope::notification(method, params, "")
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    envelope::request(id, method, params, "")
}

/// An answer.
pub(crate) fn response(id: &Json, answer: Result<&ClientReply, &RpcError>) -> String {
    match answer {
        Ok(reply) => reply.answer(id),
        Err(error) => envelope::response(id, Err(error)),
    }
}

/// An answer to a message whose id could not be read.
pub(crate) fn error_without_id(error: &RpcError) -> String {
    envelope::response(&Json::NULL, Err(error))
}
