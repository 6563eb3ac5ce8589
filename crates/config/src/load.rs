//! Reads every file, checks every entry, and merges the layers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use switchboard_core::ServerId;
use switchboard_document::{ConfigError, Member, read_text};
use switchboard_text::{add_secrets, sanitize, secret_values};
use switchboard_vetting::{FOREIGN_SOURCE, FetchedPackage, UNPINNED_PACKAGE, command_packages};

use crate::bad_packages::BadPackages;
use crate::environment::Environment;
use crate::file::ConfigSections;
use crate::places::Places;
use crate::reader::{ConfigReader, ReadMode};
use crate::resolved::{BUILTIN, Config, ConfigLayer, ServerConfig, Transport};
use crate::variables::{IfUnset, Variables};
use crate::{file, lookalike, models, policies, server, settings};

/// Loads the configuration. The result contains everything that is valid, and the errors.
pub fn load(places: &Places, environment: &Environment, consents: &dyn Consents) -> Config {
    let mut loading =
        ConfigLoader { config: Config::default(), environment, consents, order: Vec::new() };
    for (path, layer) in places.layers() {
        loading.add_file(path, layer);
    }
    // After all files, because any layer except the project may name the team.
    loading.apply_policies(places);
    loading.finish()
}

struct ConfigLoader<'a> {
    config: Config,
    environment: &'a Environment,
    consents: &'a dyn Consents,
    order: Vec<ServerId>,
}

