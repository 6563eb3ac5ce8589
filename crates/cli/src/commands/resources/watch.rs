//! Prints each change of a resource, until interrupted.

use clap::Args;
use serde_json::{Value, json};
use switchboard_core::{Caller, EventKind, ProposedCall};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;
use tokio::sync::broadcast::error::RecvError;

use crate::args::ServerArg;
use crate::commands::{call, tools};
use crate::context::CommandContext;

/// Watching a resource.
#[derive(Debug, Args)]
pub(crate) struct WatchResourceArgs {
    /// The server
    pub(crate) server: String,
    /// The resource's address
    pub(crate) uri: String,
    /// Read the resource at each change and print what is new
    #[arg(long)]
    pub(crate) read: bool,
}

/// Watches a resource; Ctrl-C ends it well.
pub(crate) async fn watch(
    context: &CommandContext,
    wanted: &WatchResourceArgs,
) -> Result<u8, CliError> {
    let only = ServerArg { server: Some(wanted.server.clone()) };
    let host = tools::start(context, &only).await?;
    let mut events = host.events().watch();
    let watching = async {
        let _subscription = host
            .subscribe(&wanted.server, &wanted.uri)
            .map_err(|error| CliError::new(exit_code::NOT_RUN, error.to_string()))?;
        loop {
            match events.recv().await {
                Ok(event) => handle_event(context, &host, wanted, event.what).await?,
                Err(RecvError::Lagged(missed)) => {
                    context.printer.say(&format!("{missed} events were missed"));
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    };
    let outcome: Option<Result<(), CliError>> =
        context.interrupts.token().run_until_cancelled(watching).await;
    host.stop().await;
    outcome.unwrap_or(Ok(())).map(|()| exit_code::OK)
}

async fn handle_event(
    context: &CommandContext,
    host: &Host,
    wanted: &WatchResourceArgs,
    what: EventKind,
) -> Result<(), CliError> {
    match what {
        EventKind::ResourceSubscribed { server, uri, problem } if server == wanted.server => {
            let uri = escape_line(&uri);
            match problem {
                None => context.printer.say(&format!("watching {uri} of {server}")),
                Some(why) => {
                    let why =
                        format!("`{uri}` of `{server}` is not watched: {}", escape_line(&why));
                    return Err(CliError::new(exit_code::NOT_RUN, why));
                }
            }
            Ok(())
        }
        EventKind::ResourceUpdated { server, uri } if server == wanted.server => {
            if wanted.read {
                show_content(context, host, &server, &uri).await
            } else if context.printer.json {
                let line = json!({"event": "resource_updated", "server": server, "uri": uri});
                context.printer.data(&line.to_string())
            } else {
                context.printer.data(&escape_line(&uri))
            }
        }
        _ => Ok(()),
    }
}

async fn show_content(
    context: &CommandContext,
    host: &Host,
    server: &str,
    uri: &str,
) -> Result<(), CliError> {
    let proposed = ProposedCall::resource(server, uri);
    if !context.printer.json {
        // A resource that cannot be read this time may be readable the next.
        return call::execute(context, host, proposed, call::CallSettings::person())
            .await
            .map(|_| ());
    }
    let record = host.call(&host.lease(), proposed, &Caller::person()).await;
    let result = record.outcome.result.as_ref();
    let result: Value =
        result.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
    let line = json!({
        "event": "resource_updated",
        "server": server,
        "uri": uri,
        "outcome": record.outcome.kind.as_str(),
        "message": record.outcome.message,
        "result": result,
    });
    context.printer.data(&line.to_string())
}
