//! Reads every file, checks every entry, and puts the layers on top of each other.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::config::approvals::Approvals;
use crate::config::document::Member;
use crate::config::environment::Environment;
use crate::config::error::{ConfigError, shown};
use crate::config::file::{self, Parts};
use crate::config::places::Places;
use crate::config::reader::{Mode, Reader};
use crate::config::resolved::{BUILTIN, Config, Layer, ServerConfig, Transport};
use crate::config::variables::{Unset, Variables};
use crate::config::{models, server, settings};
use crate::server_id::ServerId;

/// Reads the configuration. This never fails as a whole: what is wrong is in the result, beside
/// everything that is right.
pub fn load(places: &Places, environment: &Environment, approvals: &Approvals) -> Config {
    let mut loading = Loading { config: Config::default(), environment, approvals };
    for (path, layer) in places.layers() {
        loading.file(path, layer);
    }
    loading.finish()
}

struct Loading<'a> {
    config: Config,
    environment: &'a Environment,
    approvals: &'a Approvals,
}

impl Loading<'_> {
    fn file(&mut self, path: &Path, layer: Layer) {
        self.config.files.push(path.to_owned());
        let text = match file::read_text(path) {
            Ok(Some(text)) => text,
            Ok(None) if layer == Layer::Explicit => {
                let missing = ConfigError::new(path, "the file does not exist");
                self.config.problems.push(missing.hint("check the path given with `--config`"));
                return;
            }
            Ok(None) => return,
            Err(problem) => return self.config.problems.push(problem),
        };
        let file: Arc<Path> = path.into();
        match file::parts(&file, &text) {
            Ok(parts) => self.parts(&file, layer, parts),
            Err(problem) => self.config.problems.push(problem),
        }
    }

    fn parts(&mut self, file: &Arc<Path>, layer: Layer, parts: Parts) {
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
            self.server(file, layer, member, repeated);
        }
    }

    /// Takes one entry in. It replaces an entry of the same name from a layer below even if it is
    /// wrong: falling back to the other one would run what nobody asked for here.
    fn server(&mut self, file: &Arc<Path>, layer: Layer, member: &Member, repeated: bool) {
        let name = member.name.as_str();
        let id = match ServerId::new(name) {
            Ok(id) => id,
            Err(cause) => {
                let problem = ConfigError::new(Arc::clone(file), cause.to_string());
                return self.config.problems.push(problem.at(member.at).server(name));
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
        self.config.servers.remove(&id);
        self.config.broken.remove(&id);
        match result {
            Ok((mut server, env_file)) => {
                self.config.files.extend(env_file.map(|file| file.path));
                server.approved |= self.approvals.holds(file, &id, &server.approval_digest);
                self.config.servers.insert(id, server);
            }
            Err(error) => {
                self.config.broken.insert(id, error);
            }
        }
    }

    fn reader<'r>(
        &'r self,
        file: &'r Arc<Path>,
        layer: Layer,
        server: Option<&'r str>,
    ) -> Reader<'r> {
        let project = file.parent().filter(|_| layer == Layer::Project);
        let variables = Variables {
            environment: self.environment,
            workspace: project.unwrap_or(&self.environment.current_dir),
            unset: Unset::Refuse,
        };
        Reader { file, server, variables, mode: Mode::Read, warnings: Vec::new() }
    }

    fn finish(mut self) -> Config {
        self.config.problems.extend(self.approvals.problem().cloned().map(ConfigError::warning));
        self.add_builtin();
        self.warn_about_fallbacks();
        let mut seen = BTreeSet::new();
        self.config.files.retain(|file| seen.insert(file.clone()));
        self.config
    }

    fn add_builtin(&mut self) {
        let Ok(id) = ServerId::new(BUILTIN) else { return };
        if !self.config.settings.builtin {
            let is_builtin = |server: &ServerConfig| server.transport == Transport::Builtin;
            if self.config.servers.get(&id).is_some_and(is_builtin) {
                self.config.servers.remove(&id);
            }
        } else if !self.config.broken.contains_key(&id) {
            self.config.servers.entry(id.clone()).or_insert_with(|| server::plain(id));
        }
    }

    fn warn_about_fallbacks(&mut self) {
        let known: Vec<&str> = self.config.servers.keys().map(ServerId::as_str).collect();
        // A name may itself contain a slash, so the text is not split.
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
                let message = format!("`{}` names no server", shown(target));
                let mut warning = ConfigError::new(server.source.file.as_path(), message);
                warning.line = Some(server.source.line);
                warnings.push(warning.server(server.id.as_str()).key(key).warning());
            }
        }
        self.config.problems.extend(warnings);
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "examples_tests.rs"]
mod examples;
