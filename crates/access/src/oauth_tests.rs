//! Tests with an issuer on this machine: discovery, caching and refreshing of its keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{OauthAuthenticator, OauthOptions};
use crate::authenticator::{AuthRefusal, Authenticator as _};
use crate::token::unix_now;

const AUDIENCE: &str = "https://gateway.example/mcp";
const METADATA: &str = "https://gateway.example/.well-known/oauth-protected-resource/mcp";

/// An issuer that signs tokens and counts how often its keys are fetched.
struct Issuer {
    url: String,
    pair: Ed25519KeyPair,
    fetched: Arc<AtomicUsize>,
    /// The response of the keys URL: status and body.
    keys: Arc<Mutex<(u16, String)>>,
    /// Each fetch of the keys takes a permit.
    gate: Arc<Semaphore>,
}

impl Issuer {
    async fn start() -> Self {
        let pair = new_pair();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string();
        let keys = Arc::new(Mutex::new((200, jwks(&pair))));
        let fetched = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Semaphore::new(1_000));
        let count = Arc::clone(&fetched);
        let told = Arc::clone(&keys);
        let way = Arc::clone(&gate);
        let answer = async move || {
            way.acquire().await.unwrap().forget();
            count.fetch_add(1, Ordering::Relaxed);
            let (status, text) = told.lock().clone();
            (StatusCode::from_u16(status).unwrap(), text)
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(async move || metadata))
            .route("/keys", get(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, pair, fetched, keys, gate }
    }

    /// Sets the response of the keys URL.
    fn say(&self, status: u16, text: &str) {
        *self.keys.lock() = (status, text.to_owned());
    }

    /// Blocks fetches of the keys until there are permits again.
    fn shut(&self) {
        self.gate.forget_permits(usize::MAX);
    }

    fn sign(&self, key: &str, claims: &Value) -> String {
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "EdDSA", "kid": key});
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    fn claims(&self, scope: &str) -> Value {
        let exp = unix_now() + 100;
        json!({"iss": self.url, "aud": AUDIENCE, "exp": exp, "sub": "ada", "scope": scope})
    }

    fn keys(&self, scopes: &[&str]) -> OauthAuthenticator {
        Self::keys_of(&self.url, scopes)
    }

    fn keys_of(url: &str, scopes: &[&str]) -> OauthAuthenticator {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        OauthAuthenticator::new(OauthOptions {
            issuer: url.to_owned(),
            audience: AUDIENCE.to_owned(),
            scopes,
            ..OauthOptions::default()
        })
        .unwrap()
    }
}

fn new_pair() -> Ed25519KeyPair {
    let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap()
}

/// Returns a key set with one key.
fn jwks(pair: &Ed25519KeyPair) -> String {
    let x = BASE64_URL_SAFE_NO_PAD.encode(pair.public_key());
    json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]}).to_string()
}

/// Advances the clock.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

fn refusal(status: u16, message: &str, challenge: &str) -> AuthRefusal {
    let challenge = Some(format!("Bearer {challenge}"));
    AuthRefusal { status, message: message.to_owned(), challenge }
}

