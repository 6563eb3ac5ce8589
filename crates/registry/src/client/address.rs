//! The URL of a registry, and checks of the URLs that a registry publishes.

use reqwest::Url;
use switchboard_net::{AddressScope, ip_literal, is_local};

use crate::error::RegistryError;

/// The registry that is used unless the settings name others.
pub const OFFICIAL_REGISTRY: &str = "https://registry.modelcontextprotocol.io";

/// Which networks the URLs published by a registry may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistryReach {
    /// Only the public network, because anyone may publish in the registry.
    Public,
    /// Also the private network and this machine, because the user chose the registry.
    Own,
}

/// The base URL of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryAddress {
    url: Url,
}

impl RegistryAddress {
    /// Parses the URL of a registry, with or without the API version at its end.
    pub fn new(text: &str) -> Result<Self, RegistryError> {
        let bad = |why: &str| RegistryError::BadAddress {
            address: text.split(['?', '#']).next().unwrap_or_default().to_owned(),
            why: why.to_owned(),
        };
        // People copy the URL of an endpoint from the documentation of a registry.
        let base = text.trim_end_matches('/');
        let base = ["/v0.1/servers", "/v0/servers", "/v0.1", "/v0"]
            .iter()
            .find_map(|end| base.strip_suffix(end))
            .unwrap_or(base);
        let url = Url::parse(base).map_err(|_| bad("it is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it contains credentials"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it has a query or a fragment"));
        }
        check_scheme(&url).map_err(|why| bad(&why))?;
        if is_metadata(&url) {
            return Err(bad("it is a cloud metadata address"));
        }
        Ok(Self { url })
    }

    /// Returns which networks the URLs of this registry may lead to.
    #[must_use]
    pub fn reach(&self) -> RegistryReach {
        let is_official = Url::parse(OFFICIAL_REGISTRY)
            .is_ok_and(|official| official.origin() == self.url.origin());
        if is_official { RegistryReach::Public } else { RegistryReach::Own }
    }

    /// Returns the URL without a trailing slash.
    #[must_use]
    pub fn text(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    pub(super) fn endpoint(&self, parts: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.url.clone();
        // Pushing segments percent-encodes them: a slash in a server's name is not a separator.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v0.1").extend(parts);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }
}

impl RegistryReach {
    pub(crate) fn is_metadata(text: &str) -> bool {
        Url::parse(text).is_ok_and(|url| is_metadata(&url))
    }

    /// Rejects a URL that may not be requested, with the reason.
    pub fn check(self, text: &str) -> Result<(), String> {
        // The parser drops or converts these, so that the URL would differ from the text shown.
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err("it contains characters that are invalid in a URL".to_owned());
        }
        let url = Url::parse(text).map_err(|_| "it is not a URL".to_owned())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it contains credentials".to_owned());
        }
        check_scheme(&url)?;
        if is_metadata(&url) {
            return Err("it is a cloud metadata address".to_owned());
        }
        if self == Self::Public && is_private(&url) {
            return Err("it is not a public address".to_owned());
        }
        Ok(())
    }
}

fn check_scheme(url: &Url) -> Result<(), String> {
    match url.scheme() {
        "https" if url.host_str().is_some() => Ok(()),
        "http" if is_local(url) => Ok(()),
        "http" => Err("it is not encrypted".to_owned()),
        _ => Err("it is neither `https://` nor `http://`".to_owned()),
    }
}

/// Returns the host in lowercase, without the trailing dot of an absolute name.
fn name(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}

/// Returns whether a URL leads to a cloud metadata service, which hands out credentials.
fn is_metadata(url: &Url) -> bool {
    let name = name(url);
    let by_name = ["metadata", "metadata.google.internal", "metadata.goog", "instance-data"];
    by_name.contains(&name.as_str())
        || name.ends_with(".metadata.google.internal")
        // Link-local and other special addresses are outside every scope.
        || ip_literal(&name).is_some_and(|address| !AddressScope::Private.allows(address))
}

fn is_private(url: &Url) -> bool {
    let name = name(url);
    if let Some(address) = ip_literal(&name) {
        return !AddressScope::Public.allows(address);
    }
    let local = ["localhost", "local", "internal", "intranet", "lan", "home.arpa"];
    let by_name = local.iter().any(|end| name == *end || name.ends_with(&format!(".{end}")));
    // A name without a dot is resolved by the search domains of the local network.
    by_name || !name.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_registry_is_encrypted_or_here() {
        for (text, expected) in [
            (OFFICIAL_REGISTRY, Some("https://registry.modelcontextprotocol.io")),
            ("https://corp.example/mcp/v0.1/", Some("https://corp.example/mcp")),
            ("https://corp.example/v0/servers", Some("https://corp.example")),
            ("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080")),
            ("http://localhost:1", Some("http://localhost:1")),
            ("http://corp.example", None),
            ("https://me:pass@corp.example", None),
            ("https://corp.example/?key=1", None),
            ("https://169.254.169.254/", None),
            ("file:///etc/passwd", None),
            ("corp.example", None),
            ("", None),
        ] {
            let read = RegistryAddress::new(text).ok();
            assert_eq!(read.as_ref().map(RegistryAddress::text), expected, "{text}");
        }
    }

    #[test]
    fn names_and_cursors_become_one_part_of_the_address() {
        let address = RegistryAddress::new("https://corp.example/mcp").unwrap();
        assert_eq!(
            address.endpoint(&["servers", "io.github.a/b", "versions"], &[]).as_str(),
            "https://corp.example/mcp/v0.1/servers/io.github.a%2Fb/versions"
        );
        assert_eq!(
            address.endpoint(&["servers"], &[("cursor", "a/b:1&x=2"), ("limit", "5")]).as_str(),
            "https://corp.example/mcp/v0.1/servers?cursor=a%2Fb%3A1%26x%3D2&limit=5"
        );
    }

    #[test]
    fn only_a_registry_of_ones_own_may_name_private_places() {
        let public =
            ["https://mcp.example.com/mcp", "https://1.1.1.1/", "https://[2606:4700::1]/x"];
        let private = [
            "https://10.0.0.1/mcp", "http://127.0.0.1:9/mcp", "http://localhost/mcp",
            "https://[::1]/", "https://192.168.1.1/", "https://0x0a000001/", "https://tools/mcp",
            "https://a.internal/",
        ];
        let never = [
            "http://169.254.169.254/latest",
            "https://169.254.169.254/",
            "https://2852039166/",
            "https://[fe80::1]/",
            "https://[fd00:ec2::254]/",
            "https://metadata.google.internal/",
            "https://METADATA/",
            "https://100.100.100.200/",
            "https://[::ffff:169.254.169.254]/",
            "https://0.0.0.0/",
            "http://mcp.example.com/mcp",
            "ftp://a.example/",
            "javascript:alert(1)",
            "https://user@a.example/",
            "https://a.example/a b",
            "https://a.example\\@b.example/",
            "",
        ];
        for text in public {
            assert_eq!(
                (RegistryReach::Public.check(text), RegistryReach::Own.check(text)),
                (Ok(()), Ok(())),
                "{text}"
            );
        }
        for text in private {
            assert!(RegistryReach::Public.check(text).is_err(), "{text}");
            assert_eq!(RegistryReach::Own.check(text), Ok(()), "{text}");
        }
        for text in never {
            assert!(RegistryReach::Public.check(text).is_err(), "{text}");
            assert!(RegistryReach::Own.check(text).is_err(), "{text}");
        }
    }
}
