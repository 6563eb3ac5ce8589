//! Tests logins from the first challenge to renewal, against a local test server.

use std::sync::Arc;

use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use switchboard_config::{ServerConfig, Transport};
use switchboard_wire::{AuthorizationRefusal, Authorize as _, CurrentAuthorization};

use crate::account::Account;
use crate::error::LoginError;
use crate::logins::{LoginOptions, Logins};
use crate::store::StoredLogin;
use crate::test_server::{ApprovingVisitor, SharedSite, stage, stage_with, start, visit};

/// Turns a valid callback, given the issuer's name, into an invalid one.
type CallbackEdit = fn(&str, &str) -> String;

fn wish() -> LoginOptions<'static> {
    let redirect_uri = "http://127.0.0.1:9/callback".to_owned();
    LoginOptions { redirect_uri, scopes: Vec::new(), on_step: &|_| {} }
}

async fn log_in(logins: &Logins, server: &ServerConfig) -> Result<StoredLogin, LoginError> {
    let pending = logins.begin(server, wish()).await?;
    let answer = visit(pending.authorization_url()).await;
    assert!(pending.accepts(&answer));
    pending.finish(&answer).await
}

fn account(logins: &Logins, server: &ServerConfig) -> Arc<Account> {
    let Transport::Http { urls, .. } = &server.transport else { panic!("it is remote") };
    logins.account(server, &urls[0]).unwrap()
}

async fn token(account: &Account) -> Option<String> {
    let value = match account.current() {
        CurrentAuthorization::Value(value) => Some(value),
        CurrentAuthorization::Nothing => None,
        CurrentAuthorization::Unknown => account.obtain().await.unwrap(),
    };
    value.map(|value| value.to_str().unwrap().to_owned())
}

async fn turned_down(account: &Account, used: Option<&str>, challenge: &str) -> bool {
    let used = used.map(|used| HeaderValue::from_str(used).unwrap());
    let status = if challenge.contains("insufficient_scope") { 403 } else { 401 };
    let challenge = Some(challenge);
    let used = used.as_ref();
    account.on_refusal(AuthorizationRefusal { status, challenge, used, before: 0 }).await
}

fn count(site: &SharedSite, what: &str) -> usize {
    site.lock().seen.iter().filter(|seen| *seen == what).count()
}

fn grants(site: &SharedSite, kind: &str) -> usize {
    let forms = &site.lock().forms;
    forms.iter().filter(|form| form.get("grant_type").is_some_and(|grant| grant == kind)).count()
}

#[tokio::test]
async fn a_login_is_had_kept_sealed_and_found_again_by_another_process() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    assert_eq!(logins.stored_login(&server).await, Ok(None));
    let held = log_in(&logins, &server).await.unwrap();
    let origin = site.lock().origin.clone();
    assert_eq!((held.issuer.as_str(), held.renewable), (origin.as_str(), true));
    let (other, server) = stage(&site, folder.path(), json!({}));
    assert_eq!(other.stored_login(&server).await, Ok(Some(held)));
    assert_eq!(token(&account(&other, &server)).await.as_deref(), Some("Bearer access-1"));
    let file = std::fs::read_to_string(folder.path().join("state/logins/tokens.json")).unwrap();
    for secret in ["access-1", "refresh-1", "it-is-us"] {
        assert!(!file.contains(secret), "{file}");
    }
    let forms = site.lock().forms.clone();
    for form in &forms {
        assert_eq!(form["resource"], format!("{origin}/mcp"));
    }
    assert_eq!(forms[0]["code_challenge_method"], "S256");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    let mode = |path: &str| {
        std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("state/logins"), 0o700);
    assert_eq!(mode("state/logins/tokens.json"), 0o600);
}

