//! What is assumed of a provider where a profile is silent.

use switchboard_config::{CallStyle, ModelProfile, Provider};
use switchboard_prompting::{CallForm, CallMode, ModelInfo, Vendor};

/// What is known of a provider.
pub(crate) struct Defaults {
    /// Where it is; empty for a script.
    pub(crate) base_url: &'static str,
    /// The variables that may hold the key, the usual one first.
    pub(crate) key_variables: &'static [&'static str],
    /// Whose form requests take.
    pub(crate) vendor: Vendor,
    /// Whether its models can look at pictures, as a rule.
    images: bool,
    /// How many tokens its smaller models hold in mind.
    window: usize,
}

/// What is known of `provider`.
pub(crate) const fn provider_defaults(provider: Provider) -> Defaults {
    let (base_url, key_variables): (_, &[&str]) = match provider {
        Provider::OpenAi => ("https://api.openai.com/v1", &["OPENAI_API_KEY"]),
        Provider::Anthropic => ("https://api.anthropic.com", &["ANTHROPIC_API_KEY"]),
        Provider::Gemini => (
            "https://generativelanguage.googleapis.com/v1beta",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        ),
        Provider::Ollama => ("http://127.0.0.1:11434/v1", &[]),
        Provider::LmStudio => ("http://127.0.0.1:1234/v1", &[]),
        Provider::Vllm => ("http://127.0.0.1:8000/v1", &[]),
        Provider::OpenRouter => ("https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
        Provider::Scripted => ("", &[]),
    };
    let vendor = match provider {
        Provider::Anthropic => Vendor::Anthropic,
        Provider::Gemini => Vendor::Gemini,
        Provider::OpenAi
        | Provider::Ollama
        | Provider::LmStudio
        | Provider::Vllm
        | Provider::OpenRouter
        | Provider::Scripted => Vendor::OpenAi,
    };
    let images = matches!(provider, Provider::OpenAi | Provider::Anthropic | Provider::Gemini);
    let window = match provider {
        Provider::OpenAi | Provider::OpenRouter | Provider::Scripted => 128_000,
        Provider::Anthropic => 200_000,
        Provider::Gemini => 1_048_576,
        Provider::Vllm => 32_768,
        // Both load a model with a small window unless they are told otherwise.
        Provider::Ollama | Provider::LmStudio => 8_192,
    };
    Defaults { base_url, key_variables, vendor, images, window }
}

/// Whether the provider runs on a machine of the person who asks.
pub(crate) const fn is_local(provider: Provider) -> bool {
    matches!(provider, Provider::Ollama | Provider::LmStudio | Provider::Vllm)
}

/// What the profile and the defaults together say of a model.
pub(crate) fn about(profile: &ModelProfile) -> ModelInfo {
    let defaults = provider_defaults(profile.provider);
    let calls = match profile.calls.unwrap_or(CallStyle::Native) {
        CallStyle::Native => CallMode::Native(defaults.vendor),
        CallStyle::Text => CallMode::Text(CallForm::Wrapper),
        CallStyle::Tags => CallMode::Text(CallForm::ToolTags),
    };
    ModelInfo {
        profile: profile.name.clone(),
        provider: profile.provider.as_str().to_owned(),
        model: profile.model.clone(),
        calls,
        images: profile.images.unwrap_or(defaults.images),
        window: profile.window.unwrap_or(defaults.window),
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
        assert_eq!(about(&silent), expected);
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
        assert_eq!(about(&loud), expected);
    }

    #[test]
    fn only_providers_on_other_machines_need_a_key() {
        for (word, provider) in Provider::ALL {
            let needs = !provider_defaults(provider).key_variables.is_empty();
            assert_eq!(needs, !is_local(provider) && provider != Provider::Scripted, "{word}");
        }
    }
}
