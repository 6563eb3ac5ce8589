//! Signatures by which the server recognizes its own output, even after a restart.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

pub(crate) fn thinking_signature(thinking: &str) -> String {
    sign("thinking", thinking)
}

pub(crate) fn text_signature(text: &str) -> String {
    sign("text", text)
}

pub(crate) fn call_signature(name: &str, arguments: &Value) -> String {
    let mut text = format!("{name} ");
    // Google does not distinguish absent arguments from empty ones.
    if !arguments.is_null() {
        write_sorted(arguments, &mut text);
    }
    sign("call", &text)
}

/// Concatenates four FNV-1a hashes with different seeds: detects changes, but is not secure.
fn sign(of: &str, text: &str) -> String {
    let mut bytes = Vec::new();
    for seed in 0..4_u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
        for byte in of.bytes().chain(text.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        bytes.extend(hash.to_be_bytes());
    }
    STANDARD.encode(bytes)
}

/// Writes a value with sorted keys, because the client may have reordered them.
fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            for name in names {
                text.push_str(&format!("{name:?}:"));
                write_sorted(&fields[name], text);
                text.push(',');
            }
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_sorted(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
