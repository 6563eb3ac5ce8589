//! Packages that runners such as `npx`, `uvx` and `docker run` fetch, and whether they are pinned.

use std::borrow::Cow;

use switchboard_text::sanitize;

use crate::containers;
use crate::interpreters::program_name;

/// A package that a command fetches and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPackage {
    /// Ecosystem, as named by package databases: `npm`, `PyPI`, `Go`, `NuGet`, `Nix` or `OCI`.
    pub ecosystem: &'static str,
    pub name: String,
    pub version: Option<String>,
    /// Whether the version is exact.
    pub is_pinned: bool,
}

impl FetchedPackage {
    /// Returns the name, sanitized for display.
    pub fn display_name(&self) -> String {
        sanitize(&self.name)
    }

    fn without_version(ecosystem: &'static str, spec: &str, is_pinned: bool) -> Self {
        Self { ecosystem, name: spec.to_owned(), version: None, is_pinned }
    }
}

/// Returns whether the program is a package runner.
pub(crate) fn is_runner(name: &str) -> bool {
    matches!(name, "npx" | "bunx" | "pnpx" | "uvx" | "pipx")
}

/// Options of package runners that take a value.
const VALUE_OPTIONS: &[&str] = &[
    "-p", "--package", "--from", "--with", "--python", "--index-url", "--index",
    "--extra-index-url", "--default-index", "--registry", "--cache", "--prefix", "--directory",
    "--project", "--spec", "--refresh-package", "--with-requirements", "--with-editable", "-w",
    "--workspace", "--env-file", "--find-links", "--config-file", "--index-strategy",
    "--overrides", "--userconfig", "--globalconfig", "--pip-args", "--add-source", "--source",
    "--configfile", "--constraints", "-c",
];

/// Returns the words with which a runner starts the fetched program.
pub(crate) fn runner_command<'a, 'w>(args: &'a [&'w str]) -> &'a [&'w str] {
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        if VALUE_OPTIONS.contains(word) {
            rest = after.split_first().map_or(&[], |(_, after)| after);
        } else if word.starts_with('-') || *word == "run" {
            rest = after;
        } else {
            return rest;
        }
    }
    &[]
}

/// Returns the packages that a command fetches and runs, in any nesting of commands.
pub fn command_packages(words: &[&str]) -> Vec<FetchedPackage> {
    let mut found: Vec<FetchedPackage> = Vec::new();
    for inner in inner_commands(words) {
        for package in runner_packages(&inner) {
            if !found.contains(&package) {
                found.push(package);
            }
        }
    }
    found
}

/// Returns every command that the words may start: each suffix, and each command line in a word.
pub(crate) fn inner_commands<'a>(words: &'a [&'a str]) -> impl Iterator<Item = Cow<'a, [&'a str]>> {
    words.iter().enumerate().map(move |(index, word)| {
        // A proxy may take the command of its server as one word.
        let line: Vec<&str> = word.split_whitespace().collect();
        match index > 0 && line.len() > 1 {
            true => Cow::Owned(line),
            false => Cow::Borrowed(words.get(index..).unwrap_or_default()),
        }
    })
}

/// Returns the packages that a runner fetches. Empty if the first word is not a runner.
pub(crate) fn runner_packages(words: &[&str]) -> Vec<FetchedPackage> {
    let Some((command, args)) = words.split_first() else { return Vec::new() };
    let name = program_name(command);
    let after = |verbs: &[&str]| {
        let start = args.windows(verbs.len()).position(|window| window == verbs)?;
        args.get(start + verbs.len()..)
    };
    let one_of = |verbs: &[&str]| verbs.iter().find_map(|verb| after(&[verb]));
    if containers::is_runtime(&name) {
        return containers::image(args).map(parse_image).into_iter().collect();
    }
    match name.as_str() {
        "npx" | "bunx" | "pnpx" | "npx-cli.js" => Some(spec_packages(args, parse_npm)),
        "uvx" | "pipx" => Some(spec_packages(args, parse_pypi)),
        "npm" | "npm-cli.js" => one_of(&["exec", "x", "exe", "init", "create"])
            .map(|rest| spec_packages(rest, parse_npm)),
        "pnpm" | "yarn" => one_of(&["dlx", "create"]).map(|rest| spec_packages(rest, parse_npm)),
        "bun" => one_of(&["x", "create", "c"]).map(|rest| spec_packages(rest, parse_npm)),
        "uv" => match after(&["tool", "run"]) {
            Some(rest) => Some(spec_packages(rest, parse_pypi)),
            None => after(&["run"]).map(uv_with_packages),
        },
        "go" => after(&["run"]).map(|rest| spec_packages(rest, parse_go)),
        "dnx" => Some(spec_packages(args, parse_nuget)),
        "dotnet" => after(&["tool", "exec"]).map(|rest| spec_packages(rest, parse_nuget)),
        "nix" => after(&["run"]).map(|rest| spec_packages(rest, parse_flake)),
        "deno" => Some(deno_packages(args)),
        _ => None,
    }
    .unwrap_or_default()
}

/// Returns the packages that `uv run` installs in addition to its project.
fn uv_with_packages(args: &[&str]) -> Vec<FetchedPackage> {
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let value = match arg.strip_prefix("--with=") {
            None if *arg == "--with" => args.get(index + 1).copied(),
            given => given,
        };
        found.extend(value.into_iter().flat_map(|list| list.split(',')).filter_map(parse_pypi));
    }
    found
}

