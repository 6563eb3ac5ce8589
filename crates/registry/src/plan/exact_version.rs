//! Validates package identifiers, and pins them to an exact version.

use crate::plan::error::PlanError;
use crate::server_json::RegistryPackage;

/// Versions and tags that are moved between releases.
const FLOATING_TAGS: &[&str] = &[
    "latest", "main", "master", "edge", "nightly", "dev", "devel", "develop", "stable", "next",
    "beta", "alpha", "canary", "head", "current", "rolling", "snapshot",
];

pub(crate) fn npm(package: &RegistryPackage) -> Result<String, PlanError> {
    let name = &package.identifier;
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    };
    // A URL, a Git repository or a local path is not a name, although `npx` accepts it.
    let is_name = match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, name))) => plain(scope) && plain(name),
        Some(None) => false,
        None => plain(name),
    };
    exact_spec(package, is_name && name.len() <= 214, 3)
}

pub(crate) fn pypi(package: &RegistryPackage) -> Result<String, PlanError> {
    // Extras such as `name[cli]` only add dependencies of the same package.
    let (name, extras) = match package.identifier.split_once('[') {
        Some((name, rest)) => (name, rest.strip_suffix(']')),
        None => (package.identifier.as_str(), Some("")),
    };
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let extra = |extras: &str| extras.is_empty() || extras.split(',').all(|one| plain(one.trim()));
    exact_spec(package, plain(name) && extras.is_some_and(extra), 2)
}

pub(crate) fn nuget(package: &RegistryPackage) -> Result<String, PlanError> {
    let name = &package.identifier;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    exact_spec(package, is_name && name.len() <= 100, 2)
}

/// Returns `host/image:1.2.3`, `host/image@sha256:…`, or a combination of both.
pub(crate) fn image(package: &RegistryPackage) -> Result<String, PlanError> {
    let bad = || PlanError::BadPackage(package.identifier.clone());
    let (named, digest) = match package.identifier.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (package.identifier.as_str(), None),
    };
    // A colon before the last slash belongs to a port.
    let last = named.rfind('/').map_or(0, |at| at + 1);
    let colon = named.get(last..).and_then(|end| end.find(':')).map(|at| at + last);
    let (name, tag) = match colon {
        Some(at) => (named.get(..at).unwrap_or_default(), named.get(at + 1..)),
        None => (named, None),
    };
    // The first character matters most: a leading dash would make the name an option.
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !name.contains("//")
        && !name.contains("..")
        && !name.ends_with('/')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if !is_name {
        return Err(bad());
    }
    if let Some(digest) = digest {
        let hex = digest.strip_prefix("sha256:").ok_or_else(bad)?;
        if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(bad());
        }
    }
    let tag = tag.or(package.version.as_deref());
    let is_tag = |tag: &str| {
        tag.len() <= 128
            && tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && tag.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    // A tag can be moved, but a version tag at least states which version is intended. The plan
    // has a note for it.
    let is_version = |tag: &str| {
        tag.contains(|c: char| c.is_ascii_digit())
            && !FLOATING_TAGS.contains(&tag.to_ascii_lowercase().as_str())
    };
    let not_pinned =
        || PlanError::NotPinned { package: name.to_owned(), version: tag.map(str::to_owned) };
    match (tag, digest) {
        (None, None) => Err(not_pinned()),
        (None, Some(digest)) => Ok(format!("{name}@{digest}")),
        (Some(tag), _) if !is_tag(tag) => Err(not_pinned()),
        (Some(tag), Some(digest)) => Ok(format!("{name}:{tag}@{digest}")),
        (Some(tag), None) if is_version(tag) => Ok(format!("{name}:{tag}")),
        (Some(_), None) => Err(not_pinned()),
    }
}

fn exact_spec(
    package: &RegistryPackage,
    is_name: bool,
    least_parts: usize,
) -> Result<String, PlanError> {
    let name = &package.identifier;
    if !is_name {
        return Err(PlanError::BadPackage(name.clone()));
    }
    match package.version.as_deref().filter(|version| is_exact(version, least_parts)) {
        Some(version) => Ok(format!("{name}@{version}")),
        None => {
            Err(PlanError::NotPinned { package: name.clone(), version: package.version.clone() })
        }
    }
}

