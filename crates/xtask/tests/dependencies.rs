//! Checks licences and duplicate versions of all dependencies against `deny.toml`.
//!
//! `cargo deny` checks more, but has to be compiled first, which takes longer than all tests of this
//! crate together. The hosted workflow runs it with the same file.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic, its functions too"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toml_edit::DocumentMut;

#[test]
fn every_licence_is_in_the_allow_list() {
    let rules = rules();
    let allowed: BTreeSet<String> =
        rules["licenses"]["allow"].as_array().unwrap().iter().map(text).collect();
    let mut faults = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let Some(licence) = package["license"].as_str() else {
            faults.push(format!("`{name}` names no licence"));
            continue;
        };
        if !is_allowed(licence, &allowed) {
            faults.push(format!("`{name}` has the licence `{licence}`"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn second_versions_are_listed_with_a_reason() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in locked() {
        versions.entry(package.name).or_default().insert(package.version);
    }
    let rules = rules();
    let skipped: Vec<String> = rules["bans"]["skip"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| text(&entry.as_inline_table().unwrap()["crate"]))
        .collect();
    let mut faults = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let listed = versions.iter().filter(|version| skips(&skipped, name, version)).count();
        if listed + 1 != versions.len() {
            faults.push(format!("`{name}` has the versions {versions:?}, {listed} of them listed"));
        }
    }
    let stale = skipped.iter().filter(|entry| {
        let (name, _) = entry.split_once('@').unwrap();
        versions.get(name).is_none_or(|versions| versions.len() < 2)
    });
    faults.extend(stale.map(|entry| format!("`{entry}` is listed, but has one version only")));
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn banned_crates_are_not_used() {
    let rules = rules();
    let banned: BTreeSet<String> = rules["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| text(&entry.as_inline_table().unwrap()["crate"]))
        .collect();
    let used: Vec<String> = locked()
        .into_iter()
        .map(|package| package.name)
        .filter(|name| banned.contains(name))
        .collect();
    assert_eq!(used, Vec::<String>::new());
}

/// Returns whether the allow-list satisfies an SPDX expression.
///
/// Crates use `AND`, `OR`, the outdated `/` and one level of parentheses; nothing here nests deeper.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    split_outside_parentheses(expression, " AND ").into_iter().all(|clause| {
        let clause = clause.trim().trim_start_matches('(').trim_end_matches(')');
        let mut options = clause.split(" OR ").flat_map(|part| part.split('/')).map(str::trim);
        options.any(|option| allowed.contains(option))
    })
}

fn split_outside_parentheses<'a>(expression: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in expression.match_indices(separator) {
        let before = expression.get(..at).unwrap();
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(expression.get(start..at).unwrap());
            start = at + separator.len();
        }
    }
    parts.push(expression.get(start..).unwrap());
    parts
}

/// Whether an entry such as `base64@0.22` covers a version.
fn skips(entries: &[String], name: &str, version: &str) -> bool {
    entries.iter().any(|entry| {
        let (listed, wanted) = entry.split_once('@').unwrap();
        listed == name && format!("{version}.").starts_with(&format!("{wanted}."))
    })
}

fn text(value: &toml_edit::Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn rules() -> DocumentMut {
    fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap()
}

/// Returns the crates that are compiled on this system, as `cargo metadata` describes them.
///
/// Crates for other systems are in the lock file only: nothing downloads them.
fn packages() -> Vec<Value> {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the name and version of every crate in the lock file.
fn locked() -> Vec<LockedCrate> {
    let lock: DocumentMut = fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let packages = lock["package"].as_array_of_tables().unwrap();
    packages
        .iter()
        .map(|package| LockedCrate {
            name: package["name"].as_str().unwrap().to_owned(),
            version: package["version"].as_str().unwrap().to_owned(),
        })
        .collect()
}

struct LockedCrate {
    name: String,
    version: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}
