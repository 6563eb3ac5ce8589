//! Parsing of model profiles, and the errors of invalid ones.

use std::sync::Arc;

use super::*;
use crate::environment::Environment;
use crate::load::NoConsents;
use crate::places::Places;
use crate::{file, load};

fn environment(folder: &std::path::Path) -> Environment {
    Environment {
        variables: BTreeMap::new(),
        home: Some(folder.to_owned()),
        current_dir: folder.to_owned(),
    }
}

fn load_models(text: &str) -> crate::resolved::Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, text).unwrap();
    let environment = environment(folder.path());
    let places = Places::find(&environment, &[path]).unwrap();
    load(&places, &environment, &NoConsents)
}

#[test]
fn a_profile_says_everything_about_a_model() {
    let config = load_models(
        r#"{"models": {"fast": {"provider": "openai", "model": "m-1",
            "baseUrl": "http://127.0.0.1:9/v1/", "apiKeyEnv": "MY_KEY", "images": true,
            "window": 32000, "calls": "text", "headers": {"X-A": "b"},
            "extra": {"temperature": 0.5}}}}"#,
    );
    assert_eq!(config.problems, []);
    let expected = ModelProfile {
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        api_key_env: Some("MY_KEY".to_owned()),
        images: Some(true),
        window: Some(32_000),
        calls: Some(CallStyle::Text),
        headers: BTreeMap::from([("X-A".to_owned(), "b".to_owned())]),
        extra: serde_json::from_str(r#"{"temperature": 0.5}"#).unwrap(),
        ..ModelProfile::new("fast", Provider::OpenAi, "m-1")
    };
    assert_eq!(config.models.get("fast"), Some(&expected));
}

#[test]
fn a_wrong_profile_is_told_and_hides_no_sibling() {
    for (entry, message) in [
        (r#"{"model": "m"}"#, "`models.bad` needs a `provider`"),
        (r#"{"provider": "openai"}"#, "`models.bad` needs a `model`"),
        (r#"{"provider": "scripted"}"#, "`models.bad` is scripted and needs a `file`"),
        (r#"{"provider": "oracle"}"#, "`models.bad.provider` cannot be `oracle`"),
        (
            r#"{"provider": "openai", "model": "m", "baseUrl": "ftp://x"}"#,
            "`models.bad.baseUrl` is neither `http://` nor `https://`",
        ),
        (
            r#"{"provider": "openai", "model": "m", "window": 3}"#,
            "`models.bad.window` must be a whole number from 1000 to 100000000, not 3",
        ),
    ] {
        let good = r#"{"provider": "anthropic", "model": "m"}"#;
        let config = load_models(&format!(r#"{{"models": {{"bad": {entry}, "good": {good}}}}}"#));
        let problems: Vec<String> =
            config.problems.iter().map(|problem| problem.message.to_string()).collect();
        assert_eq!(problems, [message], "{entry}");
        assert_eq!(config.models.keys().collect::<Vec<_>>(), ["good"], "{entry}");
        assert!(config.is_complete());
    }
}

#[test]
fn a_project_cannot_say_where_a_key_goes() {
    let file: Arc<std::path::Path> = std::path::Path::new("switchboard.json").into();
    let text = r#"{"models": {"fast": {"provider": "openai", "model": "m"}}}"#;
    let parts = file::parse_sections(&file, text).unwrap();
    let environment = environment(std::path::Path::new("."));
    let mut reader = ConfigReader {
        file: &file,
        server: None,
        variables: crate::variables::Variables {
            environment: &environment,
            workspace: std::path::Path::new("."),
            unset: crate::variables::IfUnset::Refuse,
        },
        mode: crate::reader::ReadMode::Read,
        warnings: Vec::new(),
    };
    let mut models = BTreeMap::new();
    let errors = apply(&mut models, &parts.models.unwrap(), ConfigLayer::Project, &mut reader);
    assert_eq!((models.len(), errors.len(), reader.warnings.len()), (0, 0, 1));
}

#[test]
fn a_name_with_a_colon_stands_for_a_profile_without_a_file() {
    let profile = ModelProfile::from_spec("ollama:llama3:8b").unwrap();
    assert_eq!(profile, ModelProfile::new("ollama:llama3:8b", Provider::Ollama, "llama3:8b"));
    let script = ModelProfile::from_spec("scripted:a.json").unwrap();
    assert_eq!(script.file, Some(PathBuf::from("a.json")));
    for wrong in ["fast", "oracle:x", "openai:"] {
        assert_eq!(ModelProfile::from_spec(wrong), None, "{wrong}");
    }
}

#[test]
fn settings_of_conversations_are_read_and_their_mistakes_named() {
    let config = load_models(
        r#"{"settings": {"chat": {"model": "fast", "mcp": "server-use-only", "calls": "parallel",
            "promptTokens": 4000, "maxSteps": 7, "mistakeLimit": 2, "unaskedLimit": 3,
            "resultChars": 900, "notify": true, "instructions": "Be brief."}}}"#,
    );
    assert_eq!(config.problems, []);
    let expected = crate::chat::ChatSettings {
        model: Some("fast".to_owned()),
        instructions: Some("Be brief.".to_owned()),
        mcp: crate::chat::McpMode::UseOnly,
        prompt_tokens: Some(4_000),
        calls: crate::chat::CallsPerMessage::Parallel,
        max_steps: 7,
        mistake_limit: 2,
        unasked_limit: 3,
        result_chars: 900,
        notify: true,
    };
    assert_eq!(config.settings.chat, expected);
    let wrong = load_models(r#"{"settings": {"chat": {"maxSteps": 0, "resultChar": 5}}}"#);
    let problems: Vec<String> =
        wrong.problems.iter().map(|problem| problem.message.to_string()).collect();
    assert_eq!(
        problems,
        [
            "`resultChar` is not known",
            "`settings.chat.maxSteps` must be a whole number from 1 to 10000, not 0",
        ]
    );
}
