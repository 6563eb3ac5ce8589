//! The web console on the listener of `serve`: whether it is enabled, and its sign-in link.

use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_access::Access;
use switchboard_catalog::Server;
use switchboard_chat::{model_error, profile_for};
use switchboard_config::{HttpKind, ServerConfig, Transport};
use switchboard_console::{
    Console, ConsoleAddress, ConsoleOptions, Conversations, OpenModel, OpenModelError, PagePresence,
};
use switchboard_core::ServerId;
use switchboard_gateway::Directory;
use switchboard_host::{
    Ask, Asker, FirstUseAsks, Host, Question, QuestionUpdate, ReplyFuture, ReviewFuture, Reviewer,
};
use switchboard_registry::{OfferTransport, RegistryOffer, answer_registry_request};
use switchboard_terminal::{CliError, DecliningAsker, People, Printer};
use switchboard_trust::Presence;

use crate::commands::dialects::OtherProducts;
use crate::context::CommandContext;

pub(crate) struct ServeConsoleOptions {
    pub(crate) left_out: bool,
    pub(crate) registry: bool,
    pub(crate) url: Option<String>,
    pub(crate) talks: Conversations,
    pub(crate) onlookers: PagePresence,
    pub(crate) only: Vec<ServerId>,
}

/// Returns the console if it is enabled and reachable only locally or through a TLS proxy.
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
            let hint = "`--console-url https://…` enables the console behind a proxy with TLS";
            context.printer.warn(
                "other machines can reach this address, so the console is disabled",
                Some(hint),
            );
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

pub(crate) fn show(context: &CommandContext, link: &str) {
    context.printer.say(&line(link));
}

fn line(link: &str) -> String {
    format!("console: {link}")
}

/// Validates the console URL and returns its origin.
fn check_url(url: &str) -> Result<String, CliError> {
    // A path would be lost: the console is served at the root of its origin.
    let place = url.trim_end_matches('/').strip_prefix("https://").unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    if place.is_empty() || !place.chars().all(is_plain) {
        return Err(CliError::usage(format!("`{url}` is not an HTTPS origin"))
            .with_hint("write it as https://tools.example"));
    }
    Ok(format!("https://{place}"))
}

/// Leaves questions about calls in the review queue, where the console answers them.
#[derive(Clone)]
pub(crate) struct ConsoleReviewer {
    talks: Conversations,
    onlookers: PagePresence,
    nobody: DecliningAsker,
}

impl ConsoleReviewer {
    pub(crate) fn people(
        printer: &Printer,
        talks: &Conversations,
        onlookers: &PagePresence,
    ) -> People {
        let there = Self {
            talks: talks.clone(),
            onlookers: onlookers.clone(),
            nobody: DecliningAsker { printer: printer.clone() },
        };
        People {
            reviewer: Arc::new(there.clone()),
            asker: Arc::new(there),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }
}

impl Reviewer for ConsoleReviewer {
    fn ask<'a>(&'a self, _question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(std::future::pending())
    }
}

impl Asker for ConsoleReviewer {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        // A question waits only if someone can see it: in a conversation of the console, or on an
        // open page. Otherwise the server would block until the timeout.
        let of_pages = ask.reference.as_ref().is_some_and(|name| self.talks.holds(name));
        if of_pages || (ask.call.is_some() && self.onlookers.is_active()) {
            return Box::pin(std::future::pending());
        }
        self.nobody.ask(ask)
    }

    fn is_available(&self) -> bool {
        self.onlookers.is_active()
    }

    fn notify_refused(&self, server: &str, why: &str) {
        self.nobody.notify_refused(server, why);
    }

    fn on_update(&self, news: QuestionUpdate<'_>) {
        Asker::on_update(&self.nobody, news);
    }
}

pub(crate) struct FleetDirectory {
    pub(crate) host: Host,
}

impl Directory for FleetDirectory {
    fn answer(&self, access: &Access, path: &str, query: &str) -> (u16, String) {
        let fleet = self.host.fleet().load();
        let seen = fleet.servers.values().filter(|server| is_seen(access, server));
        let offered: Vec<RegistryOffer> =
            seen.filter_map(|server| registry_offer(server)).collect();
        answer_registry_request(&offered, path, query)
    }
}

/// Returns whether the caller's view includes any tool of the server.
fn is_seen(access: &Access, server: &Server) -> bool {
    // A restricted caller must not learn of servers that it cannot use.
    let mut tools = server.offers.tools.iter();
    access.view.is_unrestricted()
        || tools.any(|tool| access.view.shows(server.id.as_str(), tool.name()))
}

/// Returns the registry entry of an enabled and approved server.
fn registry_offer(server: &Server) -> Option<RegistryOffer> {
    let config = server.config.as_deref().filter(|config| is_allowed(config))?;
    let how = match &config.transport {
        Transport::Builtin => return None,
        Transport::Stdio { command, args, env, .. } => OfferTransport::Command {
            command: command.clone(),
            args: args.clone(),
            // Names only: values may be secrets.
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
