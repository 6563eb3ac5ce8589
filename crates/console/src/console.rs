//! The console itself: what it shows, under which address, and who is signed in.

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
use crate::routes;
use crate::routes::RequiredAuth;

/// What pages and the API are answered with.
pub(crate) type SharedConsole = Arc<Console>;
/// The same, as handlers take it.
pub(crate) type ConsoleState = State<SharedConsole>;

/// Under which address the console is reached.
#[derive(Clone, Debug)]
pub enum ConsoleAddress {
    /// On this machine only.
    Loopback(SocketAddr),
    /// Behind a proxy that speaks TLS: `https://tools.example`.
    Https(String),
}

/// How to set it up.
pub struct ConsoleOptions {
    /// Under which address it is reached.
    pub address: ConsoleAddress,
    /// Where the files are.
    pub places: Places,
    /// Our own environment, as a value.
    pub environment: Environment,
    /// Conversations that are held through the pages.
    pub talks: Conversations,
    /// Whether somebody is at the pages.
    pub onlookers: PagePresence,
    /// Opens models; without it, no conversation can be held here.
    pub models: Option<Box<OpenModel>>,
    /// Servers that other products have.
    pub elsewhere: Arc<dyn ProductReader>,
    /// Ends streams that would go on for ever.
    pub stop: CancellationToken,
    /// Shows a sign-in link to whoever sees the terminal.
    pub announce: Box<dyn Fn(&str) + Send + Sync>,
}

/// The console.
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
    /// What opens the API to other programs of the same user.
    pub(crate) key: Option<String>,
    announce: Box<dyn Fn(&str) + Send + Sync>,
}

impl Console {
    /// The console of a host.
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

    /// A link that signs one browser in, once and for a few minutes; none without randomness or
    /// while others were asked for just now.
    #[must_use]
    pub fn sign_in_link(&self) -> Option<String> {
        let key = self.sign_ins.new_key()?;
        Some(format!("{}/?key={key}", self.names.base()))
    }

    /// What opens the API to a program of the same user that was told it, in place of a cookie.
    #[must_use]
    pub fn program_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The pages, the API and what both need, each behind what it asks for.
    pub fn router(self: &Arc<Self>) -> Router {
        let of = |wanted: RequiredAuth| {
            let routes = routes::all().filter(|route| route.proof == wanted);
            routes.fold(Router::new(), |router, route| router.route(route.path, (route.serve)()))
        };
        let unknown = Router::new().route("/api/{*rest}", any(api_not_found));
        let signed = of(RequiredAuth::Session).merge(unknown);
        let signed = signed.layer(from_fn_with_state(Arc::clone(self), require_session));
        let acting =
            of(RequiredAuth::Token).layer(from_fn_with_state(Arc::clone(self), require_action));
        Router::new()
            .merge(of(RequiredAuth::Nothing))
            .merge(signed)
            .merge(acting)
            .method_not_allowed_fallback(method_not_allowed)
            .layer(from_fn_with_state(Arc::clone(self), check_host))
            .layer(from_fn_with_state(Arc::clone(self), add_security_headers))
            .with_state(Arc::clone(self))
    }

    /// What a browser is shown at an address where nothing is; none if it wants no page.
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
        let mut response = match self.names.check(method, uri, headers) {
            Ok(()) => html_with(StatusCode::NOT_FOUND, sign_in::not_found()),
            Err(why) => ApiError::new(StatusCode::FORBIDDEN, why).into_response(),
        };
        set_security_headers(self, &mut response);
        Some(response)
    }

    /// Shows a new link where only whoever may sign in sees it.
    pub(crate) fn announce_link(&self) -> bool {
        match self.sign_in_link() {
            Some(link) => {
                (self.announce)(&link);
                true
            }
            None => false,
        }
    }
}

/// Nothing of the API.
fn api_not_found() -> Ready<ApiError> {
    let problem = ApiError::not_found("the API has nothing at this address");
    ready(problem.with_hint("`/api/v1/openapi.json` says what there is"))
}

/// Something, but not in this way.
fn method_not_allowed() -> Ready<ApiError> {
    let problem =
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this is not asked for in this way");
    ready(problem.with_hint("MCP clients connect to `/mcp`"))
}