#[tokio::test]
async fn a_token_of_the_issuer_with_the_scopes_lets_in_and_others_are_told_what_is_missing() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&["tools", "files"]);
    let good = issuer.sign("k", &issuer.claims("files tools more"));
    let access = keys.authenticate(Some(&good)).await.unwrap();
    let place = issuer.url.strip_prefix("http://").unwrap();
    let name = format!("ada@{place}");
    assert_eq!((&*access.identity, &*access.name), (r#"oauth:["ada",null]"#, &*name));
    // Names with a common prefix or unusual characters stay distinguishable.
    let long = "a".repeat(70);
    let names = [format!("{long}1"), format!("{long}2"), "ada (x)".to_owned(), "a\nb".to_owned()];
    let names = names.map(|who| keys.display_name(&who));
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.contains('#') && !name.contains('\n')), "{names:?}");
    let rest = format!(r#"resource_metadata="{METADATA}", scope="tools files""#);
    assert_eq!(
        keys.authenticate(None).await.unwrap_err(),
        refusal(401, "a token is required", &rest)
    );
    let few = issuer.sign("k", &issuer.claims("tools"));
    assert_eq!(
        keys.authenticate(Some(&few)).await.unwrap_err(),
        refusal(
            403,
            "the token lacks a required scope",
            &format!(r#"error="insufficient_scope", {rest}"#)
        )
    );
    let mut other = issuer.claims("tools files");
    other["aud"] = json!("https://other.example");
    assert_eq!(
        keys.authenticate(Some(&issuer.sign("k", &other))).await.unwrap_err(),
        refusal(
            401,
            "the token is for another audience",
            &format!(r#"error="invalid_token", {rest}"#)
        )
    );
}

#[tokio::test]
async fn keys_are_fetched_once_however_many_tokens_of_unknown_keys_come() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let good = issuer.sign("k", &issuer.claims(""));
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    let unknown = issuer.sign("new", &issuer.claims(""));
    for _ in 0..20 {
        assert_eq!(keys.authenticate(Some(&unknown)).await.unwrap_err().status, 401);
    }
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_new_key_is_found_after_a_minute() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let good = issuer.sign("k", &issuer.claims(""));
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    let unknown = issuer.sign("new", &issuer.claims(""));
    pass(61).await;
    assert_eq!(keys.authenticate(Some(&unknown)).await.unwrap_err().status, 401);
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn whoever_comes_while_keys_are_fetched_waits_for_them() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let good = issuer.sign("k", &issuer.claims(""));
    issuer.shut();
    let open = async {
        // Opens the gate once both requests wait for the keys.
        tokio::task::yield_now().await;
        issuer.gate.add_permits(1);
    };
    let (first, second, ()) =
        tokio::join!(keys.authenticate(Some(&good)), keys.authenticate(Some(&good)), open);
    assert_eq!((first.is_ok(), second.is_ok()), (true, true));
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn who_hangs_up_while_keys_are_fetched_keeps_them_from_nobody() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let unknown = issuer.sign("new", &issuer.claims(""));
    let good = issuer.sign("k", &issuer.claims(""));
    issuer.shut();
    let waited =
        tokio::time::timeout(Duration::from_millis(50), keys.authenticate(Some(&unknown))).await;
    assert!(waited.is_err());
    issuer.gate.add_permits(1);
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn another_key_under_the_same_name_is_found_after_a_minute() {
    let mut issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let old = issuer.sign("k", &issuer.claims(""));
    assert!(keys.authenticate(Some(&old)).await.is_ok());
    issuer.pair = new_pair();
    issuer.say(200, &jwks(&issuer.pair));
    let new = issuer.sign("k", &issuer.claims(""));
    assert_eq!(keys.authenticate(Some(&new)).await.unwrap_err().status, 401);
    pass(61).await;
    assert!(keys.authenticate(Some(&new)).await.is_ok());
    assert_eq!(keys.authenticate(Some(&old)).await.unwrap_err().status, 401);
}

#[tokio::test]
async fn keys_that_cannot_be_fetched_anew_count_for_a_day_and_that_is_told() {
    let issuer = Issuer::start().await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let hear = move |why: Option<&str>| heard.lock().push(why.map(str::to_owned));
    let keys = issuer.keys(&[]).with_problem_callback(hear);
    let mut claims = issuer.claims("");
    claims["exp"] = json!(unix_now() + 100 * 3_600);
    let good = issuer.sign("k", &claims);
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    for (status, text) in [(500, ""), (302, ""), (200, "<html>"), (200, "[]")] {
        issuer.say(status, text);
        pass(4 * 3_600).await;
        assert!(keys.authenticate(Some(&good)).await.is_ok(), "{status} {text}");
    }
    issuer.say(200, &format!(r#"{{"keys":[],"x":"{}"}}"#, "x".repeat(1 << 20)));
    pass(9 * 3_600).await;
    assert_eq!(keys.authenticate(Some(&good)).await.unwrap_err().status, 503);
    issuer.say(200, &jwks(&issuer.pair));
    pass(6).await;
    assert!(keys.authenticate(Some(&good)).await.is_ok());
    let at = |why: &str| Some(format!("`{}/keys` {why}", issuer.url));
    let expected = [
        at("answered with status 500"),
        at("answered with status 302"),
        at("is not a JSON Web Key Set"),
        at("has more than 1048576 bytes"),
        None,
    ];
    assert_eq!(*told.lock(), expected);
}

#[tokio::test]
async fn an_issuer_that_is_not_there_or_lies_about_its_name_lets_nobody_in() {
    let issuer = Issuer::start().await;
    let good = issuer.sign("k", &issuer.claims(""));
    let message = "the issuer's keys cannot be fetched at the moment".to_owned();
    let gone = AuthRefusal { status: 503, message, challenge: None };
    for name in ["http://127.0.0.1:1".to_owned(), issuer.url.replace("127.0.0.1", "localhost")] {
        let options =
            OauthOptions { issuer: name, audience: AUDIENCE.to_owned(), ..Default::default() };
        let keys = OauthAuthenticator::new(options).unwrap();
        assert_eq!(keys.authenticate(Some(&good)).await.unwrap_err(), gone);
    }
}

#[test]
fn addresses_and_scopes_that_cannot_be_used_are_refused_at_the_start() {
    let refused = |issuer: &str, audience: &str, scope: &str| {
        let issuer = issuer.to_owned();
        let audience = audience.to_owned();
        let scopes = vec![scope.to_owned()];
        OauthAuthenticator::new(OauthOptions { issuer, audience, scopes, ..Default::default() })
            .err()
            .map(|error| error.to_string())
    };
    let good = "https://issuer.example";
    assert_eq!(refused(good, AUDIENCE, "a:b"), None);
    let wrong =
        |what: &str| Some(format!("unsafe URL `{what}`: use `https`, or `http` on this machine"));
    assert_eq!(refused("http://issuer.example", AUDIENCE, "a"), wrong("http://issuer.example"));
    assert_eq!(refused(good, "ftp://x", "a"), wrong("ftp://x"));
    assert_eq!(refused(good, AUDIENCE, "a\"b"), Some("invalid scope `a\"b`".to_owned()));
}

#[test]
fn what_is_told_about_us_names_the_issuer_and_the_scopes() {
    let keys = Issuer::keys_of("https://issuer.example", &["tools"]);
    let told: Value = serde_json::from_str(keys.metadata().unwrap()).unwrap();
    assert_eq!(
        told,
        json!({
            "resource": AUDIENCE,
            "authorization_servers": ["https://issuer.example"],
            "scopes_supported": ["tools"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Switchboard",
        })
    );
    let keys = Issuer::keys_of("https://issuer.example", &[]);
    assert!(!keys.metadata().unwrap().contains("scopes_supported"));
}
