//! The environment that a server gets: what every program needs of ours, and its own variables.

use std::collections::BTreeMap;
use std::path::Path;

use switchboard_config::EnvCase;

use crate::process::Launch;

/// Variables of our own environment that a server may have; all others are ours alone.
const PASSED_VARIABLES: &[&str] = if cfg!(windows) { WINDOWS_VARIABLES } else { UNIX_VARIABLES };

const UNIX_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "TERM",
];

/// Without some of these programs do not even open a socket there.
const WINDOWS_VARIABLES: &[&str] = &[
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "USERNAME",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROCESSOR_ARCHITECTURE",
    "NUMBER_OF_PROCESSORS",
    "TEMP",
    "TMP",
    "LANG",
    "TZ",
];

/// The variables by which programs find the folder for temporary files.
const TEMP_DIR_VARIABLES: &[&str] =
    if cfg!(windows) { &["TEMP", "TMP", "TMPDIR"] } else { &["TMPDIR"] };

/// The environment that a server gets.
pub(crate) fn build(launch: &Launch<'_>) -> BTreeMap<String, String> {
    let letters = EnvCase::NATIVE;
    let passed_on =
        |name: &str| PASSED_VARIABLES.iter().any(|kept| kept.eq_ignore_ascii_case(name));
    let mut env: BTreeMap<String, String> = launch
        .inherited_env
        .iter()
        .filter(|(name, _)| passed_on(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(folder) = launch.temp_folder.and_then(Path::to_str) {
        for name in TEMP_DIR_VARIABLES {
            letters.set(&mut env, (*name).to_owned(), folder.to_owned());
        }
    }
    for (name, value) in launch.env {
        letters.set(&mut env, name.clone(), value.clone());
    }
    env
}
