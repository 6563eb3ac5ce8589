//! Creates a model from a profile.

use std::sync::Arc;

use switchboard_config::{Environment, ModelProfile, Provider};
use switchboard_prompting::{Model, ModelError, ModelErrorKind};
use switchboard_wire::{WireLimits, new_http_client};

use crate::access::VendorAccess;
use crate::providers::{model_info, provider_spec};
use crate::scripted::ScriptedModel;
use crate::transport::{RemoteModel, RemoteParts, RetryPolicy};

/// Creates the model that a profile describes. Sends nothing.
///
/// Fails if the profile is invalid, or if the provider's key is not in the environment.
pub fn open(
    profile: &ModelProfile,
    environment: &Environment,
) -> Result<Arc<dyn Model>, ModelError> {
    let is_local = provider_spec(profile.provider).is_local;
    let patience = if is_local { RetryPolicy::local() } else { RetryPolicy::default() };
    open_with(profile, environment, patience)
}

/// Creates the model that a profile describes, like [`open`], with another retry policy.
pub fn open_with(
    profile: &ModelProfile,
    environment: &Environment,
    patience: RetryPolicy,
) -> Result<Arc<dyn Model>, ModelError> {
    let about = model_info(profile);
    if profile.provider == Provider::Scripted {
        let Some(file) = &profile.file else {
            let message = format!("the scripted model `{}` has no `file`", profile.name);
            return Err(ModelError::new(ModelErrorKind::Profile, message));
        };
        return Ok(Arc::new(ScriptedModel::open(about, &environment.current_dir.join(file))?));
    }
    let spec = provider_spec(profile.provider);
    let mut access = VendorAccess::find(profile, environment)?;
    for (name, value) in spec.protocol.headers() {
        // A profile may override them, for example to request a newer version of the API.
        access.headers.entry(*name).or_insert(reqwest::header::HeaderValue::from_static(value));
    }
    let client = new_http_client(&WireLimits::default()).map_err(|error| {
        ModelError::new(
            ModelErrorKind::Unreachable,
            format!("cannot create an HTTP client: {error}"),
        )
    })?;
    let extra = profile.extra.clone();
    Ok(Arc::new(RemoteModel::new(RemoteParts { about, spec, access, extra, patience, client })))
}
