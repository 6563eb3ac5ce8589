//! Suggests a known server for a URL that the user mentions, once per conversation.

use std::time::Duration;

use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_registry::{KnownServer, KnownServers};
use switchboard_text::escape_line;

use crate::program::ChatContext;

/// How long fetching the list of known servers may delay a conversation.
const FETCH_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct Suggestion {
    told: bool,
}

impl Suggestion {
    /// Suggests a server for a URL in the message, unless one was suggested before.
    pub(crate) async fn consider(
        &mut self,
        context: &ChatContext<'_>,
        config: &Config,
        said: &str,
    ) {
        if self.told || !said.contains("://") {
            return;
        }
        // The suggestion is optional: ignore a list that cannot be loaded.
        let Ok(Ok(known)) =
            tokio::time::timeout(FETCH_TIMEOUT, context.program.known_servers(config)).await
        else {
            return;
        };
        if let Some(line) = suggestion(&known, config, said) {
            self.told = true;
            context.printer.say(&line);
        }
    }
}

fn suggestion(known: &KnownServers, config: &Config, said: &str) -> Option<String> {
    let found = known.for_text(said);
    let (_, server) = found.iter().find(|(url, server)| !is_served(server, url, config))?;
    let line = format!(
        "hint: {} has a server for {}: `switchboard add {}`",
        server.name,
        server.domains.first().map(String::as_str).unwrap_or_default(),
        server.short_name()
    );
    Some(escape_line(&line).into_owned())
}

/// Returns whether a configured server is the known one, or has its name.
fn is_served(known: &KnownServer, url: &str, config: &Config) -> bool {
    let name = known.short_name();
    let is_it = |server: &ServerConfig| match &server.transport {
        Transport::Builtin => false,
        Transport::Http { urls, .. } => {
            urls.iter().any(|at| known.is_at(at) || is_same_place(at, url))
        }
        Transport::Stdio { command, args, .. } => {
            // Packages are usually named after the service, so a local server of that name may
            // serve it already.
            std::iter::once(command).chain(args).any(|word| word.to_lowercase().contains(&name))
        }
    };
    let of_name = |id: &str| id.to_lowercase().contains(&name);
    config.servers.values().any(|server| of_name(server.id.as_str()) || is_it(server))
        || config.broken.keys().any(|id| of_name(id.as_str()))
}

fn is_same_place(one: &str, other: &str) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase()
    };
    host(one) == host(other)
}
