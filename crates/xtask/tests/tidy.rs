//! Holds the map of this repository true: who may name whom, and what a file looks like.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test may panic, its functions too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of this workspace, and the ones each may depend on.
const CRATES: [(&str, &[&str]); 17] = [
    ("json", &[]),
    ("wire", &["json"]),
    ("host", &["json", "wire"]),
    ("models", &["host", "wire"]),
    ("agent", &["host", "wire"]),
    ("gateway", &["host", "json", "wire"]),
    ("dialects", &[]),
    ("generate", &[]),
    ("registry", &["wire"]),
    ("console", &["host", "agent", "registry"]),
    ("editor", &["host", "wire"]),
    ("terminal", &["host", "wire"]),
    ("chat", &["host", "wire", "models", "agent", "registry", "terminal"]),
    (
        "cli",
        &[
            "host", "wire", "models", "agent", "gateway", "console", "dialects", "generate",
            "registry", "editor", "terminal", "chat",
        ],
    ),
    ("testkit", &[]),
    ("bench", &["host", "wire", "testkit"]),
    ("xtask", &[]),
];

/// The steps of the line. A step names only steps before it and the ground.
const STEPS: [&str; 12] = [
    "config", "login", "connect", "catalog", "prompt", "parse", "policy", "review", "hooks",
    "execute", "format", "record",
];

/// A step and a later one that it may name all the same.
const EXCEPTIONS: [(&str, &str); 0] = [];

/// Files that put the steps together; nothing in the host names them.
const ABOVE: [&str; 20] = [
    "beside",
    "call",
    "deciding",
    "embedding",
    "first_use",
    "guard",
    "holding",
    "hooking",
    "host",
    "lib",
    "model",
    "new_definition",
    "new_server",
    "newcomers",
    "options",
    "pinning",
    "running",
    "session_answers",
    "sorted",
    "typed",
];

const PURE: [&str; 5] = ["catalog", "prompt", "parse", "policy", "format"];

const IMPURE: [&str; 11] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
];

/// Where what a schema is turned into lies; nobody reads it from end to end.
const GENERATED: &str = "crates/editor/src/generated/";

/// Outside crates that stay in few places.
const OUTSIDE: [(&str, &[&str]); 7] = [
    ("rusqlite", &["crates/host/src/record"]),
    ("axum", &["crates/gateway", "crates/console", "crates/testkit", "crates/bench"]),
    ("clap", &["crates/cli"]),
    ("tonic", &["crates/editor"]),
    ("maud", &["crates/console"]),
    (
        "reqwest",
        &[
            "crates/wire",
            "crates/models",
            "crates/gateway",
            "crates/registry",
            "crates/bench",
            "crates/host/src/hooks",
            "crates/host/src/login",
        ],
    ),
    ("rmcp", &["crates/wire", "crates/gateway", "crates/testkit", "crates/bench"]),
];