/// Returns whether the text is an exact version with at least `least_parts` numbers.
fn is_exact(version: &str, least_parts: usize) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    // `1.x` is a range, and npm also treats `1.2` as one.
    let is_number = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
            && !part.contains(['x', 'X'])
    };
    version.len() <= 100
        && parts.len() >= least_parts
        && parts.iter().all(|part| is_number(part))
        && version.chars().all(|c| c.is_ascii_alphanumeric() || "-+._".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(identifier: &str, version: &str) -> RegistryPackage {
        let version = Some(version).filter(|version| !version.is_empty());
        RegistryPackage {
            identifier: identifier.to_owned(),
            version: version.map(str::to_owned),
            ..RegistryPackage::default()
        }
    }

    #[test]
    fn only_exact_versions_are_taken() {
        for (version, npm_takes, pypi_takes) in [
            ("1.2.3", true, true),
            ("0.0.1-beta.2", true, true),
            ("1.2.3+build", true, true),
            ("2025.4.8", true, true),
            ("1.0.0rc1", true, true),
            ("1.2", false, true),
            ("1", false, false),
            ("", false, false),
            ("latest", false, false),
            ("^1.2.3", false, false),
            ("~1.2.3", false, false),
            (">=1.2.3", false, false),
            ("1.x.0", false, false),
            ("1.2.3 || 2", false, false),
            ("*", false, false),
            ("1.2.3 --evil", false, false),
            ("v1.2.3", false, false),
        ] {
            assert_eq!(npm(&package("a", version)).is_ok(), npm_takes, "npm {version}");
            assert_eq!(pypi(&package("a", version)).is_ok(), pypi_takes, "pypi {version}");
        }
    }

    #[test]
    fn names_are_names_and_nothing_else() {
        for (read, good, bad) in [
            (
                npm as fn(&RegistryPackage) -> Result<String, PlanError>,
                &["a", "@a/b", "@a/b.c_d", "A-b"][..],
                &[
                    "", "-y", "--call", "@a", "a/b", "git+https://x", "a b", "../x", "a@b",
                    "file:x", "@/b", ".",
                ][..],
            ),
            (
                pypi,
                &["a", "a-b_c.d", "a[x]", "a[x,y]"],
                &["", "-a", "a-", "a b", "git+https://x", "a[", "a[;]", "a==1"],
            ),
            (nuget, &["A.B", "a_b"], &["", "-A", "a/b", "a@b", "A B"]),
        ] {
            for name in good {
                assert_eq!(read(&package(name, "1.2.3")), Ok(format!("{name}@1.2.3")));
            }
            for name in bad {
                assert_eq!(
                    read(&package(name, "1.2.3")),
                    Err(PlanError::BadPackage((*name).to_owned()))
                );
            }
        }
    }

    #[test]
    fn an_image_has_a_version_or_a_digest() {
        let hex = "a".repeat(64);
        let whole = format!("docker.io/a/b:1.0@sha256:{hex}");
        let bare = format!("a/b@sha256:{hex}");
        for (identifier, version, expected) in [
            ("docker.io/a/b:0.1.0", "", Some("docker.io/a/b:0.1.0")),
            ("docker.io/a/b", "0.1.0", Some("docker.io/a/b:0.1.0")),
            ("host:5000/a/b", "v2", Some("host:5000/a/b:v2")),
            (whole.as_str(), "", Some(whole.as_str())),
            (bare.as_str(), "", Some(bare.as_str())),
            ("a/b", "", None),
            ("host:5000/a/b", "", None),
            ("a/b:latest", "", None),
            ("a/b:LATEST", "1.0.0", None),
            ("a/b:stable", "", None),
            ("a/b", "latest", None),
            ("a/b:", "", None),
            ("a/b:1 --privileged", "", None),
            ("--privileged", "1", None),
            ("a/../b:1", "", None),
            ("a/b@sha256:12", "", None),
        ] {
            assert_eq!(
                image(&package(identifier, version)).ok().as_deref(),
                expected,
                "{identifier}"
            );
        }
    }
}
