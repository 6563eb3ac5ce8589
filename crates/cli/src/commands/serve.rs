//! `switchboard serve`: one MCP server for any client.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use switchboard_gateway::http::{self, Door};
use switchboard_gateway::{Gateway, NameMode};
use switchboard_host::Host;
use switchboard_host::config::GatewayReview;
use switchboard_host::policy::Pattern;
use tokio::net::TcpListener;

use crate::args_serve::Serve;
use crate::commands::serve_console::Wish;
use crate::commands::serve_wishes::{Wishes, sound};
use crate::commands::{serve_console, serve_door};
use crate::context::{Context, People, Wanted};
use crate::error::CliError;
use crate::exit_code;
use crate::ui::pipes::{standard_input, standard_output};

/// Serves until it is told to end.
pub(crate) async fn serve(context: &Context, serve: Serve) -> Result<u8, CliError> {
    let config = context.config()?;
    let over_pipes = serve.stdio;
    let console = Wish { left_out: serve.no_console, url: serve.console_url.clone() };
    let wishes = Wishes::of(serve, sound(context, &config)?);
    let only: Vec<_> =
        wishes.servers.iter().map(|name| context.known(&config, name)).collect::<Result<_, _>>()?;
    let only = (!only.is_empty()).then_some(only);
    let allow = match wishes.review {
        GatewayReview::Client => vec![Pattern::new("*")],
        GatewayReview::Ask => Vec::new(),
    };
    let door = if over_pipes { Door::default() } else { serve_door::door(context, &wishes)? };
    let listener = if over_pipes { None } else { Some(listen(wishes.listen).await?) };
    let people = People::nobody(&context.printer);
    let host = context.start_with(Wanted { only: only.clone(), people, allow, model: None })?;
    let options = wishes.options(&door);
    let (drain, names) = (options.drain, options.names);
    let gateway = Gateway::new(host.clone(), options);
    let has_prefix = config.servers.values().any(|server| server.prefix.is_some());
    if names == NameMode::Plain || has_prefix {
        host.settled(only.as_deref()).await;
        refuse_collisions(&gateway)?;
    }
    match listener {
        None => over_pipe(context, &gateway, drain).await,
        Some(listener) => over_http(context, &console, &gateway, listener, door).await?,
    }
    gateway.stop();
    host.stop().await;
    Ok(exit_code::OK)
}

async fn over_pipe(context: &Context, gateway: &Gateway, drain: Duration) {
    let serving = gateway.serve_pipe(standard_input(), standard_output());
    let stop = context.interrupts.token();
    tokio::pin!(serving);
    if stop.run_until_cancelled(&mut serving).await.is_none() {
        gateway.stop();
        // What runs has been told; it may end in order.
        tokio::time::timeout(drain, serving).await.ok();
    }
}

async fn over_http(
    context: &Context,
    console: &Wish,
    gateway: &Gateway,
    listener: TcpListener,
    door: Door,
) -> Result<(), CliError> {
    let address = listener.local_addr().map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("the address is not known: {error}"))
    })?;
    let console = serve_console::console(context, console, gateway.host(), address)?;
    announce(context, gateway.host(), address, console.as_ref().and_then(|it| it.link()))?;
    let stop = context.interrupts.token().clone();
    let pages = console.map(|console| console.router());
    let served = http::serve(gateway.clone(), door, pages, listener, stop).await;
    served.map_err(|error| CliError::new(exit_code::TROUBLE, format!("serving ended: {error}")))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).await.map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot listen on {address}: {error}"))
            .with_hint("another program may be there: `--listen 127.0.0.1:0` takes a free port")
    })
}

fn announce(
    context: &Context,
    host: &Host,
    address: SocketAddr,
    console: Option<String>,
) -> Result<(), CliError> {
    let url = format!("http://{address}/mcp");
    if let Some(link) = &console {
        serve_console::show(context, link);
    }
    if context.shared.json {
        let servers = host.fleet().load().servers.len();
        return context.printer.json(&json!({"url": url, "servers": servers, "console": console}));
    }
    context.printer.words(&format!(
        "MCP endpoint  {url}\nconnect       claude mcp add --transport http switchboard {url}\nstop          Ctrl-C\n"
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
