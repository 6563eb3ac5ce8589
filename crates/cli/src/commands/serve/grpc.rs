//! The gRPC service of `serve` for editors and agents: options, start and shutdown.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use switchboard_access::{TokenAuthenticator, TokenFile};
use switchboard_config::Config;
use switchboard_grpc::{
    GrpcAccess, GrpcListener, GrpcOptions, GrpcService, ListenAddress, ListenError,
    SuggestedServer, keep_index_current,
};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code};
use tokio::task::JoinHandle;

use crate::commands::registry::known_servers;
use crate::commands::tokens::key_error;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct EditorArgs {
    /// Serve editors and agents over gRPC, on a Unix socket or on a local port with a token
    /// (default: a socket in the state folder); the MCP endpoint then needs `--listen`
    #[arg(long, value_name = "unix:PATH | ADDRESS:PORT", num_args = 0..=1, default_missing_value = "unix:", conflicts_with = "stdio")]
    pub(crate) grpc: Option<ListenAddress>,
    /// JSON file with servers that editors suggest for websites
    #[arg(long, value_name = "FILE", requires = "grpc")]
    pub(crate) known_servers: Option<PathBuf>,
    /// Write tool, resource and prompt definitions as files below this folder (default with
    /// `--grpc`: the state folder)
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
}

pub(crate) struct ServeGrpcOptions {
    place: Option<ListenAddress>,
    known: Vec<SuggestedServer>,
    index: Option<PathBuf>,
}

pub(crate) struct OpenedGrpc {
    listening: Option<(GrpcListener, GrpcAccess, Vec<SuggestedServer>)>,
    index: Option<PathBuf>,
}

pub(crate) struct RunningGrpc {
    serving: Option<JoinHandle<std::io::Result<()>>>,
    index: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GrpcLimits {
    pub(crate) in_flight: usize,
    pub(crate) body_bytes: usize,
    pub(crate) drain: Duration,
}

impl ServeGrpcOptions {
    pub(crate) async fn from_args(
        context: &CommandContext,
        config: &Config,
        given: &EditorArgs,
    ) -> Result<Self, CliError> {
        let known = match (&given.known_servers, &given.grpc) {
            (Some(file), _) => read_known(file)?,
            (None, Some(_)) => {
                known_servers(config).await?.all().into_iter().map(to_suggestion).collect()
            }
            (None, None) => Vec::new(),
        };
        let usual = given.grpc.as_ref().map(|_| context.places.state.join("index"));
        let here = &context.environment.current_dir;
        let index = given.index.as_ref().map(|folder| here.join(folder)).or(usual);
        Ok(Self { place: given.grpc.clone(), known, index })
    }

    pub(crate) async fn open(self, context: &CommandContext) -> Result<OpenedGrpc, CliError> {
        let Self { place, known, index } = self;
        let Some(place) = place else { return Ok(OpenedGrpc { listening: None, index }) };
        let state = &context.places.state;
        let door = match &place {
            // The permissions of the socket file admit only its owner, so no token is needed.
            ListenAddress::Unix(_) => GrpcAccess::Owner,
            ListenAddress::Tcp(_) => {
                let tokens = TokenAuthenticator::open(TokenFile::in_state_folder(state))
                    .map_err(key_error)?;
                if tokens.count() == 0 {
                    let hint = "`switchboard tokens add NAME` creates one";
                    context
                        .printer
                        .warn("no token exists yet, so every request is rejected", Some(hint));
                }
                GrpcAccess::Tokens(Arc::new(tokens))
            }
        };
        let listener =
            GrpcListener::bind(&place, &state.join("grpc.sock")).await.map_err(listen_error)?;
        Ok(OpenedGrpc { listening: Some((listener, door, known)), index })
    }
}

impl OpenedGrpc {
    pub(crate) fn address(&self) -> Option<String> {
        self.listening.as_ref().map(|(listener, ..)| listener.to_string())
    }

    pub(crate) fn start(
        self,
        context: &CommandContext,
        host: &Host,
        limits: GrpcLimits,
    ) -> RunningGrpc {
        let stop = context.interrupts.token().clone();
        let printer = context.printer.clone();
        let index = self.index.clone().map(|folder| {
            let host = host.clone();
            let stop = stop.clone();
            tokio::spawn(async move {
                let shown = folder.display().to_string();
                let tell = |error: &std::io::Error| {
                    printer.warn(&format!("cannot update the index in `{shown}`: {error}"), None);
                };
                keep_index_current(host, folder, stop, tell).await;
            })
        });
        let serving = self.listening.map(|(listener, door, known)| {
            let places = &context.places;
            let own = [Some(&places.state), places.user_folder.as_ref(), places.system.as_ref()];
            // Servers that an editor adds belong to the file that this process reads.
            let explicit = context.shared.config.last().cloned();
            let options = GrpcOptions {
                door,
                outputs: places.state.join("outputs"),
                index: self.index,
                protected: own.into_iter().flatten().cloned().collect(),
                config: explicit.or_else(|| places.user.clone()),
                known,
                in_flight: limits.in_flight,
                message_limit_bytes: limits.body_bytes,
                drain: limits.drain,
            };
            let editor = GrpcService::new(host.clone(), options);
            tokio::spawn(switchboard_grpc::serve(editor, listener, stop))
        });
        RunningGrpc { serving, index }
    }
}

impl RunningGrpc {
    pub(crate) async fn finish(self) -> Result<(), CliError> {
        if let Some(index) = self.index {
            // The task warns about files that it cannot write; only a panic is left to ignore.
            _ = index.await;
        }
        let Some(serving) = self.serving else { return Ok(()) };
        let served = serving.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        served.map_err(|error| {
            CliError::new(exit_code::TROUBLE, format!("the gRPC service stopped: {error}"))
        })
    }
}

fn to_suggestion(known: &switchboard_registry::KnownServer) -> SuggestedServer {
    let known = known.clone();
    SuggestedServer {
        name: known.name,
        description: known.description,
        icon: known.icon,
        endpoint: known.endpoint,
        featured: known.featured,
        domains: known.domains,
    }
}

fn read_known(file: &Path) -> Result<Vec<SuggestedServer>, CliError> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        CliError::new(exit_code::CONFIG, format!("`{shown}` cannot be read: {error}"))
    })?;
    serde_json::from_str(&text).map_err(|error| {
        CliError::new(exit_code::CONFIG, format!("`{shown}` is not a list of servers: {error}"))
            .with_hint(r#"write [{"name": "…", "endpoint": "…", "domains": ["…"]}]"#)
    })
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn listen_error(error: ListenError) -> CliError {
    let told = CliError::new(exit_code::TROUBLE, error.to_string());
    match error {
        ListenError::Taken(_) => told.with_hint("connect to that one, or choose another path"),
        ListenError::Reachable(_) => told.with_hint("listen on 127.0.0.1, or on a Unix socket"),
        ListenError::NoSocket(_) => told.with_hint("choose another path"),
        ListenError::NoUnix => told.with_hint("`--grpc 127.0.0.1:PORT`"),
        ListenError::Refused { .. } => told,
    }
}
