//! Makes a model of a profile.

use std::sync::Arc;

use switchboard_config::{Environment, ModelProfile, Provider};
use switchboard_prompting::{Model, ModelError, Trouble};
use switchboard_wire::Limits;
use switchboard_wire::http::client;

use crate::access::{Access, KeyHeader};
use crate::anthropic::Anthropic;
use crate::defaults;
use crate::gemini::Gemini;
use crate::openai::OpenAi;
use crate::protocol::Protocol;
use crate::scripted::Scripted;
use crate::transport::{Parts, Patience, Remote};

/// Makes the model that a profile describes. Nothing is sent yet.
///
/// # Errors
/// When the profile is wrong, or the key that the provider needs is not in the environment.
pub fn open(
    profile: &ModelProfile,
    environment: &Environment,
) -> Result<Arc<dyn Model>, ModelError> {
    let is_local = defaults::is_local(profile.provider);
    let patience = if is_local { Patience::local() } else { Patience::default() };
    open_with(profile, environment, patience)
}

/// Makes the model that a profile describes, with other limits on waiting.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    profile: &ModelProfile,
    environment: &Environment,
    patience: Patience,
) -> Result<Arc<dyn Model>, ModelError> {
    let about = defaults::about(profile);
    let provider = profile.provider;
    let (protocol, key): (Box<dyn Protocol>, _) = match provider {
        Provider::Scripted => {
            let Some(file) = &profile.file else {
                let message = format!("the model `{}` is scripted and names no file", profile.name);
                return Err(ModelError::new(Trouble::Profile, message));
            };
            return Ok(Arc::new(Scripted::open(about, &environment.current_dir.join(file))?));
        }
        Provider::Anthropic => (Box::new(Anthropic), KeyHeader::Named("x-api-key")),
        Provider::Gemini => (Box::new(Gemini), KeyHeader::Named("x-goog-api-key")),
        Provider::OpenAi
        | Provider::Ollama
        | Provider::LmStudio
        | Provider::Vllm
        | Provider::OpenRouter => (Box::new(OpenAi { provider }), KeyHeader::Bearer),
    };
    let mut access = Access::find(profile, environment, key)?;
    for (name, value) in protocol.headers() {
        access.headers.entry(*name).or_insert(reqwest::header::HeaderValue::from_static(value));
    }
    let client = client(&Limits::default()).map_err(|error| {
        ModelError::new(Trouble::Unreachable, format!("no connection can be made: {error}"))
    })?;
    let extra = profile.extra.clone();
    Ok(Arc::new(Remote::new(Parts { about, provider, access, protocol, extra, patience, client })))
}
