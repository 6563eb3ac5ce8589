//! The web console beside the MCP endpoint: whether there is one, and its link for the terminal.

use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_chat::{model_error, profile_for};
use switchboard_console::{
    Console, ConsoleAddress, ConsoleOptions, Conversations, OpenModel, OpenModelError, PagePresence,
};
use switchboard_core::ServerId;
use switchboard_host::Host;
use switchboard_terminal::CliError;

use crate::commands::dialects::OtherProducts;
use crate::context::CommandContext;

/// What is wanted of the console.
pub(crate) struct ServeConsoleOptions {
    pub(crate) left_out: bool,
    /// Whether we answer as a registry beside it.
    pub(crate) registry: bool,
    /// A proxy with TLS through which it is reached.
    pub(crate) url: Option<String>,
    /// Conversations that are held through it.
    pub(crate) talks: Conversations,
    /// Whether somebody is at it.
    pub(crate) onlookers: PagePresence,
    /// The only servers that are served, if any are named.
    pub(crate) only: Vec<ServerId>,
}

/// The console, where it is wanted and only this machine or a proxy with TLS can reach it.
pub(crate) fn console(
    context: &CommandContext,
    wish: &ServeConsoleOptions,
    host: &Host,
    address: SocketAddr,
) -> Result<Option<Arc<Console>>, CliError> {
    let address = match &wish.url {
        _ if wish.left_out => return Ok(None),
        Some(url) => ConsoleAddress::Https(check_url(url)?),
        None if address.ip().is_loopback() => ConsoleAddress::Loopback(address),
        None => {
            let hint =
                "`--console-url https://…` names a proxy with TLS through which it is reached";
            context.printer.warn("other machines reach this address: no console here", Some(hint));
            return Ok(None);
        }
    };
    let talk = context.printer.clone();
    let options = ConsoleOptions {
        address,
        places: context.places.clone(),
        environment: context.environment.clone(),
        talks: wish.talks.clone(),
        onlookers: wish.onlookers.clone(),
        models: Some(models(context)),
        elsewhere: Arc::new(OtherProducts {
            environment: context.environment.clone(),
            places: context.places.clone(),
        }),
        stop: context.interrupts.token().clone(),
        announce: Box::new(move |link| talk.say(&line(link))),
    };
    Ok(Some(Console::new(host.clone(), options)))
}

/// Opens the models of the configuration.
fn models(context: &CommandContext) -> Box<OpenModel> {
    let environment = context.environment.clone();
    Box::new(move |config, wanted| {
        let no_model =
            |error: CliError| OpenModelError { message: error.message, hint: error.hint };
        let profile = profile_for(config, wanted).map_err(no_model)?;
        switchboard_models::open(&profile, &environment)
            .map_err(|error| no_model(model_error(error)))
    })
}

/// Shows the link to whoever sees the terminal.
pub(crate) fn show(context: &CommandContext, link: &str) {
    context.printer.say(&line(link));
}

fn line(link: &str) -> String {
    format!("console: {link}")
}

/// A place and nothing else: what comes after it would be lost.
fn check_url(url: &str) -> Result<String, CliError> {
    let place = url.trim_end_matches('/').strip_prefix("https://").unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    if place.is_empty() || !place.chars().all(is_plain) {
        return Err(CliError::usage(format!("`{url}` is not the address of a place with TLS"))
            .with_hint("write it as https://tools.example"));
    }
    Ok(format!("https://{place}"))
}