/// Returns the packages named by options, or by the first positional argument.
fn spec_packages(args: &[&str], read: fn(&str) -> Option<FetchedPackage>) -> Vec<FetchedPackage> {
    let mut named = Vec::new();
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        let (option, given) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value)),
            _ => (*word, None),
        };
        let is_package = matches!(option, "-p" | "--package" | "--from" | "--with" | "--spec");
        if is_package {
            let value = given.or_else(|| after.first().copied()).unwrap_or_default();
            // For `uv`, `-p` is the Python version.
            let is_python =
                option == "-p" && read("a@1.0.0").is_some_and(|one| one.ecosystem == "PyPI");
            named.extend((!is_python).then(|| read(value)).flatten());
        }
        rest = if given.is_none() && VALUE_OPTIONS.contains(&option) {
            after.split_first().map_or(&[], |(_, after)| after)
        } else if word.starts_with('-') || *word == "run" {
            after
        } else {
            break;
        };
    }
    let has_own = args.iter().any(|arg| {
        matches!(arg.split('=').next().unwrap_or(arg), "--package" | "--from" | "--spec")
            || (*arg == "-p" || arg.starts_with("-p="))
                && read("a@1.0.0").is_some_and(|one| one.ecosystem == "npm")
    });
    if !has_own {
        named.extend(rest.first().and_then(|word| read(word)));
    }
    named
}

fn parse_npm(spec: &str) -> Option<FetchedPackage> {
    // For an alias, the package is the one after `npm:`.
    let spec = spec.rsplit_once("npm:").map_or(spec, |(_, aliased)| aliased);
    if is_local(spec) {
        return None;
    }
    let is_repository = spec.contains("git+")
        || spec.contains("git:")
        || spec.starts_with("git@")
        || is_git_host(spec);
    if spec.contains("://") || is_repository {
        let commit = spec.rsplit_once('#').map(|(_, commit)| commit);
        // After the URL of a file, a fragment does not pin anything.
        let is_pinned = is_repository && commit.is_some_and(is_commit);
        return Some(FetchedPackage::without_version("npm", spec, is_pinned));
    }
    let (name, version) = match spec.rfind('@').filter(|at| *at > 0) {
        Some(at) => (spec.get(..at).unwrap_or(spec), spec.get(at + 1..)),
        None => (spec, None),
    };
    Some(new_package("npm", name, version))
}

fn parse_pypi(spec: &str) -> Option<FetchedPackage> {
    if is_local(spec) {
        return None;
    }
    if let Some((_, address)) = spec.split_once("git+") {
        let is_pinned = address.rsplit_once('@').is_some_and(|(_, commit)| is_commit(commit));
        return Some(FetchedPackage::without_version("PyPI", spec, is_pinned));
    }
    if spec.contains("://") {
        let digest = spec.split_once("sha256=").map(|(_, digest)| digest);
        let is_pinned = digest.is_some_and(|hex| hex.len() == 64 && is_hex(hex));
        return Some(FetchedPackage::without_version("PyPI", spec, is_pinned));
    }
    let (name, version) = spec
        .split_once("==")
        .or_else(|| spec.split_once('@'))
        .map_or((spec, None), |(name, version)| (name, Some(version.trim())));
    let plain = name.split(['[', '>', '<', '~', '!', ';', '=']).next().unwrap_or(name).trim();
    Some(new_package("PyPI", plain, version))
}

