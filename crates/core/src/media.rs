//! The media type and size of base64 content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The media type of unrecognized content.
pub(crate) const OCTET_STREAM: &str = "application/octet-stream";

/// File signatures as media type, first bytes, and further bytes at an offset.
const SIGNATURES: [(&str, &[u8], usize, &[u8]); 10] = [
    ("image/png", b"\x89PNG\r\n\x1a\n", 0, b""),
    ("image/jpeg", b"\xff\xd8\xff", 0, b""),
    ("image/gif", b"GIF8", 0, b""),
    ("image/webp", b"RIFF", 8, b"WEBP"),
    ("image/bmp", b"BM", 0, b""),
    ("image/avif", b"\0\0\0", 4, b"ftypavif"),
    ("image/svg+xml", b"<svg", 0, b""),
    ("audio/wav", b"RIFF", 8, b"WAVE"),
    ("audio/mpeg", b"ID3", 0, b""),
    ("audio/ogg", b"OggS", 0, b""),
];

/// Returns whether a text is a well-formed media type, optionally with simple parameters.
pub(crate) fn is_media_type(text: &str) -> bool {
    const MAX_LEN: usize = 100;
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-_;=\" ".contains(&byte);
    let is_name = |name: &str| !name.is_empty() && !name.contains([' ', '"', '=']);
    let (name, _) = text.split_once(';').unwrap_or((text, ""));
    let halves = name.trim().split_once('/');
    // A text of many words is prose, which could carry instructions to the model.
    let few_words = text.split_ascii_whitespace().count() < 4;
    let is_named = halves.is_some_and(|(kind, rest)| is_name(kind) && is_name(rest));
    text.len() <= MAX_LEN && text.bytes().all(is_sign) && is_named && few_words
}

/// Detects the media type from the first bytes of base64 content.
pub(crate) fn guess_media_type(data: &str) -> &'static str {
    // Base64 decodes in groups of four digits; 32 of them cover the longest signature.
    let Some(start) = data.get(..data.len().min(32) / 4 * 4) else { return OCTET_STREAM };
    let Ok(bytes) = STANDARD.decode(start) else { return OCTET_STREAM };
    let found = SIGNATURES.iter().find(|(_, start, place, then)| {
        bytes.starts_with(start) && bytes.get(*place..).is_some_and(|rest| rest.starts_with(then))
    });
    found.map_or(OCTET_STREAM, |(mime, ..)| mime)
}

/// Returns the decoded size of base64 content.
pub fn decoded_len(data: &str) -> usize {
    // Counted instead of decoded: content may be large. Some encoders wrap lines, as MIME does.
    let digits = data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    digits * 3 / 4
}

/// Formats a size in decimal units, such as `12.3 KB`.
pub fn human_size(bytes: usize) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64;
    let mut unit = "B";
    for larger in ["KB", "MB", "GB"] {
        // A value that would be rounded to 1000 is shown in the next unit.
        if size < 999.95 {
            break;
        }
        size /= 1000.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_give_the_type_away() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
            (b"\0\0\0\x1cftypavif\0\0\0\0", "image/avif"),
            (b"hello there", OCTET_STREAM),
            (b"", OCTET_STREAM),
        ] {
            assert_eq!(guess_media_type(&STANDARD.encode(bytes)), expected, "{bytes:?}");
        }
        assert_eq!(guess_media_type("§§§§§§§§§§§§§§§§§§§§§§§"), OCTET_STREAM);
    }

    #[test]
    fn sizes_are_those_of_the_bytes_behind_the_text() {
        for length in 0..40 {
            let bytes = vec![7; length];
            assert_eq!(decoded_len(&STANDARD.encode(&bytes)), length);
        }
        let shown: Vec<_> =
            [0, 999, 1000, 12_345, 999_949, 999_950, 5_000_000_000].map(human_size).to_vec();
        assert_eq!(shown, ["0 B", "999 B", "1.0 KB", "12.3 KB", "999.9 KB", "1.0 MB", "5.0 GB"]);
    }
}
