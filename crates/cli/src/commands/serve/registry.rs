//! `serve --registry`: the servers that are allowed here, as a registry would list them.

use switchboard_access::Access;
use switchboard_catalog::Server;
use switchboard_config::{HttpKind, ServerConfig, Transport};
use switchboard_gateway::http::Directory;
use switchboard_host::Host;
use switchboard_registry::offers::{OfferTransport, RegistryOffer, answer};

/// The servers of a host.
pub(crate) struct FleetDirectory {
    pub(crate) host: Host,
}

impl Directory for FleetDirectory {
    fn answer(&self, access: &Access, path: &str, query: &str) -> (u16, String) {
        let fleet = self.host.fleet().load();
        let seen = fleet.servers.values().filter(|server| is_seen(access, server));
        let offered: Vec<RegistryOffer> =
            seen.filter_map(|server| registry_offer(server)).collect();
        answer(&offered, path, query)
    }
}

/// Whether the caller's view shows anything of a server.
fn is_seen(access: &Access, server: &Server) -> bool {
    let mut tools = server.offers.tools.iter();
    access.view.is_unrestricted()
        || tools.any(|tool| access.view.shows(server.id.as_str(), tool.name()))
}

/// A server that may be there, without its secrets.
fn registry_offer(server: &Server) -> Option<RegistryOffer> {
    let config = server.config.as_deref().filter(|config| is_allowed(config))?;
    let how = match &config.transport {
        Transport::Builtin => return None,
        Transport::Stdio { command, args, env, .. } => OfferTransport::Command {
            command: command.clone(),
            args: args.clone(),
            variables: env.keys().cloned().collect(),
        },
        Transport::Http { urls, headers, kind } => OfferTransport::Remote {
            kind: if *kind == HttpKind::Sse { "sse" } else { "streamable-http" },
            url: urls.first()?.clone(),
            headers: headers.keys().cloned().collect(),
        },
    };
    Some(RegistryOffer { id: server.id.to_string(), title: None, version: None, how })
}

fn is_allowed(config: &ServerConfig) -> bool {
    config.barred.is_none() && config.approved && !config.disabled
}
