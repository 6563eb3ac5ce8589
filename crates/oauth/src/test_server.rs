//! A small authorization server and MCP server in one, for tests of logins.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Url;
use serde_json::{Value, json};
use switchboard_config::{Environment, NoConsents, Places, ServerConfig, Settings, load};
use switchboard_core::Tasks;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::logins::{Logins, VisitFuture, Visitor};
use crate::random::pkce_challenge;

/// Behaviour and observations of the test server.
#[derive(Default)]
pub(crate) struct TestSite {
    pub(crate) origin: String,
    /// Lifetime of tokens, in seconds.
    pub(crate) lasts: i64,
    /// Members that override the metadata documents, by document.
    pub(crate) over: BTreeMap<&'static str, Value>,
    /// The `iss` of callbacks, if not the origin.
    pub(crate) iss: Option<String>,
    pub(crate) needed_scope: Option<&'static str>,
    pub(crate) refuses_refresh: bool,
    pub(crate) seen: Vec<String>,
    pub(crate) forms: Vec<BTreeMap<String, String>>,
    valid: BTreeMap<String, String>,
    refreshes: BTreeSet<String>,
    challenge: String,
    scope: String,
    count: u32,
}

pub(crate) type SharedSite = Arc<Mutex<TestSite>>;

/// Starts the server on a free port; it ends with the test's runtime.
pub(crate) async fn start() -> SharedSite {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let site = TestSite { origin, lasts: 3_600, ..TestSite::default() };
    let site = Arc::new(Mutex::new(site));
    let shared = Arc::clone(&site);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&shared)));
        }
    });
    site
}

/// Returns a configured server at this site, and its logins in a folder.
pub(crate) fn stage(site: &SharedSite, folder: &Path, oauth: Value) -> (Logins, ServerConfig) {
    stage_with(site, folder, oauth, None)
}

/// Same as [`stage`], with a visitor.
pub(crate) fn stage_with(
    site: &SharedSite,
    folder: &Path,
    oauth: Value,
    visitor: Option<Arc<dyn Visitor>>,
) -> (Logins, ServerConfig) {
    let url = format!("{}/mcp", site.lock().origin);
    let file = folder.join("config.json");
    let entry = json!({"mcpServers": {"it": {"url": url, "oauth": oauth}}});
    std::fs::write(&file, entry.to_string()).unwrap();
    let state = folder.join("state");
    let places = Places { explicit: vec![file], ..Places::without_files(state.clone()) };
    let variables = BTreeMap::from([("SWITCHBOARD_TOKEN_KEY".to_owned(), "a key".to_owned())]);
    let environment = Environment { variables, home: None, current_dir: folder.to_owned() };
    let mut config = load(&places, &environment, &NoConsents);
    let server = config.servers.remove("it").unwrap();
    let logins =
        Logins::for_host(&state, &environment, &Settings::default(), visitor, Tasks::default());
    (logins, server)
}

/// A visitor that approves everything.
pub(crate) struct ApprovingVisitor;

impl Visitor for ApprovingVisitor {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:9/callback".to_owned()
    }

    fn visit<'a>(&'a self, authorization_url: &'a str) -> VisitFuture<'a> {
        Box::pin(async move { Ok(visit(authorization_url).await) })
    }
}

/// Visits a page and returns the callback URL.
pub(crate) async fn visit(page: &str) -> String {
    switchboard_wire::prepare_tls();
    let policy = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().redirect(policy).no_proxy().build().unwrap();
    let response = client.get(page).send().await.unwrap();
    response.headers().get("location").unwrap().to_str().unwrap().to_owned()
}

async fn serve(mut stream: TcpStream, site: SharedSite) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let (head, body) = loop {
        let count = stream.read(&mut chunk).await.unwrap_or(0);
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                break (head.to_owned(), body.to_owned());
            }
        }
        if count == 0 {
            return;
        }
    };
    let (status, header, body) = site.lock().answer(&head, &body);
    let text = format!(
        "HTTP/1.1 {status} X\r\n{header}content-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // Some tests close the connection early.
    _ = stream.write_all(text.as_bytes()).await;
}

