//! Checks the map of this repository (which crate may use which) and the shape of its files.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test may panic, its functions too"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates without I/O and without a clock.
///
/// `net` is pure as well, but it needs the address types of `std::net`, which are in [`IMPURE`].
const PURE: [&str; 10] = [
    "catalog", "dialects", "generate", "json", "policy", "prompting", "rules", "scan", "text",
    "vetting",
];

const IMPURE: [&str; 11] = [
    "std::fs", "std::net", "std::process", "std::env", "tokio::fs", "tokio::net", "tokio::process",
    "SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now",
];

/// Crates through which people and programs reach the host. Only `cli` combines them.
const FACES: [&str; 4] = ["chat", "console", "gateway", "grpc"];

/// Crates that may depend on `policy`. All others get verdicts from the host.
///
/// Faces see questions, explanations and replays through `switchboard_host::policy`.
const READS_POLICY: [&str; 2] = ["bench", "host"];

/// Crates that may name a permit: `policy` makes it, `host` runs calls with it.
const NAMES_PERMITS: [&str; 2] = ["host", "policy"];

/// Crates that may reach through an instance to its connection: elsewhere a call could leave
/// without a permit.
const REACHES_PEERS: [&str; 3] = ["catalog", "fleet", "host"];

/// Generated code, which needs no docs and may be long.
const GENERATED: &str = "crates/grpc/src/generated/";

/// Maximum number of lines of a file before its tests.
const MAX_LINES: usize = 600;

/// External crates that only these crates of ours may use. Tests may use them anywhere.
const OUTSIDE: [(&str, &[&str]); 15] = [
    ("axum", &["bench", "console", "gateway", "testkit"]),
    ("cel", &["policy", "rules"]),
    ("clap", &["bench", "cli", "testkit"]),
    ("indicatif", &["chat", "terminal"]),
    // Hooks match the arguments of a call against a schema of their own.
    ("jsonschema", &["catalog", "host"]),
    ("landlock", &["fleet"]),
    ("maud", &["console"]),
    ("nix", &["fleet"]),
    ("notify", &["files"]),
    ("reqwest", &["access", "bench", "host", "models", "oauth", "registry", "wire"]),
    ("rmcp", &["bench"]),
    ("rusqlite", &["store"]),
    ("rustyline", &["terminal"]),
    ("tonic", &["grpc"]),
    ("zip", &["registry"]),
];

