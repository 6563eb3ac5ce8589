//! The handle on all logins: begins logins, lists them, and provides accounts for connections.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use switchboard_config::{
    AuthoritiesFile, ConfigLayer, Environment, GrantType, ServerConfig, Settings, Transport,
};
use switchboard_core::Tasks;
use switchboard_net::AddressScope;
use switchboard_wire::{Authorities, Distrust, WireLimits, challenges, new_trusting_http_client};

use crate::account::Account;
use crate::challenge::Challenge;
use crate::client::{ClientOrigin, RegisteredClient};
use crate::discover::{covers, discover};
use crate::error::LoginError;
use crate::fetch::{OauthFetcher, fetch_error};
use crate::grant::unix_now;
use crate::keys::KeyProvider;
use crate::metadata::AuthServer;
use crate::pending::{LoginParts, PendingLogin};
use crate::register::{configured_client, register};
use crate::scopes::{ScopeSources, choose_scopes};
use crate::secrets::SecretStore;
use crate::store::{LoginRecord, SealedStore, StoreChange, StoredLogin};

/// How long the server may take to respond to the probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// All logins. Clones share the same state.
#[derive(Clone)]
pub struct Logins {
    pub(crate) shared: Arc<LoginsInner>,
}

pub(crate) struct LoginsInner {
    pub store: SealedStore,
    secrets: SecretStore,
    pub visitor: Option<Arc<dyn Visitor>>,
    pub tasks: Tasks,
    loopback_fetcher: OnceLock<OauthFetcher>,
    public_fetcher: OnceLock<OauthFetcher>,
    accounts: Mutex<BTreeMap<String, Weak<Account>>>,
}

/// Options of a login that a person completes.
pub struct LoginOptions<'a> {
    pub redirect_uri: String,
    /// Scopes to request in addition to those that the server requires.
    pub scopes: Vec<String>,
    /// Called at each step of the login.
    pub on_step: &'a (dyn Fn(LoginStep) + Send + Sync),
}

/// A step in the progress of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Probing the server to obtain its challenge.
    Asking,
    /// Discovering the server's authorization server.
    Discovering,
    /// Registering a client at this authorization server.
    Registering(String),
}

struct ProbeResult {
    challenge: Challenge,
    open: bool,
}

impl Logins {
    /// Opens the logins below a state folder.
    #[must_use]
    pub fn new(state: &Path, environment: &Environment, settings: &Settings) -> Self {
        Self::for_host(state, environment, settings, None, Tasks::default())
    }

    /// Opens the logins for a host, whose tasks complete renewals that have begun.
    #[must_use]
    pub fn for_host(
        state: &Path,
        environment: &Environment,
        settings: &Settings,
        visitor: Option<Arc<dyn Visitor>>,
        tasks: Tasks,
    ) -> Self {
        Self {
            shared: Arc::new(LoginsInner {
                store: SealedStore::new(state, KeyProvider::new(environment, settings)),
                secrets: SecretStore::new(state, environment, settings),
                visitor,
                tasks,
                loopback_fetcher: OnceLock::new(),
                public_fetcher: OnceLock::new(),
                accounts: Mutex::default(),
            }),
        }
    }

    /// Returns the secrets that entries refer to.
    #[must_use]
    pub fn secrets(&self) -> &SecretStore {
        &self.shared.secrets
    }

    /// Begins a login: discovers the authorization server, registers there, and returns the login
    /// with the URL for the person. Only the client registration is stored.
    pub async fn begin(
        &self,
        server: &ServerConfig,
        wish: LoginOptions<'_>,
    ) -> Result<PendingLogin, LoginError> {
        let url = login_url(server)?;
        self.shared.store.prepare().await?;
        (wish.on_step)(LoginStep::Asking);
        let probed = probe(server, &url).await?;
        self.begin_from_probe(server, url, probed, wish).await
    }

    /// Begins a login after a request was rejected with this challenge.
    pub(crate) async fn begin_after(
        &self,
        server: &ServerConfig,
        url: &Url,
        challenge: Challenge,
        redirect_uri: String,
    ) -> Result<PendingLogin, LoginError> {
        self.shared.store.prepare().await?;
        let wish = LoginOptions { redirect_uri, scopes: Vec::new(), on_step: &|_| {} };
        self.begin_from_probe(server, url.clone(), ProbeResult { challenge, open: false }, wish)
            .await
    }

