//! Detects from the first bytes of a file whether it is text, an image or another format.

pub(crate) const HEAD_BYTES: usize = 8 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    Text,
    Image(&'static str),
    /// A format that is described to the model.
    Binary(&'static str),
}

const IMAGES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

const BINARIES: [(&[u8], &str); 9] = [
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ\x90\x00", "a program (Windows)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
];

pub(crate) fn detect(head: &[u8]) -> ContentKind {
    let begins = |(magic, word): &(&[u8], &'static str)| head.starts_with(magic).then_some(*word);
    if let Some(mime_type) = IMAGES.iter().find_map(begins) {
        return ContentKind::Image(mime_type);
    }
    // RIFF is also the container of WAV and AVI.
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return ContentKind::Image("image/webp");
    }
    if let Some(word) = BINARIES.iter().find_map(begins) {
        return ContentKind::Binary(word);
    }
    // Text in UTF-8 or an 8-bit encoding has no NUL bytes.
    if head.contains(&0) { ContentKind::Binary("binary") } else { ContentKind::Text }
}

#[cfg(test)]
mod tests {
    use super::{ContentKind, detect};

    #[test]
    fn the_first_bytes_tell_what_a_file_is() {
        for (head, expected) in [
            (&b""[..], ContentKind::Text),
            (b"# Title\n", ContentKind::Text),
            ("日本語".as_bytes(), ContentKind::Text),
            (b"caf\xe9 in Latin-1", ContentKind::Text),
            (b"\x89PNG\r\n\x1a\n\0\0", ContentKind::Image("image/png")),
            (b"\xff\xd8\xff\xe0", ContentKind::Image("image/jpeg")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", ContentKind::Image("image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", ContentKind::Binary("binary")),
            (b"%PDF-1.7", ContentKind::Binary("a PDF document")),
            (b"\xff\xfea\0", ContentKind::Binary("text in UTF-16")),
            (b"text\0text", ContentKind::Binary("binary")),
        ] {
            assert_eq!(detect(head), expected, "{head:?}");
        }
    }
}