impl TestSite {
    fn answer(&mut self, head: &str, body: &str) -> (u16, String, String) {
        let mut words = head.split(' ');
        let method = words.next().unwrap();
        let target = words.next().unwrap();
        let url = Url::parse(&format!("{}{target}", self.origin)).unwrap();
        self.seen.push(format!("{method} {}", url.path()));
        let plain = String::new;
        match url.path() {
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = format!("{}/mcp", self.origin);
                let text = json!({"resource": resource, "authorization_servers": [self.origin]});
                (200, plain(), self.with_overrides("resource", text))
            }
            "/.well-known/oauth-authorization-server" => {
                let at = |path: &str| format!("{}{path}", self.origin);
                let text = json!({
                    "issuer": self.origin,
                    "authorization_endpoint": at("/authorize"),
                    "token_endpoint": at("/token"),
                    "registration_endpoint": at("/register"),
                    "revocation_endpoint": at("/revoke"),
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                });
                (200, plain(), self.with_overrides("issuer", text))
            }
            "/register" => (201, plain(), json!({"client_id": "it-is-us"}).to_string()),
            "/authorize" => self.agree(&url),
            "/token" => self.give(head, body),
            "/revoke" => (200, plain(), plain()),
            "/mcp" => self.serve_protected(head),
            _ => (404, plain(), plain()),
        }
    }

    fn with_overrides(&self, name: &str, mut text: Value) -> String {
        if let Some(Value::Object(members)) = self.over.get(name) {
            for (name, value) in members {
                text[name] = value.clone();
            }
        }
        text.to_string()
    }

    fn agree(&mut self, url: &Url) -> (u16, String, String) {
        let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        self.challenge.clone_from(&query["code_challenge"]);
        self.scope = query.get("scope").cloned().unwrap_or_default();
        let mut to = Url::parse(&query["redirect_uri"]).unwrap();
        let iss = self.iss.clone().unwrap_or_else(|| self.origin.clone());
        to.query_pairs_mut()
            .append_pair("code", "the-code")
            .append_pair("state", &query["state"])
            .append_pair("iss", &iss);
        self.forms.push(query);
        (302, format!("location: {to}\r\n"), String::new())
    }

    fn give(&mut self, head: &str, body: &str) -> (u16, String, String) {
        let query = Url::parse(&format!("http://x/?{body}")).unwrap();
        let mut form: BTreeMap<String, String> = query.query_pairs().into_owned().collect();
        let proof = head.lines().find_map(|line| line.strip_prefix("authorization: "));
        form.extend(proof.map(|proof| ("authorization".to_owned(), proof.to_owned())));
        let good = match form["grant_type"].as_str() {
            "authorization_code" => pkce_challenge(&form["code_verifier"]) == self.challenge,
            "refresh_token" => {
                self.refreshes.remove(&form["refresh_token"]) && !self.refuses_refresh
            }
            _ => true,
        };
        self.forms.push(form);
        if !good {
            return (400, String::new(), json!({"error": "invalid_grant"}).to_string());
        }
        self.count += 1;
        let access = format!("access-{}", self.count);
        let refresh = format!("refresh-{}", self.count);
        // Renewal invalidates the old token, as the strictest servers do.
        self.valid.clear();
        self.valid.insert(access.clone(), self.scope.clone());
        self.refreshes.insert(refresh.clone());
        let text = json!({
            "access_token": access, "token_type": "Bearer", "expires_in": self.lasts,
            "refresh_token": refresh,
        });
        (200, String::new(), text.to_string())
    }

    fn serve_protected(&self, head: &str) -> (u16, String, String) {
        let token = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
        let scope = token.and_then(|token| self.valid.get(token));
        let challenge = |more: &str| {
            format!(
                "www-authenticate: Bearer {more}resource_metadata=\
                 \"{}/.well-known/oauth-protected-resource/mcp\"\r\n",
                self.origin
            )
        };
        match (scope, self.needed_scope) {
            (None, _) => (401, challenge(""), String::new()),
            (Some(has), Some(needed)) if !has.split(' ').any(|scope| scope == needed) => {
                let more = format!("error=\"insufficient_scope\", scope=\"{needed}\", ");
                (403, challenge(&more), String::new())
            }
            (Some(_), _) => (200, String::new(), json!({"jsonrpc": "2.0"}).to_string()),
        }
    }
}
