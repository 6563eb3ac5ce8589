//! Queries to registries with valid, invalid and missing responses.

use serde_json::json;
use switchboard_testkit::{RegistryFixture, RegistryMood};

use super::*;
use crate::server_json::ListingStatus;

fn server(name: &str, version: &str, status: &str, latest: bool) -> Value {
    json!({
        "server": {"name": name, "description": format!("does {name}"), "version": version},
        "_meta": {"io.modelcontextprotocol.registry/official": {"status": status, "isLatest": latest}},
    })
}

fn some() -> Vec<Value> {
    vec![
        server("a.example/files", "1.0.0", "active", false),
        server("a.example/files", "1.1.0", "active", true),
        server("b.example/mail", "2.0.0", "deprecated", true),
        server("c.example/files-old", "0.1.0", "deleted", true),
        server("d.example/files-too", "3.0.0", "active", true),
    ]
}

fn registry(fixture: &RegistryFixture, state: Option<&Path>, limits: FetchLimits) -> Registry {
    Registry::new(RegistryAddress::new(&fixture.url).unwrap(), state, limits).unwrap()
}

fn names(found: &WithAge<Vec<ListedServer>>) -> Vec<(&str, &str)> {
    found.value.iter().map(|one| (one.server.name.as_str(), one.status().word())).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn search_goes_over_pages_and_marks_what_is_deleted() {
    let fixture = RegistryFixture::start(&some());
    fixture.set_page(2);
    let registry = registry(&fixture, None, FetchLimits::default());
    let found = registry.search(&words(&["files"]), 50).await.unwrap();
    assert_eq!(
        names(&found),
        [
            ("a.example/files", "active"),
            ("c.example/files-old", "deleted"),
            ("d.example/files-too", "active")
        ]
    );
    assert_eq!(found.value[0].server.version(), Some("1.1.0"));
    assert_eq!((found.age, fixture.requests().len()), (None, 2));
    let few = registry.search(&words(&["files"]), 1).await.unwrap();
    assert_eq!(names(&few), [("a.example/files", "active")]);
    let both = registry.search(&words(&["Files", "too"]), 50).await.unwrap();
    assert_eq!(names(&both), [("d.example/files-too", "active")]);
}

#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let fixture = RegistryFixture::start(&some());
    fixture.set_mood(RegistryMood::Circular);
    let found =
        registry(&fixture, None, FetchLimits::default()).search(&words(&["files"]), 50).await;
    assert_eq!(found.unwrap().value.len(), 3);
    assert_eq!(fixture.requests().len(), 2);
}

#[tokio::test]
async fn one_version_or_the_newest_is_shown() {
    let fixture = RegistryFixture::start(&some());
    let registry = registry(&fixture, None, FetchLimits::default());
    let version = |found: WithAge<ListedServer>| found.value.server.version().map(str::to_owned);
    let newest = registry.show("a.example/files", None).await.unwrap();
    assert_eq!(version(newest).as_deref(), Some("1.1.0"));
    let old = registry.show("a.example/files", Some("1.0.0")).await.unwrap();
    assert_eq!(version(old).as_deref(), Some("1.0.0"));
    let all = registry.versions("a.example/files").await.unwrap();
    assert_eq!(all.value.len(), 2);
    let deleted = registry.show("c.example/files-old", None).await.unwrap();
    assert_eq!(deleted.value.status(), ListingStatus::Deleted);
    let unknown = registry.show("a.example/none", None).await.unwrap_err();
    assert_eq!(
        unknown,
        RegistryError::Unknown { name: "a.example/none".to_owned(), version: None }
    );
    for name in ["../x", "a/b/c", "a", "a.example/.."] {
        let refused = registry.show(name, None).await.unwrap_err();
        assert_eq!(refused, RegistryError::BadName(name.to_owned()));
    }
    assert!(registry.show("a.example/files", Some("..")).await.is_err());
}

