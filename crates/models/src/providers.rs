//! The table of providers: one constant per provider holds everything that differs between them.

use switchboard_config::{CallStyle, ModelProfile, Provider};
use switchboard_prompting::{CallForm, CallMode, ModelInfo, Vendor};

use crate::access::KeyHeader;
use crate::anthropic::AnthropicProtocol;
use crate::gemini::GeminiProtocol;
use crate::openai::OpenAiProtocol;
use crate::protocol::VendorProtocol;

/// The properties of a provider.
pub(crate) struct ProviderSpec {
    /// The address, unless a profile has a `baseUrl`.
    pub(crate) base_url: &'static str,
    /// The environment variables that may hold the key, the usual one first.
    pub(crate) key_variables: &'static [&'static str],
    pub(crate) key_header: KeyHeader,
    /// Whether a server at another `baseUrl` may work without a key.
    pub(crate) is_key_optional_elsewhere: bool,
    /// Whether the provider runs on a machine of the user, and may have to load the model first.
    pub(crate) is_local: bool,
    pub(crate) protocol: &'static dyn VendorProtocol,
    vendor: Vendor,
    // Assumptions about most of its models, for profiles that set neither.
    images: bool,
    window: usize,
    /// Another name under which the provider's list may contain a model.
    pub(crate) listed_alias: fn(&str) -> Option<String>,
    pub(crate) missing_model_hint: fn(&str) -> String,
    pub(crate) connection_hint: &'static str,
}

const OPENAI: ProviderSpec = ProviderSpec {
    base_url: "https://api.openai.com/v1",
    key_variables: &["OPENAI_API_KEY"],
    is_key_optional_elsewhere: true,
    // Compatible servers may know only the older name, `max_tokens`.
    protocol: &OpenAiProtocol { key_path: None, max_tokens_member: "max_completion_tokens" },
    images: true,
    ..COMPATIBLE
};

const ANTHROPIC: ProviderSpec = ProviderSpec {
    base_url: "https://api.anthropic.com",
    key_variables: &["ANTHROPIC_API_KEY"],
    key_header: KeyHeader::Named("x-api-key"),
    protocol: &AnthropicProtocol,
    vendor: Vendor::Anthropic,
    images: true,
    window: 200_000,
    ..COMPATIBLE
};

const GEMINI: ProviderSpec = ProviderSpec {
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    key_header: KeyHeader::Named("x-goog-api-key"),
    protocol: &GeminiProtocol,
    vendor: Vendor::Gemini,
    images: true,
    window: 1_048_576,
    ..COMPATIBLE
};

const OLLAMA: ProviderSpec = ProviderSpec {
    base_url: "http://127.0.0.1:11434/v1",
    is_local: true,
    // Ollama and LM Studio load a model with a small window unless configured otherwise.
    window: 8_192,
    listed_alias: |model| Some(format!("{model}:latest")),
    missing_model_hint: |model| format!("get it with `ollama pull {model}`"),
    connection_hint: "is Ollama running? `ollama serve` starts it",
    ..COMPATIBLE
};

const LM_STUDIO: ProviderSpec = ProviderSpec {
    base_url: "http://127.0.0.1:1234/v1",
    is_local: true,
    window: 8_192,
    connection_hint: "is the server of LM Studio running? `lms server start` starts it",
    ..COMPATIBLE
};

const VLLM: ProviderSpec = ProviderSpec {
    base_url: "http://127.0.0.1:8000/v1",
    is_local: true,
    window: 32_768,
    connection_hint: "is vLLM running? `vllm serve` starts it",
    ..COMPATIBLE
};

const OPENROUTER: ProviderSpec = ProviderSpec {
    base_url: "https://openrouter.ai/api/v1",
    key_variables: &["OPENROUTER_API_KEY"],
    // The list of models is public, so it does not validate the key.
    protocol: &OpenAiProtocol { key_path: Some("key"), max_tokens_member: "max_tokens" },
    // The part after the colon may select a host, and the list does not contain it.
    listed_alias: |model| model.rsplit_once(':').map(|(name, _)| name.to_owned()),
    ..COMPATIBLE
};

/// A server with an OpenAI-compatible API: the values that other providers start from.
const COMPATIBLE: ProviderSpec = ProviderSpec {
    base_url: "",
    key_variables: &[],
    key_header: KeyHeader::Bearer,
    is_key_optional_elsewhere: false,
    is_local: false,
    protocol: &OpenAiProtocol { key_path: None, max_tokens_member: "max_tokens" },
    vendor: Vendor::OpenAi,
    images: false,
    window: 128_000,
    listed_alias: |_| None,
    missing_model_hint: |_| "look at the vendor's list of models, and check `baseUrl`".to_owned(),
    connection_hint: "check the network and `baseUrl`",
};

/// Returns the properties of a provider.
pub(crate) const fn provider_spec(provider: Provider) -> &'static ProviderSpec {
    match provider {
        Provider::OpenAi => &OPENAI,
        Provider::Anthropic => &ANTHROPIC,
        Provider::Gemini => &GEMINI,
        Provider::Ollama => &OLLAMA,
        Provider::LmStudio => &LM_STUDIO,
        Provider::Vllm => &VLLM,
        Provider::OpenRouter => &OPENROUTER,
        Provider::Scripted => &COMPATIBLE,
    }
}

/// Describes the model of a profile, with the provider's values where the profile has none.
pub(crate) fn model_info(profile: &ModelProfile) -> ModelInfo {
    let spec = provider_spec(profile.provider);
    let calls = match profile.calls.unwrap_or(CallStyle::Native) {
        CallStyle::Native => CallMode::Native(spec.vendor),
        CallStyle::Text => CallMode::Text(CallForm::Wrapper),
        CallStyle::Tags => CallMode::Text(CallForm::ToolTags),
    };
    ModelInfo {
        profile: profile.name.clone(),
        provider: profile.provider.as_str().to_owned(),
        model: profile.model.clone(),
        calls,
        images: profile.images.unwrap_or(spec.images),
        window: profile.window.unwrap_or(spec.window),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_overrides_what_is_assumed_of_its_provider() {
        let silent = ModelProfile::new("quiet", Provider::Gemini, "g-1");
        let expected = ModelInfo {
            profile: "quiet".to_owned(),
            provider: "gemini".to_owned(),
            model: "g-1".to_owned(),
            calls: CallMode::Native(Vendor::Gemini),
            images: true,
            window: 1_048_576,
        };
        assert_eq!(model_info(&silent), expected);
        let loud = ModelProfile {
            images: Some(false),
            window: Some(4_000),
            calls: Some(CallStyle::Tags),
            ..silent
        };
        let expected = ModelInfo {
            calls: CallMode::Text(CallForm::ToolTags),
            images: false,
            window: 4_000,
            ..expected
        };
        assert_eq!(model_info(&loud), expected);
    }

    #[test]
    fn only_providers_on_other_machines_need_a_key() {
        for (word, provider) in Provider::ALL {
            let needs = !provider_spec(provider).key_variables.is_empty();
            assert_eq!(
                needs,
                !provider_spec(provider).is_local && provider != Provider::Scripted,
                "{word}"
            );
        }
    }
}
