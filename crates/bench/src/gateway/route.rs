//! The cases: transport from client to gateway, transport from gateway to server, and load.

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

/// A case that is measured for every gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GatewayCase {
    pub(super) route: CallRoute,
    /// Bytes of text in each direction.
    pub(super) bytes: usize,
    /// Number of calls in flight.
    pub(super) in_flight: usize,
}

pub(super) const SMALL: usize = 200;
pub(super) const LARGE: usize = 16 << 10;
pub(super) const SIZES: [usize; 2] = [SMALL, LARGE];
/// Number of calls in flight for the comparison of processor time.
pub(super) const MANY: usize = 64;
/// Number of calls in flight for the comparison of memory.
pub(super) const MAX_IN_FLIGHT: usize = 256;
pub(super) const IN_FLIGHT: [usize; 4] = [1, 16, MANY, MAX_IN_FLIGHT];

impl CallRoute {
    pub(super) const ALL: [Self; 3] = [Self::HttpToHttp, Self::HttpToStdio, Self::StdioToStdio];

    /// Whether the gateway connects to the server over HTTP.
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

/// Formats a payload size.
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

/// A gateway between client and server; [`Self::Direct`] is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GatewayContestant {
    Direct,
    Floor,
    Recorded,
    Unrecorded,
    /// The build given by `--baseline`, with the same settings as `Recorded`.
    Baseline,
    Peer(PeerGateway),
}

impl GatewayContestant {
    /// Our gateway, and the baselines.
    pub(super) const OWN: [Self; 4] = [Self::Direct, Self::Floor, Self::Recorded, Self::Unrecorded];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Direct => "none: direct",
            Self::Floor => "floor: forwards bytes",
            Self::Recorded => "ours: everything on",
            Self::Unrecorded => "ours: `--no-record`",
            Self::Baseline => "baseline: everything on",
            Self::Peer(peer) => peer.title(),
        }
    }

    /// Whether it supports this route.
    pub(super) const fn takes(self, route: CallRoute) -> bool {
        match (self, route) {
            (
                Self::Direct
                | Self::Floor
                | Self::Recorded
                | Self::Unrecorded
                | Self::Baseline
                | Self::Peer(PeerGateway::FastMcp),
                _,
            ) => true,
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
            Self::Direct | Self::Floor | Self::Recorded | Self::Unrecorded | Self::Baseline => {
                EndpointProtocol::Modern
            }
            Self::Peer(PeerGateway::Mcpo) => EndpointProtocol::Plain,
            Self::Peer(_) => EndpointProtocol::Legacy,
        }
    }

    /// Returns its name for the tool `echo` of the server `raw0`.
    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Recorded | Self::Unrecorded | Self::Baseline => "raw0__echo",
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
