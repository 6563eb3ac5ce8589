//! Reads values of one entry, expands variables, and reports invalid values.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;
use std::time::Duration;

use switchboard_document::{ConfigError, Member, Node, NodeValue, Position, TypeMismatch, choose};
use switchboard_text::{sanitize, suggestion};

use crate::secret_reference;
use crate::variables::Variables;

/// The valid range of a timeout in seconds.
const TIMEOUT_RANGE: RangeInclusive<f64> = 1.0..=3600.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadMode {
    /// For files that a user wrote: uses a default for an invalid value where possible, and warns.
    Read,
    /// For entries that are about to be written: rejects an invalid value.
    Write,
}

/// A reader for the entry of one server, or for the settings if `server` is `None`.
pub(crate) struct ConfigReader<'a> {
    pub(crate) file: &'a Arc<Path>,
    pub(crate) server: Option<&'a str>,
    pub(crate) variables: Variables<'a>,
    pub(crate) mode: ReadMode,
    pub(crate) warnings: Vec<ConfigError>,
}

impl ConfigReader<'_> {
    pub(crate) fn error(&self, at: Position, message: impl Into<Box<str>>) -> ConfigError {
        let error = ConfigError::new(Arc::clone(self.file), message).at(at);
        match self.server {
            Some(server) => error.server(server),
            None => error,
        }
    }

    /// Returns an error about one key; `predicate` follows the key's name in the message.
    pub(crate) fn key_error(&self, at: Position, key: &str, predicate: &str) -> ConfigError {
        self.error(at, format!("`{}` {predicate}", sanitize(key))).key(key)
    }

    fn mismatch_error(&self, node: &Node, key: &str, wrong: TypeMismatch) -> ConfigError {
        let error = self.key_error(node.at, key, &wrong.predicate);
        match wrong.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    pub(crate) fn text(&self, node: &Node, key: &str) -> Result<String, ConfigError> {
        let text = node.text().map_err(|wrong| self.mismatch_error(node, key, wrong))?;
        self.expand(text, node.at, key)
    }

    fn expand(&self, text: &str, at: Position, key: &str) -> Result<String, ConfigError> {
        self.variables
            .expand(text)
            .map_err(|cause| self.error(at, cause.to_string()).key(key).hint(cause.hint()))
    }

    /// Returns a text for the operating system or the network.
    pub(crate) fn system_text(&self, node: &Node, key: &str) -> Result<String, ConfigError> {
        // A NUL would end the text for the system, and marks a reference to a secret for us.
        if matches!(&node.value, NodeValue::Text(written) if written.contains('\0')) {
            return Err(self.key_error(node.at, key, "contains a NUL character").hint("remove it"));
        }
        let text = self.text(node, key)?;
        // Other users can see arguments, and other fields may be written to logs and the record.
        let is_private = ["env.", "headers."].iter().any(|start| key.starts_with(start));
        if secret_reference::contains_reference(&text) && !is_private {
            let error =
                self.key_error(node.at, key, "refers to a secret, which is not allowed here");
            return Err(error.hint("put it into `env` or `headers`"));
        }
        Ok(text)
    }

    /// Returns a path. `~` is the home folder, and relative paths start at `base`.
    pub(crate) fn path(&self, node: &Node, key: &str, base: &Path) -> Result<PathBuf, ConfigError> {
        let text = self.system_text(node, key)?;
        if text.trim().is_empty() {
            return Err(self
                .key_error(node.at, key, "is empty")
                .hint("give a path, or remove the key"));
        }
        Ok(self.resolve(&text, base))
    }

    pub(crate) fn resolve(&self, text: &str, base: &Path) -> PathBuf {
        match (text.strip_prefix('~'), &self.variables.environment.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with(is_separator) => {
                home.join(rest.trim_start_matches(is_separator))
            }
            _ => base.join(text),
        }
    }

    pub(crate) fn texts(&self, node: &Node, key: &str) -> Result<Vec<String>, ConfigError> {
        let nodes = node
            .list("a list of strings")
            .map_err(|wrong| self.mismatch_error(node, key, wrong))?;
        nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self.system_text(node, &format!("{key}[{index}]")))
            .collect()
    }

    /// Returns an object of texts, without nulls. Numbers and Booleans are kept as written.
    pub(crate) fn map(
        &mut self,
        node: &Node,
        key: &str,
    ) -> Result<BTreeMap<String, (String, Position)>, ConfigError> {
        let mut map = BTreeMap::new();
        for member in self.members(node, key)? {
            let key = format!("{key}.{}", member.name);
            let value = match &member.value.value {
                NodeValue::Null => continue,
                NodeValue::Bool(value) => value.to_string(),
                NodeValue::Number(number) => number.clone(),
                _ => self.system_text(&member.value, &key)?,
            };
            if value.trim() != value {
                self.warn_white_space(member.value.at, &key);
            }
            map.insert(member.name.clone(), (value, member.at));
        }
        Ok(map)
    }

    pub(crate) fn members<'n>(
        &self,
        node: &'n Node,
        key: &str,
    ) -> Result<&'n [Member], ConfigError> {
        node.members().map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    pub(crate) fn flag(&self, node: &Node, key: &str) -> Result<bool, ConfigError> {
        node.flag().map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    pub(crate) fn count(
        &self,
        node: &Node,
        key: &str,
        range: RangeInclusive<usize>,
    ) -> Result<usize, ConfigError> {
        let least = range.start();
        let most = range.end();
        let wanted = format!("a whole number from {least} to {most}");
        let NodeValue::Number(number) = &node.value else {
            return Err(self.mismatch_error(node, key, node.mismatch(&wanted)));
        };
        number.parse().ok().filter(|value| range.contains(value)).ok_or_else(|| {
            let predicate = format!("must be {wanted}, not {}", sanitize(number));
            self.key_error(node.at, key, &predicate)
                .hint("use a value in this range, or remove the key")
        })
    }

    /// Returns the value for one of a fixed set of words.
    pub(crate) fn choice<T: Copy>(
        &self,
        node: &Node,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        choose(&self.text(node, key)?, choices)
            .map_err(|wrong| self.mismatch_error(node, key, wrong))
    }

    /// Returns a duration given in seconds. When reading, a value out of range is clamped, and a
    /// value that is not a number is dropped, both with a warning.
    pub(crate) fn timeout(
        &mut self,
        node: &Node,
        key: &str,
    ) -> Result<Option<Duration>, ConfigError> {
        let (seconds, written) = match &node.value {
            NodeValue::Number(number) => (number.parse::<f64>().ok(), number.clone()),
            NodeValue::Text(text) if self.mode == ReadMode::Read => {
                let text = self.expand(text, node.at, key)?;
                (text.trim().parse().ok().filter(|seconds: &f64| seconds.is_finite()), text)
            }
            _ => (None, node.kind().to_owned()),
        };
        let inside =
            seconds.map(|seconds| seconds.clamp(*TIMEOUT_RANGE.start(), *TIMEOUT_RANGE.end()));
        let right = seconds.is_some_and(|seconds| TIMEOUT_RANGE.contains(&seconds));
        let written = sanitize(&written);
        if !right && self.mode == ReadMode::Write {
            let predicate = format!("must be a number from 1 to 3600 seconds, not {written}");
            return Err(self.key_error(node.at, key, &predicate).hint("give 1 to 3600 seconds"));
        }
        // An invalid timeout does not justify the loss of a server.
        if !right {
            let predicate = match inside {
                Some(used) => format!("of {written} s is out of range, {used} s is used"),
                None => format!("must be a number, not `{written}`; the default is used"),
            };
            let warning = self.key_error(node.at, key, &predicate);
            self.warnings.push(warning.hint("give 1 to 3600 seconds").warning());
        }
        Ok(inside.map(Duration::from_secs_f64))
    }

    pub(crate) fn warn(&mut self, at: Position, key: &str, predicate: &str) {
        let warning = self.key_error(at, key, predicate).warning();
        self.warnings.push(warning);
    }

    /// Warns about a tool name with wildcards.
    pub(crate) fn warn_wildcard(&mut self, at: Position, key: &str, name: &str) {
        if name.contains(['*', '?', '[', '{']) {
            let predicate = format!("has `{}`, which is matched as a literal name", sanitize(name));
            let hint = "a rule in `policy.json` can cover several tools";
            let warning = self.key_error(at, key, &predicate).hint(hint).warning();
            self.warnings.push(warning);
        }
    }

    pub(crate) fn warn_white_space(&mut self, at: Position, key: &str) {
        self.warn(at, key, "has white space at its start or end, which is kept");
    }

    /// Warns about keys that are probably misspelled.
    pub(crate) fn warn_unknown(
        &mut self,
        members: &[Member],
        inside: &str,
        known: &[&'static str],
    ) {
        for member in members.iter().filter(|member| !known.contains(&member.name.as_str())) {
            // Other unknown keys are ignored, because another product may use them.
            if let Some(meant) = suggestion(&member.name, known) {
                let warning = self
                    .error(member.at, format!("`{}` is not known", sanitize(&member.name)))
                    .key(format!("{inside}{}", member.name))
                    .hint(format!("did you mean `{meant}`?"));
                self.warnings.push(warning.warning());
            }
        }
    }
}