fn parse_go(spec: &str) -> Option<FetchedPackage> {
    let (name, version) = spec.rsplit_once('@')?;
    Some(new_package("Go", name, Some(version.trim_start_matches('v'))))
}

fn parse_image(image: &str) -> FetchedPackage {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    // A colon before the last slash belongs to the port of a registry.
    let tag = name.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
    let is_digest = digest
        .and_then(|digest| digest.strip_prefix("sha256:"))
        .is_some_and(|hex| hex.len() == 64 && is_hex(hex));
    let is_pinned = is_digest || tag.is_some_and(is_exact_tag);
    let version = digest.or(tag).map(str::to_owned);
    FetchedPackage { ecosystem: "OCI", name: name.to_owned(), version, is_pinned }
}

/// Returns whether a tag names one build, such as `1.4`, `v2.0.1-alpine` or `sha-1a2b3c4`.
fn is_exact_tag(tag: &str) -> bool {
    // Publishers move tags such as `latest`, `8-alpine` and `v1` to newer builds.
    let parts = tag.split(['.', '-', '_']);
    let numbers = parts.clone().map_while(|part| {
        let digits = part.strip_prefix('v').unwrap_or(part);
        digits.parse::<u64>().ok().map(|_| digits.len())
    });
    let numbers: Vec<usize> = numbers.collect();
    let is_hash = |part: &str| part.len() >= 7 && is_hex(part);
    numbers.len() >= 2
        || numbers.first().is_some_and(|digits| *digits >= 6)
        || parts.clone().any(is_hash)
}

fn parse_nuget(spec: &str) -> Option<FetchedPackage> {
    let (name, version) = spec.split_once('@').map_or((spec, None), |(n, v)| (n, Some(v)));
    (!is_local(spec)).then(|| new_package("NuGet", name, version))
}

fn parse_flake(spec: &str) -> Option<FetchedPackage> {
    // Flakes have no versions; only a commit pins them.
    let parts = ['/', '?', '=', '#', '&'];
    let is_pinned = spec.split(parts).any(is_commit);
    (!is_local(spec)).then(|| FetchedPackage::without_version("Nix", spec, is_pinned))
}

fn deno_packages(args: &[&str]) -> Vec<FetchedPackage> {
    let specs = args.iter().filter_map(|arg| arg.strip_prefix("npm:").or(arg.strip_prefix("jsr:")));
    specs.filter_map(parse_npm).collect()
}

fn new_package(ecosystem: &'static str, name: &str, version: Option<&str>) -> FetchedPackage {
    // For npm, `1.2` means every `1.2.x`.
    let parts = if ecosystem == "npm" { 3 } else { 2 };
    let is_pinned = version.is_some_and(|version| is_exact(version, parts));
    let version = version.map(str::to_owned);
    FetchedPackage { ecosystem, name: name.to_owned(), version, is_pinned }
}

fn is_local(spec: &str) -> bool {
    spec.is_empty()
        || spec.starts_with(['.', '/', '~'])
        || spec.starts_with("file:")
        || spec.contains(":\\")
}

/// Returns whether the text is one exact version, and not a range or a tag.
fn is_exact(version: &str, least_parts: usize) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or(version);
    let parts: Vec<&str> = core.split('.').collect();
    let is_number = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_digit())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric())
            && !part.contains(['x', 'X'])
    };
    parts.len() >= least_parts
        && parts.iter().all(|part| is_number(part))
        && version.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-+_!".contains(letter))
}

/// Returns whether the text is a short repository URL, such as `github:owner/name`.
fn is_git_host(spec: &str) -> bool {
    ["github:", "gitlab:", "bitbucket:", "gist:"].iter().any(|host| spec.contains(host))
}

fn is_commit(text: &str) -> bool {
    let text = text.split(['#', '&']).next().unwrap_or(text);
    text.len() == 40 && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
