//! What conditions can ask of a text: is this path below that folder, is this host one of those?

use std::sync::Arc;

use cel::{Context, ExecutionError};

use crate::config::{WebParts, check_host_pattern, host_fits};

/// Gives a context the functions of conditions.
pub(super) fn add_to(context: &mut Context<'_, '_>) {
    // The names are ours alone, so neither can be refused.
    context
        .add_function("path_in", |path: Arc<String>, folder: Arc<String>| {
            path_in(&path, &folder)
                .map_err(|cause| ExecutionError::function_error("path_in", cause))
        })
        .ok();
    context
        .add_function("host_in", |address: Arc<String>, pattern: Arc<String>| {
            host_in(&address, &pattern)
                .map_err(|cause| ExecutionError::function_error("host_in", cause))
        })
        .ok();
}

/// Whether a path is a folder or below it, whatever dots are in it. A path that cannot be compared
/// without knowing the disk is an error, so that neither answer is taken for granted.
fn path_in(path: &str, folder: &str) -> Result<bool, String> {
    let (path, folder) = (parts(path)?, parts(folder)?);
    let is_in = path.starts_with(&folder);
    let lower = |parts: &[&str]| parts.iter().map(|part| part.to_lowercase()).collect::<Vec<_>>();
    if !is_in && lower(&path).starts_with(&lower(&folder)) {
        return Err("whether it is the same folder depends on the disk: only letter case differs"
            .to_owned());
    }
    Ok(is_in)
}

/// The parts of an absolute path without dots.
fn parts(path: &str) -> Result<Vec<&str>, String> {
    let inner =
        path.strip_prefix('/').ok_or_else(|| "the path does not begin with `/`".to_owned())?;
    if path.contains(['\\', '\0']) {
        return Err("the path contains a backslash or a NUL".to_owned());
    }
    let lower = path.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code)) {
        return Err("the path contains encoded dots or slashes".to_owned());
    }
    let mut parts = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Ok(parts)
}

/// Whether an address leads to a host: a name, or `*.name` for all names below it.
fn host_in(address: &str, pattern: &str) -> Result<bool, String> {
    check_host_pattern(pattern).map_err(|cause| format!("the pattern {cause}"))?;
    let parts = WebParts::of(address)?;
    Ok(host_fits(&parts.host, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_compared_part_by_part_without_its_dots() {
        for (path, expected) in [
            ("/data", Some(true)),
            ("/data/", Some(true)),
            ("/data/a/b", Some(true)),
            ("/data/./a//b", Some(true)),
            ("/data/a/../b", Some(true)),
            ("/x/../data/b", Some(true)),
            ("/data/../etc/passwd", Some(false)),
            ("/data/a/../../etc", Some(false)),
            ("/../../etc", Some(false)),
            ("/data2", Some(false)),
            ("/data2/data", Some(false)),
            ("/data../x", Some(false)),
            ("/", Some(false)),
            ("/DATA", None),
            ("/Data/x", None),
            ("data/x", None),
            ("~/data", None),
            ("", None),
            ("/data/%2e%2e/etc", None),
            ("/data\\..\\etc", None),
            ("/data/\0", None),
            ("file:///data/x", None),
        ] {
            assert_eq!(path_in(path, "/data").ok(), expected, "{path:?}");
        }
    }

    #[test]
    fn a_host_is_taken_from_an_address_that_leaves_no_doubt() {
        for (address, expected) in [
            ("https://api.example.com/x", Some(true)),
            ("https://example.com.evil.tld/", Some(false)),
            ("https://evil.tld#.example.com", Some(false)),
            ("https://user@api.example.com/", None),
            ("https://api.example.com./", None),
            ("https://example.com/", Some(false)),
            ("api.example.com", None),
        ] {
            assert_eq!(host_in(address, "*.example.com").ok(), expected, "{address}");
        }
        assert!(host_in("https://a.com/", "a.com*").is_err());
    }
}