    async fn begin_from_probe(
        &self,
        server: &ServerConfig,
        url: Url,
        probed: ProbeResult,
        wish: LoginOptions<'_>,
    ) -> Result<PendingLogin, LoginError> {
        let fetcher = self.fetcher(&url, server.authorities.as_ref())?;
        (wish.on_step)(LoginStep::Discovering);
        let wanted = server.oauth.issuer.as_deref();
        let found = discover(&fetcher, &url, &probed.challenge, wanted).await?;
        // Without metadata the endpoints are guesses, which only a challenge justifies.
        if probed.open && !found.issuer.has_metadata {
            let why = "it needs no login and names no authorization server";
            return Err(LoginError::NotForLogin { server: server.id.to_string(), why });
        }
        let page = found.issuer.authorization_page()?.clone();
        let client = self.client_for(server, &fetcher, &found.issuer, &wish).await?;
        let named: Vec<String> = server.oauth.scopes.iter().chain(&wish.scopes).cloned().collect();
        // Scopes requested from another authorization server do not apply.
        let previous = self.find_record(server, &url).await?;
        let previous = previous.filter(|kept| kept.issuer == found.issuer.issuer);
        let asked = choose_scopes(ScopeSources {
            named: &named,
            challenged: &probed.challenge.scopes,
            resource_scopes: &found.scopes,
            issuer_scopes: &found.issuer.scopes,
            previous: previous.as_ref().map(|kept| kept.asked.as_slice()).unwrap_or_default(),
        });
        let server = server.id.clone();
        let redirect_uri = wish.redirect_uri;
        let parts = LoginParts { server, url, fetcher, found, client, redirect_uri, asked };
        PendingLogin::new(self.clone(), &page, parts)
    }

    /// Returns our client at an authorization server: configured, stored, or newly registered.
    async fn client_for(
        &self,
        server: &ServerConfig,
        fetcher: &OauthFetcher,
        issuer: &AuthServer,
        wish: &LoginOptions<'_>,
    ) -> Result<RegisteredClient, LoginError> {
        if let Some(client) = configured_client(&server.oauth, issuer) {
            return Ok(client);
        }
        let contents = self.shared.store.read().await?;
        // A registration is bound to its redirect URI, so another callback port needs another one.
        let known = contents.clients.get(&issuer.issuer).filter(|client| {
            client.origin == ClientOrigin::Dynamic
                && client.is_current(unix_now())
                && client.redirect_uri.as_deref() == Some(&wish.redirect_uri)
        });
        if let Some(client) = known {
            return Ok(client.clone());
        }
        (wish.on_step)(LoginStep::Registering(issuer.issuer.clone()));
        let client = register(fetcher, issuer, &wish.redirect_uri).await?;
        let store = &self.shared.store;
        store
            .edit(|contents| {
                contents.clients.insert(issuer.issuer.clone(), client.clone());
                StoreChange::Yes
            })
            .await?;
        Ok(client)
    }

    /// Returns the stored login of a server. Fails if the store cannot be read.
    pub async fn stored_login(
        &self,
        server: &ServerConfig,
    ) -> Result<Option<StoredLogin>, LoginError> {
        let Ok(url) = login_url(server) else { return Ok(None) };
        let kept = self.find_record(server, &url).await?;
        Ok(kept.filter(|kept| !kept.over).map(|kept| kept.to_stored_login()))
    }

    /// Returns the port of earlier callbacks: a dynamic registration is bound to its redirect URI.
    pub async fn callback_port(&self, server: &ServerConfig) -> Option<u16> {
        let contents = self.shared.store.read().await.ok()?;
        let of_server = contents.logins.iter().filter(|kept| kept.server == server.id.as_str());
        let clients = of_server.map(|kept| &kept.client).chain(contents.clients.values());
        let addresses = clients.filter_map(|client| client.redirect_uri.as_deref());
        addresses.filter_map(|address| Url::parse(address).ok()?.port()).next()
    }

    pub(crate) async fn find_record(
        &self,
        server: &ServerConfig,
        url: &Url,
    ) -> Result<Option<LoginRecord>, LoginError> {
        let contents = self.shared.store.read().await?;
        Ok(contents.logins.iter().find(|kept| applies_to(kept, server.id.as_str(), url)).cloned())
    }

    /// Returns the account for requests to a URL, unless the entry sets `Authorization` itself.
    pub fn account(&self, server: &ServerConfig, address: &str) -> Option<Arc<Account>> {
        let Transport::Http { headers, .. } = &server.transport else { return None };
        if sets_authorization(headers) {
            return None;
        }
        let url = Url::parse(address).ok()?;
        // Connections share an account, so that one renewal serves all of them. A changed entry may
        // have other credentials and gets its own.
        let key = format!("{} {} {address}", server.id, server.restart_key());
        let mut accounts = self.shared.accounts.lock();
        accounts.retain(|_, account| account.strong_count() > 0);
        if let Some(account) = accounts.get(&key).and_then(Weak::upgrade) {
            return Some(account);
        }
        let account = Arc::new(Account::new(self.clone(), server.clone(), url));
        accounts.insert(key, Arc::downgrade(&account));
        Some(account)
    }

