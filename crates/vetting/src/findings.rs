//! What is dangerous or careless about an entry: found by looking at it, before anything runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_text::{contains_secret, is_secret_name, sanitize};

use crate::package_sources::SourceOption;
use crate::{env_names, interpreters, package_sources, packages};

/// Something to know about an entry before it runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EntryFinding")]
pub struct EntryFinding {
    /// How much it matters.
    pub weight: FindingWeight,
    /// What it is about, and the word to agree to it by: `eval`, `container`, `env:NAME`,
    /// `unpinned`, `source`, `secret`, `lookalike`.
    pub word: String,
    /// What is the matter, without any value that could be a secret.
    pub message: String,
}

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FindingWeight")]
pub enum FindingWeight {
    /// Nothing runs until a person has agreed to exactly this.
    Danger,
    /// A person should know.
    Note,
}

impl EntryFinding {
    pub(crate) fn danger(word: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight: FindingWeight::Danger, word: word.into(), message: message.into() }
    }

    /// Creates a finding that informs but does not block.
    pub fn note(word: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight: FindingWeight::Note, word: word.into(), message: message.into() }
    }

    /// Whether a person has to agree to it.
    #[must_use]
    pub fn is_danger(&self) -> bool {
        self.weight == FindingWeight::Danger
    }
}

/// The word for a package without a fixed version.
pub const UNPINNED_PACKAGE: &str = "unpinned";

/// The word for packages that come from another place than the usual one.
pub const FOREIGN_SOURCE: &str = "source";

/// Everything to know about a program and its surroundings, the worst first.
pub fn entry_findings(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
) -> Vec<EntryFinding> {
    let words: Vec<&str> =
        std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
    let mut found = interpreters::findings(&words);
    found.extend(env.keys().filter_map(|name| variable_finding(name)));
    found.extend(
        packages::command_packages(&words).into_iter().filter(|package| !package.is_pinned).map(
            |package| {
                let message = format!(
                    "runs whatever version `{}` has today; give an exact one",
                    package.display_name()
                );
                EntryFinding::note(UNPINNED_PACKAGE, message)
            },
        ),
    );
    found.extend(package_sources::source_options(&words).into_iter().map(source_finding));
    found.extend(secret_findings(args));
    found.sort();
    found.dedup();
    found
}

/// What an option of a package runner does. Its value may hold a password, so it is not shown.
fn source_finding(leads: SourceOption) -> EntryFinding {
    match leads {
        SourceOption::OtherSource { runner, option } => {
            let message = format!(
                "`{}` makes `{}` fetch packages from another place, where a version can be anything",
                sanitize(&option),
                sanitize(&runner)
            );
            EntryFinding::note(FOREIGN_SOURCE, message)
        }
        SourceOption::PackageList { runner, option } => {
            let message = format!(
                "`{}` makes `{}` run whatever packages a file names; give exact ones with `--with`",
                sanitize(&option),
                sanitize(&runner)
            );
            EntryFinding::note(UNPINNED_PACKAGE, message)
        }
    }
}

/// What setting a variable can do.
pub(crate) fn variable_finding(name: &str) -> Option<EntryFinding> {
    let word = format!("env:{name}");
    if env_names::runs_code(name) {
        let message = format!("the variable `{name}` can make the server run other code");
        Some(EntryFinding::danger(word, message))
    } else if env_names::redirects_lookup(name) {
        let message = format!("the variable `{name}` changes where programs or code come from");
        Some(EntryFinding::note(word, message))
    } else {
        None
    }
}

/// Arguments that look like secrets, named by their place alone.
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
                    "`args[{index}]` looks like a secret; everybody on this machine can see \
                     arguments, so give it as a variable in `env`"
                ),
            ));
        }
        follows_name = arg.starts_with('-')
            && !arg.contains('=')
            && is_secret_name(arg.trim_start_matches('-'));
    }
    found
}

/// Whether it is a value and neither another flag, a file nor a reference that stayed one.
fn is_plain_value(text: &str) -> bool {
    text.len() >= 6 && !text.starts_with(['-', '/', '.', '~', '$'])
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
