//! The `models` section of a file: profiles of language models for conversations.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use switchboard_document::{ConfigError, Member, Node};
use switchboard_net::{check_url, url_without_secrets};

use crate::reader::ConfigReader;
use crate::resolved::ConfigLayer;

const KEYS: &[&str] = &[
    "provider", "model", "baseUrl", "apiKeyEnv", "images", "window", "calls", "headers", "extra",
    "file",
];

/// A language model and how to reach it.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelProfile {
    pub name: String,
    pub provider: Provider,
    /// The vendor's name for the model; empty for a script.
    pub model: String,
    /// The base URL, if not the provider's default.
    pub base_url: Option<String>,
    /// The environment variable with the API key, if not the provider's default.
    pub api_key_env: Option<String>,
    pub images: Option<bool>,
    /// Size of the context window, in tokens.
    pub window: Option<usize>,
    /// How the model calls tools, if not in the provider's default style.
    pub calls: Option<CallStyle>,
    pub headers: BTreeMap<String, String>,
    /// Members that are added to the body of every request, such as a temperature.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// The script of a scripted model.
    pub file: Option<PathBuf>,
}

/// The API that a model is reached through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI, or any compatible API at another URL.
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
    LmStudio,
    Vllm,
    OpenRouter,
    /// A file with scripted answers.
    Scripted,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStyle {
    Native,
    /// In its text, with `use_mcp_tool`.
    Text,
    /// In its text, with elements named after the tools.
    Tags,
}

impl Provider {
    /// All providers, with the name of each.
    pub const ALL: [(&'static str, Self); 8] = [
        ("openai", Self::OpenAi),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("ollama", Self::Ollama),
        ("lmstudio", Self::LmStudio),
        ("vllm", Self::Vllm),
        ("openrouter", Self::OpenRouter),
        ("scripted", Self::Scripted),
    ];

    /// Returns the name of the provider.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, provider)| *provider == self).map_or("", |(word, _)| word)
    }

    /// Returns the provider with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, provider)| *provider)
    }
}

impl ModelProfile {
    /// Creates a profile with names and no other settings.
    pub fn new(name: &str, provider: Provider, model: &str) -> Self {
        Self {
            name: name.to_owned(),
            provider,
            model: model.to_owned(),
            base_url: None,
            api_key_env: None,
            images: None,
            window: None,
            calls: None,
            headers: BTreeMap::new(),
            extra: serde_json::Map::new(),
            file: None,
        }
    }

    /// Parses `provider:model` into a profile that needs no file; a script is `scripted:FILE`.
    pub fn from_spec(spec: &str) -> Option<Self> {
        let (provider, model) = spec.split_once(':')?;
        let provider = Provider::from_word(provider)?;
        if model.is_empty() {
            return None;
        }
        let mut profile = Self::new(spec, provider, model);
        if provider == Provider::Scripted {
            profile.file = Some(PathBuf::from(model));
        }
        Some(profile)
    }
}

// Prints only the names of headers: values may be secrets.
impl fmt::Debug for ModelProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelProfile")
            .field("name", &self.name)
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url.as_deref().map(url_without_secrets))
            .field("api_key_env", &self.api_key_env)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// Reads every valid profile into `models`, and returns the errors of the others.
pub(crate) fn apply(
    models: &mut BTreeMap<String, ModelProfile>,
    node: &Node,
    layer: ConfigLayer,
    reader: &mut ConfigReader<'_>,
) -> Vec<ConfigError> {
    // A profile determines where an API key is sent.
    if layer == ConfigLayer::Project {
        reader.warn(node.at, "models", "cannot be set by a project, so it is ignored");
        return Vec::new();
    }
    let members = match reader.members(node, "models") {
        Ok(members) => members,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    for member in members.iter().filter(|member| !member.value.is_null()) {
        // Even if the new profile is invalid: the one of a lower layer is not wanted here.
        models.remove(&member.name);
        match profile(member, reader) {
            // A warning, because an invalid profile does not invalidate the rest of the file.
            Err(error) => errors.push(error.warning()),
            Ok(profile) => {
                models.insert(member.name.clone(), profile);
            }
        }
    }
    errors
}

fn profile(member: &Member, reader: &mut ConfigReader<'_>) -> Result<ModelProfile, ConfigError> {
    let inside = format!("models.{}", member.name);
    // A colon separates provider and model in a specification without a profile.
    if member.name.trim().is_empty() || member.name.contains(':') {
        return Err(reader
            .key_error(member.at, &inside, "is not a valid name for a model")
            .hint("use a name without `:`, such as `fast`"));
    }
    if let Some((path, at)) = member.value.find_duplicate() {
        let error = reader.key_error(at, &format!("{inside}.{path}"), "is given twice");
        return Err(error.hint("keep one of them"));
    }
    let members = reader.members(&member.value, &inside)?;
    reader.warn_unknown(members, &format!("{inside}."), KEYS);
    let mut provider = None;
    let mut profile = ModelProfile::new(&member.name, Provider::OpenAi, "");
    for member in members.iter().filter(|member| !member.value.is_null()) {
        let node = &member.value;
        let key = format!("{inside}.{}", member.name);
        match member.name.as_str() {
            "provider" => provider = Some(reader.choice(node, &key, &Provider::ALL)?),
            "model" => profile.model = reader.system_text(node, &key)?,
            "baseUrl" => profile.base_url = Some(base_url(node, &key, reader)?),
            "apiKeyEnv" => profile.api_key_env = Some(reader.system_text(node, &key)?),
            "images" => profile.images = Some(reader.flag(node, &key)?),
            "window" => profile.window = Some(reader.count(node, &key, 1_000..=100_000_000)?),
            "calls" => {
                let choices = [
                    ("native", CallStyle::Native),
                    ("text", CallStyle::Text),
                    ("tags", CallStyle::Tags),
                ];
                profile.calls = Some(reader.choice(node, &key, &choices)?);
            }
            "headers" => {
                let headers = reader.map(node, &key)?;
                profile.headers =
                    headers.into_iter().map(|(name, (value, _))| (name, value)).collect();
            }
            "extra" => profile.extra = extra(node, &key, reader)?,
            "file" => {
                let base = reader.file.parent().unwrap_or(reader.variables.workspace);
                profile.file = Some(reader.path(node, &key, base)?);
            }
            _ => {}
        }
    }
    let Some(provider) = provider else {
        return Err(reader.key_error(member.at, &inside, "needs a `provider`"));
    };
    profile.provider = provider;
    if provider == Provider::Scripted && profile.file.is_none() {
        return Err(reader.key_error(member.at, &inside, "is scripted and needs a `file`"));
    }
    if provider != Provider::Scripted && profile.model.trim().is_empty() {
        return Err(reader.key_error(member.at, &inside, "needs a `model`"));
    }
    Ok(profile)
}

fn base_url(node: &Node, key: &str, reader: &ConfigReader<'_>) -> Result<String, ConfigError> {
    let text = reader.system_text(node, key)?;
    check_url(&text)
        .map_err(|cause| reader.key_error(node.at, key, cause))
        .map(|()| text.trim_end_matches('/').to_owned())
}

fn extra(
    node: &Node,
    key: &str,
    reader: &ConfigReader<'_>,
) -> Result<serde_json::Map<String, serde_json::Value>, ConfigError> {
    reader.members(node, key)?;
    serde_json::from_str(&node.to_compact_json())
        .map_err(|cause| reader.key_error(node.at, key, &format!("cannot be read: {cause}")))
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
