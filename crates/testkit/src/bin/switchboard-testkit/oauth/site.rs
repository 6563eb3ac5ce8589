//! The state of the process, and the routing of requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::Method;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::clients::OauthClient;
use super::form::FormFields;
use super::grants::{Grants, OauthGrant};
use super::settings::OauthSiteSettings;
use super::{authorize, metadata, resource, token};
use crate::exchange::WireStep;
use crate::http::{self, FixtureEndpoint, FixtureReply, FixtureRequest, HttpSite};
use crate::options::{FixtureOptions, FixtureTransport, ServerKind};
use crate::server::FixtureServer;

#[derive(Debug)]
pub(crate) struct OauthSite {
    /// Scheme, host and port.
    pub(crate) origin: String,
    pub(crate) settings: OauthSiteSettings,
    redirect_status: u16,
    pub(crate) sink: SinkServer,
    pub(crate) endpoint: Arc<FixtureEndpoint>,
    state: Mutex<OauthState>,
}

#[derive(Debug)]
pub(crate) struct OauthState {
    pub(crate) grants: Grants,
    pub(crate) clients: BTreeMap<String, OauthClient>,
    pub(crate) seen: OauthObservations,
    pub(crate) token_life: Duration,
}

impl OauthSite {
    pub(crate) fn state(&self) -> MutexGuard<'_, OauthState> {
        self.state.lock()
    }

    pub(crate) fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.settings.issuer_path)
    }

    /// Returns the audience of tokens: the URL of the MCP endpoint.
    pub(crate) fn resource(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Expands the placeholders for this process's addresses in a command-line value.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        let port = self.sink.origin.rsplit(':').next().unwrap_or_default();
        text.replace("{origin}", &self.origin)
            .replace("{sink}", &self.sink.origin)
            .replace("{sink-port}", port)
    }

    pub(crate) fn misbehaves(&self, name: &str) -> bool {
        self.settings.misbehaves(name)
    }

    /// Returns the value of the misbehaviour, by default the URL of the sink.
    pub(crate) fn value(&self) -> String {
        self.fill_in(self.settings.value.as_deref().unwrap_or("{sink}/"))
    }

    /// Returns a redirect to the value if `--misbehave` names this redirect.
    pub(crate) fn redirect_if(&self, name: &str) -> Option<FixtureReply> {
        let status = self.redirect_status;
        self.misbehaves(name).then(|| FixtureReply::empty(status).with("location", self.value()))
    }

    pub(crate) fn silence_if(&self, name: &str) -> Option<FixtureReply> {
        let for_ever = || FixtureReply::wire(vec![WireStep::Pause(Duration::from_secs(3600))]);
        self.misbehaves(name).then(for_ever)
    }

    /// Returns the grant of a user: the scopes of the request, or the base scope.
    pub(crate) fn grant(&self, client: String, form: &FormFields) -> OauthGrant {
        let asked_for = form.get("scope").or(self.settings.base_scope.as_ref());
        let scopes = asked_for.map(|all| all.split(' ').map(str::to_owned).collect());
        OauthGrant { client, scopes: scopes.unwrap_or_default() }
    }
}

impl HttpSite for OauthSite {
    async fn answer(self: Arc<Self>, asked: FixtureRequest) -> FixtureReply {
        if asked.path == "/control" {
            return control(&self, &asked);
        }
        let line = format!("{} {}", asked.verb, asked.path);
        *self.state().seen.requests.entry(line).or_default() += 1;
        if asked.path == "/mcp" {
            return resource::answer(&self, asked).await;
        }
        if let Some(reply) = metadata::answer(&self, &asked) {
            return reply;
        }
        let posted = asked.verb == Method::POST;
        match asked.path.strip_prefix(self.settings.issuer_path.as_str()) {
            Some("/authorize") if asked.verb == Method::GET => authorize::answer(&self, &asked),
            Some("/token") if posted => token::answer(&self, &asked),
            Some("/revoke") if posted => token::revoke(&self, &asked),
            Some("/register") if posted && !self.settings.no_registration => {
                token::register(&self, &asked)
            }
            _ => FixtureReply::empty(404),
        }
    }
}

pub(crate) async fn serve(options: FixtureOptions) {
    let settings = options.oauth.clone();
    let sink = SinkServer::open().await;
    let listener = http::listen(&options, "/mcp").await;
    let address = listener.local_addr().expect("a bound listener has an address");
    let known = settings.client.clone().map(|id| {
        let secret = settings.client_secret.clone();
        (id.clone(), OauthClient { id, secret, auth: settings.client_auth, redirects: None })
    });
    let state = OauthState {
        grants: Grants::default(),
        clients: known.into_iter().collect(),
        seen: OauthObservations::default(),
        token_life: Duration::from_secs(settings.token_seconds),
    };
    let transport = FixtureTransport::Http;
    let behind = FixtureOptions { kind: ServerKind::Protected, transport, ..options };
    let site = OauthSite {
        origin: format!("http://{address}"),
        redirect_status: behind.fault.status.unwrap_or(307),
        settings,
        sink,
        endpoint: Arc::new(FixtureEndpoint::new(Arc::new(FixtureServer::new(behind)))),
        state: Mutex::new(state),
    };
    http::serve_raw(listener, Arc::new(site)).await;
}

#[derive(Clone, Debug)]
pub(crate) struct SinkServer {
    pub(crate) origin: String,
    connections: Arc<AtomicUsize>,
}

impl SinkServer {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                // Answered so that the client does not wait; only the connection matters.
                let _ = stream.write_all(b"HTTP/1.1 404 Sink\r\ncontent-length: 0\r\n\r\n").await;
            }
        });
        Self { origin: format!("http://{address}"), connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Everything that arrived, for tests.
#[derive(Debug, Default)]
pub(crate) struct OauthObservations {
    /// Number of requests by verb and path.
    pub(crate) requests: BTreeMap<String, u64>,
    /// Number of MCP requests by `Authorization` header; the key `none` counts those without one.
    pub(crate) authorization: BTreeMap<String, u64>,
    pub(crate) authorizations: Vec<FormFields>,
    pub(crate) token_requests: Vec<FormFields>,
    pub(crate) registrations: Vec<Value>,
    pub(crate) tokens_revoked: u64,
    /// Descriptions of the requests that a strict server had to refuse.
    pub(crate) problems: Vec<String>,
}

/// Returns all observations; `POST` also accepts `{"expire": true}`, `{"revoke": true}` and
/// `{"token_seconds": N}`.
pub(crate) fn control(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    let mut state = site.state();
    if asked.verb == Method::POST {
        let told: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if told["expire"] == true {
            state.grants.expire_all();
        }
        if told["revoke"] == true {
            state.grants.revoke_all();
        }
        if let Some(seconds) = told["token_seconds"].as_u64() {
            state.token_life = Duration::from_secs(seconds);
        }
    }
    FixtureReply::json(200, snapshot(site, &state).to_string())
}

fn snapshot(site: &OauthSite, state: &OauthState) -> Value {
    let seen = &state.seen;
    json!({
        "requests": seen.requests,
        "authorization": seen.authorization,
        "authorizations": seen.authorizations,
        "token_requests": seen.token_requests,
        "registrations": seen.registrations,
        "tokens_revoked": seen.tokens_revoked,
        "problems": seen.problems,
        "refreshes": state.grants.refreshes,
        "reuses": state.grants.reuses,
        "families_revoked": state.grants.families_revoked,
        "sink": site.sink.origin,
        "sink_connections": site.sink.connections(),
    })
}
