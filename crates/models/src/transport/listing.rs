//! Checks that a model is available, and lists a vendor's models.

use std::time::Duration;

use reqwest::{Response, Url};
use serde_json::Value;
use switchboard_prompting::{ModelError, ModelErrorKind};
use switchboard_text::{excerpt_text, nearest_names};
use tokio::time::timeout;

use super::attempt::{content_type, refusal};
use super::failure::{self, AttemptFailure};
use super::remote::RemoteParts;
use crate::protocol::{ModelChecks, VendorRefusal};
use crate::providers::ProviderSpec;

const MAX_LIST_BYTES: usize = 16 << 20;
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_NEAR_NAMES: usize = 3;
// A hint lists all models of a vendor that has no more than these, such as a local server.
const MAX_NAMED_MODELS: usize = 8;

/// Checks that the model is available, and returns a sentence for a person.
pub(super) async fn check(parts: &RemoteParts) -> Result<String, ModelError> {
    match timeout(LIST_TIMEOUT, probe(parts)).await {
        Ok(found) => found.map_err(|failure| failure.error),
        Err(_) => Err(failure::silence_timeout(parts, LIST_TIMEOUT).error),
    }
}

/// Returns a hint with the names closest to the model's.
pub(super) async fn near_names(parts: &RemoteParts) -> Option<String> {
    let checks = parts.spec.protocol.checks(&parts.access, &parts.about.model);
    // Shorter than a check: the user already waits for an error, and this only adds a hint.
    let listed = timeout(LIST_TIMEOUT / 4, fetch(parts, checks.list)).await.ok()?.ok()?;
    let FetchedList::Value(listed) = listed else { return None };
    hint(&parts.about.model, &names(&listed))
}

async fn probe(parts: &RemoteParts) -> Result<String, AttemptFailure> {
    let vendor = &parts.about.provider;
    let model = &parts.about.model;
    let ModelChecks { key, model: one, list } = parts.spec.protocol.checks(&parts.access, model);
    if let Some(key) = key {
        fetch(parts, key).await?.into_result(parts)?;
    }
    if let Some(one) = one {
        return match fetch(parts, one).await?.into_result(parts) {
            Ok(_) => Ok(format!("`{vendor}` has the model `{model}`")),
            Err(mut failure) => {
                if failure.error.kind == ModelErrorKind::UnknownModel {
                    failure.error.hint = near_names(parts).await.or(failure.error.hint);
                }
                Err(failure)
            }
        };
    }
    let listed = match fetch(parts, list).await? {
        FetchedList::Refused(VendorRefusal { status: Some(404 | 405 | 501), .. }) => {
            return Ok(format!(
                "`{vendor}` answers, but has no list of models to find `{model}` in"
            ));
        }
        other => other.into_result(parts)?,
    };
    let names = names(&listed);
    if names.is_empty() || is_listed(parts.spec, model, &names) {
        let count = names.len();
        return Ok(match count {
            0 => format!("`{vendor}` answers, but lists no models to find `{model}` in"),
            _ => format!("`{vendor}` has the model `{model}`, among {count}"),
        });
    }
    let unknown = VendorRefusal { status: Some(404), ..VendorRefusal::default() };
    let mut failure = failure::refusal_failure(parts, &unknown);
    failure.error = ModelError {
        kind: ModelErrorKind::UnknownModel,
        message: format!("`{vendor}` has no model `{model}`"),
        hint: hint(model, &names).or(failure.error.hint),
    };
    Err(failure)
}

enum FetchedList {
    Value(Value),
    Refused(VendorRefusal),
}

impl FetchedList {
    fn into_result(self, parts: &RemoteParts) -> Result<Value, AttemptFailure> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Refused(refusal) => Err(failure::refusal_failure(parts, &refusal)),
        }
    }
}

