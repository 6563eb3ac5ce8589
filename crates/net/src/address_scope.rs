//! Which addresses a login may visit: https, or plain http on this machine; never a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// An address that must not be visited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{place}` is not visited: {why}")]
pub struct BlockedAddress {
    /// The resource that the address names.
    pub what: &'static str,
    /// The address without its query and fragment, which may be secret.
    pub place: String,
    /// The reason.
    pub why: String,
}

/// How far the addresses may lead that a server names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressScope {
    /// The public network.
    Public,
    /// That, and this machine: the server itself runs on it.
    Loopback,
}

impl AddressScope {
    /// What a server at this address may name.
    pub fn for_server(server: &Url) -> Self {
        if is_loopback_url(server) { Self::Loopback } else { Self::Public }
    }

    /// Whether an address of the network may be dialled.
    pub fn allows(self, address: IpAddr) -> bool {
        is_public(address) || (self == Self::Loopback && is_loopback(address))
    }

    /// Reads an address and checks everything about it that can be checked without asking anybody.
    pub fn check(self, what: &'static str, text: &str) -> Result<Url, BlockedAddress> {
        let blocked =
            |why: &str| BlockedAddress { what, place: display_url(text), why: why.to_owned() };
        // Whoever reads it after us, a browser's starter for one, must see what we saw.
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&()*+,;=%".contains(&byte);
        if !text.bytes().all(plain) {
            return Err(blocked("it has characters that do not belong into an address"));
        }
        let url = Url::parse(text).map_err(|_| blocked("it is no address"))?;
        self.check_url(what, &url)?;
        Ok(url)
    }

    /// The same for an address that was read already.
    pub fn check_url(self, what: &'static str, url: &Url) -> Result<(), BlockedAddress> {
        let blocked = |why: &str| {
            let place = display_url(url.as_str());
            Err(BlockedAddress { what, place, why: why.to_owned() })
        };
        if !url.username().is_empty() || url.password().is_some() {
            return blocked("it has a user name in it");
        }
        if url.fragment().is_some() {
            return blocked("it has a fragment");
        }
        let Some(host) = url.host_str() else { return blocked("it has no host") };
        let simple = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        if !host.bytes().all(simple) {
            return blocked("its host is no host name");
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback_url(url) => {}
            "http" => return blocked("it is not encrypted"),
            _ => return blocked("it is neither `https` nor `http`"),
        }
        match ip_literal(host) {
            Some(address) if !self.allows(address) => {
                blocked("it leads to an address that is not public")
            }
            None if is_local_name(host) && self == Self::Public => {
                blocked("it leads to this machine, and the server does not run here")
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// An address without what may be secret in it, short and on one line.
pub fn display_url(text: &str) -> String {
    let visible = text.split(['?', '#']).next().unwrap_or_default();
    let safe = visible.chars().filter(|character| !character.is_control());
    safe.take(200).collect()
}

fn is_loopback_url(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    is_local_name(host) || ip_literal(host).is_some_and(is_loopback)
}

fn is_local_name(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// The address that a host stands for, if it is one. `Url` has put every spelling of an IPv4
/// address into the usual form.
fn ip_literal(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.trim_end_matches('.').parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address == Ipv6Addr::LOCALHOST,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    !matches!(
        (first, second, third),
        (0 | 10 | 127 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Only what is handed out to the public, and no form that carries an IPv4 address: who dials such
/// a form reaches whatever the address inside stands for.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let global = first & 0xe000 == 0x2000;
    let teredo_or_special = first == 0x2001 && second < 0x0200;
    let documentation = (first == 0x2001 && second == 0x0db8) || first & 0xfff0 == 0x3ff0;
    let six_to_four = first == 0x2002;
    global && !teredo_or_special && !documentation && !six_to_four
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
            "127.0.0.1",
            "0x7f000001",
            "2130706433",
            "127.1",
            "0177.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "localhost",
            "a.localhost",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:8.8.8.8]",
            "[::127.0.0.1]",
            "[fe80::1]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fec0::1]",
            "[ff02::1]",
            "[2002:7f00:1::]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b:1::1]",
            "[2001::1]",
            "[2001:db8::1]",
        ] {
            let text = format!("https://{host}/x");
            assert!(verdict(AddressScope::Public, &text).is_err(), "{text}");
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
