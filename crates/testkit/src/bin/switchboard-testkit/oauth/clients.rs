//! The clients of an authorization server, and their authentication.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::form::{self, FormFields};
use super::settings::ClientAuth;
use crate::http::FixtureRequest;

#[derive(Clone, Debug)]
pub(crate) struct OauthClient {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    pub(crate) auth: ClientAuth,
    /// Registered callback addresses; `None` permits any loopback address, as for `--client`.
    pub(crate) redirects: Option<Vec<String>>,
}

impl OauthClient {
    /// Whether a callback address is permitted. It must match exactly, except for the port of a
    /// loopback address, which a native app cannot know in advance.
    pub(crate) fn may_redirect_to(&self, address: &str) -> bool {
        match &self.redirects {
            Some(registered) => registered.iter().any(|known| {
                known == address || loopback(known).is_some_and(|it| Some(it) == loopback(address))
            }),
            None => loopback(address).is_some(),
        }
    }
}

/// Returns host and path of a loopback address, without the port.
fn loopback(address: &str) -> Option<(&str, &str)> {
    let rest = address.strip_prefix("http://")?;
    let (host, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len()))?;
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
    let known = ["127.0.0.1", "localhost", "[::1]"].contains(&name);
    (known && port.parse::<u16>().is_ok()).then_some((name, path))
}

/// The client credentials in a request to the token endpoint.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) id: String,
    secret: Option<String>,
    auth: ClientAuth,
}

impl Credentials {
    pub(crate) fn read(asked: &FixtureRequest, form: &FormFields) -> Result<Self, String> {
        let in_body = form.get("client_id").cloned();
        let secret = form.get("client_secret").cloned();
        let Some(header) = asked.header("authorization") else {
            let id = in_body.ok_or("the request does not name its client")?;
            let auth = if secret.is_some() { ClientAuth::Post } else { ClientAuth::None };
            return Ok(Self { id, secret, auth });
        };
        if secret.is_some() {
            return Err("the client proves itself in two ways at once".to_owned());
        }
        let pair = header.strip_prefix("Basic ").and_then(|coded| STANDARD.decode(coded).ok());
        let pair = pair.and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = pair.ok_or("the `Authorization` header is not Basic")?;
        let (id, secret) = pair.split_once(':').ok_or("the Basic credentials have no colon")?;
        let id = form::decode(id);
        if in_body.is_some_and(|other| other != id) {
            return Err("header and body name different clients".to_owned());
        }
        Ok(Self { id, secret: Some(form::decode(secret)), auth: ClientAuth::Basic })
    }

    /// Returns the reason why these credentials do not fit this client.
    pub(crate) fn complaint(&self, client: &OauthClient) -> Option<String> {
        if self.auth != client.auth {
            let used = self.auth.method();
            let wanted = client.auth.method();
            return Some(format!("the client used `{used}` where it has `{wanted}`"));
        }
        (self.secret != client.secret).then(|| "the secret is wrong".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientAuth, OauthClient};

    #[test]
    fn a_callback_address_is_exact_but_for_a_loopback_port() {
        let client = OauthClient {
            id: "client".to_owned(),
            secret: None,
            auth: ClientAuth::None,
            redirects: Some(vec![
                "http://127.0.0.1:4000/callback".to_owned(),
                "https://app.example/back".to_owned(),
            ]),
        };
        let cases = [
            ("http://127.0.0.1:4000/callback", true),
            ("http://127.0.0.1:5000/callback", true),
            ("http://127.0.0.1/callback", true),
            ("http://127.0.0.1:5000/callback/more", false),
            ("http://127.0.0.1:5000/./callback", false),
            ("http://localhost:4000/callback", false),
            ("http://127.0.0.1.evil.example:4000/callback", false),
            ("http://127.0.0.1:4000@evil.example/callback", false),
            ("https://app.example/back", true),
            ("https://app.example:444/back", false),
            ("https://app.example/back/", false),
        ];
        for (address, allowed) in cases {
            assert_eq!(client.may_redirect_to(address), allowed, "{address}");
        }
    }
}
