//! Packages that a person's own database knows to be bad: a folder of OSV records, one JSON file each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use switchboard_document::read_text;
use switchboard_vetting::{Finding, Package};

/// So many records are read.
const MOST_RECORDS: usize = 200_000;

/// What the records say.
#[derive(Debug, Default)]
pub(crate) struct BadPackages {
    /// By ecosystem and name.
    known: BTreeMap<(String, String), Vec<Bad>>,
    ecosystems: BTreeSet<String>,
}

/// What one record says of one package.
#[derive(Debug)]
struct Bad {
    /// None stands for all of them.
    versions: Vec<String>,
    record: String,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    #[serde(default)]
    affected: Vec<Affected>,
}

#[derive(Deserialize)]
struct Affected {
    package: Named,
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct Named {
    ecosystem: String,
    name: String,
}

impl BadPackages {
    /// Reads the records of a folder. A record that cannot be read makes the whole folder useless:
    /// it could be the one that matters.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut found = Self::default();
        let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
        for entry in entries.take(MOST_RECORDS) {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let name = path.display();
            let text = read_text(&path).map_err(|error| error.to_string())?.unwrap_or_default();
            let record: Record =
                serde_json::from_str(&text).map_err(|error| format!("`{name}`: {error}"))?;
            for affected in record.affected {
                let Named { ecosystem, name } = affected.package;
                found.ecosystems.insert(ecosystem.clone());
                let key = (ecosystem, name.to_lowercase());
                let bad = Bad { versions: affected.versions, record: record.id.clone() };
                found.known.entry(key).or_default().push(bad);
            }
        }
        Ok(found)
    }

    /// The record that a package is bad by. One without a fixed version could be any version.
    pub(crate) fn record_of(&self, package: &Package) -> Option<&str> {
        let key = (package.ecosystem.to_owned(), package.name.to_lowercase());
        let mut hits = self.known.get(&key)?.iter();
        let version = package.version.as_ref().filter(|_| package.is_pinned);
        let hit = hits.find(|bad| {
            bad.versions.is_empty() || version.is_none_or(|version| bad.versions.contains(version))
        });
        hit.map(|bad| bad.record.as_str())
    }

    /// What to say of a package about whose like the records say nothing.
    pub(crate) fn unknown(&self, package: &Package) -> Option<Finding> {
        (!self.ecosystems.contains(package.ecosystem)).then(|| {
            let (name, ecosystem) = (package.shown_name(), package.ecosystem);
            let message = format!("nothing is known about `{name}`: no records of {ecosystem}");
            Finding::note("unknown", message)
        })
    }
}
