//! The list of known servers: built in, or from a file or a URL.

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_net::{is_below, is_shared_suffix};
use thiserror::Error;

use crate::client::{FetchLimits, FetchOutcome, Redirects, RegistryFetcher, RegistryReach};

const BUILT_IN_LIST: &str = include_str!("servers.json");

/// Maximum number of servers in a list.
const MAX_SERVERS: usize = 2_000;

/// A server that is known for some domains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownServer {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub icon: String,
    pub endpoint: String,
    #[serde(default, alias = "is_featured", alias = "isFeatured")]
    pub featured: bool,
    #[serde(default)]
    pub domains: Vec<String>,
}

/// A list of known servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownServers {
    servers: Vec<KnownServer>,
}

/// Why a list of known servers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KnownError {
    #[error("invalid list of known servers: {0}")]
    Unreadable(String),
    #[error("cannot fetch the list of known servers: {0}")]
    NotFetched(String),
}

impl KnownServer {
    /// Returns a name for the server's entry.
    #[must_use]
    pub fn short_name(&self) -> String {
        let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        self.name.chars().map(fits).take(64).collect::<String>().trim_matches('-').to_owned()
    }

    /// Returns whether a URL has the same host as this server.
    #[must_use]
    pub fn is_at(&self, address: &str) -> bool {
        let host = url_host(address);
        host.is_some() && host == url_host(&self.endpoint)
    }
}

impl KnownServers {
    /// Returns the built-in list.
    pub fn built_in() -> Result<Self, KnownError> {
        Self::read(BUILT_IN_LIST, RegistryReach::Public)
    }

    /// Parses a list of servers, or of registrations with `domains` and `info`. Entries without a
    /// name, an ownable domain or a permitted URL are skipped.
    pub fn read(text: &str, reach: RegistryReach) -> Result<Self, KnownError> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| KnownError::Unreadable(error.to_string()))?;
        let list = value.as_array().or_else(|| value.get("servers")?.as_array());
        let list =
            list.ok_or_else(|| KnownError::Unreadable("it is not a list of servers".to_owned()))?;
        let servers =
            list.iter().take(MAX_SERVERS).filter_map(|entry| parse_entry(entry, reach)).collect();
        Ok(Self { servers })
    }

    /// Fetches a list from a URL that the user configured.
    pub async fn fetch(url: &str) -> Result<Self, KnownError> {
        let failed = |cause: String| KnownError::NotFetched(cause);
        RegistryReach::Own.check(url).map_err(failed)?;
        let fetcher =
            RegistryFetcher::new(FetchLimits::default(), Redirects::SameOrigin).map_err(failed)?;
        let url = url.parse().map_err(|_| failed("it is not a URL".to_owned()))?;
        match fetcher.get(url, None).await {
            FetchOutcome::Answer { bytes, .. } => {
                let text = String::from_utf8(bytes);
                Self::read(
                    &text.map_err(|error| KnownError::Unreadable(error.to_string()))?,
                    RegistryReach::Own,
                )
            }
            FetchOutcome::Unchanged => Err(failed("unexpected status 304".to_owned())),
            FetchOutcome::Status(status) => Err(failed(format!("HTTP status {status}"))),
            FetchOutcome::Elsewhere => Err(failed("it redirects to another origin".to_owned())),
            FetchOutcome::TooLong => Err(failed("it is too large".to_owned())),
            FetchOutcome::Failed(cause) => Err(failed(cause)),
        }
    }

    /// Returns all servers, the featured ones first.
    #[must_use]
    pub fn all(&self) -> Vec<&KnownServer> {
        let mut all: Vec<&KnownServer> = self.servers.iter().collect();
        all.sort_by_key(|server| (!server.featured, server.name.to_lowercase()));
        all
    }

    /// Returns the server with the longest domain that matches a URL.
    #[must_use]
    pub fn for_url(&self, url: &str) -> Option<&KnownServer> {
        let host = url_host(url)?;
        let fits = self.servers.iter().flat_map(|server| {
            let domains = server.domains.iter().filter(|domain| is_below(&host, domain));
            domains.map(move |domain| (domain.len(), server))
        });
        fits.max_by_key(|(length, _)| *length).map(|(_, server)| server)
    }

    /// Returns the URLs in a text for which a server is known, with the server.
    #[must_use]
    pub fn for_text<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a KnownServer)> {
        // Bounded, since the text may be a long document.
        addresses_in(text).take(50).filter_map(|url| Some((url, self.for_url(url)?))).collect()
    }

    /// Returns the server with this name; the display name is compared case-insensitively.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&KnownServer> {
        self.servers
            .iter()
            .find(|server| server.name.eq_ignore_ascii_case(name) || server.short_name() == name)
    }
}

fn parse_entry(entry: &Value, reach: RegistryReach) -> Option<KnownServer> {
    let mut server: KnownServer = match entry.get("info") {
        Some(info) => serde_json::from_value(info.clone()).ok()?,
        None => serde_json::from_value(entry.clone()).ok()?,
    };
    if let Some(domains) = entry.get("domains").and_then(Value::as_array) {
        let domains = domains.iter().filter_map(Value::as_str);
        server.domains =
            domains.map(|domain| domain.trim_end_matches('.').to_ascii_lowercase()).collect();
    }
    // A list must not claim `com` or `github.io`, and with it the links to all sites below.
    server.domains.retain(|domain| is_ownable(domain));
    let good = !server.short_name().is_empty()
        && !server.domains.is_empty()
        && reach.check(&server.endpoint).is_ok();
    good.then_some(server)
}