impl ConfigLoader<'_> {
    fn add_file(&mut self, path: &Path, layer: ConfigLayer) {
        self.config.files.push(path.to_owned());
        let text = match read_text(path) {
            Ok(Some(text)) => text,
            Ok(None) if layer == ConfigLayer::Explicit => {
                let missing = ConfigError::new(path, "the file does not exist");
                self.config.problems.push(missing.hint("check the path given with `--config`"));
                return;
            }
            Ok(None) => return,
            Err(problem) => return self.config.problems.push(problem),
        };
        let file: Arc<Path> = path.into();
        match file::parse_sections(&file, &text) {
            Ok(parts) => self.add_sections(&file, layer, parts),
            Err(problem) => self.config.problems.push(problem),
        }
    }

    fn add_sections(&mut self, file: &Arc<Path>, layer: ConfigLayer, parts: ConfigSections) {
        self.config.problems.extend(parts.warnings);
        if let Some(node) = parts.settings {
            let mut reader = self.reader(file, layer, None);
            let mut merged = self.config.settings.clone();
            let errors = settings::apply(&mut merged, &node, layer, &mut reader);
            self.config.problems.extend(reader.warnings);
            self.config.problems.extend(errors);
            self.config.settings = merged;
        }
        if let Some(node) = parts.models {
            let mut reader = self.reader(file, layer, None);
            let mut merged = self.config.models.clone();
            let errors = models::apply(&mut merged, &node, layer, &mut reader);
            self.config.problems.extend(reader.warnings);
            self.config.problems.extend(errors);
            self.config.models = merged;
        }
        let mut seen = BTreeSet::new();
        for member in &parts.servers {
            let repeated = !seen.insert(member.name.as_str());
            self.add_server(file, layer, member, repeated);
        }
    }

    fn add_server(
        &mut self,
        file: &Arc<Path>,
        layer: ConfigLayer,
        member: &Member,
        repeated: bool,
    ) {
        let name = member.name.as_str();
        let id = match ServerId::new(name) {
            Ok(id) => id,
            Err(cause) => {
                let problem = ConfigError::new(Arc::clone(file), cause.to_string());
                let problem = problem.at(member.at).server(name).hint("give it another name");
                return self.config.problems.push(problem);
            }
        };
        let mut reader = self.reader(file, layer, Some(name));
        let result = if repeated {
            let message = "the file has two servers of this name";
            Err(reader.error(member.at, message).hint("rename or remove one of them"))
        } else {
            server::read(&mut reader, id.clone(), member, layer)
        };
        self.config.problems.extend(reader.warnings);
        // An invalid entry also replaces the one of a lower layer: falling back to that would run
        // a server that was not requested here.
        self.config.servers.remove(&id);
        self.config.broken.remove(&id);
        self.order.push(id.clone());
        match result {
            Ok((mut server, env_file)) => {
                self.config.files.extend(env_file.map(|file| file.path));
                let authorities = server.authorities.as_ref();
                self.config.files.extend(authorities.map(|file| file.path.clone()));
                server.approved |= self.consents.approves(file, &id, &server.approval_digest);
                self.config.problems.extend(self.drop_unapproved_tools(&mut server));
                self.config.servers.insert(id, server);
            }
            Err(error) => {
                self.config.broken.insert(id, error);
            }
        }
    }

    /// Keeps only the project's `autoApprove` tools that this user approved; warns about others.
    fn drop_unapproved_tools(&self, server: &mut ServerConfig) -> Option<ConfigError> {
        if server.source.layer != ConfigLayer::Project || server.auto_approve.is_empty() {
            return None;
        }
        let always = self.consents.always(&server.id);
        let listed = server.auto_approve.len();
        server.auto_approve.retain(|tool| always.contains(tool));
        (server.auto_approve.len() < listed).then(|| {
            let message = "names tools that a project cannot always allow, so they need approval";
            let mut warning = ConfigError::new(server.source.file.as_path(), message).warning();
            warning.line = Some(server.source.line);
            let hint = "answer \"always\" in a review, or copy the entry to your own file";
            warning.server(server.id.as_str()).key("autoApprove").hint(hint)
        })
    }

    /// Adds the rules, and bars the servers that they do not allow.
    fn apply_policies(&mut self, places: &Places) {
        let mut found = policies::find_policies(places, &self.config.settings.team);
        self.config.files.extend(found.files);
        self.config.team = found.team;
        self.config.problems.extend(found.policies.broken.clone());
        // With an invalid team setting, rules may be missing, which is as bad as unreadable rules.
        let of_team = |problem: &&ConfigError| problem.key.as_deref() == Some(settings::TEAM_KEY);
        let lost = self.config.problems.iter().filter(|problem| problem.is_error()).find(of_team);
        if let Some(lost) = lost {
            found.policies.broken.get_or_insert(lost.clone());
        }
        for server in self.config.servers.values_mut() {
            server.barred = policies::barred_by(&found.policies, server);
        }
        self.config.policies = Arc::new(found.policies);
    }

    fn reader<'r>(
        &'r self,
        file: &'r Arc<Path>,
        layer: ConfigLayer,
        server: Option<&'r str>,
    ) -> ConfigReader<'r> {
        // A project's paths start at its own folder, wherever in it the user works.
        let project = file.parent().filter(|_| layer == ConfigLayer::Project);
        let variables = Variables {
            environment: self.environment,
            workspace: project.unwrap_or(&self.environment.current_dir),
            unset: IfUnset::Refuse,
        };
        ConfigReader { file, server, variables, mode: ReadMode::Read, warnings: Vec::new() }
    }

    fn finish(mut self) -> Config {
        self.config.problems.extend(self.consents.problem().cloned().map(ConfigError::warning));
        // Before the check of names, so that no entry can pose as the built-in server.
        self.add_builtin();
        lookalike::refuse_lookalikes(&mut self.config, &self.order);
        self.refuse_unpinned();
        self.refuse_bad_packages();
        self.warn_about_fallbacks();
        self.remember_secrets();
        let mut seen = BTreeSet::new();
        self.config.files.retain(|file| seen.insert(file.clone()));
        self.config
    }

    /// Registers secrets for redaction from all later output.
    fn remember_secrets(&self) {
        add_secrets(secret_values(&self.environment.variables));
        for server in self.config.servers.values() {
            match &server.transport {
                Transport::Builtin => {}
                Transport::Stdio { env, .. } => add_secrets(secret_values(env)),
                Transport::Http { headers, .. } => add_secrets(secret_values(headers)),
            }
            add_secrets(server.oauth.client_secret.as_deref());
        }
    }

    /// Under `strict`, refuses commands with an unpinned package or another package source.
    fn refuse_unpinned(&mut self) {
        if !self.config.settings.strict {
            return;
        }
        let word = |server: &ServerConfig, word: &str| {
            let mut found = server.findings.iter();
            found.find(|one| one.word == word).map(|one| one.message.clone())
        };
        self.refuse("write `name@1.2.3`, or set `settings.strict` to false", |server| {
            word(server, UNPINNED_PACKAGE)
        });
        self.refuse("remove the option, or set `settings.strict` to false", |server| {
            word(server, FOREIGN_SOURCE)
        });
    }

    /// Refuses servers whose packages the user's own records list as bad.
    fn refuse_bad_packages(&mut self) {
        let Some(folder) = self.config.settings.bad_packages.clone() else { return };
        let bad = BadPackages::read(&folder);
        let hint = "choose another package; `settings.badPackages` lists the bad ones";
        self.refuse(hint, |server| {
            let packages = server_packages(server);
            match &bad {
                // Fails closed: without the records, no package can be checked.
                Err(why) if !packages.is_empty() => {
                    let folder = folder.display();
                    Some(format!("its package cannot be looked up in `{folder}`: {why}"))
                }
                Err(_) => None,
                Ok(bad) => packages.iter().find_map(|package| {
                    let record = sanitize(bad.find_record(package)?);
                    let name = package.display_name();
                    Some(format!("the package `{name}` is known to be bad ({record})"))
                }),
            }
        });
        let Ok(bad) = bad else { return };
        for server in self.config.servers.values_mut() {
            let packages = server_packages(server);
            let uncovered = packages.iter().filter_map(|package| bad.uncovered_finding(package));
            server.findings.extend(uncovered);
        }
    }

    /// Breaks the servers for which `reason` returns a reason.
    fn refuse(&mut self, hint: &str, reason: impl Fn(&ServerConfig) -> Option<String>) {
        let refused: Vec<_> = (self.config.servers.values())
            .filter_map(|server| Some((server.id.clone(), server.source.clone(), reason(server)?)))
            .collect();
        for (id, source, message) in refused {
            let error = ConfigError::new(source.file.as_path(), message);
            self.config.broken.insert(id.clone(), error.server(id.as_str()).hint(hint));
            self.config.servers.remove(&id);
        }
    }

    fn add_builtin(&mut self) {
        let Ok(id) = ServerId::new(BUILTIN) else { return };
        if !self.config.settings.builtin {
            // An entry may configure the built-in server although it is switched off.
            let is_builtin = |server: &ServerConfig| server.transport == Transport::Builtin;
            if self.config.servers.get(&id).is_some_and(is_builtin) {
                self.config.servers.remove(&id);
            }
        } else if !self.config.broken.contains_key(&id) {
            self.config.servers.entry(id.clone()).or_insert_with(|| server::default_server(id));
        }
    }

    fn warn_about_fallbacks(&mut self) {
        let known: Vec<&str> = self.config.servers.keys().map(ServerId::as_str).collect();
        // A server name may contain a slash, so the target is not split at one.
        let is_known = |target: &str| {
            known.iter().any(|name| {
                target
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut warnings = Vec::new();
        for server in self.config.servers.values() {
            let own = server.fallback.iter().map(|target| ("fallback".to_owned(), target));
            let tools = server.tools.iter().filter_map(|(name, tool)| {
                Some((format!("tools.{name}.fallback"), tool.fallback.as_ref()?))
            });
            for (key, target) in own.chain(tools).filter(|(_, target)| !is_known(target)) {
                let message = format!("`{}` is not a configured server", sanitize(target));
                let mut warning = ConfigError::new(server.source.file.as_path(), message);
                warning.line = Some(server.source.line);
                let hint = "write `server` or `server/tool` with the name of a configured server";
                warnings.push(warning.server(server.id.as_str()).key(key).hint(hint).warning());
            }
        }
        self.config.problems.extend(warnings);
    }
}

fn server_packages(server: &ServerConfig) -> Vec<FetchedPackage> {
    let Transport::Stdio { command, args, .. } = &server.transport else { return Vec::new() };
    let words = std::iter::once(command).chain(args);
    command_packages(&words.map(String::as_str).collect::<Vec<_>>())
}

/// Approvals that the user gave earlier.
// A trait, because a crate above this one stores them.
pub trait Consents {
    /// Returns whether the user approved this server's entry in this file, in its current form.
    fn approves(&self, file: &Path, server: &ServerId, digest: &str) -> bool;

    /// Returns the tools of a server that the user always allows.
    fn always(&self, server: &ServerId) -> BTreeSet<String>;

    /// Returns the reason that the approvals cannot be read, in which case there are none.
    fn problem(&self) -> Option<&ConfigError>;
}

/// An empty set of approvals.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConsents;

impl Consents for NoConsents {
    fn approves(&self, _file: &Path, _server: &ServerId, _digest: &str) -> bool {
        false
    }

    fn always(&self, _server: &ServerId) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn problem(&self) -> Option<&ConfigError> {
        None
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "examples_tests.rs"]
mod examples;
