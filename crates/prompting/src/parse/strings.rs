//! Slicing of strings at byte offsets that are known to be character boundaries.

pub(super) fn part(source: &str, from: usize, to: usize) -> &str {
    source.get(from..to).unwrap_or_default()
}

pub(super) fn rest(source: &str, from: usize) -> &str {
    source.get(from..).unwrap_or_default()
}

/// Returns the offset of the first byte at or after `from` that is not white space.
pub(super) fn skip_space(source: &str, from: usize) -> usize {
    let bytes = source.as_bytes().get(from..).unwrap_or_default();
    from + bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

pub(super) fn find(source: &str, from: usize, needle: &str) -> Option<usize> {
    let bytes = source.as_bytes().get(from..)?;
    memchr::memmem::find(bytes, needle.as_bytes()).map(|at| at + from)
}
