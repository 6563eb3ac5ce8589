//! Images and sounds that are safe to show in a browser: of a known format and of limited size.
//!
//! The format is detected from the bytes, not taken from the server. SVG is excluded, because it
//! can contain scripts. Decompression bombs are rejected by the dimensions in their headers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

const MAX_BASE64_BYTES: usize = 6 << 20;
/// Maximum number of pixels of an image: 160 MB when decoded.
const MAX_PIXELS: u64 = 40_000_000;

/// Returns a data URL of the image, or the reason why it is not shown.
pub(super) fn picture(data: &str) -> Result<String, &'static str> {
    if data.len() > MAX_BASE64_BYTES {
        return Err("it is too large");
    }
    let plain: String = data.split_ascii_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(&plain).map_err(|_| "its data is not valid base64")?;
    let (kind, measures) = kind(&bytes).ok_or("its format is not supported")?;
    let (width, height) = measures.ok_or("its dimensions cannot be read")?;
    if width * height > MAX_PIXELS || width == 0 || height == 0 {
        return Err("its dimensions are zero or too large");
    }
    Ok(format!("data:{kind};base64,{}", BASE64_STANDARD.encode(&bytes)))
}

type Dimensions = Option<(u64, u64)>;

fn kind(bytes: &[u8]) -> Option<(&'static str, Dimensions)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(("image/png", width_then_height(bytes, 16, 4, ByteOrder::Big)));
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some(("image/gif", width_then_height(bytes, 6, 2, ByteOrder::Little)));
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(("image/jpeg", jpeg(bytes)));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(("image/webp", webp(bytes)));
    }
    None
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

fn number(bytes: &[u8], at: usize, length: usize, order: ByteOrder) -> Option<u64> {
    let digits = bytes.get(at..at.checked_add(length)?)?;
    let add = |sum: u64, digit: &u8| sum << 8 | u64::from(*digit);
    Some(match order {
        ByteOrder::Big => digits.iter().fold(0, add),
        ByteOrder::Little => digits.iter().rev().fold(0, add),
    })
}

fn width_then_height(bytes: &[u8], at: usize, length: usize, order: ByteOrder) -> Dimensions {
    let width = number(bytes, at, length, order)?;
    Some((width, number(bytes, at + length, length, order)?))
}

/// Reads the dimensions from the first frame header. The segments before it are skipped.
fn jpeg(bytes: &[u8]) -> Dimensions {
    let mut at = 2;
    // Bounded, so that crafted segments cannot keep the loop busy.
    for _ in 0..1_000 {
        let mark = number(bytes, at, 2, ByteOrder::Big)?;
        // SOF markers; 0xffc4, 0xffc8 and 0xffcc are tables and reserved codes in that range.
        let is_frame =
            (0xffc0..=0xffcf).contains(&mark) && ![0xffc4, 0xffc8, 0xffcc].contains(&mark);
        if is_frame {
            let height = number(bytes, at + 5, 2, ByteOrder::Big)?;
            return Some((number(bytes, at + 7, 2, ByteOrder::Big)?, height));
        }
        if mark >> 8 != 0xff {
            return None;
        }
        // A marker may be padded with 0xff bytes.
        let skip = if mark == 0xffff { 1 } else { 2 + number(bytes, at + 2, 2, ByteOrder::Big)? };
        at = at.checked_add(usize::try_from(skip).ok()?)?;
    }
    None
}

fn webp(bytes: &[u8]) -> Dimensions {
    match bytes.get(12..16)? {
        b"VP8X" => {
            let width = number(bytes, 24, 3, ByteOrder::Little)? + 1;
            Some((width, number(bytes, 27, 3, ByteOrder::Little)? + 1))
        }
        b"VP8L" => {
            let bits = number(bytes, 21, 4, ByteOrder::Little)?;
            // Two values of 14 bits, each one less than the size.
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => {
            let width = number(bytes, 26, 2, ByteOrder::Little)? & 0x3fff;
            Some((width, number(bytes, 28, 2, ByteOrder::Little)? & 0x3fff))
        }
        _ => None,
    }
}

const MAX_SOUND_BYTES: usize = 16 << 20;

/// Returns a data URL of the sound, or the reason why it is not played.
pub(super) fn sound(data: &str) -> Result<String, &'static str> {
    if data.len() > MAX_SOUND_BYTES {
        return Err("it is too long");
    }
    let plain: String = data.split_ascii_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(&plain).map_err(|_| "its data is not valid base64")?;
    let kind = sound_kind(&bytes).ok_or("its format is not supported")?;
    Ok(format!("data:{kind};base64,{}", BASE64_STANDARD.encode(&bytes)))
}

fn sound_kind(bytes: &[u8]) -> Option<&'static str> {
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
    // A frame without an ID3 tag: eleven set bits, then the version and the layer.
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

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes
    }

    #[test]
    fn lb_07_only_pictures_of_known_kinds_and_measures_are_shown() {
        let small_jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\0\x10\0\x20".to_vec();
        let small_webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x01\0\0\x02\0\0".to_vec();
        for (bytes, expected) in [
            (png(10, 20), "image/png"),
            (b"GIF89a\x01\0\x01\0".to_vec(), "image/gif"),
            (small_jpeg, "image/jpeg"),
            (small_webp, "image/webp"),
        ] {
            let shown = picture(&BASE64_STANDARD.encode(&bytes)).unwrap();
            assert!(shown.starts_with(&format!("data:{expected};base64,")), "{shown}");
        }
        for (bytes, why) in [
            (b"<svg onload=alert(1)>".to_vec(), "its format is not supported"),
            (b"<html><script>".to_vec(), "its format is not supported"),
            (png(60_000, 60_000), "its dimensions are zero or too large"),
            (png(0, 1), "its dimensions are zero or too large"),
            (b"\x89PNG\r\n\x1a\n".to_vec(), "its dimensions cannot be read"),
            (b"\xff\xd8\xff\xff\xff\xff".to_vec(), "its dimensions cannot be read"),
        ] {
            assert_eq!(picture(&BASE64_STANDARD.encode(&bytes)), Err(why));
        }
        assert_eq!(picture("\"><script>"), Err("its data is not valid base64"));
        assert_eq!(picture(&"A".repeat(50 << 20)), Err("it is too large"));
    }

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
            assert_eq!(why, Err("its format is not supported"), "{bytes:?}");
        }
        assert_eq!(sound("\"><script>"), Err("its data is not valid base64"));
        assert_eq!(sound(&"A".repeat(MAX_SOUND_BYTES + 1)), Err("it is too long"));
    }
}
