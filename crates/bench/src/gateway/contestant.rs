//! Which gateways are measured, and what each of them can do.

use serde::Serialize;

use super::peers::PeerGateway;
use super::route::CallRoute;
use crate::client::EndpointProtocol;

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

    /// What the tables call it.
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

    /// How it is spoken to.
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
