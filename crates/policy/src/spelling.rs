//! Normalizes spellings of names, so that `deny` and `ask` rules cover all of them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use switchboard_core::{Target, TargetKind};
use switchboard_rules::Pattern;
use switchboard_text::fold_char;

use crate::address;

// Addresses may be encoded more than once, to slip past a rule.
const MAX_DECODE_ROUNDS: usize = 3;

const PATTERN_CHARS: [char; 9] = ['*', '?', '[', ']', '{', '}', ',', '\\', '/'];

/// A target with homoglyphs, case and encoding folded, as a reader or a server would see it.
pub(crate) struct NormalizedTarget<'a> {
    pub(crate) server: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
}

impl<'a> NormalizedTarget<'a> {
    pub(crate) fn new(target: &'a Target) -> Self {
        let name = match target.kind {
            TargetKind::Tool | TargetKind::Prompt => fold_text(&target.name),
            TargetKind::Resource => Cow::Owned(normalize_uri(&target.name)),
        };
        Self { server: fold_text(&target.server), name }
    }

    pub(crate) fn differs(&self, target: &Target) -> bool {
        self.server != target.server || self.name != target.name
    }
}

/// Returns the pattern with its literal parts normalized, if the result is a valid pattern.
pub(crate) fn normalize_pattern(text: &str) -> Option<Pattern> {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let codes = encoded_run(rest);
        let (taken, length) = match sign {
            '\\' => (rest.get(1..)?.chars().next().map(String::from)?, 1),
            _ if codes > 0 => (percent_decode(rest.get(..codes)?), 0),
            _ if PATTERN_CHARS.contains(&sign) => {
                written.push(sign);
                rest = rest.get(1..)?;
                continue;
            }
            _ => (String::from(sign), 0),
        };
        rest = rest.get(length + if codes > 0 { codes } else { taken.len() }..)?;
        // Escape decoded and folded characters: they were not wildcards in the original.
        for seen in taken.chars().filter_map(fold_visible) {
            if PATTERN_CHARS.contains(&seen) {
                written.push('\\');
            }
            written.push(seen);
        }
    }
    Pattern::parse(&written).ok()
}

/// Returns the number of leading bytes that are percent-encoded.
fn encoded_run(text: &str) -> usize {
    let is_code = |code: &&[u8]| matches!(code, [b'%', rest @ ..] if rest.len() == 2 && rest.iter().all(u8::is_ascii_hexdigit));
    3 * text.as_bytes().chunks(3).take_while(is_code).count()
}

/// Folds text to what a reader sees: lower case, no hidden characters, homoglyphs replaced.
fn fold_text(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase();
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(fold_visible).collect())
}

fn fold_visible(sign: char) -> Option<char> {
    fold_char(sign).filter(|sign| !sign.is_whitespace())
}

/// Returns a URI without its irrelevant parts, such as the default port.
fn normalize_uri(uri: &str) -> String {
    let text = percent_decode(uri);
    let text = address::normalize(&text).unwrap_or(text);
    let text = text.chars().filter_map(fold_visible).collect::<String>();
    let Some((scheme, rest)) = text.split_once(':') else { return text };
    if scheme == "file" {
        return normalize_file_uri(rest);
    }
    let Some(rest) = rest.strip_prefix("//") else { return text };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    // User names do not change the host, and a trailing dot names the same one.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let usual = match scheme {
        "https" | "wss" => ":443",
        "http" | "ws" => ":80",
        _ => ":",
    };
    let host = host.strip_suffix(usual).unwrap_or(host).trim_end_matches('.');
    format!("{scheme}://{host}{path}")
}

/// Returns a file URI without a local host and `/proc/*/root` prefixes.
fn normalize_file_uri(rest: &str) -> String {
    let after = rest.strip_prefix("//").unwrap_or_default();
    let (host, below) = after.split_at_checked(after.find('/').unwrap_or(0)).unwrap_or_default();
    let (host, mut path) = match host {
        "" | "localhost" | "127.0.0.1" | "[::1]" if !below.is_empty() => ("", below),
        "" => ("", rest),
        _ => (host, below),
    };
    // `/proc/PID/root` is `/` unless the process changed its root.
    while let Some((_, below)) = path.strip_prefix("/proc/").and_then(|rest| rest.split_once('/'))
        && let Some(below) = below.strip_prefix("root").filter(|below| below.starts_with('/'))
    {
        path = below;
    }
    // Windows ignores trailing dots in file names.
    let parts: Vec<&str> = path.split('/').map(|part| part.trim_end_matches('.')).collect();
    format!("file://{host}{}", parts.join("/"))
}

/// Decodes text that may be percent-encoded several times.
fn percent_decode(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_DECODE_ROUNDS {
        match percent_decode_str(&text).decode_utf8() {
            Ok(decoded) if decoded != text => text = decoded.into_owned(),
            _ => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_place_are_one() {
        for uri in [
            "file:///etc/passwd",
            "FILE:///ETC/passwd",
            "file:/etc/passwd",
            "file://localhost/etc/passwd",
            "file:///etc/%70asswd",
            "file:///etc%2fpasswd",
            "file:///etc%252fpasswd",
            "file:///etc/passwd.",
            "file:///etc/pass\u{200b}wd",
            "file:///etc/ｐasswd",
            "file:///proc/self/root/etc/passwd",
            "file:///proc/1/root/proc/self/root/etc/passwd",
            "file:///data/../etc/passwd",
            "file:///data/%2e%2e/etc/passwd",
            "file:\\\\\\etc\\passwd",
        ] {
            assert_eq!(normalize_uri(uri), "file:///etc/passwd", "{uri}");
        }
        for uri in ["https://h.example/a", "HTTPS://H.example.:443/a", "https://u:p@h.example/a"] {
            assert_eq!(normalize_uri(uri), "https://h.example/a", "{uri}");
        }
        for (uri, expected) in [
            ("memo:one", "memo:one"),
            ("100%", "100%"),
            ("a%ff", "a%ff"),
            ("file://other/x", "file://other/x"),
            ("file://other", "file://other"),
        ] {
            assert_eq!(normalize_uri(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_pattern_keeps_its_wildcards_and_gets_no_new_ones() {
        for (text, server, name, expected) in [
            ("GitHub/Delete_*", "github", "delete_repo", true),
            ("a/x＊", "a", "xy", false),
            ("a/x＊", "a", "x*", true),
            ("a/%2a", "a", "xy", false),
            ("a/gr\u{f6}sse", "a", "grosse", true),
            ("a/gro\u{308}sse", "a", "grosse", true),
            ("a/\\*X", "a", "*x", true),
            ("a/{X,%41}", "a", "a", true),
        ] {
            let pattern = normalize_pattern(text).unwrap();
            assert_eq!(pattern.covers(server, name), expected, "{text} {server}/{name}");
        }
    }
}
