//! Establishes a connection from a server's configuration.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::de::IgnoredAny;
use switchboard_catalog::ServerFailure;
use switchboard_config::{Confinement, ServerConfig, Transport};
use switchboard_core::ServerId;
use switchboard_files::{canonicalize, create_private_folder};
use switchboard_oauth::{Account, Challenge, LoginError};
use switchboard_text::{hex_digest, redact_text};
use switchboard_wire::{
    Agreement, Distrust, HttpEndpoint, Inbound, Introduction, Peer, RequestError, TentativePeer,
    WireLimits, start_stream,
};
use tokio::sync::mpsc;

use crate::builtin;
use crate::builtin::InProcessServer;
use crate::connect_context::ConnectContext;
use crate::negotiate::{
    HttpNegotiation, NegotiationError, PROBE_TIMEOUT, StreamAttempt, negotiate_stream,
};
use crate::process::{Launch, Process};
use crate::stderr::{ErrorLog, log_file};

const REFUSED_HINT: &str = "the server refused the connection: see its documentation";

pub(crate) struct LiveConnection {
    pub(crate) peer: Peer,
    pub(crate) inbound: mpsc::Receiver<Inbound>,
    pub(crate) agreement: Agreement,
    pub(crate) process: Option<Process>,
    pub(crate) log: ErrorLog,
    pub(crate) declared_roots: bool,
}

/// The reason why no connection was established; `Failed` may be temporary.
pub(crate) enum EstablishError {
    Failed(ServerFailure),
    NeedsLogin(ServerFailure),
}

impl From<ServerFailure> for EstablishError {
    fn from(failure: ServerFailure) -> Self {
        Self::Failed(failure)
    }
}

/// Connects to instance `number` of a server.
pub(crate) async fn establish(
    config: &ServerConfig,
    number: usize,
    around: &Arc<ConnectContext>,
    account: Option<&Arc<Account>>,
) -> Result<LiveConnection, EstablishError> {
    match &config.transport {
        Transport::Builtin => connect_in_process(config, around).await,
        Transport::Stdio { command, args, env, cwd } => {
            let filled = around.logins.secrets().fill_references(config, env).await;
            let env = &filled.map_err(|error| secret_failure(&error))?;
            let own_folder = temp_folder(config, around)?;
            let launch = Launch {
                command,
                args,
                shell_line: None,
                env,
                cwd: cwd.as_deref(),
                confinement: &config.confinement,
                temp_folder: own_folder.as_deref(),
                inherited_env: &around.variables,
                keeper: around.keeper.as_deref(),
            };
            connect_stdio(config, &launch, around).await
        }
        Transport::Http { urls, headers, kind } => {
            let url = instance_url(urls, number);
            let filled = around.logins.secrets().fill_references(config, headers).await;
            let headers = &filled.map_err(|error| secret_failure(&error))?;
            let mut endpoint =
                HttpEndpoint::new(url, headers).map_err(|error| connect_failure(url, &error))?;
            if let Some(account) = account {
                endpoint = endpoint.with_authorization(Arc::<Account>::clone(account));
            }
            let client = around
                .client(config.authorities.as_ref())
                .map_err(|error| connect_failure(url, &error))?;
            let us = around.introduction(&config.id);
            let declared_roots = declares_roots(&us);
            let door = HttpNegotiation {
                client: &client,
                endpoint: &endpoint,
                kind: *kind,
                era: config.era,
                us: &us,
                limit: around.start_limit,
            };
            // Per instance: the addresses of a server may run different versions of it.
            let key = format!("{}#{number}", config.restart_key());
            let remembered = around.era_cache.recall(&key);
            // All modes share this limit: a silent server must not cost one timeout per mode.
            let opening = tokio::time::timeout(around.start_limit * 2, door.negotiate(remembered));
            let opened =
                opening.await.unwrap_or(Err(RequestError::TimedOut(around.start_limit * 2)));
            let agreed = match opened {
                Ok(agreed) => agreed,
                Err(error) => {
                    return Err(match login_failure(config, account, &error).await {
                        Some(failure) => EstablishError::NeedsLogin(failure),
                        None => connect_failure(url, &error).into(),
                    });
                }
            };
            around.era_cache.learn(&key, agreed.mode);
            Ok(LiveConnection {
                peer: agreed.peer,
                inbound: agreed.inbound,
                agreement: agreed.agreement,
                process: None,
                log: ErrorLog::default(),
                declared_roots,
            })
        }
    }
}