/// Returns the host of a URL in lowercase; rejects URLs that can disguise their host.
fn url_host(address: &str) -> Option<String> {
    // Parsers disagree about backslashes: some end the host there, others do not.
    if address.contains('\\') {
        return None;
    }
    let url = Url::parse(address).ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !plain {
        return None;
    }
    let host = url.host_str()?.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// Returns whether a domain can have one owner: at least two labels, and not a public suffix.
fn is_ownable(domain: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels = domain.split('.').count();
    // An IP address is not a domain.
    let is_number =
        domain.rsplit('.').next().is_some_and(|last| last.bytes().all(|c| c.is_ascii_digit()));
    labels >= 2 && domain.split('.').all(is_label) && !is_number && !is_shared_suffix(domain)
}

fn addresses_in(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("http").map(|(at, _)| at);
    starts.filter_map(move |at| {
        let rest = text.get(at..)?;
        if !rest.starts_with("https://") && !rest.starts_with("http://") {
            return None;
        }
        let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"'`|{}".contains(c);
        let address = rest.split(ends).next()?;
        // Punctuation after a URL usually belongs to the sentence.
        Some(address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_our_list_can_be_used() {
        let ours = KnownServers::built_in().unwrap();
        let written: Value = serde_json::from_str(BUILT_IN_LIST).unwrap();
        assert_eq!(ours.servers.len(), written["servers"].as_array().unwrap().len());
        for server in ours.all() {
            assert!(!server.description.is_empty() && !server.icon.is_empty(), "{}", server.name);
            assert_eq!(ours.by_name(&server.short_name()), Some(server));
        }
    }

    #[test]
    fn an_address_finds_the_server_of_its_domain_and_no_lookalike() {
        let ours = KnownServers::built_in().unwrap();
        let name = |url: &str| ours.for_url(url).map(|server| server.name.as_str());
        for (url, expected) in [
            ("https://github.com/a/b/issues/1", Some("GitHub")),
            ("https://me.atlassian.net/browse/X-1", Some("Atlassian")),
            ("https://www.notion.so/x", Some("Notion")),
            ("https://evil-github.com/", None),
            ("https://github.com.evil.example/", None),
            ("https://github.com@evil.example/", None),
            ("https://cloudflare.com/", None),
            ("https://developers.cloudflare.com/x", Some("Cloudflare")),
        ] {
            assert_eq!(name(url), expected, "{url}");
        }
        let text = "compare https://github.com/a with https://linear.app/b.";
        let found: Vec<_> =
            ours.for_text(text).iter().map(|(url, it)| (*url, it.name.as_str())).collect();
        assert_eq!(found, [("https://github.com/a", "GitHub"), ("https://linear.app/b", "Linear")]);
    }

    #[test]
    fn a_list_of_registrations_is_read_and_bad_entries_are_left_out() {
        let list = r#"{"servers": [
        {"domains": ["Tools.Corp.example."], "info": {"name": "Corp", "endpoint": "https://10.0.0.1/mcp", "is_featured": true}},
        {"domains": ["com"], "info": {"name": "All", "endpoint": "https://a.example/mcp"}},
        {"domains": ["a.example"], "info": {"name": "Meta", "endpoint": "http://169.254.169.254/"}},
        {"domains": ["b.example"], "info": {"name": "", "endpoint": "https://b.example/"}},
        7
    ]}"#;
        let corp = KnownServer {
            name: "Corp".to_owned(),
            description: String::new(),
            icon: String::new(),
            endpoint: "https://10.0.0.1/mcp".to_owned(),
            featured: true,
            domains: vec!["tools.corp.example".to_owned()],
        };
        let read = KnownServers::read(list, RegistryReach::Own).unwrap();
        assert_eq!(read.servers, [corp]);
        assert_eq!(KnownServers::read(list, RegistryReach::Public).unwrap().servers, []);
        assert!(KnownServers::read("{}", RegistryReach::Own).is_err());
    }

    #[test]
    fn a_name_that_only_looks_like_the_domain_is_not_below_it() {
        for (address, expected) in [
            ("https://github.com/a/b", true),
            ("https://gist.github.com/a", true),
            ("HTTPS://GitHub.com", true),
            ("https://github.com./a", true),
            ("http://github.com:8080/", true),
            ("https://evil-github.com/", false),
            ("https://github.com.evil.example/", false),
            ("https://notgithub.com/", false),
            ("https://github.com@evil.example/", false),
            ("https://evil.example/github.com", false),
            ("https://evil.example/?u=https://github.com", false),
            ("https://evil.example#github.com", false),
            ("https://evil.example\\.github.com/", false),
            ("https://gіthub.com/", false),
            ("https://github.co", false),
            ("ftp://github.com/", false),
            ("javascript:github.com", false),
            ("github.com", false),
        ] {
            let below = url_host(address).is_some_and(|host| is_below(&host, "github.com"));
            assert_eq!(below, expected, "{address}");
        }
    }

    #[test]
    fn a_domain_of_everybody_is_nobodys() {
        for domain in ["github.com", "a.b.example", "x-y.io"] {
            assert!(is_ownable(domain), "{domain}");
        }
        for domain in [
            "com", "", "co.uk", "github.io", "*.com", "a..b", "GitHub.com", "1.2.3.4", "a b.c",
            ".com",
        ] {
            assert!(!is_ownable(domain), "{domain}");
        }
    }

    #[test]
    fn addresses_are_found_in_plain_sentences() {
        let text = "See (https://github.com/a/b), <http://x.example/?q=1> and `https://c.example`. httpx://d";
        let found: Vec<&str> = addresses_in(text).collect();
        assert_eq!(found, ["https://github.com/a/b", "http://x.example/?q=1", "https://c.example"]);
    }
}
