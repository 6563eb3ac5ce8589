//! Options that make package runners fetch from a source other than the default.

use crate::interpreters::program_name;
use crate::packages::{inner_commands, runner_packages};

/// A family of package runners with the same options.
struct RunnerFamily {
    runners: &'static [&'static str],
    /// Options that name another source, or a file that may name one; without their dashes.
    options: &'static [&'static str],
    /// Options that name a file with further packages.
    lists: &'static [&'static str],
    /// Whether the runner accepts a prefix of an option, with one dash or two.
    takes_beginnings: bool,
    /// Whether the runner also parses options after the package, up to `--`.
    reads_all: bool,
}

const RUNNER_FAMILIES: &[RunnerFamily] = &[
    RunnerFamily {
        runners: &["npx", "npx-cli.js"],
        options: &["registry", "userconfig", "globalconfig"],
        lists: &[],
        takes_beginnings: true,
        reads_all: false,
    },
    RunnerFamily {
        runners: &["npm", "npm-cli.js"],
        options: &["registry", "userconfig", "globalconfig"],
        lists: &[],
        takes_beginnings: true,
        reads_all: true,
    },
    RunnerFamily {
        runners: &["pnpm", "pnpx", "yarn", "bun", "bunx"],
        options: &["registry", "userconfig", "use-yarnrc", "config"],
        lists: &[],
        takes_beginnings: false,
        reads_all: true,
    },
    RunnerFamily {
        runners: &["uv", "uvx"],
        options: &[
            "i", "f", "index-url", "index", "extra-index-url", "default-index", "find-links",
            "config-file",
        ],
        lists: &["with-requirements", "overrides"],
        takes_beginnings: false,
        reads_all: false,
    },
    RunnerFamily {
        runners: &["pipx"],
        options: &["i", "index-url", "extra-index-url", "find-links", "pip-args"],
        lists: &[],
        takes_beginnings: true,
        reads_all: false,
    },
    RunnerFamily {
        runners: &["dnx", "dotnet"],
        options: &["source", "add-source", "configfile"],
        lists: &[],
        takes_beginnings: false,
        reads_all: false,
    },
];

/// The effect of a runner's option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceOption {
    OtherSource { runner: String, option: String },
    PackageList { runner: String, option: String },
}

/// Returns the options that change the package source, in any nesting of commands.
pub(crate) fn source_options(words: &[&str]) -> Vec<SourceOption> {
    let mut found: Vec<SourceOption> =
        inner_commands(words).flat_map(|inner| runner_options(&inner)).collect();
    found.dedup();
    found
}

fn runner_options(words: &[&str]) -> Vec<SourceOption> {
    let Some((command, args)) = words.split_first() else { return Vec::new() };
    let runner = program_name(command);
    let Some(family) = RUNNER_FAMILIES.iter().find(|one| one.runners.contains(&runner.as_str()))
    else {
        return Vec::new();
    };
    // The other runners have many commands that do not fetch packages.
    let is_sure = matches!(runner.as_str(), "uv" | "uvx" | "pipx" | "dnx");
    if !is_sure && runner_packages(words).is_empty() {
        return Vec::new();
    }
    // Arguments after the package belong to the package, unless the runner parses them as well.
    let own = if family.reads_all { args } else { before_package(args) };
    let own = own.iter().take_while(|word| **word != "--");
    own.filter_map(|word| family.source_option(&runner, word)).collect()
}

/// Returns the words before the package.
fn before_package<'a, 'w>(args: &'a [&'w str]) -> &'a [&'w str] {
    // A word after an option may be its value, so it does not count as the package. In doubt, more
    // words are checked than the runner parses.
    let mut is_value = false;
    let end = args.iter().position(|word| {
        let is_option = word.starts_with('-');
        let is_verb = matches!(*word, "run" | "tool" | "exec" | "execute");
        let is_package = !is_option && !is_verb && !is_value;
        is_value = is_option && !word.contains('=') && !is_flag(word);
        is_package
    });
    end.and_then(|end| args.get(..end)).unwrap_or(args)
}

impl RunnerFamily {
    fn source_option(&self, runner: &str, word: &str) -> Option<SourceOption> {
        let option = word.split('=').next().unwrap_or(word);
        let name = option.strip_prefix('-')?.trim_start_matches('-');
        let is_one = |known: &&str| {
            let is_beginning = self.takes_beginnings && name.len() >= 3 && known.starts_with(name);
            // A value may directly follow a single letter.
            let is_letter = known.len() == 1 && !word.starts_with("--") && name.starts_with(*known);
            *known == name || is_beginning || is_letter
        };
        // The registry of a scope: `--@acme:registry`.
        let of_scope = name.starts_with('@') && name.ends_with(":registry");
        let runner = runner.to_owned();
        let option = option.to_owned();
        if of_scope || self.options.iter().any(is_one) {
            Some(SourceOption::OtherSource { runner, option })
        } else if self.lists.iter().any(is_one) {
            Some(SourceOption::PackageList { runner, option })
        } else {
            None
        }
    }
}

/// Returns whether an option is known not to take a value.
fn is_flag(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    matches!(name, "y" | "yes" | "q" | "quiet" | "v" | "verbose" | "offline" | "isolated")
        || name.starts_with("no-")
}