async fn connect_in_process(
    config: &ServerConfig,
    around: &Arc<ConnectContext>,
) -> Result<LiveConnection, EstablishError> {
    let inside = match around.in_process.get(&config.id) {
        Some(own) => InProcessServer::Own(Arc::clone(own)),
        None => InProcessServer::builtin(around.roots.clone()),
    };
    let (peer, inbound) = builtin::start(inside, &around.tasks);
    let tentative = TentativePeer::new(peer.clone());
    let us = &around.introduction(&config.id);
    let agreed =
        negotiate_stream(&peer, us, StreamAttempt::Probe, around.start_limit, || false).await;
    let (agreement, _) = agreed.map_err(|error| ServerFailure::new(format!("{error:?}")))?;
    tentative.keep();
    Ok(LiveConnection {
        peer,
        inbound,
        agreement,
        process: None,
        log: ErrorLog::default(),
        declared_roots: false,
    })
}

async fn connect_stdio(
    config: &ServerConfig,
    launch: &Launch<'_>,
    around: &Arc<ConnectContext>,
) -> Result<LiveConnection, EstablishError> {
    let us = &around.introduction(&config.id);
    let key = config.restart_key();
    let mut attempt = StreamAttempt::initial(config.era, around.era_cache.recall(&key));
    // One deadline, even if the process is started twice.
    let end = Instant::now() + PROBE_TIMEOUT + around.start_limit;
    loop {
        let file = around.state.as_deref().map(|state| log_file(state, &config.id));
        let log = ErrorLog::with_file(file);
        let (mut process, stdin, stdout) = Process::start(launch, &log)?;
        let (peer, inbound) = start_stream(stdout, stdin, WireLimits::default());
        let tentative = TentativePeer::new(peer.clone());
        let heard = || !log.is_empty() || peer.stats().noise > 0;
        let limit = around.start_limit.min(end.saturating_duration_since(Instant::now()));
        match negotiate_stream(&peer, us, attempt, limit, heard).await {
            Ok((agreement, way)) => {
                around.era_cache.learn(&key, way);
                tentative.keep();
                return Ok(LiveConnection {
                    peer,
                    inbound,
                    agreement,
                    process: Some(process),
                    log,
                    declared_roots: declares_roots(us),
                });
            }
            Err(NegotiationError::StartAgain) if attempt == StreamAttempt::Both => {
                attempt = StreamAttempt::Handshake;
                peer.close("started again without a probe");
                process.stop().await;
            }
            Err(NegotiationError::StartAgain) => {
                let reason = peer.wait_until_closed().await.0;
                return Err(exit_failure(&config.id, &mut process, &log, &reason).await.into());
            }
            Err(NegotiationError::Final(error)) => {
                let was_closed = peer.is_closed();
                peer.close("no agreement");
                let reason = match was_closed {
                    // The reason of the closed connection is the cause of `error`.
                    true => peer.wait_until_closed().await.0,
                    false => error.to_string(),
                };
                let failure = exit_failure(&config.id, &mut process, &log, &reason).await;
                let hint = failure.hint.clone().unwrap_or_else(|| program_hint(&error).to_owned());
                return Err(ServerFailure { hint: Some(hint), ..failure }.into());
            }
        }
    }
}

fn declares_roots(us: &Introduction) -> bool {
    serde_json::from_str::<HashMap<String, IgnoredAny>>(&us.capabilities)
        .is_ok_and(|said| said.contains_key("roots"))
}

/// Describes the failure of an exited server, with the end of its standard error.
pub(crate) async fn exit_failure(
    server: &ServerId,
    process: &mut Process,
    log: &ErrorLog,
    reason: &str,
) -> ServerFailure {
    let own_exit = process.wait_for_own_exit().await;
    let has_exited = own_exit.is_some();
    let exit = match own_exit {
        Some(exit) => Some(exit),
        None => process.terminate().await,
    };
    process.drain_stderr().await;
    let stderr = log.last_lines(10);
    let closed = reason.contains("closed its output");
    // A status that our own signal caused does not explain the failure.
    let message = match &exit {
        Some(exit) if closed && has_exited => format!("the server exited: {exit}"),
        _ => redact_text(reason).into_owned(),
    };
    let hint = match stderr.is_empty() {
        false => Some(format!("see its complete log with `switchboard servers logs {server}`")),
        true if closed => Some(
            "run the command in a terminal: an MCP server waits for requests on its input"
                .to_owned(),
        ),
        true => None,
    };
    ServerFailure { message, hint, stderr, exit }
}