async fn fetch(parts: &RemoteParts, address: Url) -> Result<FetchedList, AttemptFailure> {
    let request = parts.client.get(address).headers(parts.access.headers.clone());
    let response = request.send().await.map_err(|error| failure::send_failure(parts, &error))?;
    if !response.status().is_success() {
        return Ok(FetchedList::Refused(refusal(response).await));
    }
    // Some proxies send a page with status 200.
    let is_page = content_type(&response).contains("html");
    let body = body(parts, response).await?;
    match serde_json::from_slice(&body) {
        Ok(value) if !is_page => Ok(FetchedList::Value(value)),
        _ => {
            let text: String = String::from_utf8_lossy(&body).chars().take(2_000).collect();
            let mut failure = failure::unexpected_body(parts, &text);
            let vendor = &parts.about.provider;
            failure.error.message = format!("`{vendor}` answered with something other than JSON");
            Err(failure)
        }
    }
}

async fn body(parts: &RemoteParts, mut response: Response) -> Result<Vec<u8>, AttemptFailure> {
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|error| failure::send_failure(parts, &error))?
    {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_LIST_BYTES {
            return Err(failure::oversized_answer(parts, MAX_LIST_BYTES));
        }
    }
    Ok(body)
}

/// Returns the names in a list in the format of any vendor.
fn names(listed: &Value) -> Vec<String> {
    let entries = ["data", "models"].iter().find_map(|name| listed.get(name)?.as_array());
    let entries = entries.or_else(|| listed.as_array()).into_iter().flatten();
    let name = |entry: &Value| {
        let name = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    entries.filter_map(name).collect()
}

fn is_listed(spec: &ProviderSpec, model: &str, names: &[String]) -> bool {
    let alias = (spec.listed_alias)(model);
    names.iter().any(|name| name == model || Some(name) == alias.as_ref())
}

fn hint(model: &str, names: &[String]) -> Option<String> {
    let near = nearest_names(model, names.iter().map(String::as_str), MAX_NEAR_NAMES);
    let quoted = |names: &[&str]| {
        let names: Vec<String> =
            names.iter().map(|name| format!("`{}`", excerpt_text(name, 80))).collect();
        names.join(", ")
    };
    if !near.is_empty() {
        return Some(format!("did you mean {}?", quoted(&near)));
    }
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let few = !all.is_empty() && all.len() <= MAX_NAMED_MODELS;
    few.then(|| format!("available models: {}", quoted(&all)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_config::Provider;

    use super::*;
    use crate::providers::provider_spec;

    #[test]
    fn names_are_read_from_every_vendors_list() {
        for listed in [
            json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"broken": 1}]}),
            json!({"models": [{"name": "models/a"}, {"name": "models/b"}]}),
            json!([{"id": "a"}, {"name": "b"}]),
        ] {
            assert_eq!(names(&listed), ["a", "b"], "{listed}");
        }
        assert_eq!(names(&json!("nonsense")), Vec::<String>::new());
    }

    #[test]
    fn a_model_is_found_under_the_names_that_its_provider_takes() {
        let names = ["llama3:latest".to_owned(), "maker/model".to_owned()];
        for (provider, model, expected) in [
            (Provider::Ollama, "llama3", true),
            (Provider::Ollama, "llama3:8b", false),
            (Provider::OpenRouter, "maker/model:nitro", true),
            (Provider::OpenAi, "maker/model:nitro", false),
            (Provider::OpenAi, "maker/model", true),
        ] {
            assert_eq!(is_listed(provider_spec(provider), model, &names), expected, "{model}");
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_near_ones_or_with_the_few_there_are() {
        let names = ["gpt-large".to_owned(), "other".to_owned()];
        assert_eq!(hint("gpt-lrge", &names).unwrap(), "did you mean `gpt-large`?");
        assert_eq!(hint("zzz", &names).unwrap(), "available models: `gpt-large`, `other`");
        assert_eq!(hint("zzz", &[]), None);
    }
}
