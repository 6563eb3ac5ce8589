//! Merging of layers, the built-in server, and isolation of invalid entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use switchboard_core::Durability;

use super::*;
use crate::resolved::Settings;
use crate::settings::{DiscoverySettings, KnownServersSource};

struct TestHome {
    folder: tempfile::TempDir,
    places: Places,
    environment: Environment,
}

/// Creates a home with a user file and a project file; `None` leaves one out.
fn home(user: Option<&str>, project: Option<&str>) -> TestHome {
    let folder = tempfile::tempdir().unwrap();
    let [home, work] = ["home", "work"].map(|name| folder.path().join(name));
    let places = Places {
        user: Some(home.join("config.json")),
        project: Some(work.join("switchboard.json")),
        ..Places::without_files(home.join("state"))
    };
    for (text, file) in [(user, &places.user), (project, &places.project)] {
        let file = file.as_ref().unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if let Some(text) = text {
            fs::write(file, text).unwrap();
        }
    }
    let environment =
        Environment { variables: BTreeMap::new(), home: Some(home), current_dir: work };
    TestHome { folder, places, environment }
}

impl TestHome {
    fn load(&self) -> Config {
        load(&self.places, &self.environment, &NoConsents)
    }
}

/// Returns the names of servers with their transport, and the broken servers.
fn summary(config: &Config) -> Vec<String> {
    let servers = config.servers.iter().map(|(name, server)| {
        let what = match &server.transport {
            Transport::Builtin => "builtin",
            Transport::Stdio { command, .. } => command,
            Transport::Http { .. } => "http",
        };
        format!("{name}={what}{}", if server.approved { "" } else { " waits" })
    });
    servers.chain(config.broken.keys().map(|name| format!("{name} broken"))).collect()
}

fn one(name: &str, command: &str) -> String {
    format!(r#"{{"mcpServers": {{"{name}": {{"command": "{command}"}}}}}}"#)
}

#[test]
fn without_files_there_is_the_builtin_server_alone() {
    let home = home(None, None);
    let config = home.load();
    assert_eq!(summary(&config), ["builtin=builtin"]);
    assert_eq!((config.problems.as_slice(), &config.settings), (&[][..], &Settings::default()));
    let files = [home.places.user.clone().unwrap(), home.places.project.clone().unwrap()];
    assert_eq!(config.files, files);
}

#[test]
fn an_entry_of_the_project_replaces_the_users_whole() {
    let user = r#"{"mcpServers": {"a": {"command": "u", "timeout": 5}, "b": {"command": "u"}}}"#;
    let config = home(Some(user), Some(&one("a", "p"))).load();
    assert_eq!(summary(&config), ["a=p waits", "b=u", "builtin=builtin"]);
    assert_eq!(config.servers["a"].timeout.as_secs(), 60);
    assert_eq!(config.servers["a"].source.layer, ConfigLayer::Project);
}

#[test]
fn a_wrong_entry_of_the_project_does_not_bring_the_users_back() {
    let config = home(Some(&one("a", "u")), Some(r#"{"mcpServers": {"a": {}}}"#)).load();
    assert_eq!(summary(&config), ["builtin=builtin", "a broken"]);
}

#[test]
fn explicit_files_are_read_in_order_and_alone() {
    let mut home = home(Some(&one("u", "u")), Some(&one("p", "p")));
    let [first, second, missing] = ["1", "2", "3"].map(|name| home.folder.path().join(name));
    fs::write(&first, r#"{"mcpServers": {"a": {"command": "1"}, "b": {"command": "1"}}}"#).unwrap();
    fs::write(&second, one("b", "2")).unwrap();
    home.places.explicit = vec![first, second, missing.clone()];
    let config = home.load();
    assert_eq!(summary(&config), ["a=1", "b=2", "builtin=builtin"]);
    let problems: Vec<_> = config.problems.iter().map(|p| (&*p.file, &*p.message)).collect();
    assert_eq!(problems, [(missing.as_path(), "the file does not exist")]);
    assert!(!config.is_complete());
}

#[test]
fn a_broken_file_leaves_the_other_in_force() {
    let config = home(Some("{\"mcpServers\": {"), Some(&one("p", "p"))).load();
    assert_eq!(summary(&config), ["builtin=builtin", "p=p waits"]);
    assert_eq!(config.problems.len(), 1);
    assert!(!config.is_complete());
}

#[test]
fn two_servers_of_one_name_in_a_file_are_both_refused() {
    let text = r#"{"mcpServers": {"a": {"command": "1"}, "b": {"command": "1"},
        "\u0061": {"command": "2"}}}"#;
    let config = home(Some(text), None).load();
    assert_eq!(summary(&config), ["b=1", "builtin=builtin", "a broken"]);
    assert_eq!(config.broken["a"].line, Some(2));
}

#[test]
fn names_that_are_no_names_are_reported() {
    let text = r#"{"mcpServers": {"": {"command": "a"}, "x\ny": {"command": "a"},
        "__proto__": {"command": "a"}, "github.com/a/b": {"command": "a"}}}"#;
    let config = home(Some(text), None).load();
    assert_eq!(summary(&config), ["__proto__=a", "builtin=builtin", "github.com/a/b=a"]);
    let messages: Vec<_> = config.problems.iter().map(|problem| &*problem.message).collect();
    let expected =
        ["a server name cannot be empty", "a server name cannot contain control characters"];
    assert_eq!(messages, expected);
    // Other servers are unaffected: a running host still applies this configuration.
    assert!(config.is_complete());
}

