//! Turns `file:` addresses into paths and back.

use std::path::Path;

use crate::builtin::error::Refusal;

/// The path in a `file:` address, decoded once; nothing if it is another kind of address.
pub(crate) fn path_in(uri: &str) -> Option<Result<String, Refusal>> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    Some(decoded_path(rest))
}

fn decoded_path(rest: &str) -> Result<String, Refusal> {
    let wrong = || {
        Refusal::new("the address is not of the form `file:///path` on this machine")
            .hint("percent-encode what is not a plain character, in UTF-8")
    };
    let after = rest.strip_prefix("//").ok_or_else(wrong)?;
    let (host, _) = after.split_once('/').ok_or_else(wrong)?;
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err(wrong());
    }
    let path = after.strip_prefix(host).ok_or_else(wrong)?;
    let path = decoded(path).ok_or_else(wrong)?;
    let drive = path
        .strip_prefix('/')
        .filter(|rest| cfg!(windows) && rest.as_bytes().get(1) == Some(&b':'));
    Ok(drive.unwrap_or(&path).to_owned())
}

fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
        out.push(high * 16 + low);
    }
    String::from_utf8(out).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The `file:` address of a path.
pub(crate) fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let mut out = String::from("file://");
    if !text.starts_with('/') {
        out.push('/');
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::proptest;

    use super::{of_path, path_in};

    #[test]
    fn addresses_are_decoded_exactly_once() {
        for (uri, expected) in [
            ("file:///a/b", Some(Some("/a/b"))),
            ("FILE://LocalHost/a", Some(Some("/a"))),
            ("file:///a%20b%2Fc", Some(Some("/a b/c"))),
            ("file:///%252e", Some(Some("/%2e"))),
            ("file://evil.example/a", Some(None)),
            ("file:/a", Some(None)),
            ("file:a", Some(None)),
            ("file:///%", Some(None)),
            ("file:///%f", Some(None)),
            ("file:///%+1", Some(None)),
            ("file:///%ff", Some(None)),
            ("http://a/b", None),
            ("a/b", None),
        ] {
            let got = path_in(uri).map(Result::ok);
            assert_eq!(got, expected.map(|path| path.map(str::to_owned)), "{uri}");
        }
    }

    proptest! {
        #[test]
        fn a_path_survives_the_way_there_and_back(path in "/[^\0]{0,40}") {
            assert_eq!(path_in(&of_path(Path::new(&path))).unwrap().unwrap(), path);
        }
    }
}
