//! Tests of URLs, valid and misleading.

use proptest::prelude::*;

use super::UrlAsk;

#[test]
fn the_registered_domain_is_picked_out() {
    for (url, domain) in [
        ("https://example.org/login", "example.org"),
        ("https://login.example.org:8443/x?y=1#z", "example.org"),
        ("https://shop.example.co.uk/", "example.co.uk"),
        ("https://somebody.github.io/page", "somebody.github.io"),
        ("https://EXAMPLE.org.", "example.org"),
        ("https://github.com.evil.tld/login", "evil.tld"),
        ("http://localhost:3000/x", "localhost"),
        ("http://127.0.0.1:3000", "127.0.0.1"),
        ("http://[::1]:80/", "[::1]"),
        ("https://203.0.113.7/", "203.0.113.7"),
    ] {
        let ask = UrlAsk::parse(url).unwrap();
        assert_eq!((ask.url.as_str(), ask.domain.as_str()), (url, domain));
    }
}

#[test]
fn an_address_that_nobody_should_open_is_refused_with_the_reason() {
    for (url, reason) in [
        ("http://example.org/", "is not protected"),
        ("http://localhost.evil.tld/", "is not protected"),
        ("javascript:alert(1)", "is not a web address"),
        ("javascript://example.org/%0aalert(1)", "is neither"),
        ("file:///etc/passwd", "is neither"),
        ("https://user:word@example.org/", "contains a user name"),
        ("https://github.com@evil.tld/", "contains a user name"),
        ("https://github.com\\@evil.tld/", "contains spaces"),
        ("https://a b/", "contains spaces"),
        ("https://a\u{1b}[2J.org/", "contains spaces"),
        ("https://", "has no valid host"),
        ("https://:80/", "has no valid host"),
        ("https://a..b/", "has no valid host"),
        ("https://a.org:99999/", "has no valid host"),
        ("https://2130706433/", "has no valid host"),
        ("https://0x7f.1/", "has no valid host"),
        ("https://exam\u{200b}ple.org/", "has no valid host"),
        ("https://example.org/\u{202e}cod.exe", "contains characters"),
    ] {
        let error = UrlAsk::parse(url).unwrap_err().to_string();
        assert!(error.starts_with(&format!("its URL {reason}")), "{url}: {error}");
    }
}

#[test]
fn names_that_may_deceive_come_with_a_warning() {
    for (url, warning) in [
        ("https://example.org/", None),
        ("https://www.example.co.uk/", None),
        ("https://xn--80ak6aa92e.com/", Some("the name is written in punycode")),
        ("https://g\u{456}thub.com/", Some("the name mixes letters of different scripts")),
        ("https://пример.example/", Some("the name has letters that can look like")),
        (
            "https://github.com.evil.tld/login",
            Some("it begins like github.com, but belongs to evil.tld"),
        ),
        (
            "https://github.com.login.evil.tld/",
            Some("it begins like github.com, but belongs to evil.tld"),
        ),
        ("https://203.0.113.7/", Some("it leads to an IP address instead of a name")),
        ("http://localhost:3000/", Some("it leads to a program on this machine")),
    ] {
        let ask = UrlAsk::parse(url).unwrap();
        let first = ask.warnings.first().map(String::as_str);
        let fits = match (first, warning) {
            (Some(first), Some(warning)) => first.starts_with(warning),
            (first, warning) => first == warning,
        };
        assert!(fits, "{url}: {first:?}");
    }
}

proptest! {
    #[test]
    fn no_address_makes_it_panic(url in "(https?://)?[\\PC]{0,40}") {
        if let Ok(ask) = UrlAsk::parse(&url) {
            prop_assert!(ask.host.ends_with(&ask.domain));
        }
    }
}
