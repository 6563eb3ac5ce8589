//! The handle on all logins: begins one, says which are held, and gives connections their account.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use switchboard_config::{
    AuthoritiesFile, Environment, Grant, Layer, ServerConfig, Settings, Transport,
};
use switchboard_core::Tasks;
use switchboard_net::Reach;
use switchboard_wire::Limits;
use switchboard_wire::http::{Authorities, Distrust, challenges, client_trusting};

use crate::account::Account;
use crate::challenge::Challenge;
use crate::client::{Origin, Registered};
use crate::discover::{Discovered, covers, discover};
use crate::error::LoginError;
use crate::fetch::{Fetcher, failed};
use crate::grant::now;
use crate::keys::Keys;
use crate::metadata::Server;
use crate::pending::{Parts, Pending};
use crate::register::{configured, register};
use crate::scopes::{Known, choose};
use crate::secrets::Secrets;
use crate::store::{Changed, Held, Kept, Store};
use crate::visitor::Visitor;

/// How long a server may take to say what it wants.
const DOOR: Duration = Duration::from_secs(20);

/// All logins. Clones are handles on the same.
#[derive(Clone)]
pub struct Logins {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub store: Store,
    secrets: Secrets,
    pub visitor: Option<Arc<dyn Visitor>>,
    pub tasks: Tasks,
    near: OnceLock<Fetcher>,
    far: OnceLock<Fetcher>,
    accounts: Mutex<BTreeMap<String, Weak<Account>>>,
}

/// What is wanted of a login.
pub struct Wish<'a> {
    /// Where the browser's answer is to be sent.
    pub redirect_uri: String,
    /// What to ask for beside what the server wants.
    pub scopes: Vec<String>,
    /// Who is told how far it got.
    pub told: &'a (dyn Fn(Step) + Send + Sync),
}

/// How far a login got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The server is asked what it wants.
    Asking,
    /// Its authorization server is looked for.
    Discovering,
    /// We make ourselves known to this authorization server.
    Registering(String),
}

/// What a server says at its door.
struct Door {
    challenge: Challenge,
    open: bool,
}

impl Logins {
    /// The logins below a folder for state.
    #[must_use]
    pub fn new(state: &Path, environment: &Environment, settings: &Settings) -> Self {
        Self::of_host(state, environment, settings, None, Tasks::default())
    }

    /// The same for a host, whose tasks finish what they began.
    #[must_use]
    pub fn of_host(
        state: &Path,
        environment: &Environment,
        settings: &Settings,
        visitor: Option<Arc<dyn Visitor>>,
        tasks: Tasks,
    ) -> Self {
        let store = Store::new(state, Keys::new(environment, settings));
        let secrets = Secrets::new(state, environment, settings);
        let (near, far) = (OnceLock::new(), OnceLock::new());
        let accounts = Mutex::default();
        Self { shared: Arc::new(Shared { store, secrets, visitor, tasks, near, far, accounts }) }
    }

