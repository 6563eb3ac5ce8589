//! Which gateways are measured, and what each of them can do.

use serde::Serialize;

use super::peers::Peer;
use super::route::Route;
use crate::client::Speech;

/// Something between a client and a server, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Contestant {
    Direct,
    Floor,
    Recorded,
    Unrecorded,
    Peer(Peer),
}

impl Contestant {
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
    pub(super) const fn takes(self, route: Route) -> bool {
        match (self, route) {
            (Self::Direct | Self::Floor | Self::Recorded | Self::Unrecorded, _) => true,
            (Self::Peer(Peer::FastMcp), _) => true,
            (Self::Peer(Peer::Mcpo | Peer::OneMcp | Peer::CrateProxy), Route::HttpToHttp) => true,
            (Self::Peer(_), Route::HttpToStdio) => true,
            (Self::Peer(_), Route::HttpToHttp | Route::StdioToStdio) => false,
        }
    }

    /// How it is spoken to.
    pub(super) const fn speech(self) -> Speech {
        match self {
            Self::Direct | Self::Floor | Self::Recorded | Self::Unrecorded => Speech::Modern,
            Self::Peer(Peer::Mcpo) => Speech::Plain,
            Self::Peer(_) => Speech::Legacy,
        }
    }

    /// What it calls the tool `echo` of the server `raw0`.
    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Recorded | Self::Unrecorded => "raw0__echo",
            Self::Peer(Peer::OneMcp) => "raw0_1mcp_echo",
            Self::Peer(Peer::CrateProxy) => "raw0/echo",
            Self::Direct | Self::Floor | Self::Peer(_) => "echo",
        }
    }
}
