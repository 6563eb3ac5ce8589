//! Commands that start each gateway on each route.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::peers::PeerGateway;
use super::route::CallRoute;
use super::route::GatewayContestant;
use crate::error::Result;

/// The context in which a gateway is started.
pub(super) struct RecipeContext<'a> {
    pub(super) route: CallRoute,
    /// Address of the server, if it is reached over HTTP.
    pub(super) upstream: Option<&'a str>,
    /// Port for the gateway to listen on, if clients connect over HTTP.
    pub(super) port: u16,
    /// Folder for the gateway's files.
    pub(super) home: &'a Path,
    pub(super) peers: &'a Path,
    pub(super) testenv: Option<&'a Path>,
    pub(super) baseline: Option<&'a Path>,
}

/// The command and environment that start a gateway, and the path of its endpoint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GatewayRecipe {
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(&'static str, String)>,
    pub(super) path: &'static str,
}

/// Returns the configuration of stdio servers, each with further arguments of `raw-server stdio`.
pub(super) fn stdio_servers(words: &[Vec<String>]) -> Result<Value> {
    let program = own_program()?;
    let mut servers = Map::new();
    for (number, more) in words.iter().enumerate() {
        let mut args = vec!["raw-server".to_owned(), "stdio".to_owned()];
        args.extend_from_slice(more);
        servers.insert(format!("raw{number}"), json!({ "command": program, "args": args }));
    }
    Ok(Value::Object(servers))
}

/// Returns the recipe of `switchboard serve` with these servers.
pub(super) fn own_recipe(home: &Path, servers: &Value, more: &[&str]) -> Result<GatewayRecipe> {
    let program = std::env::current_exe()?.with_file_name("switchboard");
    serve_recipe(&program, home, servers, more)
}

fn serve_recipe(
    program: &Path,
    home: &Path,
    servers: &Value,
    more: &[&str],
) -> Result<GatewayRecipe> {
    let file = home.join("config.json");
    let config = json!({ "mcpServers": servers, "settings": { "builtin": false } });
    std::fs::write(&file, config.to_string())?;
    let mut command = vec![text(program)?, "serve".to_owned(), "--quiet".to_owned()];
    command.extend(["--config".to_owned(), text(&file)?]);
    command.extend(more.iter().map(|word| (*word).to_owned()));
    let environment = vec![("SWITCHBOARD_HOME", text(&home.join("state"))?)];
    Ok(GatewayRecipe { command, environment, path: "/mcp" })
}

/// Returns the recipe of a gateway, or `None` if the client connects to the server directly.
pub(super) fn recipe(
    contestant: GatewayContestant,
    around: &RecipeContext<'_>,
) -> Result<Option<GatewayRecipe>> {
    let listen = format!("127.0.0.1:{}", around.port);
    let pipe = around.route.has_pipe_client();
    let recipe = match contestant {
        GatewayContestant::Direct if pipe => {
            let command = vec![own_program()?, "raw-server".to_owned(), "stdio".to_owned()];
            GatewayRecipe { command, environment: Vec::new(), path: "" }
        }
        GatewayContestant::Direct => return Ok(None),
        GatewayContestant::Floor => {
            let mut command = vec![own_program()?, "forward".to_owned()];
            if !pipe {
                command.extend(["--listen".to_owned(), listen]);
            }
            if let Some(url) = around.upstream {
                command.extend(["--url".to_owned(), url.to_owned()]);
            }
            GatewayRecipe { command, environment: Vec::new(), path: "/mcp" }
        }
        GatewayContestant::Recorded | GatewayContestant::Unrecorded => {
            let mut more = if pipe { vec!["--stdio"] } else { vec!["--listen", listen.as_str()] };
            if contestant == GatewayContestant::Unrecorded {
                more.push("--no-record");
            }
            own_recipe(around.home, &servers(around)?, &more)?
        }
        GatewayContestant::Baseline => {
            let program = around.baseline.ok_or("no other build is given")?;
            let more = if pipe { vec!["--stdio"] } else { vec!["--listen", listen.as_str()] };
            serve_recipe(program, around.home, &servers(around)?, &more)?
        }
        GatewayContestant::Peer(peer) => peer_recipe(peer, around)?,
    };
    Ok(Some(recipe))
}

fn servers(around: &RecipeContext<'_>) -> Result<Value> {
    match around.upstream {
        Some(url) => Ok(json!({ "raw0": { "type": "http", "url": url } })),
        None => stdio_servers(&[Vec::new()]),
    }
}

