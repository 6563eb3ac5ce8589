//! Address scopes: the parts of the network that a URL from an untrusted source may point to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// A URL that must not be requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{place}` is blocked: {why}")]
pub struct BlockedAddress {
    pub what: &'static str,
    /// The URL without its query and fragment, which may be secret.
    pub place: String,
    pub why: String,
}

/// The addresses that an untrusted URL may point to. Each scope includes the previous ones.
///
/// None includes link-local, multicast and metadata addresses, or IPv6 forms of IPv4 addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressScope {
    Public,
    Loopback,
    Private,
}

impl AddressScope {
    /// Returns the scope of the URLs that a server at this URL may send.
    pub fn for_server(server: &Url) -> Self {
        // A remote server must not use us to reach services that listen only on this machine.
        if is_local(server) { Self::Loopback } else { Self::Public }
    }

    /// Returns whether an IP address is in this scope.
    pub fn allows(self, address: IpAddr) -> bool {
        let narrowest = match address {
            IpAddr::V4(address) => narrowest_v4(address),
            IpAddr::V6(address) => narrowest_v6(address),
        };
        narrowest.is_some_and(|narrowest| narrowest <= self)
    }

    /// Parses a URL that is used during a login, and checks everything that needs no DNS lookup.
    pub fn check(self, what: &'static str, text: &str) -> Result<Url, BlockedAddress> {
        let blocked =
            |why: &str| BlockedAddress { what, place: display_url(text), why: why.to_owned() };
        // Later parsers, such as the program that opens the browser, must see the same URL.
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&()*+,;=%".contains(&byte);
        if !text.bytes().all(plain) {
            return Err(blocked("it contains characters that are not allowed in a URL"));
        }
        let url = Url::parse(text).map_err(|_| blocked("it is not a valid URL"))?;
        self.check_url(what, &url)?;
        Ok(url)
    }