#[test]
fn the_builtin_server_can_be_configured_and_left_out_and_nobody_takes_its_name() {
    let cases = [
        (r#"{"mcpServers": {"builtin": {"timeout": 5}}}"#, "builtin=builtin"),
        (r#"{"mcpServers": {"builtin": {"command": "mine"}}}"#, "builtin broken"),
        (r#"{"mcpServers": {"builtin": {"url": "https://mine/"}}}"#, "builtin broken"),
        (r#"{"mcpServers": {"builtin": 3}}"#, "builtin broken"),
    ];
    for (text, expected) in cases {
        assert_eq!(summary(&home(Some(text), None).load()), [expected], "{text}");
    }
    let off = r#"{"mcpServers": {"builtin": {}}, "settings": {"builtin": false}}"#;
    assert_eq!(summary(&home(Some(off), None).load()), [""; 0]);
    let disabled = r#"{"mcpServers": {"builtin": {"disabled": true}}}"#;
    assert!(home(Some(disabled), None).load().servers["builtin"].disabled);
}

#[test]
fn settings_of_the_user_count_and_those_of_a_project_only_narrow() {
    let user = r#"{"settings": {"autoApprove": true, "durability": "power",
        "resultLimitBytes": 100000, "showLimitBytes": 5000, "reviewMinutes": 20,
        "roots": ["/a", "b", "~/c"]}}"#;
    let wide = r#"{"settings": {"durability": "process", "resultLimitBytes": 200000,
        "showLimitBytes": 6000, "reviewMinutes": 30, "roots": ["/"], "autoApprove": true}}"#;
    let narrow = r#"{"settings": {"autoApprove": false, "builtin": false, "showLimitBytes": 100,
        "reviewMinutes": 2}}"#;

    let wide = home(Some(user), Some(wide));
    let config = wide.load();
    let expected = Settings {
        auto_approve: true,
        durability: Durability::Power,
        result_limit_bytes: 100_000,
        show_limit_bytes: 5_000,
        review_minutes: 20,
        builtin: true,
        roots: vec![
            PathBuf::from("/a"),
            wide.environment.current_dir.join("b"),
            wide.environment.home.clone().unwrap().join("c"),
        ],
        ..Settings::default()
    };
    assert_eq!(config.settings, expected);
    let keys: Vec<_> = config.problems.iter().filter_map(|p| p.key.as_deref()).collect();
    let ignored = ["durability", "resultLimitBytes", "showLimitBytes", "reviewMinutes", "roots"];
    assert_eq!(keys, ignored.map(|key| format!("settings.{key}")));

    let narrowed = home(Some(user), Some(narrow)).load().settings;
    assert_eq!(
        (
            narrowed.auto_approve,
            narrowed.builtin,
            narrowed.show_limit_bytes,
            narrowed.review_minutes
        ),
        (false, false, 100, 2)
    );

    let alone = home(None, Some(r#"{"settings": {"autoApprove": true}}"#)).load();
    assert!(!alone.settings.auto_approve);
}

#[test]
fn only_the_user_says_where_servers_are_looked_for() {
    let user = r#"{"settings": {"registries": ["https://registry.example"], "knownServers": "known.json"}}"#;
    let project = r#"{"settings": {"registries": ["https://evil.example"], "knownServers": "https://evil.example/x"}}"#;
    let both = home(Some(user), Some(project));
    let config = both.load();
    let expected = DiscoverySettings {
        registries: vec!["https://registry.example".to_owned()],
        known_servers: Some(KnownServersSource::File(
            both.environment.current_dir.join("known.json"),
        )),
    };
    assert_eq!(config.settings.discovery, expected);
    assert_eq!(config.problems.len(), 2);
    let wrong =
        r#"{"settings": {"registries": ["file:///x"], "knownServers": "ftp://a.example/x"}}"#;
    let config = home(Some(wrong), None).load();
    assert_eq!(config.settings.discovery, DiscoverySettings::default());
    assert!(config.problems.iter().all(ConfigError::is_error) && config.problems.len() == 2);
}

#[test]
fn a_wrong_setting_does_not_spoil_the_others() {
    let text = r#"{"settings": {"autoApprove": "yes", "showLimitBytes": 200, "durability": "disk",
        "resultLimitBytes": 1, "auto_approve": true}, "servers": {}}"#;
    let config = home(Some(text), None).load();
    assert_eq!(config.settings, Settings { show_limit_bytes: 200, ..Settings::default() });
    let found: Vec<_> =
        config.problems.iter().map(|p| (p.key.as_deref().unwrap(), p.is_error())).collect();
    let expected = [
        ("servers", false),
        ("settings.auto_approve", false),
        ("settings.autoApprove", true),
        ("settings.durability", true),
        ("settings.resultLimitBytes", true),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_workspace_of_a_project_is_its_folder() {
    let entry = r#"{"mcpServers": {"a": {"command": "${workspaceFolder}${/}x"}}}"#;
    let mut home = home(None, Some(entry));
    let project = home.environment.current_dir.clone();
    home.environment.current_dir = project.join("deep/inside");
    assert_eq!(
        summary(&home.load()).first(),
        Some(&format!("a={} waits", project.join("x").display()))
    );
}

/// Generates any JSON value, biased towards the keys and words of the format.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop_oneof![
        proptest::sample::select(server::KEYS.to_vec()).prop_map(str::to_owned),
        proptest::sample::select(vec!["stdio", "http", "http://a", "${A}", "${", "\0", "readOnly"])
            .prop_map(str::to_owned),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        word.clone().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map(word.clone(), inner, 0..8)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_can_be_loaded(bytes: Vec<u8>) {
        let home = home(Some(&one("u", "u")), None);
        fs::write(home.places.project.as_ref().unwrap(), &bytes).unwrap();
        let config = home.load();
        prop_assert_eq!(&summary(&config)[..2], ["builtin=builtin", "u=u"]);
    }

    #[test]
    fn any_text_near_the_format_can_be_loaded(text in r#"[{}\[\],:"/*\\ \n\r$a-c0-9\u{feff}-]{0,80}"#) {
        let home = home(Some(&text), Some(&one("p", "p")));
        prop_assert_eq!(summary(&home.load()), ["builtin=builtin", "p=p waits"]);
    }

    #[test]
    fn no_entry_hides_its_siblings(entry in any_json(), settings in any_json()) {
        let text = serde_json::json!({
            "mcpServers": {"a": {"command": "a"}, "m": entry, "z": {"url": "http://z"}},
        });
        let home = home(Some(&text.to_string()), None);
        let config = home.load();
        prop_assert_eq!(config.servers.contains_key("m"), !config.broken.contains_key("m"));
        let others: Vec<_> = summary(&config).into_iter().filter(|s| !s.starts_with('m')).collect();
        prop_assert_eq!(others, ["a=a", "builtin=builtin", "z=http"]);

        let text = serde_json::json!({"mcpServers": {"a": {"command": "a"}}, "settings": settings});
        fs::write(home.places.user.as_ref().unwrap(), text.to_string()).unwrap();
        prop_assert!(home.load().servers.contains_key("a"));
    }
}
