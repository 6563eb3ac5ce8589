//! The handshake, in both eras, and the resulting agreement.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{RequestError, RpcError};
use crate::peer::{Peer, ProtocolState};
use crate::request::Request;
use crate::revision::{Era, Revision};
use switchboard_json::Json;

/// The client's identity and capabilities, as sent to servers.
#[derive(Clone, Debug)]
pub struct Introduction {
    pub name: String,
    pub version: String,
    /// Our capabilities, as the text of a JSON object.
    pub capabilities: String,
    /// Supported extensions of the modern revision.
    pub extensions: &'static [&'static str],
}

/// The result of a handshake.
#[derive(Clone, Debug)]
pub struct Agreement {
    pub revision: Revision,
    /// The capabilities that the server declared.
    pub capabilities: Json,
    /// The `serverInfo`, as the server sent it.
    pub server: Json,
    /// The server's instructions for models.
    pub instructions: Option<String>,
}

impl Agreement {
    /// Returns whether the server declared the capability.
    #[must_use]
    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities
            .read::<std::collections::HashMap<String, &RawValue>>()
            .is_ok_and(|members| members.get(capability).is_some_and(|raw| raw.get() != "null"))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WelcomeResult<'a> {
    protocol_version: Option<String>,
    supported_versions: Option<Vec<String>>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    server_info: Option<&'a RawValue>,
    instructions: Option<String>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<WelcomeMeta<'a>>,
}

#[derive(Deserialize)]
struct WelcomeMeta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Option<&'a RawValue>,
}

/// Probes for a modern server. Afterwards the peer uses the modern revision.
pub async fn discover(
    peer: &Peer,
    us: &Introduction,
    timeout: Duration,
) -> Result<Agreement, RequestError> {
    set_modern_protocol(peer, us);
    let ask = || peer.request(Request::new("server/discover", "", timeout));
    let answer = match ask().await {
        // The server refused the revision but lists it as supported, so one retry may succeed.
        Err(RequestError::Rpc(error)) if supports_our_revision(&error) => ask().await?,
        answer => answer?,
    };
    let welcome: WelcomeResult<'_> = answer.read().map_err(invalid_welcome)?;
    let versions = welcome.supported_versions.as_deref().unwrap_or_default();
    if !versions.iter().any(|text| text == Revision::NEWEST.as_str()) {
        let why = format!("the server does not support revision {}", Revision::NEWEST);
        return Err(RequestError::Protocol(why));
    }
    Ok(build_agreement(Revision::NEWEST, &welcome))
}

/// Performs the legacy handshake. Afterwards the peer uses the negotiated revision.
pub async fn initialize(
    peer: &Peer,
    us: &Introduction,
    timeout: Duration,
) -> Result<Agreement, RequestError> {
    let offered = Revision::NEWEST_LEGACY;
    peer.set_protocol(ProtocolState { revision: offered, meta: String::new() });
    let params = format!(
        r#"{{"protocolVersion":"{offered}","capabilities":{},"clientInfo":{}}}"#,
        us.capabilities,
        us.as_json()
    );
    let answer = peer.request(Request::new("initialize", &params, timeout)).await?;
    let welcome: WelcomeResult<'_> = answer.read().map_err(invalid_welcome)?;
    let revision = match welcome.protocol_version.as_deref() {
        // Assume the oldest revision: it promises the least.
        None => Revision::V2024_11_05,
        Some(text) => Revision::parse(text)
            .filter(|revision| revision.era() == Era::Legacy)
            .ok_or_else(|| {
                RequestError::Protocol(format!("the server chose unsupported revision `{text}`"))
            })?,
    };
    peer.set_protocol(ProtocolState { revision, meta: String::new() });
    peer.notify("notifications/initialized", "").await?;
    // Servers accept the event stream only in a session that is initialized.
    peer.listen().await;
    Ok(build_agreement(revision, &welcome))
}

fn invalid_welcome(error: serde_json::Error) -> RequestError {
    RequestError::Protocol(format!("invalid handshake result: {error}"))
}

fn supports_our_revision(error: &RpcError) -> bool {
    #[derive(Deserialize)]
    struct SupportedVersions {
        supported: Vec<String>,
    }
    error.code == RpcError::UNSUPPORTED_REVISION
        && error.data.as_ref().and_then(|data| data.read::<SupportedVersions>().ok()).is_some_and(
            |offer| offer.supported.iter().any(|text| text == Revision::NEWEST.as_str()),
        )
}

/// Switches the peer to the modern revision.
pub fn set_modern_protocol(peer: &Peer, us: &Introduction) {
    let key = "io.modelcontextprotocol";
    let revision = Revision::NEWEST;
    let meta = format!(
        r#""{key}/protocolVersion":"{revision}","{key}/clientInfo":{},"{key}/clientCapabilities":{}"#,
        us.as_json(),
        us.with_extensions()
    );
    peer.set_protocol(ProtocolState { revision, meta });
}

impl Introduction {
    fn with_extensions(&self) -> String {
        if self.extensions.is_empty() {
            return self.capabilities.clone();
        }
        let named: Vec<String> =
            self.extensions.iter().map(|name| format!(r#""{name}":{{}}"#)).collect();
        let extensions = format!(r#""extensions":{{{}}}"#, named.join(","));
        let rest = self.capabilities.trim().strip_prefix('{').unwrap_or("}").trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        format!("{{{extensions}{comma}{rest}")
    }

    fn as_json(&self) -> String {
        let name = serde_json::Value::from(self.name.as_str());
        let version = serde_json::Value::from(self.version.as_str());
        format!(r#"{{"name":{name},"version":{version}}}"#)
    }
}

fn build_agreement(revision: Revision, welcome: &WelcomeResult<'_>) -> Agreement {
    let server = welcome.server_info.or_else(|| welcome.meta.as_ref()?.server_info);
    let empty = || Json::from_trusted("{}".to_owned());
    Agreement {
        revision,
        capabilities: welcome.capabilities.map_or_else(empty, Json::from),
        server: server.map_or_else(empty, Json::from),
        instructions: welcome.instructions.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::Introduction;

    #[test]
    fn extensions_stand_among_the_capabilities() {
        let extensions: &'static [&'static str] = &["io.example/a", "io.example/b"];
        for (capabilities, extensions, expected) in [
            ("{}", &[][..], "{}"),
            (r#"{"roots":{}}"#, &[][..], r#"{"roots":{}}"#),
            ("{}", extensions, r#"{"extensions":{"io.example/a":{},"io.example/b":{}}}"#),
            (
                r#"{"roots":{}}"#,
                extensions,
                r#"{"extensions":{"io.example/a":{},"io.example/b":{}},"roots":{}}"#,
            ),
        ] {
            let us = Introduction {
                name: String::new(),
                version: String::new(),
                capabilities: capabilities.to_owned(),
                extensions,
            };
            assert_eq!(us.with_extensions(), expected);
        }
    }
}