    /// Checks a parsed URL, except for the addresses that its host resolves to.
    pub fn check_url(self, what: &'static str, url: &Url) -> Result<(), BlockedAddress> {
        let blocked = |why: &str| {
            let place = display_url(url.as_str());
            Err(BlockedAddress { what, place, why: why.to_owned() })
        };
        if !url.username().is_empty() || url.password().is_some() {
            return blocked("it contains a user name");
        }
        if url.fragment().is_some() {
            return blocked("it has a fragment");
        }
        let Some(host) = url.host_str() else { return blocked("it has no host") };
        let simple = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        if !host.bytes().all(simple) {
            return blocked("its host name is not valid");
        }
        match url.scheme() {
            "https" => {}
            "http" if is_local(url) => {}
            "http" => return blocked("it is not encrypted"),
            _ => return blocked("it is neither `https` nor `http`"),
        }
        match ip_literal(host) {
            Some(address) if !self.allows(address) => {
                blocked("it points to an address that is not public")
            }
            None if is_local_name(host) && self == Self::Public => {
                blocked("it points to this machine, but the server runs elsewhere")
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Returns a URL for display: without query and fragment, truncated, on one line.
pub fn display_url(text: &str) -> String {
    let visible = text.split(['?', '#']).next().unwrap_or_default();
    let safe = visible.chars().filter(|character| !character.is_control());
    safe.take(200).collect()
}

/// Returns whether a URL certainly points to this machine: to `localhost` or a loopback address.
pub fn is_loopback(url: &Url) -> bool {
    // Not names below `localhost`, since some resolvers look them up on the network.
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || ip_literal(host).is_some_and(|address| address.is_loopback())
}

/// Returns whether a URL names this machine, by a [local name](is_local_name) or an IP address.
pub fn is_local(url: &Url) -> bool {
    is_local_name(url.host_str().unwrap_or_default()) || is_loopback(url)
}

/// Returns whether a host, in lower case, is `localhost` or a name below it (RFC 6761).
pub fn is_local_name(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Returns the IP address that the host of a [`Url`] is; other IPv4 notations are normalized there.
pub fn ip_literal(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.trim_end_matches('.').parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// Returns the narrowest scope that contains an IPv4 address.
fn narrowest_v4(address: Ipv4Addr) -> Option<AddressScope> {
    match address.octets() {
        [127, ..] => Some(AddressScope::Loopback),
        // "This network", multicast and broadcast.
        [0, ..] | [224..=239, ..] | [255, 255, 255, 255] => None,
        // Link-local addresses, where clouds serve the credentials of a machine, and the metadata
        // addresses of Alibaba Cloud and Azure.
        [169, 254, ..] | [100, 100, 100, 200] | [168, 63, 129, 16] => None,
        [10, ..]
        | [100, 64..=127, ..]
        | [172, 16..=31, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [192, 168, ..]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => Some(AddressScope::Private),
        _ => Some(AddressScope::Public),
    }
}

/// Returns the narrowest scope that contains an IPv6 address.
fn narrowest_v6(address: Ipv6Addr) -> Option<AddressScope> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(AddressScope::Loopback),
        // Forms that embed an IPv4 address (mapped, NAT64, Teredo, 6to4) would bypass its check.
        [0, ..] | [0x64, 0xff9b, ..] | [0x2001, 0, ..] | [0x2002, ..] => None,
        // Link-local and multicast, and the metadata address of AWS.
        [0xfe80..=0xfebf, ..] | [0xff00..=0xffff, ..] | [0xfd00, 0x0ec2, 0, .., 0x0254] => None,
        [0x2001, 1..=0x01ff | 0x0db8, ..] | [0x3ff0..=0x3fff, ..] => Some(AddressScope::Private),
        // Only 2000::/3 is allocated as global unicast; everything else counts as private.
        [0x2000..=0x3fff, ..] => Some(AddressScope::Public),
        _ => Some(AddressScope::Private),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(reach: AddressScope, text: &str) -> Result<(), String> {
        reach.check("the page", text).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn public_https_may_be_visited() {
        for text in [
            "https://auth.example.com/authorize?x=1",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]/",
        ] {
            assert_eq!(verdict(AddressScope::Public, text), Ok(()), "{text}");
            assert_eq!(verdict(AddressScope::Loopback, text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_server_on_this_machine_may_name_this_machine_and_no_other_private_one() {
        for text in
            ["http://127.0.0.1:9/x", "http://localhost:9/", "http://[::1]/", "http://127.1/"]
        {
            assert_eq!(verdict(AddressScope::Loopback, text), Ok(()), "{text}");
            assert!(verdict(AddressScope::Public, text).is_err(), "{text}");
        }
        for text in ["https://10.0.0.1/", "http://169.254.169.254/", "https://[fe80::1]/"] {
            assert!(verdict(AddressScope::Loopback, text).is_err(), "{text}");
        }
    }

    #[test]
    fn private_addresses_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1", "0x7f000001", "2130706433", "127.1", "0177.0.0.1", "10.1.2.3",
            "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
            "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.0.1", "localhost",
            "a.localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]",
            "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]",
            "[2002:7f00:1::]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2001::1]", "[2001:db8::1]",
        ] {
            let text = format!("https://{host}/x");
            assert!(verdict(AddressScope::Public, &text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_private_scope_has_no_link_local_or_metadata_address() {
        for (address, expected) in [
            ("10.0.0.1", true),
            ("127.0.0.1", true),
            ("192.168.1.1", true),
            ("1.1.1.1", true),
            ("fd00::1", true),
            ("::1", true),
            ("2606:4700::1", true),
            ("169.254.169.254", false),
            ("100.100.100.200", false),
            ("168.63.129.16", false),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("::ffff:10.0.0.1", false),
            ("2002:7f00:1::", false),
            ("ff02::1", false),
        ] {
            let is_allowed = AddressScope::Private.allows(address.parse().unwrap());
            assert_eq!(is_allowed, expected, "{address}");
        }
    }

    #[test]
    fn names_below_localhost_are_local_and_not_certainly_this_machine() {
        for (url, expected) in [
            ("http://localhost:9/", [true, true]),
            ("http://127.0.0.1/", [true, true]),
            ("http://127.1/", [true, true]),
            ("http://[::1]/", [true, true]),
            ("http://a.localhost/", [true, false]),
            ("http://localhost.evil.example/", [false, false]),
            ("http://127.0.0.1.evil.example/", [false, false]),
            ("http://[::ffff:127.0.0.1]/", [false, false]),
            ("http://10.0.0.1/", [false, false]),
        ] {
            let url = url.parse().unwrap();
            assert_eq!([is_local(&url), is_loopback(&url)], expected, "{url}");
        }
    }

    #[test]
    fn what_is_no_plain_web_address_is_refused() {
        for text in [
            "http://www.example.com$(calc.exe)",
            "https://www.example.com$(calc.exe)",
            "http://auth.example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "vscode://x",
            "-https://auth.example.com/",
            "--help",
            "https://auth.example.com/a b",
            "https://auth.example.com/\"",
            "https://auth.example.com/'x'",
            "https://auth.example.com/\nx",
            "https://auth.example.com\\@evil.example/",
            "https://user@auth.example.com/",
            "https://auth.example.com/#x",
            "https://①②⑦.0.0.1/",
            "http://localhost./",
            "",
        ] {
            assert!(verdict(AddressScope::Loopback, text).is_err(), "{text}");
        }
    }
}
