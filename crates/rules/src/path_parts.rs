//! Lexical check whether a path is below a folder, without access to the disk.

use switchboard_text::{fold_char, is_hidden};

/// Returns whether a path is a folder or below it, after resolving `.` and `..`; an error if that
/// depends on the disk.
pub fn path_in(path: &str, folder: &str) -> Result<bool, String> {
    let path = split_path(path)?;
    let folder = split_path(folder)?;
    if path.0.is_some() != folder.0.is_some() {
        return Err("only one of the paths begins with a drive".to_owned());
    }
    let is_in = path.0 == folder.0 && path.1.starts_with(&folder.1);
    // Neither result would be safe here: an `allow` and a `deny` rule need opposite ones.
    let look = |parts: &[&str]| parts.iter().map(|part| fold_name(part)).collect::<Vec<_>>();
    if !is_in && path.0 == folder.0 && look(&path.1).starts_with(&look(&folder.1)) {
        return Err(
            "whether it is the same folder depends on the disk: only letter case, accents \
                    or dots at the end of a name differ"
                .to_owned(),
        );
    }
    Ok(is_in)
}

/// Checks that paths can be compared with a folder.
pub(crate) fn check_folder(folder: &str) -> Result<(), String> {
    split_path(folder).map(drop)
}

/// Folds a name as the most tolerant file system does for comparisons.
fn fold_name(part: &str) -> String {
    part.trim_end_matches(['.', ' ']).chars().filter_map(fold_char).collect()
}

/// Characters that some programs interpret as dots or slashes.
const DOT_SLASH_LOOKALIKES: [char; 10] = [
    '\u{2024}', '\u{2025}', '\u{2026}', '\u{2044}', '\u{2215}', '\u{29f8}', '\u{fe68}', '\u{ff0e}',
    '\u{ff0f}', '\u{ff3c}',
];

/// Splits an absolute path into its drive, if it has one, and its normalized components.
fn split_path(path: &str) -> Result<(Option<char>, Vec<&str>), String> {
    let (drive, inner) = split_drive(path);
    let inner = match drive {
        Some(_) => inner,
        None => path
            .strip_prefix('/')
            .ok_or_else(|| "the path does not begin with `/` or a drive".to_owned())?,
    };
    if inner.contains('\0') || (drive.is_none() && inner.contains('\\')) {
        return Err("the path contains a backslash or a NUL".to_owned());
    }
    let lower = path.to_ascii_lowercase();
    if path.contains(DOT_SLASH_LOOKALIKES) || path.contains(is_hidden) {
        return Err(
            "the path contains invisible characters, or ones that look like dots or slashes"
                .to_owned(),
        );
    }
    if ["%2e", "%2f", "%5c", "%00", "%25", "%c0", "%u"].iter().any(|code| lower.contains(code)) {
        return Err("the path contains encoded dots or slashes".to_owned());
    }
    let separators: &[char] = if drive.is_some() { &['/', '\\'] } else { &['/'] };
    let mut parts = Vec::new();
    for part in inner.split(separators) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part if drive.is_some() && has_windows_alias(part) => {
                return Err(format!("`{part}` may have another name on Windows"));
            }
            part => parts.push(part),
        }
        // These folders are links to arbitrary places: the files below them are elsewhere, and
        // `..` after them cannot be resolved.
        let is_way = ["root", "cwd", "fd", "task"].contains(&part);
        let is_another_view =
            parts.first() == Some(&"proc") && is_way || parts.starts_with(&["dev", "fd"]);
        if drive.is_none() && is_another_view {
            return Err("the path goes through `/proc` or `/dev/fd`, which point to other places"
                .to_owned());
        }
    }
    Ok((drive, parts))
}

/// Splits a path such as `C:\work` into its drive, in upper case, and the rest.
fn split_drive(path: &str) -> (Option<char>, &str) {
    let drive = path.split_once(':').filter(|(drive, inner)| {
        matches!(drive.as_bytes(), [letter] if letter.is_ascii_alphabetic())
            && inner.starts_with(['/', '\\'])
    });
    match drive {
        Some((drive, inner)) => (drive.chars().next().map(|it| it.to_ascii_uppercase()), inner),
        None => (None, path),
    }
}

fn has_windows_alias(name: &str) -> bool {
    // Windows removes trailing dots and spaces, a colon starts an alternate data stream, and a
    // tilde marks a short name such as `PROGRA~1`.
    name.ends_with(['.', ' ']) || name.contains([':', '~'])
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
            ("/data../x", None),
            ("/data /x", None),
            ("/data/%252e%252e/etc", None),
            ("/data/..%c0%af../etc", None),
            ("/data/\u{2025}/etc", None),
            ("/data\u{ff0f}..\u{ff0f}etc", None),
            ("/d\u{200b}ata/x", None),
            ("/dáta/x", None),
            ("/proc/self/root/data/x", None),
            ("/proc/1/cwd/../data", None),
            ("/dev/fd/3", None),
            ("/proc/../data/x", Some(true)),
            ("/data/proc/root", Some(true)),
            ("/proc/cpuinfo", Some(false)),
        ] {
            assert_eq!(path_in(path, "/data").ok(), expected, "{path:?}");
        }
    }

    #[test]
    fn a_path_with_a_drive_is_compared_as_windows_does() {
        for (path, expected) in [
            ("C:\\data", Some(true)),
            ("c:/data/a\\b", Some(true)),
            ("C:\\data\\..\\data\\x", Some(true)),
            ("C:\\data\\..\\secret", Some(false)),
            ("C:\\data2", Some(false)),
            ("D:\\data\\x", Some(false)),
            ("C:\\DATA\\x", None),
            ("C:\\data\\a.txt::$DATA", None),
            ("C:\\data.\\x", None),
            ("C:\\data \\x", None),
            ("C:\\DATA~1\\x", None),
            ("C:data\\x", None),
            ("\\data\\x", None),
            ("\\\\?\\C:\\data\\x", None),
            ("\\\\server\\data", None),
            ("/data/x", None),
        ] {
            assert_eq!(path_in(path, "C:\\data").ok(), expected, "{path:?}");
        }
        assert_eq!(path_in("C:\\data", "/data").ok(), None);
    }
}
