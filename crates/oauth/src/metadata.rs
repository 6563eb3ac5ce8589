//! Authorization server metadata (RFC 8414), validated before use.

use reqwest::Url;
use serde::Deserialize;
use switchboard_net::AddressScope;

use crate::error::LoginError;

/// The name of the document in error messages.
pub(crate) const METADATA_LABEL: &str = "the authorization server metadata";

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AuthServerMetadata {
    pub(crate) issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: Option<bool>,
    #[serde(default)]
    client_id_metadata_document_supported: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct AuthServer {
    /// The issuer identifier, byte for byte.
    pub(crate) issuer: String,
    pub(crate) authorization: Option<Url>,
    pub(crate) token: Url,
    pub(crate) registration: Option<Url>,
    pub(crate) revocation: Option<Url>,
    pub(crate) scopes: Vec<String>,
    /// Supported client authentication methods; `None` if not listed.
    pub(crate) methods: Option<Vec<String>>,
    /// Whether authorization responses contain `iss` (RFC 9207).
    pub(crate) names_itself: bool,
    pub(crate) takes_documents: bool,
    /// Whether the server supports PKCE with `S256`.
    pub(crate) takes_challenges: bool,
    /// False for the guessed endpoints of a server without metadata.
    pub(crate) has_metadata: bool,
}

impl AuthServer {
    /// Validates the metadata found for `issuer`.
    pub(crate) fn from_metadata(
        issuer: &str,
        described: AuthServerMetadata,
        reach: AddressScope,
    ) -> Result<Self, LoginError> {
        let untrusted = |why: String| LoginError::Untrusted { what: METADATA_LABEL, why };
        // Compare byte for byte: normalization would let one issuer impersonate another.
        if described.issuer.as_deref() != Some(issuer) {
            return Err(untrusted(format!("its `issuer` is not `{issuer}`")));
        }
        // A remote server must not make us send requests into the local network.
        let endpoint = |what: &'static str, text: Option<String>| {
            text.map(|text| reach.check(what, &text)).transpose()
        };
        let methods = described.code_challenge_methods_supported.unwrap_or_default();
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization: endpoint("the authorization page", described.authorization_endpoint)?,
            token: endpoint("the token endpoint", described.token_endpoint)?
                .ok_or_else(|| untrusted("it has no `token_endpoint`".to_owned()))?,
            registration: endpoint("the registration endpoint", described.registration_endpoint)?,
            revocation: endpoint("the revocation endpoint", described.revocation_endpoint)?,
            scopes: described.scopes_supported.unwrap_or_default(),
            methods: described.token_endpoint_auth_methods_supported,
            names_itself: described.authorization_response_iss_parameter_supported.unwrap_or(false),
            takes_documents: described.client_id_metadata_document_supported.unwrap_or(false),
            takes_challenges: methods.iter().any(|method| method == "S256"),
            has_metadata: true,
        })
    }

    /// Returns the default endpoints of protocol version 2025-03-26, for a server without metadata.
    pub(crate) fn legacy_defaults(origin: &Url) -> Result<Self, LoginError> {
        let at = |path: &str| {
            origin.join(path).map_err(|_| LoginError::Untrusted {
                what: "the server's URL",
                why: "it has no origin".to_owned(),
            })
        };
        Ok(Self {
            issuer: origin.origin().ascii_serialization(),
            authorization: Some(at("/authorize")?),
            token: at("/token")?,
            registration: Some(at("/register")?),
            revocation: None,
            scopes: Vec::new(),
            methods: None,
            names_itself: false,
            takes_documents: false,
            // That version requires PKCE of every server.
            takes_challenges: true,
            has_metadata: false,
        })
    }

    /// Returns the authorization page, if the server supports PKCE.
    pub(crate) fn authorization_page(&self) -> Result<&Url, LoginError> {
        let untrusted =
            |why: &str| LoginError::Untrusted { what: METADATA_LABEL, why: why.to_owned() };
        if !self.takes_challenges {
            return Err(untrusted(
                "it does not list `S256` in `code_challenge_methods_supported`, so codes could be \
                 stolen",
            ));
        }
        self.authorization.as_ref().ok_or_else(|| untrusted("it has no `authorization_endpoint`"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_metadata(value: serde_json::Value) -> Result<AuthServer, String> {
        let described = serde_json::from_value(value).unwrap();
        AuthServer::from_metadata("https://a.example", described, AddressScope::Public)
            .and_then(|server| server.authorization_page().map(drop).map(|()| server))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_description_must_be_its_own_and_safe() {
        let good = json!({
            "issuer": "https://a.example",
            "authorization_endpoint": "https://a.example/authorize",
            "token_endpoint": "https://a.example/token",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        assert!(check_metadata(good.clone()).is_ok());
        let bad = [
            ("issuer", json!("https://a.example/")),
            ("issuer", json!("https://b.example")),
            ("issuer", json!(null)),
            ("authorization_endpoint", json!("http://a.example/authorize")),
            ("authorization_endpoint", json!("javascript:alert(1)")),
            ("authorization_endpoint", json!("https://a.example/au thorize")),
            ("token_endpoint", json!(null)),
            ("token_endpoint", json!("https://10.0.0.1/token")),
            ("registration_endpoint", json!("https://[::1]/register")),
            ("code_challenge_methods_supported", json!(null)),
            ("code_challenge_methods_supported", json!(["plain"])),
        ];
        for (name, value) in bad {
            let mut wrong = good.clone();
            wrong[name] = value.clone();
            assert!(check_metadata(wrong).is_err(), "{name}: {value}");
        }
    }
}
