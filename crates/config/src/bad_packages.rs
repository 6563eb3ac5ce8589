//! Looks up packages in the user's own vulnerability database, a folder of OSV records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use switchboard_document::read_text;
use switchboard_vetting::{EntryFinding, FetchedPackage};

/// Maximum number of records read from the folder.
const MAX_RECORDS: usize = 200_000;

/// The affected packages of all records.
#[derive(Debug, Default)]
pub(crate) struct BadPackages {
    /// Keyed by ecosystem and lowercase name.
    known: BTreeMap<(String, String), Vec<BadVersions>>,
    ecosystems: BTreeSet<String>,
}

#[derive(Debug)]
struct BadVersions {
    /// The affected versions; empty if every version is affected.
    versions: Vec<String>,
    record: String,
}

#[derive(Deserialize)]
struct OsvRecord {
    id: String,
    #[serde(default)]
    affected: Vec<OsvAffected>,
}

#[derive(Deserialize)]
struct OsvAffected {
    package: OsvPackage,
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct OsvPackage {
    ecosystem: String,
    name: String,
}

impl BadPackages {
    /// Reads the records of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut found = Self::default();
        let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
        for entry in entries.take(MAX_RECORDS) {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let name = path.display();
            let text = read_text(&path).map_err(|error| error.to_string())?.unwrap_or_default();
            // Fails the whole folder: the unreadable record could be the one that matters.
            let record: OsvRecord =
                serde_json::from_str(&text).map_err(|error| format!("`{name}`: {error}"))?;
            for affected in record.affected {
                let OsvPackage { ecosystem, name } = affected.package;
                found.ecosystems.insert(ecosystem.clone());
                let key = (ecosystem, name.to_lowercase());
                let bad = BadVersions { versions: affected.versions, record: record.id.clone() };
                found.known.entry(key).or_default().push(bad);
            }
        }
        Ok(found)
    }

    /// Returns the id of the record that affects a package.
    pub(crate) fn find_record(&self, package: &FetchedPackage) -> Option<&str> {
        let key = (package.ecosystem.to_owned(), package.name.to_lowercase());
        let mut hits = self.known.get(&key)?.iter();
        // An unpinned package could resolve to any affected version.
        let version = package.version.as_ref().filter(|_| package.is_pinned);
        let hit = hits.find(|bad| {
            bad.versions.is_empty() || version.is_none_or(|version| bad.versions.contains(version))
        });
        hit.map(|bad| bad.record.as_str())
    }

    /// Returns a note for a package whose ecosystem no record covers.
    pub(crate) fn uncovered_finding(&self, package: &FetchedPackage) -> Option<EntryFinding> {
        (!self.ecosystems.contains(package.ecosystem)).then(|| {
            let name = package.display_name();
            let ecosystem = package.ecosystem;
            let message = format!("`{name}` cannot be checked: no records of {ecosystem}");
            EntryFinding::note("unknown", message)
        })
    }
}
