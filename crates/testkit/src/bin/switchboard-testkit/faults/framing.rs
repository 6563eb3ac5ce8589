//! Faults around every line on standard output, from the first byte to the last.

use std::time::Duration;

use super::{Fault, text};
use crate::emission::WireStep;

/// What is written before anything was asked.
pub(crate) fn greeting(fault: &Fault) -> Vec<WireStep> {
    match fault.name {
        "noise" => {
            vec![WireStep::Write(b"Welcome to the server!\nlistening on stdio...\n".to_vec())]
        }
        "binary-noise" => vec![WireStep::Write(binary())],
        "crlf-bom-blank" => vec![WireStep::Write(b"\xef\xbb\xbf".to_vec())],
        "noise-flood" if fault.is_there_from_the_start() => vec![text::flood()],
        "closed-stdout" if fault.is_there_from_the_start() => {
            vec![WireStep::Close, WireStep::Pause(Duration::ZERO)]
        }
        _ => Vec::new(),
    }
}

/// The bytes of one message on standard output.
pub(crate) fn encode(fault: Option<&Fault>, message: &str) -> Vec<u8> {
    match fault.map(|fault| fault.name) {
        Some("noise") => {
            let noise = "[info] handled a message\n{\"level\":30,\"msg\":\"not for you\"}\n42\n";
            format!("{noise}{message}\n").into_bytes()
        }
        Some("binary-noise") => [&binary(), message.as_bytes(), b"\n"].concat(),
        Some("crlf-bom-blank") => format!("\r\n\n{message}\r\n\r\n").into_bytes(),
        _ => format!("{message}\n").into_bytes(),
    }
}

/// A line of bytes that are no UTF-8, with NULs and escapes between.
fn binary() -> Vec<u8> {
    b"\x00\x01\xff\xfe\xc3\x28\x1b[31m\x00{\"jsonrpc\":\"2.0\",\xf0\x28\x8c\x28}\n".to_vec()
}
