//! The state of the process, and which request goes where.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::http::Method;

use super::clients::OauthClient;
use super::control::{self, OauthObservations};
use super::grants::Grants;
use super::settings::OauthSiteSettings;
use super::sink::SinkServer;
use super::{authorize, metadata, register, resource, token};
use crate::emission::WireStep;
use crate::http::{FixtureEndpoint, FixtureReply, FixtureRequest, HttpSite};

#[derive(Debug)]
pub(crate) struct OauthSite {
    /// Scheme, host and port.
    pub(crate) origin: String,
    pub(crate) settings: OauthSiteSettings,
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
    pub(crate) fn new(
        origin: String,
        settings: OauthSiteSettings,
        sink: SinkServer,
        endpoint: Arc<FixtureEndpoint>,
    ) -> Self {
        let known = settings.client.clone().map(|(id, secret)| {
            let auth = settings.client_auth;
            (id.clone(), OauthClient { id, secret, auth, redirects: None })
        });
        let state = OauthState {
            grants: Grants::default(),
            clients: known.into_iter().collect(),
            seen: OauthObservations::default(),
            token_life: Duration::from_secs(settings.token_seconds),
        };
        Self { origin, settings, sink, endpoint, state: Mutex::new(state) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, OauthState> {
        self.state.lock().expect("no fixture code panics while it holds a lock")
    }

    pub(crate) fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.settings.issuer_path)
    }

    /// What tokens are for: the address of the MCP endpoint.
    pub(crate) fn resource(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Puts the addresses of this process into a text of the command line.
    pub(crate) fn fill_in(&self, text: &str) -> String {
        let port = self.sink.origin.rsplit(':').next().unwrap_or_default();
        text.replace("{origin}", &self.origin)
            .replace("{sink}", &self.sink.origin)
            .replace("{sink-port}", port)
    }

    pub(crate) fn misbehaves(&self, name: &str) -> bool {
        self.settings.misbehaves(name)
    }

    /// The value of the misbehaviour; the sink where none was given.
    pub(crate) fn value(&self) -> String {
        let value = self.settings.misbehaviour.as_ref().and_then(|wrong| wrong.value());
        self.fill_in(value.unwrap_or("{sink}/"))
    }

    /// A redirect to the value when the server was told to redirect here.
    pub(crate) fn redirect_if(&self, name: &str) -> Option<FixtureReply> {
        let status = self.settings.redirect_status;
        self.misbehaves(name).then(|| FixtureReply::empty(status).with("location", self.value()))
    }

    pub(crate) fn silence_if(&self, name: &str) -> Option<FixtureReply> {
        let for_ever = || FixtureReply::wire(vec![WireStep::Pause(Duration::from_secs(3600))]);
        self.misbehaves(name).then(for_ever)
    }

    fn path_below_issuer<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.settings.issuer_path.as_str())
    }
}

impl HttpSite for OauthSite {
    async fn answer(self: Arc<Self>, asked: FixtureRequest) -> FixtureReply {
        if asked.path == "/control" {
            return control::control(&self, &asked);
        }
        self.state().seen.request(&asked);
        if asked.path == "/mcp" {
            return resource::answer(&self, asked).await;
        }
        if let Some(reply) = metadata::answer(&self, &asked) {
            return reply;
        }
        let posted = asked.verb == Method::POST;
        match self.path_below_issuer(&asked.path) {
            Some("/authorize") if asked.verb == Method::GET => authorize::answer(&self, &asked),
            Some("/token") if posted => token::answer(&self, &asked),
            Some("/revoke") if posted => token::revoke(&self, &asked),
            Some("/register") if posted && self.settings.registration => {
                register::answer(&self, &asked)
            }
            _ => FixtureReply::empty(404),
        }
    }
}
