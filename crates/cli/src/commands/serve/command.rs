//! `switchboard serve`: one MCP server for any client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use switchboard_chat::StartOptions;
use switchboard_config::GatewayReview;
use switchboard_console::{Conversations, PagePresence};
use switchboard_core::ServerId;
use switchboard_gateway::{AccessControl, Gateway, NameMode, Pages, directory_router, serve_http};
use switchboard_host::Host;
use switchboard_rules::Pattern;
use switchboard_terminal::{CliError, People, exit_code, standard_input, standard_output};
use switchboard_views::RunningInstance;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::commands::first_use;
use crate::commands::serve::console::{ConsoleReviewer, FleetDirectory, ServeConsoleOptions};
use crate::commands::serve::grpc::EditorArgs;
use crate::commands::serve::wishes::{
    LimitArgs, NameChoice, OauthArgs, ReviewChoice, ServeOptions, ToolChoice, valid_settings,
};
use crate::commands::serve::{console, door, grpc, notices};
use crate::context::CommandContext;
use crate::recorded;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Serve one client over standard input and output
    #[arg(long, conflicts_with_all = ["listen", "allow_host", "allow_origin", "require_token", "oauth_issuer"])]
    pub(crate) stdio: bool,
    /// Address to listen on (default: 127.0.0.1:8808); port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Serve only this server (can be repeated)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// Names of tools and prompts of servers without a `prefix` (default: prefixed)
    #[arg(long, value_enum)]
    pub(crate) names: Option<NameChoice>,
    /// Tools that are listed to clients (default: auto)
    #[arg(long, value_enum)]
    pub(crate) tools: Option<ToolChoice>,
    /// Reviewer of calls that no rule allows (default: client)
    #[arg(long, value_enum)]
    pub(crate) review: Option<ReviewChoice>,
    /// Accept this `Host` name in addition to those of this machine (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Accept requests from web pages of this origin (can be repeated)
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// Require a token; always on for addresses that other machines can reach
    #[arg(long)]
    pub(crate) require_token: bool,
    /// Do not serve the web console
    #[arg(long)]
    pub(crate) no_console: bool,
    /// URL of a TLS proxy in front of the console; without one, the console is local only
    #[arg(long, value_name = "URL", conflicts_with_all = ["no_console", "stdio"])]
    pub(crate) console_url: Option<String>,
    /// Serve the allowed servers as a registry below `/v0.1`
    #[arg(long, conflicts_with = "stdio")]
    pub(crate) registry: bool,
    #[command(flatten)]
    pub(crate) editor: EditorArgs,
    #[command(flatten)]
    pub(crate) oauth: OauthArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Parses an address with a port; accepts `localhost` as a name.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.split_once(':') {
        // Resolving names could block or return an address of another machine; this one is fixed.
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => format!("127.0.0.1:{port}"),
        _ => text.to_owned(),
    };
    numbers
        .parse()
        .map_err(|_| "write it as 127.0.0.1:8808, [::1]:8808 or localhost:8808".to_owned())
}

pub(crate) async fn run(context: &CommandContext, serve: ServeArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let over_pipes = serve.stdio;
    let talks = Conversations::default();
    let mut beside = SideServices {
        console: ServeConsoleOptions {
            left_out: serve.no_console,
            registry: serve.registry,
            url: serve.console_url.clone(),
            talks: talks.clone(),
            onlookers: PagePresence::default(),
            only: Vec::new(),
        },
        grpc: None,
    };
    let is_alone = serve.editor.grpc.is_some() && serve.listen.is_none();
    let editors = grpc::ServeGrpcOptions::from_args(context, &config, &serve.editor).await?;
    let wishes = ServeOptions::from_args(serve, valid_settings(context, &config)?);
    let only = wishes.servers.iter().map(|name| context.server_id(&config, name));
    let only: Vec<ServerId> = only.collect::<Result<_, _>>()?;
    beside.console.only.clone_from(&only);
    let only = (!only.is_empty()).then_some(only);
    let allow = patterns_without_review(wishes.review);
    let has_port = !over_pipes && !is_alone;
    let door =
        if has_port { door::access_control(context, &wishes)? } else { AccessControl::default() };
    // Bind before the servers start: a port that is in use should fail at once.
    let listener = if has_port { Some(listen(wishes.listen).await?) } else { None };
    let editors = editors.open(context).await?;
    beside.grpc = editors.address();
    let people = match !has_port || beside.console.left_out {
        true => People::nobody(&context.printer),
        false => ConsoleReviewer::people(&context.printer, &talks, &beside.console.onlookers),
    };
    let people = people.with_new_servers();
    let host = context.start_at(
        context.places.clone(),
        context.environment.clone(),
        StartOptions { only: only.clone(), people, allow, model: None },
    )?;
    let told_all = CancellationToken::new();
    let printer = &context.printer;
    let telling = first_use::report_unseen(printer.clone(), host.clone(), told_all.clone());
    let telling = tokio::spawn(telling);
    tokio::spawn(notices::report_problems(printer.clone(), host.clone(), told_all.clone()));
    let ending = CancellationToken::new();
    tokio::spawn(recorded::report_trouble(printer.clone(), host.clone(), ending.clone()));
    let options = wishes.gateway_options(&door);
    let drain = options.drain;
    let names = options.names;
    let limits = grpc::GrpcLimits {
        in_flight: options.caller.in_flight,
        body_bytes: options.body_limit_bytes,
        drain,
    };
    let gateway = Gateway::new(host.clone(), options);
    let has_prefix = config.servers.values().any(|server| server.prefix.is_some());
    if names == NameMode::Plain || has_prefix {
        // Names are known only after the servers have listed their tools.
        host.wait_settled(only.as_deref()).await;
        refuse_collisions(&gateway)?;
    }
    let collisions =
        notices::tell_of_collisions(printer.clone(), gateway.collision_changes(), told_all.clone());
    let collisions = tokio::spawn(collisions);
    let editors = editors.start(context, &host, limits);
    match listener {
        None if over_pipes => over_pipe(context, &gateway, drain).await,
        None => serve_editors(context, &host, &beside).await?,
        Some(listener) => over_http(context, &beside, &gateway, listener, door).await?,
    }
    editors.finish().await?;
    gateway.stop();
    ending.cancel();
    host.stop().await;
    // After the host has stopped, so that notices about its last moments are still printed.
    told_all.cancel();
    // Both tasks print the remaining notices and end. A panic in one of them has been printed and
    // does not change how serving ended.
    _ = telling.await;
    _ = collisions.await;
    Ok(exit_code::OK)
}

