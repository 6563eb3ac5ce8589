//! Reads the command line of a server with a login and starts it.

use std::sync::Arc;

use super::settings::OauthSiteSettings;
use super::sink::SinkServer;
use super::site::OauthSite;
use crate::http::{self, FixtureEndpoint};
use crate::options::{FixtureOptions, Flags, ServerLife};
use crate::server::FixtureServer;

pub(crate) async fn serve(arguments: &[String]) {
    let flags = Flags::read(arguments);
    let settings = OauthSiteSettings::from_flags(&flags);
    let era = flags.text("era").unwrap_or("dual");
    let behind = ["protected", "--transport", "http", "--era", era].map(str::to_owned);
    let endpoint = Arc::new(FixtureEndpoint::new(Arc::new(FixtureServer::new(
        FixtureOptions::parse(&behind),
    ))));
    let sink = SinkServer::open().await;
    let listener =
        http::listen(flags.number("port", 0), "/mcp", ServerLife::from_flags(&flags)).await;
    let address = listener.local_addr().expect("a bound listener has an address");
    let site = OauthSite::new(format!("http://{address}"), settings, sink, endpoint);
    http::serve_raw(listener, Arc::new(site)).await;
}