#[test]
fn crates_take_the_workspace_lints_and_depend_only_on_allowed_crates() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", "Cargo.toml") {
        let folder = place.split('/').nth(1).unwrap();
        let Some((_, allowed)) = CRATES.iter().find(|(name, _)| *name == folder) else {
            faults.push(format!("{place}: this crate is not in the table of crates"));
            continue;
        };
        if !text.contains("[lints]\nworkspace = true") {
            faults.push(format!("{place}: `[lints] workspace = true` is missing"));
        }
        for (section, name, line) in dependencies(&text) {
            // A dependency with another name would slip through the tables.
            if line.contains("path = ") || line.contains("package = ") {
                faults.push(format!("{place}: take `{name}` from the workspace"));
            }
            let Some(ours) = folder_of_package(&name) else { continue };
            let for_tests = section.contains("dev-dependencies") && ours == "testkit";
            if !for_tests && !allowed.contains(&ours) {
                faults.push(format!("{place}: `{folder}` may not depend on `{ours}`"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn steps_of_the_host_name_only_what_comes_before_them() {
    let mut faults = Vec::new();
    let files = texts("crates/host/src", ".rs");
    let ground: BTreeSet<&str> = files
        .iter()
        .filter_map(|(place, _)| module_of(place))
        .filter(|module| !STEPS.contains(module) && !ABOVE.contains(module))
        .collect();
    for (place, text) in &files {
        let Some(module) = module_of(place) else { continue };
        let is_folder = place.matches('/').count() > 3;
        if is_folder && module != "builtin" && !STEPS.contains(&module) {
            faults.push(format!("{place}: `{module}` is not a step"));
        }
        let code = shipped_code(place, text);
        if code.contains("use crate::{") {
            faults.push(format!("{place}: a grouped `use crate::{{` hides whom it names"));
        }
        if ABOVE.contains(&module) {
            continue;
        }
        for named in names_from_root(place, &code) {
            if !may_name(module, &named, &ground) {
                faults.push(format!("{place}: `{module}` may not name `crate::{named}`"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn pure_steps_do_no_io_and_know_no_clock() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates/host/src", ".rs") {
        if !module_of(&place).is_some_and(|module| PURE.contains(&module)) {
            continue;
        }
        let code = ungrouped(&shipped_code(&place, &text));
        for word in IMPURE.iter().filter(|word| has_word(&code, word)) {
            faults.push(format!("{place}: a pure step may not use `{word}`"));
        }
    }
    assert_none(&faults);
}

#[test]
fn outside_crates_stay_where_they_belong() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", ".rs") {
        let code = without_comments(&text);
        for (name, homes) in OUTSIDE {
            let at_home = homes.iter().any(|home| place.starts_with(home));
            if !at_home && has_word(&code, &format!("{name}::")) {
                faults.push(format!("{place}: `{name}` belongs only in {homes:?}"));
            }
        }
    }
    for (place, text) in texts("crates", "Cargo.toml") {
        let folder = place.trim_end_matches("Cargo.toml");
        for (_, dependency, _) in dependencies(&text) {
            let outside = OUTSIDE.iter().find(|(name, _)| *name == dependency);
            if let Some((name, homes)) = outside
                && !homes.iter().any(|home| format!("{home}/").starts_with(folder))
            {
                faults.push(format!("{place}: `{name}` belongs only in {homes:?}"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn source_files_open_with_a_sentence_and_stay_short() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", ".rs") {
        if !text.starts_with("//! ") {
            faults.push(format!("{place}: does not begin with a `//!` sentence"));
        }
        let roomy = ["crates/testkit/", "crates/bench/"].iter().any(|home| place.starts_with(home));
        let limit = if roomy { 500 } else { 400 };
        let lines = before_tests(&place, &text).lines().count();
        if lines > limit && !place.starts_with(GENERATED) {
            faults.push(format!("{place}: {lines} lines before its tests; the limit is {limit}"));
        }
        if place.ends_with("/mod.rs")
            && let Some(code) = more_than_contents(&text)
        {
            faults.push(format!("{place}: a contents page holds no code, but has `{code}`"));
        }
    }
    assert_none(&faults);
}

#[test]
fn no_file_names_a_package_registry_or_a_folder_of_one_machine() {
    // In pieces, so that this file does not name them.
    let hosts = [["npmjs", "org"], ["npmjs", "com"], ["pypi", "org"], ["pythonhosted", "org"]];
    let more_hosts = [["crates", "io"], ["yarnpkg", "com"]];
    let hosts: Vec<String> = hosts.iter().chain(&more_hosts).map(|host| host.join(".")).collect();
    let folders = ["root", "work", "home"].map(|folder| format!("/{folder}/"));
    let mut faults = Vec::new();
    for place in repository_files() {
        // Cargo writes the lock file; files that are not text have nothing to read.
        let text = fs::read_to_string(root().join(&place));
        let Some(text) = text.ok().filter(|_| place != "Cargo.lock") else { continue };
        for (number, line) in text.lines().enumerate() {
            let host = hosts.iter().find(|host| line.contains(*host));
            let folder = folders.iter().find(|folder| has_absolute(line, folder));
            if let Some(found) = host.or(folder) {
                faults.push(format!("{place}:{}: names `{found}`", number + 1));
            }
        }
    }
    assert_none(&faults);
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// Place and text of every file below a folder whose name ends so, in order.
fn texts(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut places = Vec::new();
    collect(Path::new(folder), &mut places);
    places.retain(|place| place.ends_with(ending));
    places.sort_unstable();
    let read =
        |place: String| fs::read_to_string(root().join(&place)).ok().map(|text| (place, text));
    places.into_iter().filter_map(read).collect()
}

fn collect(folder: &Path, places: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).into_iter().flatten().flatten() {
        let place = folder.join(entry.file_name());
        if !entry.path().is_dir() {
            places.push(place.to_str().unwrap().replace('\\', "/"));
        } else if !["target", ".git"].iter().any(|skipped| place.ends_with(skipped)) {
            collect(&place, places);
        }
    }
}

/// What git tracks or would; outside a git checkout, every file.
fn repository_files() -> Vec<String> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    match Command::new("git").current_dir(root()).args(list).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .split_terminator('\0')
            .map(str::to_owned)
            .collect(),
        _ => {
            let mut places = Vec::new();
            collect(Path::new(""), &mut places);
            places
        }
    }
}

/// The section, the name and the line of every dependency in a manifest.
fn dependencies(manifest: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix('[') {
            section = heading.trim_matches(['[', ']']).to_owned();
        }
        let in_heading =
            section.rsplit_once('.').filter(|(above, _)| above.ends_with("dependencies"));
        let name = match in_heading {
            Some((_, name)) => name,
            None if section.ends_with("dependencies") => {
                line.split(['.', ' ', '=']).next().unwrap()
            }
            None => continue,
        };
        if !name.is_empty() && !name.starts_with(['[', '#']) {
            found.push((section.clone(), name.to_owned(), line.to_owned()));
        }
    }
    found
}

fn folder_of_package(package: &str) -> Option<&str> {
    if package == "switchboard" { Some("cli") } else { package.strip_prefix("switchboard-") }
}

/// The first module below the crate's root: `connect` for `crates/host/src/connect/fleet.rs`.
fn module_of(place: &str) -> Option<&str> {
    place.split('/').nth(3).map(|name| name.trim_end_matches(".rs").trim_end_matches("_tests"))
}

fn may_name(module: &str, named: &str, ground: &BTreeSet<&str>) -> bool {
    if named == module || ground.contains(named) {
        return true;
    }
    let position = |name| STEPS.iter().position(|step| *step == name);
    let earlier = position(named).zip(position(module)).is_some_and(|(a, b)| a < b);
    earlier || EXCEPTIONS.contains(&(module, named))
}

/// Every name that follows `crate::`, or a chain of `super::` that reaches the crate's root.
fn names_from_root(place: &str, code: &str) -> Vec<String> {
    let inner = place.trim_start_matches("crates/host/src/").trim_end_matches(".rs");
    let depth = inner.trim_end_matches("/mod").split('/').count();
    let mut names = Vec::new();
    for prefix in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (start, _) in code.match_indices(&prefix) {
            let before = code[..start].chars().next_back();
            if !before.is_some_and(|c| is_word(c) || c == ':') {
                let rest = &code[start + prefix.len()..];
                names.push(rest.chars().take_while(|c| is_word(*c)).collect());
            }
        }
    }
    names
}

fn before_tests<'a>(place: &str, text: &'a str) -> &'a str {
    if place.contains("/tests/") || place.ends_with("_tests.rs") {
        return "";
    }
    text.split("\n#[cfg(test)]").next().unwrap()
}

fn shipped_code(place: &str, text: &str) -> String {
    without_comments(before_tests(place, text))
}

fn without_comments(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.map(|line| line.split(" //").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Spells `std::{fs, net::X}` out as `std::fs std::net::X`, one level deep.
fn ungrouped(code: &str) -> String {
    let mut spelled = code.to_owned();
    for family in ["std", "tokio"] {
        for group in code.split(&format!("{family}::{{")).skip(1) {
            for item in group.split(';').next().unwrap().split(['{', '}', ',']) {
                spelled.push_str(&format!("\n{family}::{}", item.trim()));
            }
        }
    }
    spelled
}

/// What a contents page holds beside docs, attributes, `mod` and `use`.
fn more_than_contents(text: &str) -> Option<String> {
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let mut code = lines.join(" ");
    while let Some(start) = code.find("#[").or_else(|| code.find("#![")) {
        let end = code[start..].find(']').map_or(code.len(), |length| start + length + 1);
        code.replace_range(start..end, "");
    }
    let is_content = |statement: &&str| {
        let plain = statement.trim_start_matches("pub").trim_start();
        let plain = if plain.starts_with('(') { plain.split_once(')').unwrap().1 } else { plain };
        let plain = plain.trim_start();
        plain.is_empty()
            || plain.starts_with("use ")
            || plain.starts_with("mod ") && !plain.contains('{')
    };
    let code = code.split(';').map(str::trim).find(|statement| !is_content(statement))?.to_owned();
    Some(code.chars().take(60).collect())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(start, _)| {
        let after = code[start + word.len()..].chars().next();
        let whole = word.ends_with(':') || !after.is_some_and(is_word);
        whole && !code[..start].chars().next_back().is_some_and(is_word)
    })
}

/// Whether the line has the folder at the start of a path rather than inside one.
fn has_absolute(line: &str, folder: &str) -> bool {
    let inside = |c: char| is_word(c) || "-.~})$*".contains(c);
    line.match_indices(folder)
        .any(|(start, _)| !line[..start].chars().next_back().is_some_and(inside))
}
