//! From a server's configuration to a connection that both sides agreed on.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde::de::IgnoredAny;
use switchboard_catalog::Failure;
use switchboard_config::{Confinement, ServerConfig, Transport};
use switchboard_core::ServerId;
use switchboard_oauth::{Account, Challenge, LoginError};
use switchboard_text::redact;
use switchboard_wire::handshake::{Agreement, Introduction};
use switchboard_wire::http::Endpoint;
use switchboard_wire::{Inbound, Limits, Peer, RequestError, Tentative, stream};
use tokio::sync::mpsc;

use crate::builtin::Inside;
use crate::certificate_hint::untrusted_hint;
use crate::connect_context::Surroundings;
use crate::negotiate::{Attempt, Door, NoAgreement, PROBE, over_stream};
use crate::process::{Launch, Process};
use crate::stderr::{ErrorLog, log_file};
use crate::{builtin, private_folder};

/// What to do about a server that turned the connection down.
const REFUSED: &str = "the server says this itself: its own documentation tells what it needs";

/// A connection to a server.
pub(crate) struct Live {
    pub(crate) peer: Peer,
    pub(crate) inbound: mpsc::Receiver<Inbound>,
    pub(crate) agreement: Agreement,
    pub(crate) process: Option<Process>,
    pub(crate) log: ErrorLog,
    /// Whether we said that folders can be asked for.
    pub(crate) told_of_roots: bool,
}

/// Why there is no connection.
pub(crate) enum NotEstablished {
    /// It failed; it may work later.
    Failed(Failure),
    /// The server wants a login.
    NeedsLogin(Failure),
}