    /// Returns the HTTP client for URLs that the server at `url` names.
    pub(crate) fn fetcher(
        &self,
        url: &Url,
        own: Option<&AuthoritiesFile>,
    ) -> Result<OauthFetcher, LoginError> {
        let reach = AddressScope::for_server(url);
        // Servers with private certificate authorities often use them for their logins as well.
        if own.is_some() {
            return OauthFetcher::with_authorities(reach, &authorities(own)?);
        }
        let place = match reach {
            AddressScope::Public => &self.shared.public_fetcher,
            AddressScope::Loopback | AddressScope::Private => &self.shared.loopback_fetcher,
        };
        if let Some(fetcher) = place.get() {
            return Ok(fetcher.clone());
        }
        let made = OauthFetcher::with_authorities(reach, &Authorities::default())?;
        // Another thread may have been faster; either client will do.
        Ok(place.get_or_init(|| made).clone())
    }
}

/// Returns the URL to log in to, if the server supports logins.
fn login_url(server: &ServerConfig) -> Result<Url, LoginError> {
    let unfit = |why| LoginError::NotForLogin { server: server.id.to_string(), why };
    let Transport::Http { urls, headers, .. } = &server.transport else {
        return Err(unfit("it is not reached over HTTP"));
    };
    if sets_authorization(headers) {
        return Err(unfit("its `headers` already set `Authorization`"));
    }
    if server.oauth.grant == GrantType::ClientCredentials {
        return Err(unfit("it uses the client credentials grant, which needs no login"));
    }
    // A project could otherwise send the user to a page of its choice.
    if server.source.layer == ConfigLayer::Project && !server.approved {
        return Err(unfit("it has not been approved"));
    }
    let first = urls.first().and_then(|url| Url::parse(url).ok());
    first.ok_or_else(|| unfit("its URL is invalid"))
}

fn sets_authorization(headers: &BTreeMap<String, String>) -> bool {
    headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Returns whether a login may be used at a URL: only at those it was issued for.
pub(crate) fn applies_to(kept: &LoginRecord, server: &str, url: &Url) -> bool {
    kept.server == server && (kept.url == url.as_str() || covers(&kept.resource, url))
}

fn authorities(own: Option<&AuthoritiesFile>) -> Result<Authorities, LoginError> {
    let Some(file) = own else { return Ok(Authorities::default()) };
    file.authorities()
        .map_err(|error| LoginError::NotVisited(format!("`{}` {error}", file.path.display())))
}

/// Sends a harmless request to a server, to obtain its challenge.
async fn probe(server: &ServerConfig, url: &Url) -> Result<ProbeResult, LoginError> {
    const WHAT: &str = "the server";
    let Transport::Http { headers, .. } = &server.transport else {
        return Err(fetch_error(WHAT, url, "is not reached over HTTP"));
    };
    let client = new_trusting_http_client(
        &WireLimits::default(),
        &authorities(server.authorities.as_ref())?,
    )
    .map_err(|error| fetch_error(WHAT, url, error.to_string()))?;
    // Not `initialize`: it could open a session, which would have to be closed again.
    let mut request = client
        .post(url.clone())
        .timeout(PROBE_TIMEOUT)
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONTENT_TYPE, "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send().await.map_err(|error| {
        if let Some(distrust) = Distrust::from_error(&error) {
            return fetch_error(WHAT, url, format!("cannot be trusted: {distrust}"));
        }
        let why = if error.is_timeout() { "did not respond in time" } else { "did not respond" };
        fetch_error(WHAT, url, why)
    })?;
    let challenge = Challenge::parse(&challenges(response.headers()).unwrap_or_default());
    Ok(ProbeResult { challenge, open: response.status().is_success() })
}

/// The result of a visit: the callback URL, or an error message.
pub type VisitFuture<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// A way to complete a login as soon as a server requires one. Hosts have none by default.
pub trait Visitor: Send + Sync {
    /// Returns the redirect URI for callbacks.
    fn redirect_uri(&self) -> String;

    /// Visits an authorization page and returns the callback URL.
    fn visit<'a>(&'a self, authorization_url: &'a str) -> VisitFuture<'a>;
}
