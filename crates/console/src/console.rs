//! The console: its options, its shared state and its router.

use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use switchboard_config::{Environment, Places};
use switchboard_core::random_token;
use switchboard_host::Host;
use tokio_util::sync::CancellationToken;

use crate::actions::PendingLogins;
use crate::apps::Frames;
use crate::auth::{
    HostNames, SignIns, add_security_headers, check_host, require_action, require_session,
    set_security_headers,
};
use crate::conversations::{Conversations, OpenModel};
use crate::live::LiveFeed;
use crate::other_products::ProductReader;
use crate::pages::sign_in;
use crate::presence::PagePresence;
use crate::programs::ProgramCalls;
use crate::reply::{ApiError, html_with};
use crate::routes::{self, RequiredAuth};

pub(crate) type SharedConsole = Arc<Console>;
/// The shared state as an axum extractor.
pub(crate) type ConsoleState = State<SharedConsole>;

/// The address under which browsers reach the console.
#[derive(Clone, Debug)]
pub enum ConsoleAddress {
    Loopback(SocketAddr),
    /// Behind a proxy that terminates TLS, such as `https://tools.example`.
    Https(String),
}

/// Options of a [`Console`].
pub struct ConsoleOptions {
    pub address: ConsoleAddress,
    pub places: Places,
    pub environment: Environment,
    pub talks: Conversations,
    pub onlookers: PagePresence,
    /// Opens models. Without it, the pages cannot hold conversations.
    pub models: Option<Box<OpenModel>>,
    pub elsewhere: Arc<dyn ProductReader>,
    /// Ends the event streams when the listener stops.
    pub stop: CancellationToken,
    /// Shows a sign-in link in the terminal.
    pub announce: Box<dyn Fn(&str) + Send + Sync>,
}

/// The console of a host, shared by all requests.
pub struct Console {
    pub(crate) host: Host,
    pub(crate) places: Places,
    pub(crate) environment: Environment,
    pub(crate) stop: CancellationToken,
    pub(crate) names: HostNames,
    pub(crate) sign_ins: SignIns,
    pub(crate) feed: LiveFeed,
    pub(crate) logins: PendingLogins,
    pub(crate) frames: Frames,
    pub(crate) lines: ProgramCalls,
    pub(crate) talks: Conversations,
    pub(crate) onlookers: PagePresence,
    pub(crate) models: Option<Box<OpenModel>>,
    pub(crate) elsewhere: Arc<dyn ProductReader>,
    /// The API key for other programs of the same user; `None` without randomness.
    pub(crate) key: Option<String>,
    announce: Box<dyn Fn(&str) + Send + Sync>,
}

impl Console {
    /// Creates the console of a host.
    #[must_use]
    pub fn new(host: Host, options: ConsoleOptions) -> Arc<Self> {
        Arc::new(Self {
            feed: LiveFeed::new(host.clone(), options.stop.clone()),
            host,
            places: options.places,
            environment: options.environment,
            stop: options.stop,
            names: HostNames::new(&options.address),
            sign_ins: SignIns::default(),
            logins: PendingLogins::default(),
            frames: Frames::default(),
            lines: ProgramCalls::default(),
            talks: options.talks,
            onlookers: options.onlookers,
            models: options.models,
            elsewhere: options.elsewhere,
            key: random_token(),
            announce: options.announce,
        })
    }

    /// Returns a link that signs in one browser, once and within ten minutes. Returns `None`
    /// without randomness, or while too many links are unused.
    #[must_use]
    pub fn sign_in_link(&self) -> Option<String> {
        let key = self.sign_ins.new_key()?;
        Some(format!("{}/?key={key}", self.names.base()))
    }

    /// Returns the API key, which programs of the same user send instead of a cookie.
    #[must_use]
    pub fn program_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the routes of the pages and the API, each behind its authentication.
    pub fn router(self: &Arc<Self>) -> Router {
        let of = |wanted: RequiredAuth| {
            let routes = routes::all().filter(|route| route.proof == wanted);
            routes.fold(Router::new(), |router, route| router.route(route.path, (route.serve)()))
        };
        // Behind the session check, so that strangers cannot probe which paths exist.
        let unknown = Router::new().route("/api/{*rest}", any(api_not_found));
        let signed = of(RequiredAuth::Session).merge(unknown);
        let signed = signed.layer(from_fn_with_state(Arc::clone(self), require_session));
        let acting =
            of(RequiredAuth::Token).layer(from_fn_with_state(Arc::clone(self), require_action));
        // Layers added last run first: every request gets the headers, then the host check.
        Router::new()
            .merge(of(RequiredAuth::Nothing))
            .merge(signed)
            .merge(acting)
            .method_not_allowed_fallback(method_not_allowed)
            .layer(from_fn_with_state(Arc::clone(self), check_host))
            .layer(from_fn_with_state(Arc::clone(self), add_security_headers))
            .with_state(Arc::clone(self))
    }

    /// Returns the 404 page for a browser, or `None` if the request does not accept HTML.
    pub fn not_found_page(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<Response> {
        let wants_page = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let wants_page = wants_page.is_some_and(|kinds| kinds.contains("text/html"));
        if !wants_page || !matches!(*method, Method::GET | Method::HEAD) {
            return None;
        }
        // The listener's fallback runs outside of the router and its layers.
        let mut response = match self.names.check(method, uri, headers) {
            Ok(()) => html_with(StatusCode::NOT_FOUND, sign_in::not_found()),
            Err(why) => ApiError::new(StatusCode::FORBIDDEN, why).into_response(),
        };
        set_security_headers(self, &mut response);
        Some(response)
    }

    /// Shows a new sign-in link in the terminal. Returns `false` if there is none.
    pub(crate) fn announce_link(&self) -> bool {
        self.sign_in_link().inspect(|link| (self.announce)(link)).is_some()
    }
}

fn api_not_found() -> Ready<ApiError> {
    let problem = ApiError::not_found("unknown API path");
    ready(problem.with_hint("see `/api/v1/openapi.json` for all paths"))
}

fn method_not_allowed() -> Ready<ApiError> {
    let problem = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed here");
    ready(problem.with_hint("MCP clients connect to `/mcp`"))
}