impl From<Failure> for NotEstablished {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Connects to instance `number` of a server.
pub(crate) async fn establish(
    config: &ServerConfig,
    number: usize,
    around: &Arc<Surroundings>,
    account: Option<&Arc<Account>>,
) -> Result<Live, NotEstablished> {
    match &config.transport {
        Transport::Builtin => over_pipe(config, around).await,
        Transport::Stdio { command, args, env, cwd } => {
            let filled = around.logins.secrets().filled(config, env).await;
            let env = &filled.map_err(|error| no_secret(&error))?;
            let own_folder = own_folder(config, around)?;
            let launch = Launch {
                command,
                args,
                line: None,
                env,
                cwd: cwd.as_deref(),
                confinement: &config.confinement,
                own_folder: own_folder.as_deref(),
                surroundings: &around.variables,
                keeper: around.keeper.as_deref(),
            };
            over_stdio(config, &launch, around).await
        }
        Transport::Http { urls, headers, kind } => {
            let url = address(urls, number);
            let filled = around.logins.secrets().filled(config, headers).await;
            let headers = &filled.map_err(|error| no_secret(&error))?;
            let mut endpoint = Endpoint::new(url, headers).map_err(|error| failed(url, &error))?;
            if let Some(account) = account {
                let account: Arc<Account> = Arc::clone(account);
                endpoint = endpoint.with_authorization(account);
            }
            let client =
                around.client(config.authorities.as_ref()).map_err(|error| failed(url, &error))?;
            let us = around.introduction(&config.id);
            let told_of_roots = tells_of_roots(&us);
            let door = Door {
                client: &client,
                endpoint: &endpoint,
                kind: *kind,
                era: config.era,
                us: &us,
                limit: around.start_limit,
            };
            let key = format!("{}#{number}", config.restart_key());
            let remembered = around.memory.recall(&key);
            // All ways together get twice the time of a start, not each of them.
            let opening = tokio::time::timeout(around.start_limit * 2, door.open(remembered));
            let opened =
                opening.await.unwrap_or(Err(RequestError::TimedOut(around.start_limit * 2)));
            let agreed = match opened {
                Ok(agreed) => agreed,
                Err(error) => {
                    return Err(match needs_login(config, account, &error).await {
                        Some(failure) => NotEstablished::NeedsLogin(failure),
                        None => failed(url, &error).into(),
                    });
                }
            };
            around.memory.learn(&key, agreed.way);
            let log = ErrorLog::default();
            let (peer, inbound) = (agreed.peer, agreed.inbound);
            Ok(Live {
                peer,
                inbound,
                agreement: agreed.agreement,
                process: None,
                log,
                told_of_roots,
            })
        }
    }
}

async fn over_pipe(
    config: &ServerConfig,
    around: &Arc<Surroundings>,
) -> Result<Live, NotEstablished> {
    let inside = match around.in_process.get(&config.id) {
        Some(own) => Inside::Own(Arc::clone(own)),
        None => Inside::builtin(around.roots.clone()),
    };
    let (peer, inbound) = builtin::start(inside, &around.tasks);
    let tentative = Tentative::new(peer.clone());
    let us = &around.introduction(&config.id);
    let agreed = over_stream(&peer, us, Attempt::Probe, around.start_limit, || false).await;
    let (agreement, _) = agreed.map_err(|error| Failure::new(format!("{error:?}")))?;
    tentative.keep();
    let (log, told_of_roots) = (ErrorLog::default(), false);
    Ok(Live { peer, inbound, agreement, process: None, log, told_of_roots })
}

async fn over_stdio(
    config: &ServerConfig,
    launch: &Launch<'_>,
    around: &Arc<Surroundings>,
) -> Result<Live, NotEstablished> {
    let us = &around.introduction(&config.id);
    let key = config.restart_key();
    let mut attempt = Attempt::first(config.era, around.memory.recall(&key));
    // One deadline for both processes, if it takes two.
    let end = Instant::now() + PROBE + around.start_limit;
    loop {
        let file = around.state.as_deref().map(|state| log_file(state, &config.id));
        let log = ErrorLog::kept_in(file);
        let (mut process, stdin, stdout) = Process::start(launch, &log)?;
        let (peer, inbound) = stream::start(stdout, stdin, Limits::default());
        let tentative = Tentative::new(peer.clone());
        let heard = || !log.is_empty() || peer.stats().noise > 0;
        let limit = around.start_limit.min(end.saturating_duration_since(Instant::now()));
        match over_stream(&peer, us, attempt, limit, heard).await {
            Ok((agreement, way)) => {
                around.memory.learn(&key, way);
                tentative.keep();
                let (process, told_of_roots) = (Some(process), tells_of_roots(us));
                return Ok(Live { peer, inbound, agreement, process, log, told_of_roots });
            }
            Err(NoAgreement::StartAgain) if attempt == Attempt::Both => {
                attempt = Attempt::Handshake;
                peer.close("started again without a probe");
                process.stop().await;
            }
            Err(NoAgreement::StartAgain) => {
                let reason = peer.closed().await.0;
                return Err(ended(&config.id, &mut process, &log, &reason).await.into());
            }
            Err(NoAgreement::Final(error)) => {
                let was_closed = peer.is_closed();
                peer.close("no agreement");
                let reason = match was_closed {
                    // Whoever waits finds out in its own way; why the connection ended is the cause.
                    true => peer.closed().await.0,
                    false => error.to_string(),
                };
                let failure = ended(&config.id, &mut process, &log, &reason).await;
                let hint = failure.hint.clone().or_else(|| hint_for_program(&error));
                return Err(Failure { hint, ..failure }.into());
            }
        }
    }
}

fn tells_of_roots(us: &Introduction) -> bool {
    let said: Option<HashMap<String, IgnoredAny>> = serde_json::from_str(&us.capabilities).ok();
    said.is_some_and(|said| said.contains_key("roots"))
}

/// The failure of a server that is over, with its last words.
pub(crate) async fn ended(
    server: &ServerId,
    process: &mut Process,
    log: &ErrorLog,
    reason: &str,
) -> Failure {
    let left = process.left().await;
    let by_itself = left.is_some();
    let exit = match left {
        Some(exit) => Some(exit),
        None => process.end().await,
    };
    process.last_words().await;
    let stderr = log.last_lines(10);
    let closed = reason.contains("closed its output");
    let message = match &exit {
        Some(exit) if closed && by_itself => format!("the server ended: {exit}"),
        _ => redact::text(reason).into_owned(),
    };
    let hint = match stderr.is_empty() {
        false => Some(format!("`switchboard servers logs {server}` shows all it wrote")),
        true if closed => Some(
            "run the command in a terminal: a server keeps running and answers on its output"
                .to_owned(),
        ),
        true => None,
    };
    Failure { message, hint, stderr, exit }
}

/// The address of an instance.
pub(crate) fn address(urls: &[String], number: usize) -> &str {
    urls.get(number % urls.len().max(1)).map_or("", String::as_str)
}

/// What to tell the person if the server wants a login, or one that is good for more.
pub(crate) async fn needs_login(
    config: &ServerConfig,
    account: Option<&Arc<Account>>,
    error: &RequestError,
) -> Option<Failure> {
    let RequestError::Http { status, challenge, .. } = error else { return None };
    let challenge = Challenge::read(challenge.as_deref().unwrap_or_default());
    if *status != 401 && !(*status == 403 && challenge.wants_more()) {
        return None;
    }
    let message = format!("the server wants a login: {error}");
    let Some(account) = account else {
        let hint = "the server wants another `Authorization` than its `headers` have";
        return Some(Failure::new(message).with_hint(hint));
    };
    let own = challenge.login_hint(config.id.as_str());
    Some(match account.trouble().await {
        Some(trouble) => {
            Failure::new(format!("{message}; {trouble}")).with_hint(trouble.hint().unwrap_or(own))
        }
        None => Failure::new(message).with_hint(own),
    })
}

/// A server that is confined, or is to be, does not share a folder for temporary files.
fn own_folder(
    config: &ServerConfig,
    around: &Arc<Surroundings>,
) -> Result<Option<PathBuf>, Failure> {
    match (&config.confinement, around.state.as_deref()) {
        (Confinement::None, _) | (_, None) => Ok(None),
        (Confinement::Learn | Confinement::Profile(_), Some(state)) => {
            let made = private_folder::make(state, &config.id);
            made.map(Some).map_err(|error| {
                Failure::new(format!("there is no folder for its temporary files: {error}"))
            })
        }
    }
}

fn no_secret(error: &LoginError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

fn failed(url: &str, error: &RequestError) -> Failure {
    // The query may hold a secret, so it is not shown.
    let place = url.split('?').next().unwrap_or(url);
    let failure = Failure::new(format!("cannot connect to `{place}`: {error}"));
    match hint_for(error) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// What to do where a program did not agree with us.
fn hint_for_program(error: &RequestError) -> Option<String> {
    let hint = match error {
        RequestError::Rpc(_) => REFUSED,
        RequestError::TimedOut(_)
        | RequestError::NotSent(_)
        | RequestError::Protocol(_)
        | RequestError::Unknown(_) => "check that the command starts an MCP server",
        RequestError::Untrusted(_) | RequestError::Http { .. } => return hint_for(error),
    };
    Some(hint.to_owned())
}

fn hint_for(error: &RequestError) -> Option<String> {
    let hint = match error {
        RequestError::TimedOut(_) => "check that an MCP server answers there",
        RequestError::NotSent(_) => "check that the server runs and that its address is right",
        RequestError::Untrusted(why) => untrusted_hint(why),
        RequestError::Http { status: 403, .. } => "check the server's `headers`",
        RequestError::Http { status: 404 | 405, .. } => "check the path of the server's `url`",
        RequestError::Protocol(_) => "check that an MCP server answers there",
        RequestError::Rpc(_) => REFUSED,
        RequestError::Http { status: 500.., .. } => "the server is in trouble: look at its own log",
        RequestError::Unknown(_) | RequestError::Http { .. } => {
            "check the server's `url` and `headers`"
        }
    };
    Some(hint.to_owned())
}
