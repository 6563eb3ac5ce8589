//! Redaction of a call's texts before they are stored, and truncation of very long arguments.

use bytes::Bytes;
use switchboard_text::{hex_digest, redact_bytes};

/// Maximum length of arguments that are stored in full, in bytes.
const MAX_ARGUMENTS_LEN: usize = 256 << 10;
/// Length of the stored beginning of longer arguments, in bytes.
const HEAD_LEN: usize = 4 << 10;

/// Redacts and truncates arguments. The result is valid JSON if the input is.
pub(crate) fn redact_arguments(text: &Bytes) -> Bytes {
    // Redacted before it is cut: half of a secret would not be recognized.
    let clean = without_secrets(text);
    if clean.len() <= MAX_ARGUMENTS_LEN {
        return clean;
    }
    let head = clean.get(..HEAD_LEN).unwrap_or_default();
    let excerpt = serde_json::json!({
        "switchboard:cut": {
            "bytes": text.len(),
            "sha256": hex_digest([text.as_ref()]),
            "head": String::from_utf8_lossy(head),
        }
    });
    Bytes::from(excerpt.to_string())
}

/// Redacts secrets. Text without secrets is returned without a copy.
pub(crate) fn without_secrets(text: &Bytes) -> Bytes {
    redact_bytes(text).map_or_else(|| text.clone(), Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_arguments_are_kept_as_they_are_but_for_secrets() {
        let plain = Bytes::from_static(br#"{"a":1}"#);
        assert_eq!(redact_arguments(&plain).as_ptr(), plain.as_ptr());
        let secret = Bytes::from(format!(r#"{{"a":"ghp_{}"}}"#, "a1B2".repeat(9)));
        assert_eq!(redact_arguments(&secret), Bytes::from_static(br#"{"a":"[redacted]"}"#));
    }

    #[test]
    fn long_arguments_are_a_digest_and_a_beginning() {
        let long = Bytes::from(format!(r#"{{"a":"{}"}}"#, "x".repeat(10 << 20)));
        let kept = redact_arguments(&long);
        assert!(kept.len() < 8_000);
        let value: serde_json::Value = serde_json::from_slice(&kept).unwrap();
        assert_eq!(value["switchboard:cut"]["bytes"], long.len());
    }
}
