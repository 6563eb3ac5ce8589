//! What is measured: how the client reaches the gateway, how that reaches the server, and the load.

use std::fmt;

use serde::Serialize;

use super::peers::PeerGateway;
use crate::client::EndpointProtocol;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallRoute {
    HttpToHttp,
    HttpToStdio,
    StdioToStdio,
}

/// One thing to measure of every gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GatewayCase {
    pub(super) route: CallRoute,
    /// Bytes of text, there and back.
    pub(super) bytes: usize,
    /// Calls that are under way at the same time.
    pub(super) in_flight: usize,
}

pub(super) const SMALL: usize = 200;
pub(super) const LARGE: usize = 16 << 10;
pub(super) const SIZES: [usize; 2] = [SMALL, LARGE];
/// As many calls are under way where processor time is compared.
pub(super) const MANY: usize = 64;
/// As many calls are under way where memory is compared.
pub(super) const MAX_IN_FLIGHT: usize = 256;
pub(super) const IN_FLIGHT: [usize; 4] = [1, 16, MANY, MAX_IN_FLIGHT];

impl CallRoute {
    pub(super) const ALL: [Self; 3] = [Self::HttpToHttp, Self::HttpToStdio, Self::StdioToStdio];

    /// Whether the server behind it is reached over HTTP.
    pub(super) const fn has_http_upstream(self) -> bool {
        matches!(self, Self::HttpToHttp)
    }

    pub(super) const fn has_pipe_client(self) -> bool {
        matches!(self, Self::StdioToStdio)
    }

    pub(super) fn cases(self) -> Vec<GatewayCase> {
        let of_size =
            |bytes| IN_FLIGHT.map(|in_flight| GatewayCase { route: self, bytes, in_flight });
        SIZES.into_iter().flat_map(of_size).collect()
    }
}

/// A payload's size as people write it.
pub(super) fn size(bytes: usize) -> String {
    if bytes >= 1 << 10 { format!("{} KiB", bytes >> 10) } else { format!("{bytes} B") }
}

impl fmt::Display for CallRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HttpToHttp => "HTTP → HTTP",
            Self::HttpToStdio => "HTTP → stdio",
            Self::StdioToStdio => "stdio → stdio",
        })
    }
}

impl fmt::Display for GatewayCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {} in flight", self.route, size(self.bytes), self.in_flight)
    }
}

/// Something between a client and a server, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GatewayContestant {
    Direct,
    Floor,
    Recorded,
    Unrecorded,
    Peer(PeerGateway),
}

impl GatewayContestant {
    /// Ourselves, and what we are compared with first.
    pub(super) const OWN: [Self; 4] = [Self::Direct, Self::Floor, Self::Recorded, Self::Unrecorded];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Direct => "none: direct",
            Self::Floor => "floor: forwards bytes",
            Self::Recorded => "ours: everything on",
            Self::Unrecorded => "ours: `--no-record`",
            Self::Peer(peer) => peer.title(),
        }
    }

    /// Whether it can be put on this way.
    pub(super) const fn takes(self, route: CallRoute) -> bool {
        match (self, route) {
            (Self::Direct | Self::Floor | Self::Recorded | Self::Unrecorded, _) => true,
            (Self::Peer(PeerGateway::FastMcp), _) => true,
            (
                Self::Peer(PeerGateway::Mcpo | PeerGateway::OneMcp | PeerGateway::CrateProxy),
                CallRoute::HttpToHttp,
            ) => true,
            (Self::Peer(_), CallRoute::HttpToStdio) => true,
            (Self::Peer(_), CallRoute::HttpToHttp | CallRoute::StdioToStdio) => false,
        }
    }

    pub(super) const fn speech(self) -> EndpointProtocol {
        match self {
            Self::Direct | Self::Floor | Self::Recorded | Self::Unrecorded => {
                EndpointProtocol::Modern
            }
            Self::Peer(PeerGateway::Mcpo) => EndpointProtocol::Plain,
            Self::Peer(_) => EndpointProtocol::Legacy,
        }
    }

    /// What it calls the tool `echo` of the server `raw0`.
    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Recorded | Self::Unrecorded => "raw0__echo",
            Self::Peer(PeerGateway::OneMcp) => "raw0_1mcp_echo",
            Self::Peer(PeerGateway::CrateProxy) => "raw0/echo",
            Self::Direct | Self::Floor | Self::Peer(_) => "echo",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallRoute;

    #[test]
    fn every_way_is_measured_with_every_load() {
        let names: Vec<String> =
            CallRoute::HttpToStdio.cases().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names.first().unwrap(), "HTTP → stdio, 200 B, 1 in flight");
        assert_eq!(names.last().unwrap(), "HTTP → stdio, 16 KiB, 256 in flight");
    }
}