#[tokio::test]
async fn an_answer_counts_only_with_the_right_state_place_and_issuer() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    let origin = site.lock().origin.clone();
    let cases: [(&str, CallbackEdit); 7] = [
        ("another state", |answer, _| answer.replace("state=", "state=x")),
        ("no state", |answer, _| answer.replace("state=", "stat=")),
        ("state twice", |answer, _| format!("{answer}&state=x")),
        ("another port", |answer, _| answer.replace(":9/", ":10/")),
        ("another path", |answer, _| answer.replace("/callback", "/other")),
        ("no issuer", |answer, _| answer.replace("iss=", "is=")),
        ("a slash more", |answer, origin| {
            let spelt = crate::form::encode_value(origin);
            answer.replace(&spelt, &format!("{spelt}%2F"))
        }),
    ];
    for (name, change) in cases {
        let pending = logins.begin(&server, wish()).await.unwrap();
        let answer = change(&visit(pending.authorization_url()).await, &origin);
        let refused = pending.finish(&answer).await;
        assert!(matches!(refused, Err(LoginError::BadAnswer(_))), "{name}: {refused:?}");
    }
    assert_eq!(count(&site, "POST /token"), 0);
}

#[tokio::test]
async fn what_cannot_be_trusted_is_refused_before_anybody_is_asked() {
    let cases: [(&'static str, Value); 9] = [
        ("resource", json!({"resource": "https://evil.example/mcp"})),
        ("resource", json!({"authorization_servers": ["http://10.0.0.1"]})),
        ("issuer", json!({"issuer": "https://evil.example"})),
        ("issuer", json!({"code_challenge_methods_supported": ["plain"]})),
        ("issuer", json!({"code_challenge_methods_supported": null})),
        ("issuer", json!({"authorization_endpoint": "javascript:alert(1)"})),
        ("issuer", json!({"authorization_endpoint": "-x"})),
        ("issuer", json!({"token_endpoint": "http://169.254.169.254/token"})),
        ("issuer", json!({"registration_endpoint": "https://192.168.0.1/register"})),
    ];
    for (name, over) in cases {
        let site = start().await;
        let folder = tempfile::tempdir().unwrap();
        site.lock().over.insert(name, over.clone());
        let (logins, server) = stage(&site, folder.path(), json!({}));
        let refused = logins.begin(&server, wish()).await.err();
        let expected =
            matches!(refused, Some(LoginError::Untrusted { .. } | LoginError::Blocked { .. }));
        assert!(expected, "{over}: {refused:?}");
        assert_eq!(count(&site, "POST /register"), 0, "{over}");
    }
}

#[tokio::test]
async fn a_hundred_requests_on_an_old_token_renew_it_once() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    site.lock().lasts = 10;
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    site.lock().lasts = 3_600;
    let account = account(&logins, &server);
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let account = Arc::clone(&account);
            tokio::spawn(async move { token(&account).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().as_deref(), Some("Bearer access-2"));
    }
    assert_eq!(grants(&site, "refresh_token"), 1);
}

#[tokio::test]
async fn a_hundred_refusals_of_one_token_renew_it_once() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    let account = account(&logins, &server);
    let used = token(&account).await.unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let account = Arc::clone(&account);
            let used = used.clone();
            tokio::spawn(async move { turned_down(&account, Some(&used), "Bearer").await })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap());
    }
    assert_eq!(grants(&site, "refresh_token"), 1);
}

#[tokio::test]
async fn two_processes_never_use_a_refresh_token_twice() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    site.lock().lasts = 0;
    let (one, server) = stage(&site, folder.path(), json!({}));
    log_in(&one, &server).await.unwrap();
    let (other, _) = stage(&site, folder.path(), json!({}));
    let first = account(&one, &server);
    let second = account(&other, &server);
    for _ in 0..10 {
        // Both tokens have expired, and the refresh token can be used only once.
        let (one, other) = tokio::join!(first.obtain(), second.obtain());
        assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    }
    let first = logins_hold(&one, &server).await;
    let second = logins_hold(&other, &server).await;
    assert!(first && second, "a refresh token was used twice");
}

async fn logins_hold(logins: &Logins, server: &ServerConfig) -> bool {
    logins.stored_login(server).await.unwrap().is_some()
}

#[tokio::test]
async fn a_login_that_cannot_be_renewed_is_over_until_somebody_logs_in_again() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    let account = account(&logins, &server);
    let used = token(&account).await.unwrap();
    site.lock().refuses_refresh = true;
    assert!(!turned_down(&account, Some(&used), "Bearer").await);
    assert_eq!(token(&account).await, None);
    assert_eq!(logins.stored_login(&server).await, Ok(None));
    assert!(!account.has_new_login().await);
    assert!(!account.has_new_login().await);
    site.lock().refuses_refresh = false;
    let (other, _) = stage(&site, folder.path(), json!({}));
    log_in(&other, &server).await.unwrap();
    assert!(account.has_new_login().await);
    assert_eq!(token(&account).await.as_deref(), Some("Bearer access-2"));
}

