//! The `sampling` of a server's entry: whether it may ask a model, and how much.

use switchboard_document::{ConfigError, Node, NodeValue};

use crate::reader::ConfigReader;

const KEYS: &[&str] =
    &["model", "maxTokens", "requestsPerCall", "requestsPerHour", "tokensPerHour", "review"];

/// How much a server may ask of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingSettings {
    /// The profile that answers; without one, the server's wishes choose.
    pub model: Option<String>,
    /// The most tokens that one answer may have, whatever the server wants.
    pub max_tokens: usize,
    /// How often it may ask during one call.
    pub requests_per_call: usize,
    /// How often it may ask within an hour.
    pub requests_per_hour: usize,
    /// How many tokens its questions and their answers may cost within an hour.
    pub tokens_per_hour: usize,
    /// Who looks at a request before it leaves.
    pub review: SamplingReview,
}

/// Who looks at what a server wants to ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SamplingReview {
    /// A person, each time.
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

/// What the entry says; nothing where it says no.
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
