//! From a server's address to the authorization server it trusts.

use reqwest::Url;
use serde::Deserialize;

use crate::challenge::Challenge;
use crate::error::LoginError;
use crate::fetch::{Fetched, Fetcher};
use crate::metadata::{Described, Server, WHAT};

const RESOURCE: &str = "the description of the server";

/// What was found out about a server.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    /// What tokens are asked for, exactly as the server spells it.
    pub(crate) resource: String,
    /// What the server's description lists.
    pub(crate) scopes: Vec<String>,
    /// Who gives tokens for it.
    pub(crate) issuer: Server,
}

#[derive(Debug, Deserialize)]
struct Resource {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

/// Finds the authorization server of the server at `url`; `wanted` is the only one to take, if set.
pub(crate) async fn discover(
    fetcher: &Fetcher,
    url: &Url,
    challenge: &Challenge,
    wanted: Option<&str>,
) -> Result<Discovered, LoginError> {
    let described = resource(fetcher, url, challenge).await?;
    let (resource, scopes, named) = match described {
        None => (canonical(url), Vec::new(), Vec::new()),
        Some(described) => {
            let resource = described.resource.unwrap_or_default();
            if !covers(&resource, url) {
                let why = "its `resource` is not the address of the server".to_owned();
                return Err(LoginError::Untrusted { what: RESOURCE, why });
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
        Some(issuer) => described_by(fetcher, issuer).await?,
        None => of_origin(fetcher, url).await?,
    };
    if wanted.is_some_and(|wanted| wanted != server.issuer) {
        let why = format!("it is `{}`, and `oauth.issuer` names another", server.issuer);
        return Err(LoginError::Untrusted { what: "the authorization server", why });
    }
    Ok(Discovered { resource, scopes, issuer: server })
}

/// The server's description, at the place it names or at the usual ones.
async fn resource(
    fetcher: &Fetcher,
    url: &Url,
    challenge: &Challenge,
) -> Result<Option<Resource>, LoginError> {
    if let Some(place) = &challenge.resource_metadata {
        let place = fetcher.reach.check(RESOURCE, place)?;
        if let Fetched::Found(found) = fetcher.document(RESOURCE, place).await? {
            return Ok(Some(found));
        }
    }
    for place in well_known(url, "oauth-protected-resource") {
        if let Fetched::Found(found) = fetcher.document(RESOURCE, place).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The description of a named authorization server.
async fn described_by(fetcher: &Fetcher, issuer: &str) -> Result<Server, LoginError> {
    let url = fetcher.reach.check("the authorization server", issuer)?;
    for place in descriptions(&url) {
        if let Fetched::Found(described) = fetcher.document::<Described>(WHAT, place).await? {
            return Server::checked(issuer, described, fetcher.reach);
        }
    }
    let place = issuer.to_owned();
    Err(LoginError::Failed { what: WHAT, place, why: "is not there".to_owned() })
}

/// Before 2025-06-18 a server was its own authorization server.
async fn of_origin(fetcher: &Fetcher, url: &Url) -> Result<Server, LoginError> {
    let mut origin = url.clone();
    origin.set_path("/");
    origin.set_query(None);
    origin.set_fragment(None);
    let issuer = origin.origin().ascii_serialization();
    for place in descriptions(&origin) {
        if let Fetched::Found(described) = fetcher.document::<Described>(WHAT, place).await? {
            return Server::checked(&issuer, described, fetcher.reach);
        }
    }
    Server::undescribed(&origin)
}

/// Where an authorization server may describe itself, in order.
fn descriptions(issuer: &Url) -> Vec<Url> {
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

/// Where something about `url` may be: at its path first, then at the root.
fn well_known(url: &Url, name: &str) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let root = format!("/.well-known/{name}");
    let mut paths = vec![format!("{root}{path}")];
    if !path.is_empty() {
        paths.push(root);
    }
    paths.iter().filter_map(|path| url.join(path).ok()).collect()
}

/// Whether a `resource` is the server's address or a part from its beginning.
pub(crate) fn covers(resource: &str, url: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let ends = |path: &str| format!("{}/", path.trim_end_matches('/'));
    resource.origin() == url.origin()
        && resource.fragment().is_none()
        && ends(url.path()).starts_with(&ends(resource.path()))
}

/// A server's address as the name of what tokens are for.
fn canonical(url: &Url) -> String {
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
            texts(&descriptions(&url("https://a.example"))),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&descriptions(&url("https://a.example/tenant1"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            texts(&well_known(
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
        assert_eq!(canonical(&url("https://a.example")), "https://a.example");
        assert_eq!(canonical(&url("https://a.example/mcp?key=1#x")), "https://a.example/mcp");
    }
}
