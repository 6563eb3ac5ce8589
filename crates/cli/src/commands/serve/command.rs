//! `switchboard serve`: one MCP server for any client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use switchboard_chat::StartOptions;
use switchboard_config::{Config, GatewayReview};
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
    /// Talk to one client over standard input and output
    #[arg(long, conflicts_with_all = ["listen", "allow_host", "allow_origin", "require_token", "oauth_issuer"])]
    pub(crate) stdio: bool,
    /// Where to listen, 127.0.0.1:8808 by default; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Only these servers (may be given several times)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// How tools and prompts of servers without a `prefix` are named, `prefixed` by default
    #[arg(long, value_enum)]
    pub(crate) names: Option<NameChoice>,
    /// Which tools are listed, `auto` by default
    #[arg(long, value_enum)]
    pub(crate) tools: Option<ToolChoice>,
    /// Who approves calls that no rule allows, `client` by default
    #[arg(long, value_enum)]
    pub(crate) review: Option<ReviewChoice>,
    /// A name under which we are reached, beside those of this machine (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// An origin whose pages may talk to us (may be given several times)
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// Let in only who presents a token; always so where other machines can reach us
    #[arg(long)]
    pub(crate) require_token: bool,
    /// Leave the web console out
    #[arg(long)]
    pub(crate) no_console: bool,
    /// The address of a proxy with TLS through which the console is reached; without it, the console is for this machine only
    #[arg(long, value_name = "URL", conflicts_with_all = ["no_console", "stdio"])]
    pub(crate) console_url: Option<String>,
    /// Also answer as a registry, with the servers that are allowed here, below `/v0.1`
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
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => format!("127.0.0.1:{port}"),
        _ => text.to_owned(),
    };
    numbers
        .parse()
        .map_err(|_| "write it as 127.0.0.1:8808, [::1]:8808 or localhost:8808".to_owned())
}

/// Serves until the process is asked to stop.
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
    let only = server_ids(context, &config, &wishes.servers)?;
    beside.console.only.clone_from(&only);
    let only = (!only.is_empty()).then_some(only);
    let allow = patterns_without_review(wishes.review);
    let has_port = !over_pipes && !is_alone;
    let door =
        if has_port { door::access_control(context, &wishes)? } else { AccessControl::default() };
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
    let problems = notices::report_problems(printer.clone(), host.clone(), told_all.clone());
    tokio::spawn(problems);
    let ending = CancellationToken::new();
    let trouble = recorded::report_trouble(printer.clone(), host.clone(), ending.clone());
    tokio::spawn(trouble);
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
    told_all.cancel();
    // Both tasks print the remaining notices and end. A panic in one of them has been printed and
    // does not change how serving ended.
    _ = telling.await;
    _ = collisions.await;
    Ok(exit_code::OK)
}

/// Returns the ids of the named servers.
fn server_ids(
    context: &CommandContext,
    config: &Config,
    names: &[String],
) -> Result<Vec<ServerId>, CliError> {
    names.iter().map(|name| context.server_id(config, name)).collect()
}

/// Returns the calls that need no review here because the client reviews them.
fn patterns_without_review(review: GatewayReview) -> Vec<Pattern> {
    match review {
        GatewayReview::Client => vec![Pattern::new("*")],
        GatewayReview::Ask => Vec::new(),
    }
}

async fn over_pipe(context: &CommandContext, gateway: &Gateway, drain: Duration) {
    let serving = gateway.serve_pipe(standard_input(), standard_output());
    let stop = context.interrupts.token();
    tokio::pin!(serving);
    if stop.run_until_cancelled(&mut serving).await.is_none() {
        gateway.end_streams();
        // Streams and parked calls have ended; other calls in flight get the drain time.
        _ = tokio::time::timeout(drain, serving).await;
    }
}

/// Services that run besides the MCP endpoint.
struct SideServices {
    console: ServeConsoleOptions,
    /// Address of the gRPC listener.
    grpc: Option<String>,
}

/// Serves only editors, over gRPC.
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
        CliError::new(exit_code::TROUBLE, format!("the address is not known: {error}"))
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
    served.map_err(|error| CliError::new(exit_code::TROUBLE, format!("serving ended: {error}")))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).await.map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot listen on {address}: {error}"))
            .with_hint("another program may be there: `--listen 127.0.0.1:0` takes a free port")
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
        "give one of them a `prefix` of its own, or serve `{}` without `{}`",
        first.kept, first.left_out
    );
    Err(CliError::new(exit_code::CONFIG, message).with_hint(hint))
}