fn peer_recipe(peer: PeerGateway, around: &RecipeContext<'_>) -> Result<GatewayRecipe> {
    let home = peer.home(around.peers);
    let port = around.port.to_string();
    let server = own_program()?;
    let (command, path) = match peer {
        PeerGateway::Supergateway => {
            let script = home.join("node_modules/supergateway/dist/index.js");
            let stdio = format!("{server} raw-server stdio");
            let more = ["--stdio", &stdio, "--outputTransport", "streamableHttp", "--stateful"];
            let quiet = ["--logLevel", "none", "--port", &port];
            (words(&[&node(around)?, &text(&script)?], &[&more, &quiet]), "/mcp")
        }
        PeerGateway::OneMcp => {
            let script = home.join("node_modules/@1mcp/agent/build/index.js");
            let file = text(&config_file(around, "mcpServers")?)?;
            let more = ["serve", "--config", &file, "--port", &port, "--host", "127.0.0.1"];
            (words(&[&node(around)?, &text(&script)?], &[&more]), "/mcp")
        }
        PeerGateway::PythonProxy => {
            let more = ["--host", "127.0.0.1", "--port", &port, "--log-level", "ERROR", "--"];
            let last = [server.as_str(), "raw-server", "stdio"];
            (words(&[&text(&home.join("bin/mcp-proxy"))?], &[&more, &last]), "/mcp")
        }
        PeerGateway::Mcpo => {
            let more = ["--host", "127.0.0.1", "--port", &port];
            let last = match around.upstream {
                Some(url) => vec!["--server-type", "streamable-http", "--", url],
                None => vec!["--", server.as_str(), "raw-server", "stdio"],
            };
            (words(&[&text(&home.join("bin/mcpo"))?], &[&more, &last]), "/echo")
        }
        PeerGateway::FastMcp => {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/fastmcp_proxy.py");
            let file = text(&config_file(around, "mcpServers")?)?;
            let python = text(&home.join("bin/python"))?;
            let way = if around.route.has_pipe_client() { "stdio" } else { port.as_str() };
            (words(&[&python, &text(&script)?], &[&[&file, way]]), "/mcp")
        }
        PeerGateway::CrateProxy => {
            let file = around.home.join("proxy.toml");
            std::fs::write(&file, crate_proxy(around, &server))?;
            let program = text(&home.join("bin/mcp-proxy"))?;
            (words(&[&program], &[&["--config", &text(&file)?]]), "/mcp")
        }
    };
    Ok(GatewayRecipe { command, environment: Vec::new(), path })
}

fn crate_proxy(around: &RecipeContext<'_>, server: &str) -> String {
    let backend = match around.upstream {
        Some(url) => format!("transport = \"http\"\nurl = \"{url}\"\n"),
        None => format!(
            "transport = \"stdio\"\ncommand = \"{server}\"\nargs = [\"raw-server\", \"stdio\"]\n"
        ),
    };
    format!(
        "[proxy]\nname = \"bench\"\nversion = \"1\"\nseparator = \"/\"\n\n[proxy.listen]\n\
         host = \"127.0.0.1\"\nport = {}\n\n[[backends]]\nname = \"raw0\"\n{backend}",
        around.port
    )
}

fn config_file(around: &RecipeContext<'_>, member: &str) -> Result<PathBuf> {
    let file = around.home.join("servers.json");
    let servers = match around.upstream {
        Some(url) => json!({ "raw0": { "type": "http", "transport": "http", "url": url } }),
        None => servers(around)?,
    };
    std::fs::write(&file, json!({ member: servers }).to_string())?;
    Ok(file)
}

/// Returns the Node of the test environment, or else that of the system.
fn node(around: &RecipeContext<'_>) -> Result<String> {
    let own = around.testenv.map(|testenv| testenv.join("npm/node_modules/node/bin/node"));
    own.filter(|node| node.exists()).map_or_else(|| Ok("node".to_owned()), |node| text(&node))
}

fn words(first: &[&str], more: &[&[&str]]) -> Vec<String> {
    let all = first.iter().chain(more.iter().copied().flatten());
    all.map(|word| (*word).to_owned()).collect()
}

fn own_program() -> Result<String> {
    text(&std::env::current_exe()?)
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "a path is not valid UTF-8".into())
}