    /// The secrets that entries refer to.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.shared.secrets
    }

    /// Begins a login: finds the authorization server, makes us known there, and gives the address
    /// for the person. Nothing is kept but who we are.
    ///
    /// # Errors
    /// When there is no way to log in that can be trusted, or no place to keep a login.
    pub async fn begin(
        &self,
        server: &ServerConfig,
        wish: Wish<'_>,
    ) -> Result<Pending, LoginError> {
        let url = self.fit(server)?;
        self.shared.store.prepare().await?;
        (wish.told)(Step::Asking);
        let door = knock(server, &url).await?;
        self.begin_at(server, url, door, wish).await
    }

    /// The same for somebody who was just turned down.
    pub(crate) async fn begin_after(
        &self,
        server: &ServerConfig,
        url: &Url,
        challenge: Challenge,
        redirect_uri: String,
    ) -> Result<Pending, LoginError> {
        self.shared.store.prepare().await?;
        let wish = Wish { redirect_uri, scopes: Vec::new(), told: &|_| {} };
        self.begin_at(server, url.clone(), Door { challenge, open: false }, wish).await
    }

    async fn begin_at(
        &self,
        server: &ServerConfig,
        url: Url,
        door: Door,
        wish: Wish<'_>,
    ) -> Result<Pending, LoginError> {
        let fetcher = self.fetcher(&url, server.authorities.as_ref())?;
        (wish.told)(Step::Discovering);
        let wanted = server.oauth.issuer.as_deref();
        let found = discover(&fetcher, &url, &door.challenge, wanted).await?;
        if door.open && !found.issuer.is_described {
            let why = "it answers without a login and names nobody who gives one";
            return Err(LoginError::NotForLogin { server: server.id.to_string(), why });
        }
        let page = found.issuer.page()?.clone();
        let client = self.client(server, &fetcher, &found.issuer, &wish).await?;
        let kept = self.kept(server, &url).await?;
        let asked = self.scopes(server, &wish.scopes, &door.challenge, &found, kept.as_ref());
        let redirect_uri = wish.redirect_uri;
        Pending::new(
            self.clone(),
            &page,
            Parts { server: server.id.clone(), url, fetcher, found, client, redirect_uri, asked },
        )
    }

    #[expect(clippy::unused_self, reason = "it belongs to how a login begins")]
    fn scopes(
        &self,
        server: &ServerConfig,
        wished: &[String],
        challenge: &Challenge,
        found: &Discovered,
        kept: Option<&Kept>,
    ) -> Vec<String> {
        let named: Vec<String> = server.oauth.scopes.iter().chain(wished).cloned().collect();
        // Another authorization server knows nothing of what the one before was asked.
        let before = kept.filter(|kept| kept.issuer == found.issuer.issuer);
        choose(Known {
            named: &named,
            challenged: &challenge.scopes,
            of_server: &found.scopes,
            of_issuer: &found.issuer.scopes,
            before: before.map(|kept| kept.asked.as_slice()).unwrap_or_default(),
        })
    }

    /// Who we are to an authorization server: as configured, as before, or newly registered.
    async fn client(
        &self,
        server: &ServerConfig,
        fetcher: &Fetcher,
        issuer: &Server,
        wish: &Wish<'_>,
    ) -> Result<Registered, LoginError> {
        if let Some(client) = configured(&server.oauth, issuer) {
            return Ok(client);
        }
        let contents = self.shared.store.read().await?;
        let known = contents.clients.get(&issuer.issuer).filter(|client| {
            client.origin == Origin::Dynamic
                && client.is_current(now())
                && client.redirect_uri.as_deref() == Some(&wish.redirect_uri)
        });
        if let Some(client) = known {
            return Ok(client.clone());
        }
        (wish.told)(Step::Registering(issuer.issuer.clone()));
        let client = register(fetcher, issuer, &wish.redirect_uri).await?;
        let (name, kept) = (issuer.issuer.clone(), client.clone());
        self.shared
            .store
            .change(move |contents| {
                contents.clients.insert(name, kept);
                Changed::Yes
            })
            .await?;
        Ok(client)
    }

    /// What is held for a server.
    ///
    /// # Errors
    /// When the stored logins cannot be read.
    pub async fn held(&self, server: &ServerConfig) -> Result<Option<Held>, LoginError> {
        let Ok(url) = self.fit(server) else { return Ok(None) };
        let kept = self.kept(server, &url).await?;
        Ok(kept.filter(|kept| !kept.over).map(|kept| kept.shown()))
    }

    /// The port that answers were sent to before: a client that registered itself is known by it.
    pub async fn port(&self, server: &ServerConfig) -> Option<u16> {
        let contents = self.shared.store.read().await.ok()?;
        let of_server = contents.logins.iter().filter(|kept| kept.server == server.id.as_str());
        let clients = of_server.map(|kept| &kept.client).chain(contents.clients.values());
        let addresses = clients.filter_map(|client| client.redirect_uri.as_deref());
        addresses.filter_map(|address| Url::parse(address).ok()?.port()).next()
    }

    /// The login that is kept for a server at this address.
    pub(crate) async fn kept(
        &self,
        server: &ServerConfig,
        url: &Url,
    ) -> Result<Option<Kept>, LoginError> {
        let contents = self.shared.store.read().await?;
        Ok(contents.logins.iter().find(|kept| is_for(kept, server.id.as_str(), url)).cloned())
    }

    /// The account that requests to an address of a server are made with; `None` if the
    /// configuration says what they are made with.
    pub fn account(&self, server: &ServerConfig, address: &str) -> Option<Arc<Account>> {
        let Transport::Http { headers, .. } = &server.transport else { return None };
        if headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
            return None;
        }
        let url = Url::parse(address).ok()?;
        let key = format!("{} {} {address}", server.id, server.restart_key());
        let mut accounts = self.shared.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|_, account| account.strong_count() > 0);
        if let Some(account) = accounts.get(&key).and_then(Weak::upgrade) {
            return Some(account);
        }
        let account = Arc::new(Account::new(self.clone(), server.clone(), url));
        accounts.insert(key, Arc::downgrade(&account));
        Some(account)
    }

    /// What visits addresses that the server at `url` names.
    pub(crate) fn fetcher(
        &self,
        url: &Url,
        own: Option<&AuthoritiesFile>,
    ) -> Result<Fetcher, LoginError> {
        let reach = Reach::of(url);
        // Whoever runs servers with certificates of their own often runs their logins as well.
        if own.is_some() {
            return Fetcher::trusting(reach, &authorities(own)?);
        }
        let place = match reach {
            Reach::Loopback => &self.shared.near,
            Reach::Public => &self.shared.far,
        };
        if let Some(fetcher) = place.get() {
            return Ok(fetcher.clone());
        }
        let made = Fetcher::trusting(reach, &Authorities::default())?;
        Ok(place.get_or_init(|| made).clone())
    }

    /// The address to log in to, of a server that is fit for it.
    #[expect(clippy::unused_self, reason = "it belongs to how a login begins")]
    fn fit(&self, server: &ServerConfig) -> Result<Url, LoginError> {
        let unfit = |why| LoginError::NotForLogin { server: server.id.to_string(), why };
        let Transport::Http { urls, headers, .. } = &server.transport else {
            return Err(unfit("it is not reached over HTTP"));
        };
        if headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
            return Err(unfit("its `headers` have an `Authorization` already"));
        }
        if server.oauth.grant == Grant::ClientCredentials {
            return Err(unfit("it is logged in to with the client's secret, without a person"));
        }
        if server.source.layer == Layer::Project && !server.approved {
            return Err(unfit("it has not been approved"));
        }
        let first = urls.first().and_then(|url| Url::parse(url).ok());
        first.ok_or_else(|| unfit("its address cannot be read"))
    }
}

