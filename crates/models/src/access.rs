//! Access to a vendor: base URL, API key and headers.

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use switchboard_config::{Environment, ModelProfile};
use switchboard_net::is_local;
use switchboard_prompting::{ModelError, ModelErrorKind};

use crate::providers::{ProviderSpec, provider_spec};

const KEY_HEADERS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
// Shorter values occur in ordinary text, and redacting them would garble messages.
const MIN_SECRET_CHARS: usize = 6;

/// The base URL and credentials of a vendor. Not `Debug`, since it contains secrets.
pub(crate) struct VendorAccess {
    pub(crate) base: Url,
    pub(crate) headers: HeaderMap,
    secrets: Vec<String>, // Redacted from messages.
    pub(crate) key_variable: Option<String>,
}

impl VendorAccess {
    /// Resolves the base URL and the key of a profile.
    pub(crate) fn find(
        profile: &ModelProfile,
        environment: &Environment,
    ) -> Result<Self, ModelError> {
        let spec = provider_spec(profile.provider);
        let base = base_url(profile, spec)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let has_own_key =
            profile.headers.keys().any(|name| KEY_HEADERS.contains(&&*name.to_lowercase()));
        let found = key(profile, environment, spec)?;
        let mut secrets = Vec::new();
        if let Some(key) = found {
            insert_key(&mut headers, spec.key_header, &key)?;
            secrets.push(key.value);
        } else if !has_own_key && needs_key(profile, spec, &base) {
            return Err(missing_key(profile, spec));
        }
        for (name, value) in &profile.headers {
            let bad = || {
                let message =
                    format!("the header `{name}` of the model `{}` cannot be sent", profile.name);
                ModelError::new(ModelErrorKind::Profile, message)
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut sent = HeaderValue::from_str(value).map_err(|_| bad())?;
            // Keeps the value out of debug output. Headers of a profile often carry keys.
            sent.set_sensitive(true);
            headers.insert(header, sent);
            secrets.push(value.clone());
        }
        let has_key = KEY_HEADERS.iter().any(|name| headers.contains_key(*name));
        if has_key && base.scheme() != "https" && !is_local(&base) {
            return Err(plain_http(profile));
        }
        secrets.retain(|secret| secret.len() >= MIN_SECRET_CHARS);
        let key_variable = variables(profile, spec).first().map(|name| (*name).to_owned());
        Ok(Self { base, headers, secrets, key_variable })
    }

    pub(crate) fn without_secrets(&self, text: &str) -> String {
        // Vendors echo parts of a request in their errors, and proxies echo headers.
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "***");
        self.secrets.iter().fold(text.to_owned(), hide)
    }

    pub(crate) fn url_with_path(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Only an address that cannot have a path has no segments, and such a base is rejected.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

#[derive(Clone, Copy)]
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

struct ApiKey {
    value: String,
    variable: String,
}

fn base_url(profile: &ModelProfile, spec: &ProviderSpec) -> Result<Url, ModelError> {
    let text = profile.base_url.as_deref().unwrap_or(spec.base_url);
    let wrong = |why: &str| {
        let message = format!("the `baseUrl` of the model `{}` {why}", profile.name);
        ModelError::new(ModelErrorKind::Profile, message)
    };
    let url: Url = text.parse().map_err(|_| wrong("is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("is neither `http://` nor `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // A URL appears in logs and error messages, so it must not contain secrets.
        return Err(wrong("contains a user name or password")
            .with_hint("send credentials with `apiKeyEnv` or `headers`"));
    }
    Ok(url)
}

/// Returns the variables that may hold the key.
fn variables<'a>(profile: &'a ModelProfile, spec: &ProviderSpec) -> Vec<&'a str> {
    match &profile.api_key_env {
        Some(name) => vec![name],
        // A third party must not receive the key that the user has with the vendor.
        None if is_elsewhere(profile, spec) => Vec::new(),
        None => spec.key_variables.to_vec(),
    }
}

/// Returns whether the address is neither the vendor's own nor local.
fn is_elsewhere(profile: &ModelProfile, spec: &ProviderSpec) -> bool {
    let parsed = |text: &str| text.parse::<Url>().ok();
    let Some(own) = profile.base_url.as_deref().and_then(parsed) else { return false };
    let usual = parsed(spec.base_url);
    !is_local(&own) && usual.is_none_or(|usual| usual.host_str() != own.host_str())
}

fn key(
    profile: &ModelProfile,
    environment: &Environment,
    spec: &ProviderSpec,
) -> Result<Option<ApiKey>, ModelError> {
    for variable in variables(profile, spec) {
        let value = environment.variable(variable).unwrap_or_default().trim();
        if !value.is_empty() {
            return Ok(Some(ApiKey { value: value.to_owned(), variable: variable.to_owned() }));
        }
    }
    // A configured variable must be set; otherwise the request would be sent without a key.
    if profile.api_key_env.is_some() { Err(missing_key(profile, spec)) } else { Ok(None) }
}

fn needs_key(profile: &ModelProfile, spec: &ProviderSpec, base: &Url) -> bool {
    // Servers that imitate a vendor's API often run without authentication.
    let own_server = spec.is_key_optional_elsewhere
        && (is_elsewhere(profile, spec) || profile.base_url.is_some() && is_local(base));
    !spec.key_variables.is_empty() && !own_server
}

fn missing_key(profile: &ModelProfile, spec: &ProviderSpec) -> ModelError {
    let name = &profile.name;
    let variable = variables(profile, spec).first().copied().unwrap_or_default();
    let message = format!("no API key for the model `{name}`");
    ModelError::new(ModelErrorKind::BadKey, message).with_hint(match variable {
        "" => "set `apiKeyEnv` to the name of the environment variable with the key".to_owned(),
        variable => format!("set the environment variable `{variable}`"),
    })
}

fn plain_http(profile: &ModelProfile) -> ModelError {
    let message = format!(
        "the API key of the model `{}` would be sent unencrypted to another machine",
        profile.name
    );
    ModelError::new(ModelErrorKind::Profile, message).with_hint("use `https://` in `baseUrl`")
}

fn insert_key(headers: &mut HeaderMap, form: KeyHeader, key: &ApiKey) -> Result<(), ModelError> {
    let (name, text) = match form {
        KeyHeader::Bearer => ("authorization", format!("Bearer {}", key.value)),
        KeyHeader::Named(name) => (name, key.value.clone()),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        let message = format!("the value of `{}` is not a valid API key", key.variable);
        ModelError::new(ModelErrorKind::BadKey, message)
            .with_hint(format!("set `{}` again, without line breaks", key.variable))
    })?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
