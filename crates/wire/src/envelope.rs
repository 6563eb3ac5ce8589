//! The JSON-RPC envelope: classifies messages by kind and id, and leaves payloads as raw bytes.

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::value::RawValue;
use switchboard_json::{Json, MembersError, decode_string, for_each_member, utf8};

use crate::error::RpcError;

/// A parsed message. Payloads are slices of the bytes it was read from.
#[derive(Clone, Debug)]
pub enum Message {
    Request {
        /// The other side's id, to be echoed unchanged.
        id: Json,
        method: String,
        params: Option<Json>,
    },
    Notification {
        method: String,
        params: Option<Json>,
    },
    Response {
        /// The id of our request. `None` for `null` and for ids that are not numbers. The ids `"1"`
        /// and `1.0` are recognized as request 1, but a result under such an id is rejected.
        id: Option<u64>,
        answer: ResponseBody,
    },
}

/// The result or error of a response.
#[derive(Clone, Debug)]
pub enum ResponseBody {
    Result(Json),
    Error(RpcError),
    /// Both a result and an error, or neither.
    Broken(&'static str),
}

impl ResponseBody {
    /// Keeps an error; rejects a result with the reason `why`.
    fn reject_result(self, why: &'static str) -> Self {
        match self {
            Self::Error(error) => Self::Error(error),
            Self::Result(_) | Self::Broken(_) => Self::Broken(why),
        }
    }
}

/// The reason why a line is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAMessage {
    /// Not JSON, or neither an object nor an array.
    NotJson,
    /// Valid JSON, but not a JSON-RPC message.
    NotRpc,
    /// A request whose id is neither a string nor a number, so it cannot be answered.
    BadId,
    /// A batch in a revision without batches.
    Batch,
}

impl From<NotAMessage> for RpcError {
    fn from(why: NotAMessage) -> Self {
        match why {
            NotAMessage::NotJson => Self::new(-32_700, "the message is not JSON"),
            NotAMessage::NotRpc => Self::new(-32_600, "the message is not JSON-RPC"),
            NotAMessage::BadId => Self::new(-32_600, "`id` must be a string or a number"),
            NotAMessage::Batch => {
                Self::new(-32_600, "batches are allowed only in revision 2025-03-26")
            }
        }
    }
}

/// The members of a message, as unparsed JSON text.
#[derive(Default)]
struct RawFrame<'a> {
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'a> RawFrame<'a> {
    /// Reads the members; rejects duplicates, since parsers disagree on which one counts.
    fn parse(text: &'a str) -> Result<Self, NotAMessage> {
        let mut frame = Self::default();
        let mut twice = false;
        let read = for_each_member(text, |name, value| {
            let member = match &*name {
                "id" => &mut frame.id,
                "method" => &mut frame.method,
                "params" => &mut frame.params,
                "result" => &mut frame.result,
                "error" => &mut frame.error,
                _ => return,
            };
            twice |= member.replace(value).is_some();
        });
        match read {
            Ok(()) if !twice => Ok(frame),
            Ok(()) | Err(MembersError::NotAnObject) => Err(NotAMessage::NotRpc),
            Err(MembersError::NotJson) => Err(NotAMessage::NotJson),
        }
    }

    fn method(&self) -> Result<Option<Cow<'a, str>>, NotAMessage> {
        match self.method {
            None | Some("null") => Ok(None),
            Some(quoted) => decode_string(quoted).map(Some).ok_or(NotAMessage::NotRpc),
        }
    }

    fn message(&self, line: &Bytes) -> Result<Message, NotAMessage> {
        let part = |text: &str| Json::slice_from(line, text);
        let given = |text: &&str| *text != "null";
        let id = self.id.filter(given);
        match (self.method()?, id) {
            // Ambiguous: parsers disagree on whether this is a request or a response.
            (Some(_), _) if [self.result, self.error].iter().flatten().any(given) => {
                Err(NotAMessage::NotRpc)
            }
            (Some(method), Some(id)) => Ok(Message::Request {
                id: part(id),
                method: method.into_owned(),
                params: self.params.map(part),
            }),
            (Some(method), None) => Ok(Message::Notification {
                method: method.into_owned(),
                params: self.params.map(part),
            }),
            (None, id) => {
                // Older libraries write `"error": null` next to a result.
                let error = self.error.filter(|error| *error != "null");
                let answer = match (self.result, error) {
                    (Some(result), None) => ResponseBody::Result(part(result)),
                    (None, Some(error)) => ResponseBody::Error(RpcError::parse(error)),
                    (Some(_), Some(_)) => ResponseBody::Broken("it has both a result and an error"),
                    (None, None) if id.is_none() => return Err(NotAMessage::NotRpc),
                    (None, None) => ResponseBody::Broken("it has neither a result nor an error"),
                };
                let number = id.and_then(|id| id.parse().ok());
                Ok(match id.filter(|_| number.is_none()).and_then(coerce_id) {
                    None => Message::Response { id: number, answer },
                    // An error is accepted under any id: it settles the request and has no data.
                    id => Message::Response { id, answer: answer.reject_result(ID_TYPE_MISMATCH) },
                })
            }
        }
    }
}

