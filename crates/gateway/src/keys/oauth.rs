//! Lets in whoever presents a token that an issuer made for us.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use switchboard_host::catalog::shown_text;
use switchboard_host::config::ViewOf;

use super::error::KeyError;
use super::issuer::{Issuer, safe_address};
use super::jwt::{self, Bad, Claims, Expected};
use super::token::now;
use super::views::Views;
use crate::access::Access;
use crate::http::{Admitting, Keys, Refusal};
use crate::view::View;

/// Whose tokens are accepted, and which.
#[derive(Clone, Debug, Default)]
pub struct OauthOptions {
    /// The issuer, exactly as its tokens name it.
    pub issuer: String,
    /// The address under which clients reach us; tokens must be made for it.
    pub audience: String,
    /// What a token must allow.
    pub scopes: Vec<String>,
    /// Where the issuer's keys are; found out by default.
    pub keys_at: Option<String>,
    /// What callers see; without it, everything.
    pub views: Option<BTreeMap<ViewOf, Vec<String>>>,
}

/// The tokens of an issuer.
pub struct Oauth {
    issuer: Issuer,
    audience: String,
    scopes: Vec<String>,
    views: Option<Views>,
    metadata: String,
    metadata_at: String,
}

impl Oauth {
    /// Accepts tokens as the options say; keys are fetched when the first one comes.
    ///
    /// # Errors
    /// When an address is not safe to use.
    pub fn new(options: OauthOptions) -> Result<Self, KeyError> {
        if let Some(bad) = options.scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(KeyError::BadScope(bad.clone()));
        }
        let issuer = Issuer::new(&options.issuer, options.keys_at.as_deref())?;
        let mut place = safe_address(&options.audience)?;
        let path = place.path().trim_end_matches('/').to_owned();
        place.set_path(&format!("/.well-known/oauth-protected-resource{path}"));
        place.set_query(None);
        let metadata = json!({
            "resource": options.audience,
            "authorization_servers": [options.issuer],
            "scopes_supported": options.scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "Switchboard",
        });
        Ok(Self {
            issuer,
            audience: options.audience,
            scopes: options.scopes,
            views: options.views.map(Views::new),
            metadata: metadata.to_string(),
            metadata_at: place.to_string(),
        })
    }

    async fn check(&self, bearer: Option<&str>) -> Result<Access, Refusal> {
        let Some(token) = bearer else {
            return Err(self.refusal(401, "a token is needed", None));
        };
        let bad = |bad: Bad| self.refusal(401, bad.words(), Some("invalid_token"));
        let token = jwt::read(token).map_err(bad)?;
        let Some(keys) = self.issuer.keys(|keys| token.has_key(keys)).await else {
            let message = "the keys of the issuer cannot be fetched at the moment".to_owned();
            return Err(Refusal { status: 503, message, challenge: None });
        };
        let (issuer, audience) = (self.issuer.name(), self.audience.as_str());
        let expected = Expected { issuer, audience, now: now() };
        let claims = token.verify(&keys, expected).map_err(bad)?;
        if self.scopes.iter().any(|needed| !claims.scopes.contains(needed)) {
            let words = "the token does not allow enough";
            return Err(self.refusal(403, words, Some("insufficient_scope")));
        }
        self.access(&claims)
    }

    /// The same person through another client, or with another view, is somebody else.
    fn access(&self, claims: &Claims) -> Result<Access, Refusal> {
        let who = [Some(claims.subject.as_str()), claims.client.as_deref()];
        let (identity, view) = match &self.views {
            None => (json!(who), View::default()),
            Some(views) => {
                let view = views.of(claims).ok_or_else(|| {
                    self.refusal(403, "nothing here is for this caller", Some("insufficient_scope"))
                })?;
                (json!([who, view.key()]), view)
            }
        };
        Ok(Access {
            identity: format!("oauth:{identity}").into(),
            name: shown_text(&claims.subject, 80).into(),
            view: Arc::new(view),
        })
    }

    fn refusal(&self, status: u16, words: &str, error: Option<&str>) -> Refusal {
        let mut parts = Vec::new();
        parts.extend(error.map(|error| format!(r#"error="{error}""#)));
        parts.push(format!(r#"resource_metadata="{}""#, self.metadata_at));
        if !self.scopes.is_empty() {
            parts.push(format!(r#"scope="{}""#, self.scopes.join(" ")));
        }
        let challenge = Some(format!("Bearer {}", parts.join(", ")));
        Refusal { status, message: words.to_owned(), challenge }
    }
}

/// What stands between quotes in a header, and is one word.
fn is_scope(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(plain)
}

impl Keys for Oauth {
    fn admit<'a>(&'a self, bearer: Option<&'a str>) -> Admitting<'a> {
        Box::pin(self.check(bearer))
    }

    fn metadata(&self) -> Option<&str> {
        Some(&self.metadata)
    }
}

#[cfg(test)]
#[path = "oauth_tests.rs"]
mod tests;
