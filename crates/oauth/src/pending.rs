//! A login that waits for a person: the authorization URL, and the validation of the callback.

use std::time::{Duration, Instant};

use reqwest::Url;
use switchboard_core::ServerId;

use crate::client::RegisteredClient;
use crate::discover::DiscoveryResult;
use crate::error::LoginError;
use crate::fetch::OauthFetcher;
use crate::form::with_query;
use crate::grant::{is_error_code, request_tokens};
use crate::logins::{Logins, applies_to};
use crate::random::{pkce_challenge, token};
use crate::secret::Secret;
use crate::store::{LoginRecord, StoreChange, StoredLogin};

/// How long a person has to log in, in minutes. The code verifier stays in memory for that long.
const TIMEOUT_MINUTES: u64 = 10;

/// A login that waits for a person. It accepts one callback, so a code cannot be replayed.
pub struct PendingLogin {
    logins: Logins,
    parts: LoginParts,
    authorization_url: String,
    redirect: Url,
    state: String,
    verifier: Secret,
    until: Instant,
}

pub(crate) struct LoginParts {
    pub server: ServerId,
    pub url: Url,
    pub(crate) fetcher: OauthFetcher,
    pub found: DiscoveryResult,
    pub client: RegisteredClient,
    pub redirect_uri: String,
    pub asked: Vec<String>,
}

#[derive(Default)]
struct AuthorizationResponse {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
}

impl PendingLogin {
    pub(crate) fn new(logins: Logins, page: &Url, parts: LoginParts) -> Result<Self, LoginError> {
        let redirect = Url::parse(&parts.redirect_uri)
            .map_err(|_| LoginError::BadAnswer("the redirect URI is not a URL"))?;
        let state = token()?;
        let verifier = token()?;
        let challenge = pkce_challenge(&verifier);
        let scope = parts.asked.join(" ");
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", &parts.client.id),
            ("redirect_uri", &parts.redirect_uri),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &parts.found.resource),
        ];
        if !scope.is_empty() {
            pairs.push(("scope", &scope));
        }
        // OpenID Connect ignores `offline_access` unless the person is asked for consent.
        if parts.asked.iter().any(|scope| scope == "offline_access") {
            pairs.push(("prompt", "consent"));
        }
        let authorization_url = with_query(page.clone(), &pairs).into();
        let until = Instant::now() + Duration::from_secs(TIMEOUT_MINUTES * 60);
        let verifier = Secret::new(verifier);
        Ok(Self { logins, parts, authorization_url, redirect, state, verifier, until })
    }

    /// Returns the URL for the person to open.
    #[must_use]
    pub fn authorization_url(&self) -> &str {
        &self.authorization_url
    }

    /// Returns the redirect URI of the callback.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.parts.redirect_uri
    }

    /// Returns when the login expires.
    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.until
    }

    /// Returns whether a callback belongs to this login: its URL and its `state` match.
    #[must_use]
    pub fn accepts(&self, callback: &str) -> bool {
        self.parse_callback(callback).is_ok()
    }

    /// Completes the login: validates the callback, requests tokens and stores them.
    pub async fn finish(self, callback: &str) -> Result<StoredLogin, LoginError> {
        let answer = self.parse_callback(callback)?;
        if Instant::now() > self.until {
            return Err(LoginError::TooLate(TIMEOUT_MINUTES));
        }
        let issuer = &self.parts.found.issuer;
        // RFC 9207 prevents mix-up attacks, which send a code of one server to another.
        match &answer.issuer {
            Some(named) if *named != issuer.issuer => {
                return Err(LoginError::BadAnswer("its `iss` names another authorization server"));
            }
            None if issuer.names_itself => {
                return Err(LoginError::BadAnswer("it has no `iss`, so its sender is unknown"));
            }
            Some(_) | None => {}
        }
        if let Some(error) = answer.error {
            let code = if is_error_code(&error) { error } else { "unknown".to_owned() };
            return Err(LoginError::Refused { what: "the login", code });
        }
        let code = answer.code.ok_or(LoginError::BadAnswer("it has no `code`"))?;
        let kept = self.redeem(&code).await?;
        let held = kept.to_stored_login();
        let store = &self.logins.shared.store;
        store
            .edit(move |contents| {
                let same = |old: &LoginRecord| old.server == kept.server && old.url == kept.url;
                contents.logins.retain(|old| !same(old));
                contents.logins.push(kept);
                StoreChange::Yes
            })
            .await?;
        Ok(held)
    }

    async fn redeem(&self, code: &str) -> Result<LoginRecord, LoginError> {
        let LoginParts { server, url, fetcher, found, client, redirect_uri, asked } = &self.parts;
        // RFC 8707: `resource` binds the token to this server.
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", self.verifier.reveal()),
            ("resource", &found.resource),
        ];
        let tokens = request_tokens(fetcher, &found.issuer.token, client, &form).await?;
        let kept = LoginRecord {
            server: server.to_string(),
            url: url.as_str().to_owned(),
            resource: found.resource.clone(),
            issuer: found.issuer.issuer.clone(),
            token_endpoint: found.issuer.token.as_str().to_owned(),
            revocation_endpoint: found.issuer.revocation.as_ref().map(Url::to_string),
            client: client.clone(),
            access: tokens.access,
            refresh: tokens.refresh,
            ends: tokens.ends,
            asked: asked.clone(),
            granted: tokens.scopes,
            over: false,
        };
        debug_assert!(applies_to(&kept, server.as_str(), url), "a login is for its own server");
        Ok(kept)
    }

    /// Parses a callback. The query alone suffices, because a person may paste it.
    fn parse_callback(&self, callback: &str) -> Result<AuthorizationResponse, LoginError> {
        let text = callback.trim();
        let url = if text.starts_with('?') { self.redirect.join(text) } else { Url::parse(text) };
        let url = url.map_err(|_| LoginError::BadAnswer("it is not a URL"))?;
        if url.origin() != self.redirect.origin() || url.path() != self.redirect.path() {
            return Err(LoginError::BadAnswer("its URL is not the redirect URI"));
        }
        let mut answer = AuthorizationResponse::default();
        for (name, value) in url.query_pairs() {
            let place = match &*name {
                "code" => &mut answer.code,
                "state" => &mut answer.state,
                "iss" => &mut answer.issuer,
                "error" => &mut answer.error,
                _ => continue,
            };
            // Reject duplicate parameters, which parsers resolve differently.
            if place.replace(value.into_owned()).is_some() {
                return Err(LoginError::BadAnswer("it repeats a parameter"));
            }
        }
        // Without this check, an attacker could complete a login with an account of their own.
        if answer.state.as_deref() != Some(self.state.as_str()) {
            return Err(LoginError::BadAnswer("its `state` belongs to another login"));
        }
        Ok(answer)
    }
}
