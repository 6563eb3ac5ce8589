//! Reads the command line of a server with a login and starts it.

use std::sync::Arc;

use super::settings::Settings;
use super::sink::Sink;
use super::site::OauthSite;
use crate::http::{self, Endpoint};
use crate::options::{Flags, Life, Options};
use crate::server::Server;

pub(crate) async fn serve(arguments: &[String]) {
    let flags = Flags::read(arguments);
    let settings = Settings::of(&flags);
    let era = flags.text("era").unwrap_or("dual");
    let behind = ["protected", "--transport", "http", "--era", era].map(str::to_owned);
    let endpoint = Arc::new(Endpoint::new(Arc::new(Server::new(Options::parse(&behind)))));
    let sink = Sink::open().await;
    let listener = http::listen(flags.number("port", 0), "/mcp", Life::of(&flags)).await;
    let address = listener.local_addr().expect("a bound listener has an address");
    let site = OauthSite::new(format!("http://{address}"), settings, sink, endpoint);
    http::serve_raw(listener, Arc::new(site)).await;
}
