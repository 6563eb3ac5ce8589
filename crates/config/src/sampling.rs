//! The `sampling` section of a server entry: limits for the server's requests to a model.

use switchboard_document::{ConfigError, Node, NodeValue};

use crate::reader::ConfigReader;

const KEYS: &[&str] =
    &["model", "maxTokens", "requestsPerCall", "requestsPerHour", "tokensPerHour", "review"];

/// Limits for a server's requests to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingSettings {
    /// The profile that answers; `None` means that the server's model preferences decide.
    pub model: Option<String>,
    /// Maximum number of tokens in one answer, whatever the server requests.
    pub max_tokens: usize,
    pub requests_per_call: usize,
    pub requests_per_hour: usize,
    /// Maximum number of tokens in requests and answers per hour.
    pub tokens_per_hour: usize,
    pub review: SamplingReview,
}

/// The approver of a server's requests to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SamplingReview {
    /// A person, for each request.
    #[default]
    Person,
    Nobody,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self {
            model: None,
            max_tokens: 4_096,
            requests_per_call: 10,
            requests_per_hour: 60,
            tokens_per_hour: 200_000,
            review: SamplingReview::Person,
        }
    }
}

/// Reads the section; returns `None` if sampling is disabled.
pub(crate) fn read(
    reader: &mut ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Option<SamplingSettings>, ConfigError> {
    let mut settings = SamplingSettings::default();
    if let NodeValue::Bool(on) = &node.value {
        return Ok(on.then_some(settings));
    }
    let NodeValue::Object(members) = &node.value else {
        let predicate = format!("must be true, false or an object, not {}", node.kind());
        return Err(reader.key_error(node.at, key, &predicate));
    };
    reader.warn_unknown(members, &format!("{key}."), KEYS);
    for member in members.iter().filter(|member| !member.value.is_null()) {
        let node = &member.value;
        let key = format!("{key}.{}", member.name);
        match member.name.as_str() {
            "model" => settings.model = Some(reader.text(node, &key)?),
            "maxTokens" => settings.max_tokens = reader.count(node, &key, 1..=1_000_000)?,
            "requestsPerCall" => settings.requests_per_call = reader.count(node, &key, 1..=10)?,
            "requestsPerHour" => {
                settings.requests_per_hour = reader.count(node, &key, 1..=100_000)?;
            }
            "tokensPerHour" => {
                settings.tokens_per_hour = reader.count(node, &key, 1..=1_000_000_000)?;
            }
            "review" => {
                settings.review = match reader.flag(node, &key)? {
                    true => SamplingReview::Person,
                    false => SamplingReview::Nobody,
                };
            }
            _ => {}
        }
    }
    Ok(Some(settings))
}