/// Why a result under a mistyped id is rejected; waiting for another answer would not help.
const ID_TYPE_MISMATCH: &str = "its id is of another type than the number that was sent";

/// Returns the number meant by an id that is a string (`"1"`) or a float (`1.0`).
fn coerce_id(id: &str) -> Option<u64> {
    let text = id.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    text.or_else(|| id.strip_suffix(".0"))?.parse().ok()
}

impl Message {
    /// Parses a message. Accepts ids of any JSON type.
    pub fn parse(line: &Bytes) -> Result<Self, NotAMessage> {
        RawFrame::parse(utf8(line).ok_or(NotAMessage::NotJson)?)?.message(line)
    }

    /// Parses a message from a client, whose ids must be strings or numbers.
    pub fn parse_strict(line: &Bytes) -> Result<Self, NotAMessage> {
        let frame = RawFrame::parse(utf8(line).ok_or(NotAMessage::NotJson)?)?;
        let is_bad = match (frame.method()?, frame.id) {
            // Some libraries write `"id": null` in notifications.
            (Some(method), Some("null")) => !method.starts_with("notifications/"),
            (Some(_), Some(id)) => id.starts_with(['{', '[', 't', 'f']),
            (Some(_), None) | (None, _) => false,
        };
        if is_bad { Err(NotAMessage::BadId) } else { frame.message(line) }
    }

    /// Splits a batch into its members.
    pub fn split_batch(line: &Bytes) -> Result<Vec<Bytes>, NotAMessage> {
        let members: Vec<&RawValue> =
            serde_json::from_slice(line).map_err(|_| NotAMessage::NotJson)?;
        Ok(members.into_iter().map(|raw| line.slice_ref(raw.get().as_bytes())).collect())
    }

    /// Returns whether the line is an array rather than an object.
    #[must_use]
    pub fn is_batch(line: &[u8]) -> bool {
        line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
    }
}

/// Formats a request: `params` is the text of an object, `meta` the members for its `_meta`.
#[must_use]
pub fn request_text(id: u64, method: &str, params: &str, meta: &str) -> String {
    let mut text = String::with_capacity(params.len() + meta.len() + method.len() + 96);
    // Writing to a `String` cannot fail.
    _ = write!(text, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}""#);
    push_params(&mut text, params, meta);
    text.push('}');
    text
}

/// Formats a notification, like [`request_text`].
#[must_use]
pub fn notification_text(method: &str, params: &str, meta: &str) -> String {
    let mut text = String::with_capacity(params.len() + meta.len() + method.len() + 64);
    _ = write!(text, r#"{{"jsonrpc":"2.0","method":"{method}""#);
    push_params(&mut text, params, meta);
    text.push('}');
    text
}

/// Formats a response to a request of the other side.
#[must_use]
pub fn response_text(id: &Json, answer: Result<&str, &RpcError>) -> String {
    let id = id.as_str();
    match answer {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(error) => {
            let message = serde_json::Value::from(error.message.as_str());
            let code = error.code;
            let data = error.data.as_ref().map(|data| format!(r#","data":{}"#, data.as_str()));
            let data = data.unwrap_or_default();
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#
            )
        }
    }
}

fn push_params(text: &mut String, params: &str, meta: &str) {
    let members = params.trim_start().strip_prefix('{').map(str::trim_start);
    match (members, meta.is_empty()) {
        (None, true) => {}
        (Some(_), true) => {
            text.push_str(r#","params":"#);
            text.push_str(params);
        }
        (None, false) => {
            // Writing to a `String` cannot fail.
            _ = write!(text, r#","params":{{"_meta":{{{meta}}}}}"#);
        }
        (Some(members), false) => {
            let comma = if members.starts_with('}') { "" } else { "," };
            _ = write!(text, r#","params":{{"_meta":{{{meta}}}{comma}{members}"#);
        }
    }
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
pub(crate) mod tests;
