//! Which API keys are found, which are required, and where they must not be sent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use switchboard_config::Provider;

use super::*;

const KEY: &str = "sk-hunter2-hunter2";

fn environment(variables: &[&str]) -> Environment {
    let variables = variables.iter().map(|name| ((*name).to_owned(), format!("{KEY}\n"))).collect();
    Environment { variables, home: None, current_dir: PathBuf::from(".") }
}

fn profile(provider: Provider, base_url: Option<&str>) -> ModelProfile {
    ModelProfile {
        base_url: base_url.map(str::to_owned),
        ..ModelProfile::new("fast", provider, "m")
    }
}

fn find(profile: &ModelProfile, variables: &[&str]) -> Result<VendorAccess, ModelError> {
    VendorAccess::find(profile, &environment(variables))
}

#[test]
fn a_key_is_needed_by_vendors_on_other_machines_only() {
    let remote = "https://models.example/v1";
    let local = "http://127.0.0.1:9/v1";
    for (provider, base_url, variable) in [
        (Provider::OpenAi, None, Some("OPENAI_API_KEY")),
        (Provider::OpenAi, Some(remote), None),
        (Provider::OpenAi, Some(local), None),
        (Provider::OpenAi, Some("http://localhost:9/v1"), None),
        (Provider::OpenAi, Some("http://[::1]:9/v1"), None),
        (Provider::Anthropic, None, Some("ANTHROPIC_API_KEY")),
        (Provider::Gemini, None, Some("GEMINI_API_KEY")),
        (Provider::OpenRouter, None, Some("OPENROUTER_API_KEY")),
        (Provider::Ollama, None, None),
        (Provider::LmStudio, None, None),
        (Provider::Vllm, Some("http://models.example/v1"), None),
    ] {
        let profile = profile(provider, base_url);
        let expected = variable.map(|variable| {
            ModelError::new(ModelErrorKind::BadKey, "no API key for the model `fast`")
                .with_hint(format!("set the environment variable `{variable}`"))
        });
        assert_eq!(find(&profile, &[]).err(), expected, "{provider:?} {base_url:?}");
        if let Some(variable) = variable {
            let access = find(&profile, &[variable]).ok().unwrap();
            let (header, expected) = match provider_spec(provider).key_header {
                KeyHeader::Bearer => ("authorization", format!("Bearer {KEY}")),
                KeyHeader::Named(name) => (name, KEY.to_owned()),
            };
            assert_eq!(access.headers[header], expected);
        }
    }
}

#[test]
fn a_variable_that_the_profile_names_must_be_set() {
    let named =
        ModelProfile { api_key_env: Some("MINE".to_owned()), ..profile(Provider::Ollama, None) };
    let error = find(&named, &[]).err().unwrap();
    assert_eq!(error.hint.unwrap(), "set the environment variable `MINE`");
    assert!(find(&named, &["MINE"]).ok().unwrap().headers.contains_key("authorization"));
}

#[test]
fn no_key_leaves_this_machine_over_plain_http() {
    let open = ModelProfile {
        api_key_env: Some("OPENAI_API_KEY".to_owned()),
        ..profile(Provider::OpenAi, Some("http://models.example/v1"))
    };
    let error = find(&open, &["OPENAI_API_KEY"]).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Profile);
    assert_eq!(error.hint.as_deref(), Some("use `https://` in `baseUrl`"));
    let in_a_header = ModelProfile {
        headers: BTreeMap::from([("Authorization".to_owned(), KEY.to_owned())]),
        ..profile(Provider::Vllm, Some("http://models.example/v1"))
    };
    assert!(find(&in_a_header, &[]).is_err());
    let near = profile(Provider::OpenAi, Some("http://127.1.2.3:8080"));
    assert!(find(&near, &["OPENAI_API_KEY"]).is_ok());
}

#[test]
fn the_key_of_a_vendor_goes_to_that_vendor_alone_unless_somebody_says_so() {
    let elsewhere = profile(Provider::OpenAi, Some("https://models.example/v1"));
    let access = find(&elsewhere, &["OPENAI_API_KEY"]).ok().unwrap();
    assert!(!access.headers.contains_key("authorization"));
    let at_home = profile(Provider::OpenAi, Some("https://api.openai.com/v2"));
    let access = find(&at_home, &["OPENAI_API_KEY"]).ok().unwrap();
    assert!(access.headers.contains_key("authorization"));
}

#[test]
fn a_key_in_the_headers_of_the_profile_is_enough() {
    let own = ModelProfile {
        headers: BTreeMap::from([("X-API-Key".to_owned(), KEY.to_owned())]),
        ..profile(Provider::Anthropic, None)
    };
    assert_eq!(find(&own, &[]).ok().unwrap().headers["x-api-key"], KEY);
}

#[test]
fn secrets_are_neither_printed_nor_quoted() {
    let access = find(&profile(Provider::OpenAi, None), &["OPENAI_API_KEY"]).ok().unwrap();
    assert!(!format!("{:?}", access.headers).contains("hunter2"));
    let quoted = access.without_secrets(&format!("bad key {KEY}, sorry"));
    assert_eq!(quoted, "bad key ***, sorry");
    let mut broken = environment(&[]);
    broken.variables.insert("OPENAI_API_KEY".to_owned(), "sk-hun\nter2".to_owned());
    let profile = profile(Provider::OpenAi, None);
    let error = VendorAccess::find(&profile, &broken).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadKey);
    assert!(!format!("{error:?}").contains("ter2"), "{error:?}");
}

#[test]
fn paths_are_added_to_the_address_and_cannot_leave_it() {
    let access = find(&profile(Provider::OpenAi, Some("http://127.0.0.1:9/v1?a=b")), &[]);
    let access = access.ok().unwrap();
    for (segments, expected) in [
        (&["chat", "completions"][..], "http://127.0.0.1:9/v1/chat/completions?a=b"),
        (&["models", "a/../b?c:d"], "http://127.0.0.1:9/v1/models/a%2F..%2Fb%3Fc:d?a=b"),
    ] {
        assert_eq!(access.url_with_path(segments).as_str(), expected);
    }
}
