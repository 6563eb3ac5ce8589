//! The console itself: what it shows, under which address, and who is signed in.

use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use switchboard_config::{Environment, Places};
use switchboard_core::random;
use switchboard_host::Host;
use tokio_util::sync::CancellationToken;

use crate::actions::PendingLogins;
use crate::apps::Frames;
use crate::door::{Names, SignIns, acting, checked, guard, guarded, signed_in};
use crate::elsewhere::Elsewhere;
use crate::live::Feed;
use crate::onlookers::Onlookers;
use crate::pages::sign_in;
use crate::programs::Lines;
use crate::reply::{Problem, html_with};
use crate::routes;
use crate::routes::Proof;
use crate::talks::{OpenModel, Talks};

/// What pages and the API are answered with.
pub(crate) type Shared = Arc<Console>;

/// Under which address the console is reached.
#[derive(Clone, Debug)]
pub enum Address {
    /// On this machine only.
    Loopback(SocketAddr),
    /// Behind a proxy that speaks TLS: `https://tools.example`.
    Https(String),
}

/// How to set it up.
pub struct Options {
    /// Under which address it is reached.
    pub address: Address,
    /// Where the files are.
    pub places: Places,
    /// Our own environment, as a value.
    pub environment: Environment,
    /// Conversations that are held through the pages.
    pub talks: Talks,
    /// Whether somebody is at the pages.
    pub onlookers: Onlookers,
    /// Opens models; without it, no conversation can be held here.
    pub models: Option<Box<OpenModel>>,
    /// Servers that other products have.
    pub elsewhere: Arc<dyn Elsewhere>,
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
    pub(crate) names: Names,
    pub(crate) sign_ins: SignIns,
    pub(crate) feed: Feed,
    pub(crate) logins: PendingLogins,
    pub(crate) frames: Frames,
    pub(crate) lines: Lines,
    pub(crate) talks: Talks,
    pub(crate) onlookers: Onlookers,
    pub(crate) models: Option<Box<OpenModel>>,
    pub(crate) elsewhere: Arc<dyn Elsewhere>,
    /// What opens the API to other programs of the same user.
    pub(crate) key: Option<String>,
    announce: Box<dyn Fn(&str) + Send + Sync>,
}

impl Console {
    /// The console of a host.
    #[must_use]
    pub fn new(host: Host, options: Options) -> Arc<Self> {
        Arc::new(Self {
            feed: Feed::new(host.clone(), options.stop.clone()),
            host,
            places: options.places,
            environment: options.environment,
            stop: options.stop,
            names: Names::new(&options.address),
            sign_ins: SignIns::default(),
            logins: PendingLogins::default(),
            frames: Frames::default(),
            lines: Lines::default(),
            talks: options.talks,
            onlookers: options.onlookers,
            models: options.models,
            elsewhere: options.elsewhere,
            key: random::word(),
            announce: options.announce,
        })
    }

    /// A link that signs one browser in, once and for a few minutes; none without randomness or
    /// while others were asked for just now.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        let key = self.sign_ins.new_key()?;
        Some(format!("{}/?key={key}", self.names.base()))
    }

    /// What opens the API to a program of the same user that was told it, in place of a cookie.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The pages, the API and what both need, each behind what it asks for.
    pub fn router(self: &Arc<Self>) -> Router {
        let of = |wanted: Proof| {
            let routes = routes::all().filter(|route| route.proof == wanted);
            routes.fold(Router::new(), |router, route| router.route(route.path, (route.serve)()))
        };
        let unknown = Router::new().route("/api/{*rest}", any(unknown));
        let signed = of(Proof::Session).merge(unknown);
        let signed = signed.layer(from_fn_with_state(Arc::clone(self), signed_in));
        let acting = of(Proof::Token).layer(from_fn_with_state(Arc::clone(self), acting));
        Router::new()
            .merge(of(Proof::Nothing))
            .merge(signed)
            .merge(acting)
            .method_not_allowed_fallback(not_so)
            .layer(from_fn_with_state(Arc::clone(self), checked))
            .layer(from_fn_with_state(Arc::clone(self), guarded))
            .with_state(Arc::clone(self))
    }

    /// What a browser is shown at an address where nothing is; none if it wants no page.
    pub fn nowhere(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let wants_page = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let wants_page = wants_page.is_some_and(|kinds| kinds.contains("text/html"));
        if !wants_page || !matches!(*method, Method::GET | Method::HEAD) {
            return None;
        }
        let mut response = match self.names.check(method, uri, headers) {
            Ok(()) => html_with(StatusCode::NOT_FOUND, sign_in::nowhere()),
            Err(why) => Problem::new(StatusCode::FORBIDDEN, why).into_response(),
        };
        guard(self, &mut response);
        Some(response)
    }

    /// Shows a new link where only whoever may sign in sees it.
    pub(crate) fn announce_link(&self) -> bool {
        match self.link() {
            Some(link) => {
                (self.announce)(&link);
                true
            }
            None => false,
        }
    }
}

/// Nothing of the API.
fn unknown() -> Ready<Problem> {
    let problem = Problem::missing("the API has nothing at this address");
    ready(problem.with_hint("`/api/v1/openapi.json` says what there is"))
}

/// Something, but not in this way.
fn not_so() -> Ready<Problem> {
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this is not asked for in this way");
    ready(problem.with_hint("MCP clients connect to `/mcp`"))
}
