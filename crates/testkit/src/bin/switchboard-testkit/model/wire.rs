//! Writes the events of an answer as bytes, cut where a careless reader stumbles.

use std::time::Duration;

use super::script::FaultKind;
use super::vendor::FixtureVendor;
use crate::emission::WireStep;
use crate::http::FixtureReply;

/// Longer than any test waits.
const SILENCE_TIME: Duration = Duration::from_secs(3_600);
const PAGE: &str = "<!doctype html>\n<html><body><h1>Sign in to continue</h1></body></html>\n";

/// One server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VendorEvent {
    pub(crate) name: Option<&'static str>,
    pub(crate) data: String,
}

/// A stream of events, with the fault that strikes it.
pub(crate) fn events(
    vendor: FixtureVendor,
    mut events: Vec<VendorEvent>,
    delay: Duration,
    fault: Option<&FaultKind>,
) -> FixtureReply {
    let mut ending = vec![WireStep::Write(b"0\r\n\r\n".to_vec())];
    match fault {
        None | Some(FaultKind::Status { .. } | FaultKind::Html) => {}
        Some(FaultKind::Cut(after)) => {
            events.truncate(*after);
            ending = vec![WireStep::Close];
        }
        Some(FaultKind::Silent(after)) => {
            events.truncate(*after);
            ending = vec![WireStep::Pause(SILENCE_TIME), WireStep::Close];
        }
        Some(FaultKind::Malformed(after)) => {
            let place = (*after).min(events.len());
            let name = events.first().and_then(|event| event.name).map(|_| "content_block_delta");
            events.insert(place, VendorEvent { name, data: "{\"half\": ".to_owned() });
        }
        Some(FaultKind::Error(after)) => {
            events.truncate(*after);
            events.push(vendor.error_event());
        }
    }
    let of_type = vendor.event_stream_type();
    let head = format!("{}transfer-encoding: chunked\r\n\r\n", head(vendor, of_type));
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

/// One JSON text, with the fault that strikes it.
pub(crate) fn whole(vendor: FixtureVendor, text: &str, fault: Option<&FaultKind>) -> FixtureReply {
    let (half, _) = text.as_bytes().split_at(text.len() / 2);
    let (length, body, ending) = match fault {
        Some(FaultKind::Cut(_)) => (text.len(), half, vec![WireStep::Close]),
        Some(FaultKind::Silent(_)) => {
            (text.len(), half, vec![WireStep::Pause(SILENCE_TIME), WireStep::Close])
        }
        Some(FaultKind::Malformed(_)) => (half.len(), half, Vec::new()),
        Some(FaultKind::Error(_)) => return vendor.refusal(&vendor.failure()),
        None | Some(FaultKind::Status { .. } | FaultKind::Html) => {
            (text.len(), text.as_bytes(), Vec::new())
        }
    };
    let head = format!("{}content-length: {length}\r\n\r\n", head(vendor, "application/json"));
    let mut steps = vec![WireStep::Write([head.as_bytes(), body].concat())];
    steps.extend(ending);
    FixtureReply::wire(steps)
}

/// The page that a proxy puts in front of a service.
pub(crate) fn page() -> FixtureReply {
    let length = PAGE.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n");
    FixtureReply::wire(vec![WireStep::Write(format!("{head}\r\n{PAGE}").into_bytes())])
}

fn head(vendor: FixtureVendor, of_type: &str) -> String {
    let (name, value) = vendor.request_id();
    format!("HTTP/1.1 200 OK\r\ncontent-type: {of_type}\r\n{name}: {value}\r\n")
}

fn chunk(bytes: &[u8]) -> WireStep {
    let size = format!("{:x}\r\n", bytes.len());
    WireStep::Write([size.as_bytes(), bytes, b"\r\n"].concat())
}

/// Inside the first character of several bytes, or else in the middle.
fn cut(bytes: &[u8]) -> usize {
    let inside = bytes.iter().position(|byte| byte & 0b1100_0000 == 0b1000_0000);
    inside.unwrap_or(bytes.len() / 2)
}
