//! Which domain a web address belongs to, without being taken in by lookalikes.

use reqwest::Url;

/// Endings below which everybody can have a name, so that none of them is anybody's domain.
const SHARED_DOMAINS: &[&str] = &[
    "co.uk",
    "org.uk",
    "ac.uk",
    "gov.uk",
    "com.au",
    "net.au",
    "org.au",
    "co.nz",
    "co.jp",
    "or.jp",
    "ne.jp",
    "com.br",
    "com.cn",
    "com.mx",
    "com.tr",
    "co.in",
    "co.kr",
    "co.za",
    "com.sg",
    "com.hk",
    "com.tw",
    "github.io",
    "gitlab.io",
    "pages.dev",
    "workers.dev",
    "vercel.app",
    "netlify.app",
    "herokuapp.com",
    "web.app",
    "firebaseapp.com",
    "azurewebsites.net",
    "blogspot.com",
    "fly.dev",
    "onrender.com",
    "cloudfront.net",
    "amazonaws.com",
    "s3.amazonaws.com",
    "hf.space",
    "appspot.com",
    "run.app",
    "ngrok.io",
    "ngrok.app",
    "ngrok-free.app",
];

/// The host of a web address, in lower case and without tricks.
pub(super) fn url_host(address: &str) -> Option<String> {
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

/// Whether the host is the domain or a name below it.
pub(super) fn is_below(host: &str, domain: &str) -> bool {
    host == domain
        || host.strip_suffix(domain).is_some_and(|before| before.ends_with('.') && before.len() > 1)
}

/// Whether a domain can belong to somebody: two parts or more, and not one that everybody shares.
pub(super) fn is_ownable(domain: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels = domain.split('.').count();
    let is_number =
        domain.rsplit('.').next().is_some_and(|last| last.bytes().all(|c| c.is_ascii_digit()));
    labels >= 2
        && domain.split('.').all(is_label)
        && !is_number
        && !SHARED_DOMAINS.contains(&domain)
}

/// The web addresses in a text.
pub(super) fn addresses_in(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("http").map(|(at, _)| at);
    starts.filter_map(move |at| {
        let rest = text.get(at..)?;
        if !rest.starts_with("https://") && !rest.starts_with("http://") {
            return None;
        }
        let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"'`|{}".contains(c);
        let address = rest.split(ends).next()?;
        Some(address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!is_below(".github.com", "github.com"));
    }

    #[test]
    fn a_domain_of_everybody_is_nobodys() {
        for domain in ["github.com", "a.b.example", "x-y.io"] {
            assert!(is_ownable(domain), "{domain}");
        }
        for domain in [
            "com",
            "",
            "co.uk",
            "github.io",
            "*.com",
            "a..b",
            "GitHub.com",
            "1.2.3.4",
            "a b.c",
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
