//! Conversion between `file:` URIs and paths.

use std::borrow::Cow;
use std::path::Path;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use switchboard_text::RESERVED;

/// Characters that are percent-encoded in the path of a URI.
const IN_PATH: &AsciiSet = &RESERVED.remove(b'/').remove(b':');

// A parameter instead of `cfg`, so that the tests cover both systems everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathStyle {
    Unix,
    Windows,
}

impl PathStyle {
    const NATIVE: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };
}

/// A `file:` URI that is malformed or names another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadFileUri;

/// Returns the path of a `file:` URI, percent-decoded once; `None` for another scheme.
pub fn uri_to_path(uri: &str) -> Option<Result<String, BadFileUri>> {
    path_from_uri_as(PathStyle::NATIVE, uri)
}

fn path_from_uri_as(paths: PathStyle, uri: &str) -> Option<Result<String, BadFileUri>> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    Some(decode_path(paths, rest))
}

fn decode_path(paths: PathStyle, rest: &str) -> Result<String, BadFileUri> {
    let after = rest.strip_prefix("//").ok_or(BadFileUri)?;
    let (host, _) = after.split_once('/').ok_or(BadFileUri)?;
    let path = after.strip_prefix(host).ok_or(BadFileUri)?;
    let path = decoded(path).ok_or(BadFileUri)?;
    let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    match paths {
        PathStyle::Unix if is_here => Ok(path.into_owned()),
        PathStyle::Unix => Err(BadFileUri),
        PathStyle::Windows if is_here => {
            // `file:///C:/data` has a slash before the drive letter.
            let drive = path.strip_prefix('/').filter(|rest| rest.get(1..2) == Some(":"));
            Ok(drive.unwrap_or(&path).to_owned())
        }
        // On Windows, the host of a UNC share is part of the path.
        PathStyle::Windows => Ok(format!("//{}{path}", decoded(host).ok_or(BadFileUri)?)),
    }
}

/// Percent-decodes a text strictly: a `%` without two hexadecimal digits is an error.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let has_code = |after: &str| {
        after.as_bytes().get(..2).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(has_code) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok()
}

/// Returns the `file:` URI of a path.
pub fn path_to_uri(path: &Path) -> String {
    file_uri_as(PathStyle::NATIVE, &path.to_string_lossy())
}

fn file_uri_as(paths: PathStyle, path: &str) -> String {
    let text = match paths {
        PathStyle::Unix => path.to_owned(),
        PathStyle::Windows => path.replace('\\', "/"),
    };
    let before = match paths {
        PathStyle::Windows if text.starts_with("//") => "file:",
        PathStyle::Unix | PathStyle::Windows if text.starts_with('/') => "file://",
        PathStyle::Unix | PathStyle::Windows => "file:///",
    };
    format!("{before}{}", utf8_percent_encode(&text, IN_PATH))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{PathStyle, file_uri_as, path_from_uri_as};

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
            let got = path_from_uri_as(PathStyle::Unix, uri).map(Result::ok);
            assert_eq!(got, expected.map(|path| path.map(str::to_owned)), "{uri}");
        }
    }

    #[test]
    fn drives_and_shared_folders_have_addresses_of_their_own() {
        for (path, uri) in [
            ("C:\\data\\a b", "file:///C:/data/a%20b"),
            ("\\\\server\\share\\x", "file://server/share/x"),
            ("d:\\", "file:///d:/"),
        ] {
            assert_eq!(file_uri_as(PathStyle::Windows, path), uri);
            let back = path_from_uri_as(PathStyle::Windows, uri).unwrap().unwrap();
            assert_eq!(back.replace('/', "\\"), path);
        }
        assert_eq!(file_uri_as(PathStyle::Unix, "/a\\b"), "file:///a%5Cb");
    }

    proptest! {
        #[test]
        fn a_path_survives_the_way_there_and_back(path in "/[^\0]{0,40}") {
            let uri = file_uri_as(PathStyle::Unix, &path);
            assert_eq!(path_from_uri_as(PathStyle::Unix, &uri).unwrap().unwrap(), path);
        }
    }
}
