//! Discovers the authorization server of an MCP server.

use reqwest::Url;
use serde::Deserialize;

use crate::challenge::Challenge;
use crate::error::LoginError;
use crate::fetch::OauthFetcher;
use crate::metadata::{AuthServer, METADATA_LABEL};

const RESOURCE_LABEL: &str = "the protected-resource metadata";

#[derive(Clone, Debug)]
pub(crate) struct DiscoveryResult {
    /// Resource indicator for token requests, exactly as the server spells it.
    pub(crate) resource: String,
    /// Scopes listed in the protected-resource metadata.
    pub(crate) scopes: Vec<String>,
    pub(crate) issuer: AuthServer,
}

#[derive(Debug, Deserialize)]
struct ResourceMetadata {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

/// Discovers the authorization server of the server at `url`; if `wanted` is set, only that one.
pub(crate) async fn discover(
    fetcher: &OauthFetcher,
    url: &Url,
    challenge: &Challenge,
    wanted: Option<&str>,
) -> Result<DiscoveryResult, LoginError> {
    let described = fetch_resource_metadata(fetcher, url, challenge).await?;
    let (resource, scopes, named) = match described {
        None => (canonical_resource(url), Vec::new(), Vec::new()),
        Some(described) => {
            let resource = described.resource.unwrap_or_default();
            // This server could otherwise obtain a token for another one and use it there.
            if !covers(&resource, url) {
                let why = "its `resource` is not the server's URL".to_owned();
                return Err(LoginError::Untrusted { what: RESOURCE_LABEL, why });
            }
            let named = described.authorization_servers.unwrap_or_default();
            (resource, described.scopes_supported.unwrap_or_default(), named)
        }
    };
    let issuer = match wanted {
        Some(wanted) if named.iter().any(|name| name == wanted) => Some(wanted),
        _ => named.first().map(String::as_str),
    };
    let server = match issuer {
        Some(issuer) => fetch_issuer_metadata(fetcher, issuer).await?,
        None => fetch_origin_metadata(fetcher, url).await?,
    };
    if wanted.is_some_and(|wanted| wanted != server.issuer) {
        let why = format!("it is `{}`, but `oauth.issuer` requires another one", server.issuer);
        return Err(LoginError::Untrusted { what: "the authorization server", why });
    }
    Ok(DiscoveryResult { resource, scopes, issuer: server })
}

/// Fetches the protected-resource metadata, from the URL in the challenge or the well-known ones.
async fn fetch_resource_metadata(
    fetcher: &OauthFetcher,
    url: &Url,
    challenge: &Challenge,
) -> Result<Option<ResourceMetadata>, LoginError> {
    let named = challenge.resource_metadata.as_ref();
    let named = named.map(|place| fetcher.reach.check(RESOURCE_LABEL, place)).transpose()?;
    for place in named.into_iter().chain(well_known_urls(url, "oauth-protected-resource")) {
        if let Some(found) = fetcher.get_json(RESOURCE_LABEL, place).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

async fn fetch_issuer_metadata(
    fetcher: &OauthFetcher,
    issuer: &str,
) -> Result<AuthServer, LoginError> {
    let url = fetcher.reach.check("the authorization server", issuer)?;
    for place in metadata_urls(&url) {
        if let Some(described) = fetcher.get_json(METADATA_LABEL, place).await? {
            return AuthServer::from_metadata(issuer, described, fetcher.reach);
        }
    }
    let place = issuer.to_owned();
    Err(LoginError::Failed { what: METADATA_LABEL, place, why: "was not found".to_owned() })
}

/// Fetches the metadata from the server's own origin: before protocol version 2025-06-18, a server
/// was its own authorization server.
async fn fetch_origin_metadata(
    fetcher: &OauthFetcher,
    url: &Url,
) -> Result<AuthServer, LoginError> {
    let mut origin = url.clone();
    origin.set_path("/");
    origin.set_query(None);
    origin.set_fragment(None);
    let issuer = origin.origin().ascii_serialization();
    for place in metadata_urls(&origin) {
        if let Some(described) = fetcher.get_json(METADATA_LABEL, place).await? {
            return AuthServer::from_metadata(&issuer, described, fetcher.reach);
        }
    }
    AuthServer::legacy_defaults(&origin)
}

/// Returns the URLs of an authorization server's metadata, in order of preference.
fn metadata_urls(issuer: &Url) -> Vec<Url> {
    // RFC 8414 inserts the well-known part before the path; OpenID Connect appends it.
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("/.well-known/oauth-authorization-server{path}")];
    if path.is_empty() {
        paths.push("/.well-known/openid-configuration".to_owned());
    } else {
        paths.push(format!("/.well-known/openid-configuration{path}"));
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    paths.iter().filter_map(|path| issuer.join(path).ok()).collect()
}

/// Returns the well-known URLs for `url`: with its path first, then at the root.
fn well_known_urls(url: &Url, name: &str) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let root = format!("/.well-known/{name}");
    let mut paths = vec![format!("{root}{path}")];
    if !path.is_empty() {
        paths.push(root);
    }
    paths.iter().filter_map(|path| url.join(path).ok()).collect()
}

/// Returns whether a `resource` is the server's URL or a prefix of it.
pub(crate) fn covers(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    // With a slash at the end, `/mcp` does not cover `/mcp-other`.
    let ends = |path: &str| format!("{}/", path.trim_end_matches('/'));
    resource.origin() == url.origin()
        && resource.fragment().is_none()
        && ends(url.path()).starts_with(&ends(resource.path()))
}

/// Returns the resource indicator of a server without metadata.
fn canonical_resource(url: &Url) -> String {
    let mut plain = url.clone();
    plain.set_fragment(None);
    plain.set_query(None);
    match plain.path() {
        "/" => plain.as_str().trim_end_matches('/').to_owned(),
        _ => plain.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(urls: &[Url]) -> Vec<&str> {
        urls.iter().map(Url::as_str).collect()
    }

    #[test]
    fn descriptions_are_looked_for_in_the_order_of_the_specification() {
        assert_eq!(
            texts(&metadata_urls(&url("https://a.example"))),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&metadata_urls(&url("https://a.example/tenant1"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&well_known_urls(
                &url("https://a.example/public/mcp?x=1"),
                "oauth-protected-resource"
            )),
            [
                "https://a.example/.well-known/oauth-protected-resource/public/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ]
        );
    }

    #[test]
    fn a_resource_covers_only_what_lies_below_it() {
        let server = url("https://a.example/public/mcp");
        for (resource, expected) in [
            ("https://a.example/public/mcp", true),
            ("https://a.example/public/mcp/", true),
            ("https://a.example/public", true),
            ("https://a.example", true),
            ("https://a.example/pub", false),
            ("https://a.example/public/mcp/deeper", false),
            ("https://evil.example/public/mcp", false),
            ("http://a.example/public/mcp", false),
            ("https://a.example:444/public/mcp", false),
            ("nonsense", false),
        ] {
            assert_eq!(covers(resource, &server), expected, "{resource}");
        }
    }

    #[test]
    fn the_name_of_a_server_has_no_slash_of_its_own() {
        assert_eq!(canonical_resource(&url("https://a.example")), "https://a.example");
        assert_eq!(
            canonical_resource(&url("https://a.example/mcp?key=1#x")),
            "https://a.example/mcp"
        );
    }
}
