//! Canonical paths in the form that people and other programs use.
//!
//! Windows returns canonical paths with the verbatim prefix `\\?\`, such as `\\?\C:\data`. Few
//! programs support it, and a shell cannot start in such a folder. Paths that are shown or passed
//! to programs lose the prefix; paths that we open keep it, since it disables device names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
const VERBATIM_PREFIX: &str = r"\\?\";
/// Maximum length of a Windows path without the prefix, in UTF-16 units with the terminator.
const MAX_PATH: usize = 260;

/// Resolves links and dots, and removes the verbatim prefix.
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(simplify_path)
}

/// Removes the verbatim prefix, if the path has the same meaning without it.
pub fn simplify_path(path: PathBuf) -> PathBuf {
    let unmarked = path.to_str().filter(|_| cfg!(windows)).and_then(strip_verbatim);
    unmarked.map_or(path, PathBuf::from)
}

fn strip_verbatim(path: &str) -> Option<String> {
    let rest = path.strip_prefix(VERBATIM_PREFIX)?;
    let (plain, names) = match rest.strip_prefix(r"UNC\") {
        Some(share) => (format!(r"\\{share}"), share),
        None => {
            let (drive, names) = rest.split_once(r":\")?;
            let is_drive = drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_alphabetic());
            is_drive.then(|| (rest.to_owned(), names))?
        }
    };
    // Without the prefix, Windows strips trailing dots and spaces, and opens `nul` as a device.
    let is_same = |name: &str| !is_device_name(name) && !name.ends_with(['.', ' ']);
    let fits = plain.encode_utf16().count() < MAX_PATH;
    (fits && names.split('\\').all(is_same)).then_some(plain)
}

/// Returns whether Windows treats the name as a device, regardless of an extension.
pub fn is_device_name(name: &str) -> bool {
    // `NUL.txt` and `NUL:stream` are the device too.
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end().to_lowercase();
    // Any one character: besides `COM1`, Windows also accepts superscript digits.
    let numbered = ["com", "lpt"]
        .iter()
        .any(|device| stem.strip_prefix(device).is_some_and(|rest| rest.chars().count() == 1));
    numbered || DEVICES.contains(&stem.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_goes_where_the_path_means_the_same_without_it() {
        let long = format!(r"\\?\C:\{}", "a\\".repeat(130));
        for (path, expected) in [
            (r"\\?\C:\data\a b", Some(r"C:\data\a b")),
            (r"\\?\c:\", Some(r"c:\")),
            (r"\\?\UNC\server\share\x", Some(r"\\server\share\x")),
            (r"C:\data", None),
            (r"\\server\share", None),
            (r"\\.\PhysicalDrive0", None),
            (r"\\?\GLOBALROOT\Device", None),
            (r"\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\x", None),
            (r"\\?\C:\data\nul", None),
            (r"\\?\C:\data\Aux.txt\b", None),
            (r"\\?\C:\data\dots...", None),
            (r"\\?\C:\data\space \x", None),
            (long.as_str(), None),
            ("/srv", None),
        ] {
            assert_eq!(strip_verbatim(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_path_that_is_there_is_told_without_links_and_dots() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let expected = canonicalize(folder.path()).unwrap().join("inner");
        assert_eq!(canonicalize(&inner.join("../inner/.")).unwrap(), expected);
        assert!(!expected.to_string_lossy().starts_with(VERBATIM_PREFIX), "{expected:?}");
        assert!(canonicalize(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_device_is_one_in_any_case_and_with_any_ending() {
        for name in ["con", "NUL", "Aux.txt", "com1", "LPT9.log.gz", "com²", "nul .x", "con:x"] {
            assert!(is_device_name(name), "{name}");
        }
        for name in ["", "console", "com", "com10", "null", "a.con", "nul-1.log", "x/con"] {
            assert!(!is_device_name(name), "{name}");
        }
    }
}