#[test]
fn crates_take_the_workspace_lints_and_depend_only_on_allowed_crates() {
    let map = map();
    let mut faults = Vec::new();
    for (place, text) in texts("crates", "Cargo.toml") {
        let folder = place.split('/').nth(1).unwrap();
        let Some(row) = map.iter().position(|(name, _)| name == folder) else {
            faults.push(format!("{place}: this crate is not in the table of ARCHITECTURE.md"));
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
            let is_lower = map.iter().take(row).any(|(lower, _)| lower == ours);
            let for_tests = section.contains("dev-dependencies") && ours == "testkit";
            if !is_lower && !for_tests {
                faults.push(format!("{place}: `{folder}` may not depend on `{ours}`"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn the_map_of_the_architecture_is_what_cargo_has() {
    let mut faults = Vec::new();
    let map = map();
    for (name, written) in &map {
        let manifest = fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml")));
        let Ok(manifest) = manifest else {
            faults.push(format!("ARCHITECTURE.md: there is no crate `{name}`"));
            continue;
        };
        let real = shipped_edges(&manifest);
        if *written != real {
            let real = real.into_iter().collect::<Vec<_>>().join(", ");
            faults.push(format!("ARCHITECTURE.md: `{name}` depends on: {real}"));
        }
    }
    let drawn = drawn_edges();
    for (name, edges) in &map {
        let reached = reachable(&drawn, name);
        if reached != reachable(&map, name) {
            let edges = edges.iter().cloned().collect::<Vec<_>>().join(", ");
            faults
                .push(format!("ARCHITECTURE.md: the diagram of `{name}` misses some of: {edges}"));
        }
    }
    assert_none(&faults);
}

#[test]
fn only_the_command_depends_on_faces_and_few_crates_on_policy() {
    let mut faults = Vec::new();
    for (name, edges) in map() {
        for face in FACES.iter().filter(|face| edges.contains(**face)) {
            if name != "cli" {
                faults.push(format!("`{name}` depends on the face `{face}`"));
            }
        }
        if edges.contains("policy") != READS_POLICY.contains(&name.as_str()) {
            faults.push(format!("`{name}` and the list of users of `policy` disagree"));
        }
    }
    assert_none(&faults);
}

#[test]
fn permits_and_connections_stay_where_calls_are_run() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", ".rs") {
        let folder = place.split('/').nth(1).unwrap();
        // This file contains the words that it looks for.
        if folder == "xtask" {
            continue;
        }
        let code = without_comments(&text);
        if !NAMES_PERMITS.contains(&folder) && has_word(&code, "PermittedCall") {
            faults.push(format!("{place}: only {NAMES_PERMITS:?} may name a `PermittedCall`"));
        }
        if !REACHES_PEERS.contains(&folder) && reaches_a_peer(&code) {
            faults.push(format!("{place}: only {REACHES_PEERS:?} may use an instance's `peer`"));
        }
    }
    assert_none(&faults);
}

#[test]
fn pure_crates_do_no_io_and_know_no_clock() {
    let mut faults = Vec::new();
    for folder in PURE {
        for (place, text) in texts(&format!("crates/{folder}/src"), ".rs") {
            let code = ungrouped(&shipped_code(&place, &text));
            for word in IMPURE.iter().filter(|word| has_word(&code, word)) {
                faults.push(format!("{place}: a pure crate may not use `{word}`"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn outside_crates_stay_where_they_belong() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", "Cargo.toml") {
        let folder = place.split('/').nth(1).unwrap();
        for (section, dependency, _) in dependencies(&text) {
            let outside = OUTSIDE.iter().find(|(name, _)| *name == dependency);
            if let Some((name, homes)) = outside
                && !section.contains("dev-dependencies")
                && !homes.contains(&folder)
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
        let lines = before_tests(&place, &text).lines().count();
        if lines > MAX_LINES && !place.starts_with(GENERATED) {
            faults
                .push(format!("{place}: {lines} lines before its tests; the limit is {MAX_LINES}"));
        }
        if place.ends_with("/mod.rs")
            && let Some(code) = more_than_contents(&text)
        {
            faults.push(format!("{place}: a contents page contains no code, but has `{code}`"));
        }
    }
    assert_none(&faults);
}

/// Replaces the lint `missing_docs`, which would also require docs on fields and variants, whose
/// names often say enough.
#[test]
fn public_types_and_functions_have_a_doc_comment() {
    let mut faults = Vec::new();
    for (place, text) in texts("crates", ".rs") {
        if place.starts_with(GENERATED) {
            continue;
        }
        let mut is_documented = false;
        for (line, number) in before_tests(&place, &text).lines().map(str::trim).zip(1..) {
            if line.starts_with("///") || line.contains("doc(hidden)") {
                is_documented = true;
            } else if is_documentable(line) && !is_documented {
                faults.push(format!("{place}:{number}: no doc comment: {line}"));
            } else if line.is_empty() || line.ends_with([';', '{', '}']) {
                is_documented = false;
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn no_file_names_a_package_registry_or_a_folder_of_one_machine() {
    // Split, so that this file does not name them.
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

/// Returns path and text of every file below a folder with this ending, sorted by path.
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

/// Returns the files that git tracks or would track; outside a git checkout, all files.
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

/// Returns section, name and line of every dependency in a manifest.
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

/// Returns our crates that a manifest names outside `dev-dependencies`.
fn shipped_edges(manifest: &str) -> BTreeSet<String> {
    dependencies(manifest)
        .into_iter()
        .filter(|(section, _, _)| !section.contains("dev-dependencies"))
        .filter_map(|(_, name, _)| folder_of_package(&name).map(str::to_owned))
        .collect()
}

/// Returns every crate in the table of ARCHITECTURE.md with its dependencies, lower crates first.
fn map() -> Vec<(String, BTreeSet<String>)> {
    let page = architecture();
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
        let [name, _job, edges, ""] = cells.as_slice() else { return None };
        let edges = edges.split(", ").filter(|edge| *edge != "–").map(str::to_owned).collect();
        Some((name.trim_end_matches('`').to_owned(), edges))
    });
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "ARCHITECTURE.md has no table of crates");
    rows
}

/// Returns the edges of the diagram in ARCHITECTURE.md; `fleet --> catalog & oauth` is two of them.
fn drawn_edges() -> Vec<(String, BTreeSet<String>)> {
    let page = architecture();
    let edges = page.lines().filter_map(|line| line.split_once(" --> "));
    edges
        .map(|(from, to)| (from.trim().to_owned(), to.split(" & ").map(str::to_owned).collect()))
        .collect()
}

/// Returns the section of ARCHITECTURE.md with the table and the diagram of crates.
fn architecture() -> String {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("The map\n"));
    section.unwrap().to_owned()
}

fn reachable(edges: &[(String, BTreeSet<String>)], from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        let next = edges.iter().filter(|(crate_name, _)| *crate_name == name);
        for edge in next.flat_map(|(_, to)| to) {
            if reached.insert(edge.clone()) {
                open.push(edge.clone());
            }
        }
    }
    reached
}

/// Whether the code uses the connection of an instance; `self.peer` is a field of the code's own
/// type.
fn reaches_a_peer(code: &str) -> bool {
    let foreign = code.match_indices(".peer").any(|(start, word)| {
        let ends = !code[start + word.len()..].starts_with(is_word);
        ends && !code[..start].ends_with("self")
    });
    foreign || has_word(code, "least_busy")
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

/// Expands `std::{fs, net::X}` to `std::fs std::net::X`, one level deep.
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

/// Returns the first code of a `mod.rs` that is not docs, attributes, `mod` or `use`.
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

/// Whether a line begins an item that other crates may use by name.
fn is_documentable(line: &str) -> bool {
    // Doubled braces: a template of generated code.
    let Some(item) = line.strip_prefix("pub ").filter(|_| !line.contains("{{")) else {
        return false;
    };
    let item = item.trim_start_matches("async ").trim_start_matches("const ");
    let kinds = ["fn ", "struct ", "enum ", "trait ", "type ", "static "];
    // A name in capitals: a constant, whose `const ` was trimmed.
    kinds.iter().any(|kind| item.starts_with(kind)) || item.starts_with(|c: char| c.is_uppercase())
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
