//! An issuer on this machine: how its keys are found, kept and fetched again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::{Oauth, OauthOptions};
use crate::http::{Keys as _, Refusal};
use crate::keys::token::now;

const AUDIENCE: &str = "https://gateway.example/mcp";
const METADATA: &str = "https://gateway.example/.well-known/oauth-protected-resource/mcp";

/// An issuer that signs, and counts how often its keys are fetched.
struct Issuer {
    url: String,
    pair: Ed25519KeyPair,
    fetched: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let x = BASE64_URL_SAFE_NO_PAD.encode(pair.public_key());
        let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]});
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string();
        let fetched = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&fetched);
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(async move || metadata))
            .route(
                "/keys",
                get(async move || {
                    count.fetch_add(1, Ordering::Relaxed);
                    keys.to_string()
                }),
            );
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, pair, fetched }
    }

    fn sign(&self, key: &str, claims: &Value) -> String {
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "EdDSA", "kid": key});
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    fn claims(&self, scope: &str) -> Value {
        let exp = now() + 100;
        json!({"iss": self.url, "aud": AUDIENCE, "exp": exp, "sub": "ada", "scope": scope})
    }

    fn keys(&self, scopes: &[&str]) -> Oauth {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Oauth::new(OauthOptions {
            issuer: self.url.clone(),
            audience: AUDIENCE.to_owned(),
            scopes,
            ..OauthOptions::default()
        })
        .unwrap()
    }
}

fn refusal(status: u16, message: &str, challenge: &str) -> Refusal {
    let challenge = Some(format!("Bearer {challenge}"));
    Refusal { status, message: message.to_owned(), challenge }
}

#[tokio::test]
async fn a_token_of_the_issuer_with_the_scopes_lets_in_and_others_are_told_what_is_missing() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&["tools", "files"]);
    let good = issuer.sign("k", &issuer.claims("files tools more"));
    let access = keys.admit(Some(&good)).await.unwrap();
    assert_eq!((&*access.identity, &*access.name), (r#"oauth:["ada",null]"#, "ada"));
    let rest = format!(r#"resource_metadata="{METADATA}", scope="tools files""#);
    assert_eq!(keys.admit(None).await.unwrap_err(), refusal(401, "a token is needed", &rest));
    let few = issuer.sign("k", &issuer.claims("tools"));
    assert_eq!(
        keys.admit(Some(&few)).await.unwrap_err(),
        refusal(
            403,
            "the token does not allow enough",
            &format!(r#"error="insufficient_scope", {rest}"#)
        )
    );
    let mut other = issuer.claims("tools files");
    other["aud"] = json!("https://other.example");
    assert_eq!(
        keys.admit(Some(&issuer.sign("k", &other))).await.unwrap_err(),
        refusal(
            401,
            "the token is not meant for this place",
            &format!(r#"error="invalid_token", {rest}"#)
        )
    );
}

#[tokio::test]
async fn keys_are_fetched_once_however_many_tokens_of_unknown_keys_come() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let good = issuer.sign("k", &issuer.claims(""));
    assert!(keys.admit(Some(&good)).await.is_ok());
    let unknown = issuer.sign("new", &issuer.claims(""));
    for _ in 0..20 {
        assert_eq!(keys.admit(Some(&unknown)).await.unwrap_err().status, 401);
    }
    assert!(keys.admit(Some(&good)).await.is_ok());
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_new_key_is_found_after_a_minute() {
    let issuer = Issuer::start().await;
    let keys = issuer.keys(&[]);
    let good = issuer.sign("k", &issuer.claims(""));
    assert!(keys.admit(Some(&good)).await.is_ok());
    let unknown = issuer.sign("new", &issuer.claims(""));
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    tokio::time::resume();
    assert_eq!(keys.admit(Some(&unknown)).await.unwrap_err().status, 401);
    assert_eq!(issuer.fetched.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn an_issuer_that_is_not_there_or_lies_about_its_name_lets_nobody_in() {
    let issuer = Issuer::start().await;
    let good = issuer.sign("k", &issuer.claims(""));
    let message = "the keys of the issuer cannot be fetched at the moment".to_owned();
    let gone = Refusal { status: 503, message, challenge: None };
    for name in ["http://127.0.0.1:1".to_owned(), issuer.url.replace("127.0.0.1", "localhost")] {
        let options =
            OauthOptions { issuer: name, audience: AUDIENCE.to_owned(), ..Default::default() };
        let keys = Oauth::new(options).unwrap();
        assert_eq!(keys.admit(Some(&good)).await.unwrap_err(), gone);
    }
}

#[test]
fn addresses_and_scopes_that_cannot_be_used_are_refused_at_the_start() {
    let refused = |issuer: &str, audience: &str, scope: &str| {
        let (issuer, audience) = (issuer.to_owned(), audience.to_owned());
        let scopes = vec![scope.to_owned()];
        Oauth::new(OauthOptions { issuer, audience, scopes, ..Default::default() })
            .err()
            .map(|error| error.to_string())
    };
    let good = "https://issuer.example";
    assert_eq!(refused(good, AUDIENCE, "a:b"), None);
    let wrong = |what: &str| {
        Some(format!("`{what}` cannot be used: only `https`, or `http` on this machine"))
    };
    assert_eq!(refused("http://issuer.example", AUDIENCE, "a"), wrong("http://issuer.example"));
    assert_eq!(refused(good, "ftp://x", "a"), wrong("ftp://x"));
    assert_eq!(refused(good, AUDIENCE, "a\"b"), Some("`a\"b` cannot be a scope".to_owned()));
}

#[test]
fn what_is_told_about_us_names_the_issuer_and_the_scopes() {
    let keys = Oauth::new(OauthOptions {
        issuer: "https://issuer.example".to_owned(),
        audience: AUDIENCE.to_owned(),
        scopes: vec!["tools".to_owned()],
        ..OauthOptions::default()
    })
    .unwrap();
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
}
