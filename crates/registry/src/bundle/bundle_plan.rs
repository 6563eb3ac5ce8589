//! Converts the manifest of a bundle to an install plan.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

use serde_json::Value;

use crate::bundle::archive::check_name;
use crate::bundle::bundle_type::Bundle;
use crate::bundle::error::BundleError;
use crate::bundle::install::bundle_folder;
use crate::bundle::manifest::{McpConfig, UserConfig};
use crate::client::RegistryReach;
use crate::plan::{
    AnswerFormat, InstallPlan, PlanBody, PlanItem, RegistryQuestion, Template, check_text,
    check_variable,
};

/// The values of the manifest's variables on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleContext {
    pub bundles: PathBuf,
    pub home: Option<PathBuf>,
    /// `linux`, `darwin` or `win32`.
    pub platform: &'static str,
}

impl BundleContext {
    /// Returns the values for this machine.
    #[must_use]
    pub fn this_machine(bundles: PathBuf, home: Option<PathBuf>) -> Self {
        let platform = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            _ => "linux",
        };
        Self { bundles, home, platform }
    }
}

impl Bundle {
    /// Returns the plan to run the unpacked bundle.
    pub fn plan(&self, surroundings: &BundleContext) -> Result<InstallPlan, BundleError> {
        let manifest = &self.manifest;
        let platforms = &manifest.compatibility.platforms;
        if !platforms.is_empty() && !platforms.iter().any(|one| one == surroundings.platform) {
            return Err(BundleError::OtherPlatform {
                here: surroundings.platform.to_owned(),
                for_what: platforms.clone(),
            });
        }
        let config = self.command(surroundings)?;
        let words = BundleVariables {
            manifest_inputs: &manifest.user_config,
            folder: &bundle_folder(&surroundings.bundles, &self.sha256),
            surroundings,
        };
        let command = config.command.unwrap_or_default();
        check_text("the command", &command)?;
        let command = words.template(&command)?;
        if command.names().next().is_some() {
            // The user must see and approve the exact program.
            return Err(BundleError::NoManifest("its command depends on an answer".to_owned()));
        }
        let mut args = Vec::new();
        for (index, word) in config.args.unwrap_or_default().iter().enumerate() {
            check_text(&format!("argument {}", index + 1), word)?;
            args.push(PlanItem::new(vec![words.template(word)?]));
        }
        let mut env = Vec::new();
        for (name, value) in config.env.unwrap_or_default() {
            check_variable(&name)?;
            check_text(&format!("the variable `{name}`"), &value)?;
            env.push((name, PlanItem::new(vec![words.template(&value)?])));
        }
        let asked = manifest
            .user_config
            .iter()
            .map(|(name, config)| words.question(name, config))
            .collect();
        let mut notes = Vec::new();
        for (name, wanted) in &manifest.compatibility.runtimes {
            notes.push(format!("requires `{name}` {}", wanted.as_str().unwrap_or_default()));
        }
        if manifest.server.kind == "uv" {
            notes.push("`uv` downloads its dependencies at the first start".to_owned());
        }
        Ok(InstallPlan {
            body: PlanBody::Command { command, args, env },
            asked,
            notes,
            reach: RegistryReach::Own,
        })
    }

    /// Returns the command with the overrides of this platform.
    fn command(&self, surroundings: &BundleContext) -> Result<McpConfig, BundleError> {
        let server = &self.manifest.server;
        let entry = server.entry_point.as_str();
        if !entry.is_empty() {
            let bad = |why| BundleError::BadEntry { name: entry.chars().take(120).collect(), why };
            check_name(entry).map_err(bad)?;
            if !self.has(entry) {
                let why = format!("its entry point `{entry}` is missing");
                return Err(BundleError::NoManifest(why));
            }
        }
        // The defaults of the specification, for a manifest without `mcp_config`.
        let path = format!("${{__dirname}}/{entry}");
        let (command, args) = match server.kind.as_str() {
            "node" => ("node".to_owned(), vec![path]),
            "python" => ("python3".to_owned(), vec![path]),
            "uv" => {
                let words = ["run", "--directory", "${__dirname}", entry];
                ("uv".to_owned(), words.map(str::to_owned).to_vec())
            }
            _ => (path, Vec::new()),
        };
        let mut config = server.mcp_config.clone().unwrap_or_default();
        if let Some(other) = config.platform_overrides.remove(surroundings.platform) {
            config.command = other.command.or(config.command);
            config.args = other.args.or(config.args);
            config.env.get_or_insert_default().extend(other.env.unwrap_or_default());
        }
        // The default arguments belong to the default command only.
        if config.command.is_none() {
            config.command = Some(command);
            config.args = config.args.or(Some(args));
        }
        Ok(config)
    }
}

struct BundleVariables<'a> {
    manifest_inputs: &'a BTreeMap<String, UserConfig>,
    folder: &'a Path,
    surroundings: &'a BundleContext,
}

impl BundleVariables<'_> {
    /// Parses a text: replaces the variables of this machine and asks for the others.
    fn template(&self, text: &str) -> Result<Template, BundleError> {
        let known = self.resolve(text)?;
        Ok(Template::read_dollar(&known, |name| {
            let name = name.strip_prefix("user_config.")?;
            self.manifest_inputs.contains_key(name).then(|| name.to_owned())
        }))
    }

    fn resolve(&self, text: &str) -> Result<String, BundleError> {
        let unicode = |path: &Path| {
            let no_text =
                || BundleError::NotInstalled("the path of a folder is not Unicode".to_owned());
            path.to_str().map(str::to_owned).ok_or_else(no_text)
        };
        let mut text = text
            .replace("${pathSeparator}", MAIN_SEPARATOR_STR)
            .replace("${/}", MAIN_SEPARATOR_STR);
        if text.contains("${__dirname}") {
            text = text.replace("${__dirname}", &unicode(self.folder)?);
        }
        let Some(home) = &self.surroundings.home else { return Ok(text) };
        for (variable, below) in [
            ("${HOME}", ""),
            ("${DESKTOP}", "Desktop"),
            ("${DOCUMENTS}", "Documents"),
            ("${DOWNLOADS}", "Downloads"),
        ] {
            if text.contains(variable) {
                let folder = if below.is_empty() { home.clone() } else { home.join(below) };
                text = text.replace(variable, &unicode(&folder)?);
            }
        }
        Ok(text)
    }

    fn question(&self, name: &str, config: &UserConfig) -> RegistryQuestion {
        let default = match &config.default {
            Some(Value::String(text)) => self.resolve(text).ok(),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Bool(flag)) => Some(flag.to_string()),
            Some(Value::Array(list)) => match list.as_slice() {
                [Value::String(text)] => self.resolve(text).ok(),
                _ => None,
            },
            Some(Value::Null | Value::Object(_)) | None => None,
        };
        let description = match (&config.title, &config.description) {
            (Some(title), Some(about)) => Some(format!("{title}: {about}")),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        RegistryQuestion {
            name: name.to_owned(),
            description,
            required: config.required,
            secret: config.sensitive,
            // A bad default is dropped and not an error: the user can still enter a value.
            default: default.filter(|text| check_text("x", text).is_ok()),
            choices: Vec::new(),
            format: AnswerFormat::from_word(Some(config.kind.as_str())),
            placeholder: None,
            repeated: config.multiple,
            min: config.min.map(|min| min.to_string()),
            max: config.max.map(|max| max.to_string()),
        }
    }
}
