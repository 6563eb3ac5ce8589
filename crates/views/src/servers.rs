//! View models of the server list: state, reason, next step and transport.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_catalog::{Server, ServerStatus};
use switchboard_config::{HttpKind, ServerConfig, Transport};
use switchboard_host::Host;

/// A server in the server list.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct ServerRow {
    /// Name of the server.
    pub name: String,
    /// State, such as `ready` or `needs approval`.
    pub state: String,
    /// Reason why the server is not ready.
    pub reason: Option<String>,
    /// Suggested next step, such as a command to run.
    pub next_step: Option<String>,
    /// Seconds until the next attempt to start it.
    pub retry_in_seconds: Option<u64>,
    /// Transport: `stdio`, `http`, `sse`, `built in` or `unknown`.
    pub transport: String,
    /// Command line or URLs, without secrets.
    pub place: String,
    /// Negotiated revision of the protocol.
    pub revision: Option<String>,
    /// Number of tools that the server offers.
    pub tools: usize,
    /// Number of resources and resource templates.
    pub resources: usize,
    /// Number of prompts that the server offers.
    pub prompts: usize,
    /// Number of instances of the server.
    pub instances: usize,
    /// Number of requests in flight.
    pub in_flight: usize,
    /// Uptime of the oldest instance in seconds.
    pub up_seconds: Option<u64>,
}

impl ServerRow {
    /// Returns whether the first attempt to start has not ended.
    pub fn is_starting(&self) -> bool {
        self.state == ServerStatus::Starting.word()
    }

    /// Returns whether the server accepts calls.
    pub fn is_ready(&self) -> bool {
        self.state == ServerStatus::Ready.word()
    }
}

/// Returns all servers, sorted by name.
pub fn servers(host: &Host) -> Vec<ServerRow> {
    host.fleet().load().servers.values().map(|server| row(server)).collect()
}

pub(crate) fn row(server: &Server) -> ServerRow {
    let (transport, place) = launch_text(server.config.as_deref());
    let failure = server.status.failure();
    let runs = server.instances.iter().filter_map(|instance| instance.health.run());
    let retry = match &server.status {
        ServerStatus::Waiting { until, .. } => {
            Some(until.saturating_duration_since(Instant::now()).as_secs())
        }
        ServerStatus::Disabled
        | ServerStatus::NeedsApproval
        | ServerStatus::NotAllowed(_)
        | ServerStatus::Starting
        | ServerStatus::Ready
        | ServerStatus::NeedsLogin(_)
        | ServerStatus::Failed(_) => None,
    };
    ServerRow {
        name: server.id.to_string(),
        state: server.status.word().to_owned(),
        reason: failure.map(|failure| failure.message.clone()),
        next_step: next_step(server),
        retry_in_seconds: retry,
        transport: transport.to_owned(),
        place,
        revision: server.agreement.as_ref().map(|agreement| agreement.revision.to_string()),
        tools: server.offers.tools.len(),
        resources: server.offers.resources.len() + server.offers.templates.len(),
        prompts: server.offers.prompts.len(),
        instances: server.instances.len(),
        in_flight: server.instances.iter().map(|instance| instance.health.in_flight()).sum(),
        up_seconds: runs.map(|run| run.since.elapsed().as_secs()).max(),
    }
}

fn next_step(server: &Server) -> Option<String> {
    let name = &server.id;
    let usual = match &server.status {
        ServerStatus::Ready | ServerStatus::Starting => return None,
        ServerStatus::Disabled => "enable it".to_owned(),
        ServerStatus::NeedsApproval => format!("run `switchboard servers approve {name}`"),
        ServerStatus::NotAllowed(_) => "run `switchboard policy show`".to_owned(),
        ServerStatus::NeedsLogin(_) => format!("run `switchboard login {name}`"),
        ServerStatus::Waiting { .. } | ServerStatus::Failed(_) => {
            format!("run `switchboard doctor {name}`")
        }
    };
    // The hint of a failure is about its cause, so it beats the usual step for the state.
    let hint = server.status.failure().and_then(|failure| failure.hint.clone());
    Some(hint.unwrap_or(usual))
}

fn launch_text(config: Option<&ServerConfig>) -> (&'static str, String) {
    match config.map(|config| &config.transport) {
        // The entry of the server cannot be read.
        None => ("unknown", String::new()),
        Some(Transport::Builtin) => ("built in", String::new()),
        Some(Transport::Stdio { command, args, .. }) => {
            let words = std::iter::once(command).chain(args).map(String::as_str);
            ("stdio", words.collect::<Vec<_>>().join(" "))
        }
        Some(Transport::Http { urls, kind, .. }) => {
            let plain = urls.iter().map(|url| without_secrets(url));
            let word = match kind {
                HttpKind::Auto | HttpKind::Streamable => "http",
                HttpKind::Sse => "sse",
            };
            (word, plain.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Removes the query, the fragment and the credentials from a URL.
fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // The last `@` ends the credentials: a password may contain one itself.
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    format!("{scheme}://{place}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        for (url, expected) in [
            ("https://a.example/mcp?key=1", "https://a.example/mcp"),
            ("https://me:word@a.example:1/x", "https://a.example:1/x"),
            ("https://a.example", "https://a.example"),
            ("odd#x", "odd"),
        ] {
            assert_eq!(without_secrets(url), expected);
        }
    }
}
