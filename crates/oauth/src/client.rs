//! Our client at an authorization server, and its authentication.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::form::encode_value;
use crate::secret::Secret;

/// Our client registration at one authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RegisteredClient {
    pub(crate) id: String,
    /// On renewal, the currently configured secret replaces it.
    pub(crate) secret: Option<Secret>,
    /// Expiry of the secret, in Unix seconds.
    pub(crate) secret_ends: Option<i64>,
    pub(crate) method: AuthMethod,
    pub(crate) origin: ClientOrigin,
    /// Redirect URI of a dynamic registration.
    pub(crate) redirect_uri: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientOrigin {
    Configured,
    /// A client ID metadata document, whose URL is the client id.
    Document,
    Dynamic,
}

impl AuthMethod {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost];
        all.into_iter().find(|method| method.name() == name)
    }

    /// Returns the first of `preferred` that the server lists, or the first if it has no list.
    pub(crate) fn choose(preferred: &[Self], listed: Option<&[String]>) -> Option<Self> {
        match listed {
            None => preferred.first().copied(),
            Some(listed) => preferred
                .iter()
                .copied()
                .find(|method| listed.iter().any(|name| name == method.name())),
        }
    }
}

impl RegisteredClient {
    /// Returns whether the client's secret has not expired.
    pub(crate) fn is_current(&self, now: i64) -> bool {
        self.secret_ends.is_none_or(|end| end > now)
    }

    /// Adds the credentials to a form, or returns them as the `Authorization` header.
    pub(crate) fn authenticate<'a>(&'a self, form: &mut Vec<(&'a str, &'a str)>) -> Option<Secret> {
        match (self.method, &self.secret) {
            (AuthMethod::ClientSecretBasic, Some(secret)) => {
                // RFC 6749 encodes both parts as form values before Base64.
                let pair = format!("{}:{}", encode_value(&self.id), encode_value(secret.reveal()));
                Some(Secret::new(format!("Basic {}", BASE64_STANDARD.encode(pair))))
            }
            (AuthMethod::ClientSecretPost, Some(secret)) => {
                form.push(("client_id", &self.id));
                form.push(("client_secret", secret.reveal()));
                None
            }
            (AuthMethod::None, _) | (_, None) => {
                form.push(("client_id", &self.id));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_goes_where_the_method_says() {
        let client = |method| RegisteredClient {
            id: "a b".to_owned(),
            secret: Some(Secret::new("s:1")),
            secret_ends: None,
            method,
            origin: ClientOrigin::Dynamic,
            redirect_uri: None,
        };
        let proof = |method| {
            let client = client(method);
            let mut form = Vec::new();
            let header = client.authenticate(&mut form).map(|secret| secret.reveal().to_owned());
            (header, crate::form::encode(&form))
        };
        assert_eq!(proof(AuthMethod::None), (None, "client_id=a+b".to_owned()));
        assert_eq!(
            proof(AuthMethod::ClientSecretPost),
            (None, "client_id=a+b&client_secret=s%3A1".to_owned())
        );
        // `a+b:s%3A1` in Base64.
        assert_eq!(
            proof(AuthMethod::ClientSecretBasic),
            (Some("Basic YStiOnMlM0Ex".to_owned()), String::new())
        );
    }
}
