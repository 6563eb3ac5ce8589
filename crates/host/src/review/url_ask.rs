//! URLs that a server asks a person to visit: validation, registrable domain and warnings.

use switchboard_net::{ip_literal, is_local_name, registrable_domain, split_port};

use crate::review::ask::BadAsk;

/// Maximum length of a URL.
const MAX_URL_BYTES: usize = 8_192;

/// Top-level domains that make the first labels of a host look like a complete name.
const COMMON_TLDS: &[&str] = &["com", "org", "net", "edu", "gov", "io", "dev", "co", "app", "ai"];

/// A URL that a server asks a person to visit. The host only shows it and never requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlAsk {
    /// The URL exactly as the server sent it.
    pub url: String,
    /// The host name or IP address.
    pub host: String,
    /// The registrable domain, by heuristic: two labels, or three below some well-known suffixes.
    pub domain: String,
    /// Warnings to show, as sentences.
    pub warnings: Vec<String>,
}

impl UrlAsk {
    /// Parses a URL, and rejects one that must not be opened: it is misleading, or it is neither
    /// HTTPS nor HTTP on a loopback address.
    pub fn parse(url: &str) -> Result<Self, BadAsk> {
        let refused = |why: &str| BadAsk::new_unsafe(format!("its URL {why}"));
        if url.len() > MAX_URL_BYTES {
            return Err(refused("is too long"));
        }
        // Browsers drop or rewrite these, so a person would not see where the URL leads.
        if url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(refused("contains spaces, control characters or backslashes"));
        }
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| refused("is not a web address"))?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return Err(refused("is neither `https` nor `http`"));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(refused("contains a user name, which can disguise its host"));
        }
        if !rest.strip_prefix(authority).is_some_and(str::is_ascii) {
            return Err(refused("contains characters that have to be percent-encoded"));
        }
        let (host, _) = split_port(authority).ok_or_else(|| refused("has no valid host"))?;
        let host = host.trim_end_matches('.').to_lowercase();
        let place = HostKind::classify(&host).ok_or_else(|| refused("has no valid host"))?;
        if scheme == "http" && place != HostKind::Loopback {
            return Err(refused("is not protected: only `https` is opened"));
        }
        let domain = match place {
            HostKind::Name => registrable_domain(&host).to_owned(),
            HostKind::Loopback | HostKind::Ip => host.clone(),
        };
        let warnings = warnings(&host, &domain, place);
        Ok(Self { url: url.to_owned(), host, domain, warnings })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostKind {
    Loopback,
    Ip,
    Name,
}

impl HostKind {
    fn classify(host: &str) -> Option<Self> {
        if is_local_name(host) {
            return Some(Self::Loopback);
        }
        if let Some(address) = ip_literal(host) {
            return Some(if address.is_loopback() { Self::Loopback } else { Self::Ip });
        }
        let last = host.rsplit('.').next().unwrap_or_default();
        // Browsers parse a host that ends in a number as an IP address, in obscure notations.
        let is_number = last.starts_with(|c: char| c.is_ascii_digit());
        let is_label = |label: &str| {
            let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            !label.is_empty() && label.chars().all(fits)
        };
        (!is_number && host.split('.').all(is_label)).then_some(Self::Name)
    }
}

fn warnings(host: &str, domain: &str, place: HostKind) -> Vec<String> {
    let mut warnings = Vec::new();
    match place {
        HostKind::Loopback => warnings.push("it leads to a program on this machine".to_owned()),
        HostKind::Ip => warnings.push("it leads to an IP address instead of a name".to_owned()),
        HostKind::Name => {}
    }
    let labels = || host.split('.');
    if labels().any(|label| label.starts_with("xn--")) {
        let words = "the name is written in punycode, so it may be shown as another one";
        warnings.push(words.to_owned());
    }
    if labels().any(mixes_scripts) {
        warnings.push("the name mixes letters of different scripts, as forgeries do".to_owned());
    } else if !host.is_ascii() {
        let words = "the name has letters that can look like those of another name";
        warnings.push(words.to_owned());
    }
    if let Some(look_alike) = misleading_prefix(host, domain) {
        warnings.push(format!("it begins like {look_alike}, but belongs to {domain}"));
    }
    warnings
}

/// Returns the start of a host name that looks like a complete name, as in `github.com.evil.tld`.
fn misleading_prefix<'a>(host: &'a str, domain: &str) -> Option<&'a str> {
    let front = host.strip_suffix(domain)?.strip_suffix('.')?;
    let (name, ending) = front.rsplit_once('.')?;
    let is_familiar = |label: &str| COMMON_TLDS.contains(&label);
    match is_familiar(ending) {
        true => Some(front),
        false => {
            let end = name.rfind('.').filter(|_| name.rsplit('.').next().is_some_and(is_familiar));
            end.map(|_| name)
        }
    }
}

/// Returns whether a label mixes Latin letters with those of another script.
fn mixes_scripts(label: &str) -> bool {
    let is_latin = |c: char| c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}');
    let other = label.chars().any(|c| c.is_alphabetic() && !is_latin(c));
    other && label.chars().any(is_latin)
}

#[cfg(test)]
#[path = "url_ask_tests.rs"]
mod tests;