#[tokio::test]
async fn a_visitor_logs_in_and_asks_for_more_when_more_is_wanted_but_not_for_ever() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let visitor: Arc<ApprovingVisitor> = Arc::new(ApprovingVisitor);
    let (logins, server) = stage_with(&site, folder.path(), json!({}), Some(visitor));
    let account = account(&logins, &server);
    assert!(turned_down(&account, None, r#"Bearer scope="read""#).await);
    let used = token(&account).await.unwrap();
    let more = r#"Bearer error="insufficient_scope", scope="write""#;
    assert!(turned_down(&account, Some(&used), more).await);
    let scopes: Vec<Option<String>> = {
        let site = site.lock();
        let pages = site.forms.iter().filter(|form| form.contains_key("response_type"));
        pages.map(|form| form.get("scope").cloned()).collect()
    };
    assert_eq!(scopes, [Some("read".to_owned()), Some("write read".to_owned())]);
    let used = token(&account).await.unwrap();
    assert!(!turned_down(&account, Some(&used), more).await, "it was asked for before");
}

#[tokio::test]
async fn another_authorization_server_never_sees_who_we_were_to_the_first() {
    let site = start().await;
    let other = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    log_in(&logins, &server).await.unwrap();
    assert_eq!(count(&site, "POST /register"), 1, "the same client is used again");
    let elsewhere = json!({"authorization_servers": [other.lock().origin]});
    site.lock().over.insert("resource", elsewhere);
    log_in(&logins, &server).await.unwrap();
    assert_eq!(count(&other, "POST /register"), 1);
}

#[tokio::test]
async fn a_configured_client_proves_itself_and_stays_with_its_issuer() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let oauth = json!({"clientId": "c", "clientSecret": "s"});
    let (logins, server) = stage(&site, folder.path(), oauth);
    log_in(&logins, &server).await.unwrap();
    assert_eq!(count(&site, "POST /register"), 0);
    assert_eq!(site.lock().forms.last().unwrap()["authorization"], "Basic Yzpz");
    let bound = json!({"clientId": "c", "clientSecret": "s", "issuer": "https://other.example"});
    let (logins, server) = stage(&site, folder.path(), bound);
    let refused = logins.begin(&server, wish()).await.err();
    assert!(matches!(refused, Some(LoginError::Untrusted { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_clients_own_secret_is_enough_where_that_is_configured() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let oauth = json!({"clientId": "c", "clientSecret": "s", "grant": "client_credentials"});
    let (logins, server) = stage(&site, folder.path(), oauth);
    let account = account(&logins, &server);
    assert!(turned_down(&account, None, "Bearer").await);
    assert_eq!(token(&account).await.as_deref(), Some("Bearer access-1"));
    assert_eq!(grants(&site, "client_credentials"), 1);
}

#[tokio::test]
async fn a_logout_forgets_the_login_and_ends_its_tokens() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, server) = stage(&site, folder.path(), json!({}));
    log_in(&logins, &server).await.unwrap();
    let ended = logins.logout("it").await.unwrap();
    assert_eq!(ended.iter().map(|ended| ended.revoked).collect::<Vec<_>>(), [true]);
    assert_eq!(count(&site, "POST /revoke"), 2);
    assert_eq!(logins.stored_login(&server).await, Ok(None));
    assert_eq!(logins.logout("it").await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_server_that_is_not_logged_in_to_says_why() {
    let site = start().await;
    let folder = tempfile::tempdir().unwrap();
    let (logins, mut server) = stage(&site, folder.path(), json!({}));
    if let Transport::Http { headers, .. } = &mut server.transport {
        headers.insert("authorization".to_owned(), "Bearer x".to_owned());
    }
    let refused = logins.begin(&server, wish()).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "cannot log in to server `it`: its `headers` already set `Authorization`"
    );
    server.transport = Transport::Builtin;
    assert!(logins.begin(&server, wish()).await.is_err());
}
