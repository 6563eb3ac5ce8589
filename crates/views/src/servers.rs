//! View models of the server list: state, reason, next step and transport.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_catalog::{Server, ServerStatus};
use switchboard_config::{HttpKind, ServerConfig, Transport};
use switchboard_host::Host;

/// A server in a list.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct ServerRow {
    /// Its name.
    pub name: String,
    /// Its state in a word or two.
    pub state: String,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// What to do about it.
    pub next_step: Option<String>,
    /// When it is tried again.
    pub retry_in_seconds: Option<u64>,
    /// `stdio`, `http`, `sse`, `built in` or `unknown`.
    pub transport: String,
    /// The command or the address, without secrets.
    pub place: String,
    /// The revision of the protocol that it speaks.
    pub revision: Option<String>,
    /// How many tools it offers.
    pub tools: usize,
    /// How many resources and templates.
    pub resources: usize,
    /// How many prompts.
    pub prompts: usize,
    /// How many instances of it there are.
    pub instances: usize,
    /// How many requests it works at.
    pub in_flight: usize,
    /// Since how many seconds it is there, the oldest of its instances.
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
        up_seconds: up_seconds(server),
    }
}

fn up_seconds(server: &Server) -> Option<u64> {
    let runs = server.instances.iter().filter_map(|instance| instance.health.run());
    runs.map(|run| run.since.elapsed().as_secs()).max()
}

fn next_step(server: &Server) -> Option<String> {
    let name = &server.id;
    match &server.status {
        ServerStatus::Ready | ServerStatus::Starting => None,
        ServerStatus::Disabled => Some("enable it".to_owned()),
        ServerStatus::NeedsApproval => Some(format!("run `switchboard servers approve {name}`")),
        ServerStatus::NotAllowed(failure) => {
            failure.hint.clone().or_else(|| Some("run `switchboard policy show`".to_owned()))
        }
        ServerStatus::NeedsLogin(failure) => {
            failure.hint.clone().or_else(|| Some(format!("run `switchboard login {name}`")))
        }
        ServerStatus::Waiting { failure, .. } | ServerStatus::Failed(failure) => {
            failure.hint.clone().or_else(|| Some(format!("run `switchboard doctor {name}`")))
        }
    }
}

fn launch_text(config: Option<&ServerConfig>) -> (&'static str, String) {
    match config.map(|config| &config.transport) {
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
    let (place, path) =
        rest.split_once('/').map_or((rest, None), |(place, path)| (place, Some(path)));
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    match path {
        Some(path) => format!("{scheme}://{place}/{path}"),
        None => format!("{scheme}://{place}"),
    }
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