#[tokio::test]
async fn what_was_said_before_stands_in_with_its_age() {
    let home = tempfile::tempdir().unwrap();
    let fixture = RegistryFixture::start(&some());
    let limits = FetchLimits { answer: Duration::from_millis(300), ..FetchLimits::default() };
    let registry = registry(&fixture, Some(home.path()), limits);
    let fresh = registry.search(&words(&["files"]), 50).await.unwrap();
    assert_eq!(fresh.age, None);
    for mood in [RegistryMood::Silent, RegistryMood::Status(503), RegistryMood::Status(429)] {
        fixture.set_mood(mood.clone());
        let kept = registry.search(&words(&["files"]), 50).await.unwrap();
        assert_eq!(kept.value, fresh.value, "{mood:?}");
        assert!(kept.age.is_some(), "{mood:?}");
    }
    let other = registry.search(&words(&["mail"]), 50).await.unwrap_err();
    let registry_url = fixture.url.clone();
    assert_eq!(other, RegistryError::Refused { registry: registry_url, status: 429 });
}

#[tokio::test]
async fn an_unchanged_answer_is_not_sent_again() {
    let home = tempfile::tempdir().unwrap();
    let fixture = RegistryFixture::start(&some());
    let registry = registry(&fixture, Some(home.path()), FetchLimits::default());
    let first = registry.show("a.example/files", None).await.unwrap();
    let second = registry.show("a.example/files", None).await.unwrap();
    assert_eq!(first, second);
    fixture.set_servers(&[server("a.example/files", "9.0.0", "active", true)]);
    let third = registry.show("a.example/files", None).await.unwrap();
    assert_eq!(third.value.server.version(), Some("9.0.0"));
}

#[tokio::test]
async fn a_registry_that_misbehaves_is_an_error_even_with_a_cache() {
    let home = tempfile::tempdir().unwrap();
    let fixture = RegistryFixture::start(&some());
    let other = RegistryFixture::start(&some());
    let limits = FetchLimits { answer_bytes: 10_000, ..FetchLimits::default() };
    let registry = registry(&fixture, Some(home.path()), limits);
    registry.search(&words(&["files"]), 50).await.unwrap();
    let at = || fixture.url.clone();
    for (mood, expected) in [
        (
            RegistryMood::Huge(20_000),
            RegistryError::TooLong { registry: at(), limit_bytes: 10_000 },
        ),
        (
            RegistryMood::Elsewhere(other.url.clone()),
            RegistryError::LeadsElsewhere { registry: at() },
        ),
        (RegistryMood::Status(403), RegistryError::Refused { registry: at(), status: 403 }),
    ] {
        fixture.set_mood(mood);
        assert_eq!(registry.search(&words(&["files"]), 50).await.unwrap_err(), expected);
    }
    fixture.set_mood(RegistryMood::Broken);
    let broken = registry.search(&words(&["files"]), 50).await.unwrap_err();
    assert!(matches!(broken, RegistryError::Unreadable { .. }), "{broken:?}");
    assert_eq!(other.requests(), Vec::<String>::new());
    // An invalid response did not replace the valid one in the cache.
    fixture.set_mood(RegistryMood::Status(500));
    assert_eq!(registry.search(&words(&["files"]), 50).await.unwrap().value.len(), 3);
}

#[tokio::test]
async fn a_registry_that_is_not_there_is_unreachable() {
    let fixture = RegistryFixture::start(&[]);
    let registry = registry(&fixture, None, FetchLimits::default());
    drop(fixture);
    let error = registry.search(&words(&["x"]), 5).await.unwrap_err();
    assert!(matches!(error, RegistryError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_about_another_server_is_not_taken() {
    let fixture = RegistryFixture::start(&[]);
    let body = json!({"server": {"name": "evil.example/x", "version": "1.0.0"}}).to_string();
    fixture.add_file("/v0.1/servers/a.example%2Ffiles/versions/latest", body.into_bytes());
    let error =
        registry(&fixture, None, FetchLimits::default()).show("a.example/files", None).await;
    assert!(matches!(error, Err(RegistryError::Unreadable { .. })), "{error:?}");
}
