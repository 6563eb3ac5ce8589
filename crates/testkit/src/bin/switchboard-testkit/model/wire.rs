//! Encodes the events of an answer as bytes, split at places that a careless parser gets wrong.

use std::time::Duration;

use super::script::{FaultKind, TurnFault};
use super::vendor::{Vendor, VendorEvent, VendorProblem, VendorProblemKind};
use crate::exchange::WireStep;
use crate::http::FixtureReply;
use crate::journal;

/// Pause of the fault `silent`; longer than any test waits.
const SILENCE_TIME: Duration = Duration::from_secs(3_600);
const PAGE: &str = "<!doctype html>\n<html><body><h1>Sign in to continue</h1></body></html>\n";

/// Returns a stream of events with the given fault.
pub(crate) fn events(
    vendor: &Vendor,
    mut events: Vec<VendorEvent>,
    delay: Duration,
    fault: Option<&TurnFault>,
) -> FixtureReply {
    let mut ending = vec![WireStep::Write(b"0\r\n\r\n".to_vec())];
    if let Some(fault) = fault {
        match fault.kind {
            FaultKind::Status | FaultKind::Html => {}
            FaultKind::Malformed => {
                let name = events.first().and_then(|event| event.name);
                let name = name.map(|_| "content_block_delta");
                let half = VendorEvent { name, data: "{\"half\": ".to_owned() };
                events.insert(fault.after.min(events.len()), half);
            }
            FaultKind::Cut | FaultKind::Silent | FaultKind::Error => events.truncate(fault.after),
        }
        match fault.kind {
            FaultKind::Cut => ending = vec![WireStep::Close],
            FaultKind::Silent => ending = vec![WireStep::Pause(SILENCE_TIME), WireStep::Close],
            FaultKind::Error => events.push(vendor.failure_event()),
            FaultKind::Status | FaultKind::Html | FaultKind::Malformed => {}
        }
    }
    let head =
        format!("{}transfer-encoding: chunked\r\n\r\n", head(vendor, vendor.event_stream_type));
    let mut steps = vec![WireStep::Write(head.into_bytes())];
    for event in events {
        if !delay.is_zero() {
            steps.push(WireStep::Pause(delay));
        }
        let bytes = vendor.encode(&event).into_bytes();
        let (start, end) = bytes.split_at(cut(&bytes));
        steps.extend([start, end].into_iter().filter(|part| !part.is_empty()).map(chunk));
    }
    steps.extend(ending);
    FixtureReply::wire(steps)
}

/// Returns one JSON text with the given fault.
pub(crate) fn whole(vendor: &Vendor, text: &str, fault: Option<&TurnFault>) -> FixtureReply {
    let (half, _) = text.as_bytes().split_at(text.len() / 2);
    let (length, body, ending) = match fault.map(|fault| fault.kind) {
        Some(FaultKind::Cut) => (text.len(), half, vec![WireStep::Close]),
        Some(FaultKind::Silent) => {
            (text.len(), half, vec![WireStep::Pause(SILENCE_TIME), WireStep::Close])
        }
        Some(FaultKind::Malformed) => (half.len(), half, Vec::new()),
        Some(FaultKind::Error) => return vendor.refuse(&vendor.failure()),
        None | Some(FaultKind::Status | FaultKind::Html) => {
            (text.len(), text.as_bytes(), Vec::new())
        }
    };
    let head = format!("{}content-length: {length}\r\n\r\n", head(vendor, "application/json"));
    let mut steps = vec![WireStep::Write([head.as_bytes(), body].concat())];
    steps.extend(ending);
    FixtureReply::wire(steps)
}

/// Returns the sign-in page that a proxy sends instead of a service's response.
fn page() -> FixtureReply {
    let length = PAGE.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n");
    FixtureReply::wire(vec![WireStep::Write(format!("{head}\r\n{PAGE}").into_bytes())])
}

fn head(vendor: &Vendor, of_type: &str) -> String {
    let (name, value) = vendor.request_id;
    format!("HTTP/1.1 200 OK\r\ncontent-type: {of_type}\r\n{name}: {value}\r\n")
}

fn chunk(bytes: &[u8]) -> WireStep {
    let size = format!("{:x}\r\n", bytes.len());
    WireStep::Write([size.as_bytes(), bytes, b"\r\n"].concat())
}

/// Returns a position within the first multi-byte character, or else the middle.
fn cut(bytes: &[u8]) -> usize {
    let inside = bytes.iter().position(|byte| byte & 0b1100_0000 == 0b1000_0000);
    inside.unwrap_or(bytes.len() / 2)
}

/// Returns the reply of a fault that replaces the whole answer, or `None` for other faults.
pub(crate) fn fault_reply(vendor: &Vendor, fault: &TurnFault) -> Option<FixtureReply> {
    match fault.kind {
        FaultKind::Status => {
            let status = fault.status.expect("the fault `status` needs a `status`");
            let after = fault.retry_after.as_ref().map(journal::plain);
            let seconds = after.as_ref().and_then(|after| after.parse().ok());
            let kind = VendorProblemKind::Scripted(status, seconds);
            let message = format!("the script answers with status {status}");
            let reply = match &fault.body {
                Some(body) => FixtureReply::json(status, body.clone()),
                None => vendor.refuse(&VendorProblem::new(kind, message)),
            };
            Some(after.into_iter().fold(reply, |reply, after| reply.with("retry-after", after)))
        }
        FaultKind::Html => Some(page()),
        FaultKind::Cut | FaultKind::Malformed | FaultKind::Silent | FaultKind::Error => None,
    }
}

/// Splits a text into pieces of `chunk` characters; the last one may be shorter.
pub(crate) fn pieces(text: &str, chunk: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(chunk.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// Splits JSON into at least two pieces, and every escape sequence after its backslash.
pub(crate) fn fragments(json: &str, chunk: usize) -> Vec<String> {
    let half = json.chars().count().div_ceil(2);
    let chunk = chunk.clamp(1, half.max(1));
    let mut fragments = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    let mut escaped = false;
    for character in json.chars() {
        piece.push(character);
        length += 1;
        escaped = character == '\\' && !escaped;
        if length == chunk || escaped {
            fragments.push(std::mem::take(&mut piece));
            length = 0;
        }
    }
    if !piece.is_empty() {
        fragments.push(piece);
    }
    fragments
}

#[cfg(test)]
mod tests {
    use super::{fragments, pieces};

    #[test]
    fn text_is_cut_at_characters_and_not_at_bytes() {
        assert_eq!(pieces("Zürich 🌧", 3), ["Zür", "ich", " 🌧"]);
        assert_eq!(pieces("", 3), Vec::<String>::new());
    }

    #[test]
    fn json_is_cut_in_two_at_least_and_inside_its_escapes() {
        let cases: [(&str, usize, &[&str]); 4] = [
            ("{}", 16, &["{", "}"]),
            (r#"{"a":1}"#, 16, &[r#"{"a""#, ":1}"]),
            (r#"{"a":"\n"}"#, 4, &[r#"{"a""#, r#":"\"#, r#"n"}"#]),
            (r#"["\\n"]"#, 9, &[r#"["\"#, r#"\n"]"#]),
        ];
        for (json, chunk, expected) in cases {
            assert_eq!(fragments(json, chunk), expected, "{json}");
        }
    }
}