fn patterns_without_review(review: GatewayReview) -> Vec<Pattern> {
    match review {
        // The protocol makes the client ask its user, so a review here would only repeat that.
        GatewayReview::Client => vec![Pattern::new("*")],
        GatewayReview::Ask => Vec::new(),
    }
}

async fn over_pipe(context: &CommandContext, gateway: &Gateway, drain: Duration) {
    let serving = gateway.serve_pipe(standard_input(), standard_output());
    let stop = context.interrupts.token();
    tokio::pin!(serving);
    if stop.run_until_cancelled(&mut serving).await.is_none() {
        // Streams have no end of their own, so they must not use up the drain time.
        gateway.end_streams();
        // Streams and parked calls have ended; other calls in flight get the drain time.
        _ = tokio::time::timeout(drain, serving).await;
    }
}

struct SideServices {
    console: ServeConsoleOptions,
    grpc: Option<String>,
}

async fn serve_editors(
    context: &CommandContext,
    host: &Host,
    beside: &SideServices,
) -> Result<(), CliError> {
    let grpc = beside.grpc.as_deref().unwrap_or_default();
    if context.shared.json {
        let servers = host.fleet().load().servers.len();
        context.printer.json(&json!({"grpc": grpc, "servers": servers}))?;
    } else {
        context.printer.words(&format!("gRPC          {grpc}\nstop          Ctrl-C\n"))?;
    }
    context.interrupts.token().cancelled().await;
    Ok(())
}

async fn over_http(
    context: &CommandContext,
    beside: &SideServices,
    gateway: &Gateway,
    listener: TcpListener,
    door: AccessControl,
) -> Result<(), CliError> {
    let address = listener.local_addr().map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot determine the address: {error}"))
    })?;
    let wish = &beside.console;
    let console = console::console(context, wish, gateway.host(), address)?;
    // Keep the instance file while serving, so that other commands of this home find it.
    let _written = console.as_ref().filter(|_| address.ip().is_loopback()).and_then(|console| {
        let instance =
            RunningInstance::new(address, console.program_key()?, &context.places, &wish.only);
        instance.write(&context.places)
    });
    let link = console.as_ref().and_then(|it| it.sign_in_link());
    announce(context, gateway.host(), address, link, beside.grpc.as_deref())?;
    let stop = context.interrupts.token().clone();
    let mut pages = Pages::default();
    if let Some(console) = console {
        pages.router = console.router();
        let nowhere =
            move |method: &_, uri: &_, headers: &_| console.not_found_page(method, uri, headers);
        pages.not_found_page = Some(Arc::new(nowhere));
    }
    if wish.registry {
        let fleet = Arc::new(FleetDirectory { host: gateway.host().clone() });
        pages.router = pages.router.merge(directory_router(door.clone(), fleet));
    }
    let served = serve_http(gateway.clone(), door, pages, listener, stop).await;
    served
        .map_err(|error| CliError::new(exit_code::TROUBLE, format!("the gateway stopped: {error}")))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).await.map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot listen on {address}: {error}"))
            .with_hint("the port may be in use; `--listen 127.0.0.1:0` picks a free one")
    })
}

fn announce(
    context: &CommandContext,
    host: &Host,
    address: SocketAddr,
    console: Option<String>,
    grpc: Option<&str>,
) -> Result<(), CliError> {
    let url = format!("http://{address}/mcp");
    // The link goes to standard error, so that JSON on standard output stays machine-readable.
    if let Some(link) = &console {
        console::show(context, link);
    }
    if context.shared.json {
        let servers = host.fleet().load().servers.len();
        let mut told = json!({"url": url, "servers": servers, "console": console});
        if let (Some(grpc), Some(told)) = (grpc, told.as_object_mut()) {
            told.insert("grpc".to_owned(), json!(grpc));
        }
        return context.printer.json(&told);
    }
    let grpc = grpc.map(|grpc| format!("gRPC          {grpc}\n")).unwrap_or_default();
    context.printer.words(&format!(
        "MCP endpoint  {url}\nconnect       claude mcp add --transport http switchboard {url}\n{grpc}stop          Ctrl-C\n"
    ))
}

fn refuse_collisions(gateway: &Gateway) -> Result<(), CliError> {
    let collisions = gateway.collisions();
    let Some(first) = collisions.first() else { return Ok(()) };
    let all: Vec<String> = collisions
        .iter()
        .map(|one| format!("`{}` of `{}` and `{}`", one.name, one.kept, one.left_out))
        .collect();
    let message = format!("some names are used by two servers: {}", all.join(", "));
    let hint = format!(
        "set a `prefix` for one of them, or serve `{}` without `{}`",
        first.kept, first.left_out
    );
    Err(CliError::new(exit_code::CONFIG, message).with_hint(hint))
}