pub(crate) fn instance_url(urls: &[String], number: usize) -> &str {
    urls.get(number % urls.len().max(1)).map_or("", String::as_str)
}

/// Returns the failure to show if the server requires a login or a larger scope.
pub(crate) async fn login_failure(
    config: &ServerConfig,
    account: Option<&Arc<Account>>,
    error: &RequestError,
) -> Option<ServerFailure> {
    let RequestError::Http { status, challenge, .. } = error else { return None };
    let challenge = Challenge::parse(challenge.as_deref().unwrap_or_default());
    if *status != 401 && !(*status == 403 && challenge.needs_more_scope()) {
        return None;
    }
    let message = format!("the server requires a login: {error}");
    let Some(account) = account else {
        let hint = "the server rejects the `Authorization` header: correct it in `headers`";
        return Some(ServerFailure::new(message).with_hint(hint));
    };
    let own = challenge.login_hint(config.id.as_str());
    Some(match account.last_error().await {
        Some(trouble) => ServerFailure::new(format!("{message}; {trouble}"))
            .with_hint(trouble.hint().unwrap_or(own)),
        None => ServerFailure::new(message).with_hint(own),
    })
}

/// Returns a private temporary folder, unless the server is not confined.
fn temp_folder(
    config: &ServerConfig,
    around: &Arc<ConnectContext>,
) -> Result<Option<PathBuf>, ServerFailure> {
    match (&config.confinement, around.state.as_deref()) {
        (Confinement::None, _) | (_, None) => Ok(None),
        (Confinement::Learn | Confinement::Profile(_), Some(state)) => {
            let made = create_temp_folder(state, &config.id);
            made.map(Some).map_err(|error| {
                ServerFailure::new(format!("cannot create a folder for temporary files: {error}"))
            })
        }
    }
}

fn secret_failure(error: &LoginError) -> ServerFailure {
    ServerFailure { hint: error.hint(), ..ServerFailure::new(error.to_string()) }
}

fn connect_failure(url: &str, error: &RequestError) -> ServerFailure {
    // The query may contain a secret, so it is not shown.
    let place = url.split('?').next().unwrap_or(url);
    let failure = ServerFailure::new(format!("cannot connect to `{place}`: {error}"));
    failure.with_hint(error_hint(error))
}

const fn program_hint(error: &RequestError) -> &'static str {
    match error {
        RequestError::TimedOut(_)
        | RequestError::NotSent(_)
        | RequestError::Protocol(_)
        | RequestError::Unknown(_) => "check that the command starts an MCP server",
        RequestError::Rpc(_) | RequestError::Untrusted(_) | RequestError::Http { .. } => {
            error_hint(error)
        }
    }
}

const fn error_hint(error: &RequestError) -> &'static str {
    match error {
        RequestError::TimedOut(_) | RequestError::Protocol(_) => {
            "check that `url` is the address of an MCP server"
        }
        RequestError::NotSent(_) => "check that the server is running and that `url` is correct",
        RequestError::Untrusted(why) => untrusted_hint(why),
        RequestError::Http { status: 403, .. } => "check the server's `headers`",
        RequestError::Http { status: 404 | 405, .. } => "check the path of the server's `url`",
        RequestError::Rpc(_) => REFUSED_HINT,
        RequestError::Http { status: 500.., .. } => "check the log of the remote server",
        RequestError::Unknown(_) | RequestError::Http { .. } => {
            "check the server's `url` and `headers`"
        }
    }
}

fn create_temp_folder(state: &Path, server: &ServerId) -> io::Result<PathBuf> {
    let mark = hex_digest([server.as_str().as_bytes()]);
    let folder = state.join("tmp").join(mark.get(..16).unwrap_or(&mark));
    create_private_folder(&folder)?;
    // Landlock rules and mounts refer to the real path.
    canonicalize(&folder)
}

/// Returns the remedy for an untrusted certificate.
pub const fn untrusted_hint(why: &Distrust) -> &'static str {
    match why {
        Distrust::Expired | Distrust::NotYetValid => {
            "check the clock of this machine, or renew the certificate of the server"
        }
        Distrust::OtherName(_) => "check the name in the server's `url`",
        Distrust::UnknownIssuer => {
            "if your organisation issued it, set `caFile` to a file with the issuer's certificate, \
             or add that to the system's trust store (on Linux also with `SSL_CERT_FILE`)"
        }
        Distrust::Revoked | Distrust::Other(_) => "replace the certificate of the server",
    }
}
