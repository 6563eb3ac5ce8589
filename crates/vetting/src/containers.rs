//! Checks of container commands: options that expose the host.

use std::path::{Component, Path};

use switchboard_text::sanitize;

use crate::findings::EntryFinding;

/// Host folders that should never be mounted as a whole.
const SENSITIVE_PATHS: &[&str] = &[
    "/", "/etc", "/root", "/home", "/Users", "/proc", "/sys", "/dev", "/boot", "/usr", "/var",
    "/var/run", "/run", "/var/lib", "/bin", "/sbin", "/lib", "/opt", "/tmp",
];

/// Options of the runtimes that take no value.
#[rustfmt::skip]
const PLAIN_OPTIONS: &[&str] = &[
    "--rm", "--init", "--privileged", "--read-only", "--interactive", "--tty", "--detach",
    "--publish-all", "--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--quiet", "--help",
    "--disable-content-trust", "--debug", "--tls", "--tlsverify", "--replace", "--no-hosts",
];

/// Returns whether the program is a container runtime.
pub(crate) fn is_runtime(name: &str) -> bool {
    matches!(name, "docker" | "podman" | "nerdctl" | "finch" | "container")
}

/// Returns the dangers in the arguments of a container runtime.
pub(crate) fn findings(args: &[&str]) -> Vec<EntryFinding> {
    // All arguments are checked, also those of the image: separating them would require the option
    // table of every version of every runtime.
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let next = args.get(index + 1).copied().unwrap_or_default();
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, value),
            _ => (*arg, next),
        };
        let danger = match option {
            "--privileged" => (!matches!(arg.split_once('='), Some((_, "false" | "0"))))
                .then(|| "gives the container the whole machine (`--privileged`)".to_owned()),
            "--volume" => mount_danger(value.split(':').next().unwrap_or_default()),
            "--mount" => value
                .split(',')
                .filter_map(|part| part.split_once('='))
                .find(|(key, _)| matches!(*key, "src" | "source"))
                .and_then(|(_, source)| mount_danger(source)),
            "--pid" | "--ipc" | "--uts" | "--userns" | "--cgroupns" | "--net" | "--network" => {
                (value == "host").then(|| {
                    format!("shares the machine's own `{}`", option.trim_start_matches('-'))
                })
            }
            "--cap-add" => Some(format!("adds the capability `{}`", sanitize(value))),
            "--device" => Some(format!("passes the device `{}` to the container", sanitize(value))),
            "--security-opt" if value.contains("unconfined") || value.contains("disable") => {
                Some("switches the container's confinement off".to_owned())
            }
            "--volumes-from" => Some("mounts the volumes of another container".to_owned()),
            _ => short_volume(arg, next),
        };
        found.extend(danger.map(|message| EntryFinding::danger("container", message)));
    }
    found
}

/// Checks `-v SOURCE:TARGET`, also as `-vSOURCE`, `-v=SOURCE` and at the end of letters: `-itv`.
fn short_volume(arg: &str, next: &str) -> Option<String> {
    let cluster = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (before, value) = cluster.split_once('v')?;
    if !before.chars().all(|letter| "itdPq".contains(letter)) {
        return None;
    }
    let value = if value.is_empty() { next } else { value.trim_start_matches('=') };
    mount_danger(value.split(':').next().unwrap_or_default())
}

/// Returns why a host path should not be mounted.
fn mount_danger(source: &str) -> Option<String> {
    let plain = normalize(source);
    let parts: Vec<&str> = plain.split('/').collect();
    let is_home = matches!(parts.as_slice(), ["", "home" | "Users", _])
        || matches!(source.trim_end_matches('/'), "~" | "$HOME" | "${HOME}" | "%USERPROFILE%");
    let is_drive = source.trim_end_matches(['/', '\\']).len() == 2 && source.contains(':')
        || source.len() == 1 && source.chars().all(|letter| letter.is_ascii_alphabetic());
    // The socket of a container runtime gives full control over the host. An SSH agent only signs.
    let socket = plain.ends_with(".sock") && !plain.contains("/ssh-");
    let secret = [".ssh", ".aws", ".gnupg", ".kube", ".docker"]
        .iter()
        .any(|name| plain.split('/').any(|part| part == *name));
    (SENSITIVE_PATHS.contains(&plain.as_str()) || is_home || is_drive || socket || secret)
        .then(|| format!("mounts `{}` of the host into the container", sanitize(source)))
}

/// Removes `.`, `..` and repeated slashes from a path.
fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns the image that the command runs, if it runs one.
pub(crate) fn image<'a>(args: &[&'a str]) -> Option<&'a str> {
    let verb = args.iter().position(|arg| matches!(*arg, "run" | "create"))?;
    let mut rest = args.iter().skip(verb + 1);
    while let Some(arg) = rest.next() {
        if !arg.starts_with('-') {
            return Some(arg);
        }
        let short = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let takes_value = match short {
            Some(letters) => {
                letters.chars().all(|letter| letter.is_ascii_alphabetic())
                && !letters.chars().all(|letter| "itdPq".contains(letter))
                // A letter that takes a value has it in the same word, unless it is the last one.
                && letters.chars().position(|letter| !"itdPq".contains(letter))
                    == Some(letters.chars().count() - 1)
            }
            None => !arg.contains('=') && !PLAIN_OPTIONS.contains(arg),
        };
        if takes_value {
            rest.next();
        }
    }
    None
}
