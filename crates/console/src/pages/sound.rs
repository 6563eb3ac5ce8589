//! Sounds that a browser may play: of a known kind, by their bytes, and not too long.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The most base64 text of one sound.
const MAX_BASE64_BYTES: usize = 16 << 20;

/// The address that plays the sound, or why it is not played. What the server says about its kind
/// is not believed.
pub(super) fn sound(data: &str) -> Result<String, &'static str> {
    if data.len() > MAX_BASE64_BYTES {
        return Err("it is too long");
    }
    let plain: String = data.split_ascii_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(&plain).map_err(|_| "its data cannot be read")?;
    let kind = kind(&bytes).ok_or("it is not of a kind that is played here")?;
    Ok(format!("data:{kind};base64,{}", BASE64_STANDARD.encode(&bytes)))
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    let at =
        |place: usize, mark: &[u8]| bytes.get(place..).is_some_and(|rest| rest.starts_with(mark));
    if at(0, b"RIFF") && at(8, b"WAVE") {
        return Some("audio/wav");
    }
    if at(4, b"ftyp") {
        return Some("audio/mp4");
    }
    let marks: [(&[u8], &str); 4] = [
        (b"ID3", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"\x1aE\xdf\xa3", "audio/webm"),
    ];
    if let Some((_, kind)) = marks.into_iter().find(|(mark, _)| at(0, mark)) {
        return Some(kind);
    }
    // A frame without a head: eleven ones, then the version and the layer.
    match (bytes.first(), bytes.get(1)) {
        (Some(0xff), Some(0xf1 | 0xf9)) => Some("audio/aac"),
        (Some(0xff), Some(second)) if second & 0xe0 == 0xe0 && second & 0x06 != 0 => {
            Some("audio/mpeg")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sounds_of_known_kinds_are_played() {
        for (bytes, kind) in [
            (&b"RIFF\0\0\0\0WAVEfmt "[..], "audio/wav"),
            (b"ID3\x04", "audio/mpeg"),
            (b"\xff\xfb\x90", "audio/mpeg"),
            (b"\xff\xf1\x50", "audio/aac"),
            (b"OggS\0", "audio/ogg"),
            (b"fLaC\0", "audio/flac"),
            (b"\0\0\0\x20ftypM4A ", "audio/mp4"),
            (b"\x1aE\xdf\xa3", "audio/webm"),
        ] {
            let shown = sound(&BASE64_STANDARD.encode(bytes)).unwrap();
            assert!(shown.starts_with(&format!("data:{kind};base64,")), "{shown}");
        }
        for bytes in [&b"<html>"[..], b"RIFF\0\0\0\0WEBP", b"\xff\xd8\xff", b"", b"\xff\xe0"] {
            let why = sound(&BASE64_STANDARD.encode(bytes));
            assert_eq!(why, Err("it is not of a kind that is played here"), "{bytes:?}");
        }
        assert_eq!(sound("\"><script>"), Err("its data cannot be read"));
        assert_eq!(sound(&"A".repeat(MAX_BASE64_BYTES + 1)), Err("it is too long"));
    }
}
