//! Authentication with JWTs that an OAuth issuer signed for this audience.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_config::ViewKey;
use switchboard_text::{excerpt_text, hex_digest};

use crate::access::{Access, View};
use crate::authenticator::{AuthRefusal, AuthenticateFuture, Authenticator};
use crate::error::KeyError;
use crate::issuer::{Issuer, parse_secure_url};
use crate::jwt;
use crate::jwt::{Claims, ExpectedClaims, TokenError};
use crate::token::unix_now;
use crate::views::Views;

/// The trusted issuer, the audience and the views of an [`OauthAuthenticator`].
#[derive(Clone, Debug, Default)]
pub struct OauthOptions {
    /// The issuer, exactly as its tokens name it.
    pub issuer: String,
    /// The URL by which clients reach this gateway; tokens must name it as their audience.
    pub audience: String,
    /// The scopes that every token must have.
    pub scopes: Vec<String>,
    /// The URL of the issuer's keys; discovered by default.
    pub keys_at: Option<String>,
    /// The patterns that callers see. Without them, callers see everything.
    pub views: Option<BTreeMap<ViewKey, Vec<String>>>,
}

/// Accepts the JWTs of one issuer.
pub struct OauthAuthenticator {
    issuer: Issuer,
    /// Host and port of the issuer.
    issuer_host: String,
    audience: String,
    scopes: Vec<String>,
    views: Option<Views>,
    metadata: String,
    metadata_url: String,
    /// Expiry of each caller's latest token, in seconds since the Unix epoch.
    expiries: Mutex<HashMap<Arc<str>, u64>>,
}

impl OauthAuthenticator {
    /// Creates an authenticator. Keys are fetched when the first token arrives.
    pub fn new(options: OauthOptions) -> Result<Self, KeyError> {
        // Scopes are quoted in the challenge, where `"` would start another parameter.
        if let Some(bad) = options.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(KeyError::BadScope(bad.clone()));
        }
        let issuer = Issuer::new(&options.issuer, options.keys_at.as_deref())?;
        // RFC 9728 inserts the well-known part between host and path.
        let mut metadata_url = parse_secure_url(&options.audience)?;
        let path = metadata_url.path().trim_end_matches('/').to_owned();
        metadata_url.set_path(&format!("/.well-known/oauth-protected-resource{path}"));
        metadata_url.set_query(None);
        let mut metadata = json!({
            "resource": options.audience,
            "authorization_servers": [options.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Switchboard",
        });
        // RFC 9728 omits empty lists.
        if let (false, Some(members)) = (options.scopes.is_empty(), metadata.as_object_mut()) {
            members.insert("scopes_supported".to_owned(), json!(options.scopes));
        }
        Ok(Self {
            issuer,
            issuer_host: parse_secure_url(&options.issuer)?.authority().to_owned(),
            audience: options.audience,
            scopes: options.scopes,
            views: options.views.map(Views::new),
            metadata: metadata.to_string(),
            metadata_url: metadata_url.into(),
            expiries: Mutex::default(),
        })
    }

    /// Sets a callback that gets the reason when keys cannot be fetched, and `None` once they can.
    #[must_use]
    pub fn with_problem_callback(
        self,
        callback: impl Fn(Option<&str>) + Send + Sync + 'static,
    ) -> Self {
        self.issuer.set_problem_callback(Box::new(callback));
        self
    }

    async fn check(&self, bearer: Option<&str>) -> Result<Access, AuthRefusal> {
        let Some(token) = bearer else {
            return Err(self.refusal(401, "a token is required", None));
        };
        let bad = |bad: TokenError| self.refusal(401, bad.message(), Some("invalid_token"));
        let token = jwt::parse_token(token).map_err(bad)?;
        match self.issuer.has_keys(|keys| token.is_signed_with(keys)).await {
            Some(true) => {}
            Some(false) => return Err(bad(TokenError::Signature)),
            // Not 401: the token may be fine, and clients throw away a token that gets a 401.
            None => {
                let message = "the issuer's keys cannot be fetched at the moment".to_owned();
                return Err(AuthRefusal { status: 503, message, challenge: None });
            }
        }
        let issuer = self.issuer.name();
        let expected = ExpectedClaims { issuer, audience: &self.audience, now: unix_now() };
        let claims = token.claims(expected).map_err(bad)?;
        if self.scopes.iter().any(|needed| !claims.scopes.contains(needed)) {
            let message = "the token lacks a required scope";
            return Err(self.refusal(403, message, Some("insufficient_scope")));
        }
        let access = self.access(&claims)?;
        self.record_expiry(&access.identity, claims.expires_at);
        Ok(access)
    }

    fn record_expiry(&self, identity: &Arc<str>, until: u64) {
        let mut known = self.expiries.lock();
        match known.get_mut(identity) {
            // A caller may use an older token again after a newer one.
            Some(known) => *known = until.max(*known),
            None => {
                let now = unix_now();
                // Only new callers make the table grow, so it is pruned only here.
                known.retain(|_, until| *until > now);
                known.insert(Arc::clone(identity), until);
            }
        }
    }

    /// Returns the access for verified claims. Another client or view gives another identity.
    fn access(&self, claims: &Claims) -> Result<Access, AuthRefusal> {
        let who = [claims.subject.as_deref(), claims.client.as_deref()];
        let (identity, view) = match &self.views {
            None => (json!(who), View::default()),
            Some(views) => {
                let view = views.view_for(claims).ok_or_else(|| {
                    self.refusal(403, "no view matches this caller", Some("insufficient_scope"))
                })?;
                (json!([who, view.key()]), view)
            }
        };
        Ok(Access {
            identity: format!("oauth:{identity}").into(),
            name: self.display_name(claims.principal()).into(),
            view: Arc::new(view),
        })
    }

    /// Returns a name for the record. It ends with the issuer's host, so it never equals the name
    /// of a token. A digest distinguishes names that are truncated or have unusual characters.
    fn display_name(&self, who: &str) -> String {
        let plain =
            |character: char| character.is_ascii_alphanumeric() || "._-+@:|".contains(character);
        let issuer = &self.issuer_host;
        if who.len() <= 64 && who.chars().all(plain) {
            return format!("{who}@{issuer}");
        }
        let digest = hex_digest([who.as_bytes()]);
        format!("{}#{}@{issuer}", excerpt_text(who, 64), digest.get(..8).unwrap_or(&digest))
    }

    fn refusal(&self, status: u16, message: &str, error: Option<&str>) -> AuthRefusal {
        let mut parts = Vec::new();
        parts.extend(error.map(|error| format!(r#"error="{error}""#)));
        parts.push(format!(r#"resource_metadata="{}""#, self.metadata_url));
        if !self.scopes.is_empty() {
            parts.push(format!(r#"scope="{}""#, self.scopes.join(" ")));
        }
        let challenge = Some(format!("Bearer {}", parts.join(", ")));
        AuthRefusal { status, message: message.to_owned(), challenge }
    }
}

fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(plain)
}

impl Authenticator for OauthAuthenticator {
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a> {
        Box::pin(self.check(bearer))
    }

    fn is_still_valid(&self, _identity: &str) -> bool {
        // A JWT cannot be revoked; it expires.
        true
    }

    fn is_current(&self, identity: &str) -> bool {
        self.expiries.lock().get(identity).is_some_and(|until| *until > unix_now())
    }

    fn metadata(&self) -> Option<&str> {
        Some(&self.metadata)
    }
}

#[cfg(test)]
#[path = "oauth_tests.rs"]
mod tests;
