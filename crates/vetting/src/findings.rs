//! Findings about dangerous or careless settings in a server entry, before anything runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_text::{contains_secret, is_secret_name, sanitize};

use crate::package_sources::SourceOption;
use crate::{env_names, interpreters, package_sources, packages};

/// A danger or a note about a server's entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EntryFinding")]
pub struct EntryFinding {
    /// Whether the finding needs approval.
    pub weight: FindingWeight,
    /// The kind of finding, which an approval names: `eval`, `container`, `env:NAME`, `unpinned`,
    /// `source`, `secret` or `lookalike`.
    pub word: String,
    /// The problem, without any value that could be a secret.
    pub message: String,
}

/// The severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FindingWeight")]
pub enum FindingWeight {
    /// The server does not run until a person approves this finding.
    Danger,
    /// The finding is shown, but does not block the server.
    Note,
}

impl EntryFinding {
    pub(crate) fn danger(word: impl Into<String>, message: impl Into<String>) -> Self {
        // The digest of an approval covers the message: rewording one revokes all approvals of it.
        Self { weight: FindingWeight::Danger, word: word.into(), message: message.into() }
    }

    /// Creates a finding that informs but does not block.
    pub fn note(word: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight: FindingWeight::Note, word: word.into(), message: message.into() }
    }

    /// Returns whether a person must approve the finding before the server runs.
    pub fn is_danger(&self) -> bool {
        self.weight == FindingWeight::Danger
    }
}

/// Word of findings about packages without an exact version.
pub const UNPINNED_PACKAGE: &str = "unpinned";

/// Word of findings about packages from a source other than the default.
pub const FOREIGN_SOURCE: &str = "source";

/// Returns the findings about a command and its environment, most severe first.
pub fn entry_findings(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
) -> Vec<EntryFinding> {
    let words: Vec<&str> =
        std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
    let mut found = interpreters::findings(&words);
    found.extend(env.keys().filter_map(|name| variable_finding(name)));
    for package in packages::command_packages(&words).iter().filter(|package| !package.is_pinned) {
        let name = package.display_name();
        let message = format!("runs an unpinned version of `{name}`; give an exact version");
        found.push(EntryFinding::note(UNPINNED_PACKAGE, message));
    }
    found.extend(package_sources::source_options(&words).into_iter().map(source_finding));
    found.extend(secret_findings(args));
    // `Danger` is declared first, so the derived order puts dangers before notes.
    found.sort();
    found.dedup();
    found
}

fn source_finding(leads: SourceOption) -> EntryFinding {
    // Only the option is named, since the URL in its value may contain a password.
    match leads {
        SourceOption::OtherSource { runner, option } => {
            let message = format!(
                "`{}` makes `{}` fetch packages from another source, which may serve other code",
                sanitize(&option),
                sanitize(&runner)
            );
            EntryFinding::note(FOREIGN_SOURCE, message)
        }
        SourceOption::PackageList { runner, option } => {
            let message = format!(
                "`{}` makes `{}` install packages from a file; give exact versions with `--with`",
                sanitize(&option),
                sanitize(&runner)
            );
            EntryFinding::note(UNPINNED_PACKAGE, message)
        }
    }
}

pub(crate) fn variable_finding(name: &str) -> Option<EntryFinding> {
    let word = format!("env:{name}");
    if env_names::runs_code(name) {
        let message = format!("the variable `{name}` can make the server run other code");
        Some(EntryFinding::danger(word, message))
    } else if env_names::redirects_lookup(name) {
        let message = format!("the variable `{name}` changes where programs or code are found");
        Some(EntryFinding::note(word, message))
    } else {
        None
    }
}

/// Finds arguments that look like secrets, and reports only their positions.
fn secret_findings(args: &[String]) -> Vec<EntryFinding> {
    let mut found = Vec::new();
    let mut follows_name = false;
    for (index, arg) in args.iter().enumerate() {
        let named = arg.strip_prefix('-').and_then(|flag| flag.split_once('='));
        let given =
            named.is_some_and(|(flag, value)| is_secret_name(flag) && is_plain_value(value));
        if given || (follows_name && is_plain_value(arg)) || contains_secret(arg.as_bytes()) {
            found.push(EntryFinding::note(
                "secret",
                format!(
                    "`args[{index}]` looks like a secret; all users of this machine can see \
                     arguments, so set it in `env` instead"
                ),
            ));
        }
        follows_name = arg.starts_with('-')
            && !arg.contains('=')
            && is_secret_name(arg.trim_start_matches('-'));
    }
    found
}

/// Returns whether the text is a value and not an option, a path or an unresolved variable.
fn is_plain_value(text: &str) -> bool {
    text.len() >= 6 && !text.starts_with(['-', '/', '.', '~', '$'])
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