/// Whether a login may be used at an address: never at one that it was not given for.
pub(crate) fn is_for(kept: &Kept, server: &str, url: &Url) -> bool {
    kept.server == server && (kept.url == url.as_str() || covers(&kept.resource, url))
}

/// Whom a server's entry trusts beside the system.
fn authorities(own: Option<&AuthoritiesFile>) -> Result<Authorities, LoginError> {
    let Some(file) = own else { return Ok(Authorities::default()) };
    file.authorities()
        .map_err(|error| LoginError::NotVisited(format!("`{}` {error}", file.path.display())))
}

/// Asks a server for something harmless, to learn what it wants.
async fn knock(server: &ServerConfig, url: &Url) -> Result<Door, LoginError> {
    const WHAT: &str = "the server";
    let Transport::Http { headers, .. } = &server.transport else {
        return Err(failed(WHAT, url, "is not reached over HTTP"));
    };
    let client = client_trusting(&Limits::default(), &authorities(server.authorities.as_ref())?)
        .map_err(|error| failed(WHAT, url, error.to_string()))?;
    let mut request = client
        .post(url.clone())
        .timeout(DOOR)
        .header(ACCEPT, "application/json, text/event-stream")
        .header(CONTENT_TYPE, "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send().await.map_err(|error| {
        if let Some(distrust) = Distrust::of(&error) {
            return failed(WHAT, url, format!("cannot be trusted: {distrust}"));
        }
        let why = if error.is_timeout() { "did not answer in time" } else { "did not answer" };
        failed(WHAT, url, why)
    })?;
    let challenge = Challenge::read(&challenges(response.headers()).unwrap_or_default());
    Ok(Door { challenge, open: response.status().is_success() })
}
