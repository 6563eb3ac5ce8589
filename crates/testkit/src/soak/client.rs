//! One client of a soak: pauses, calls and records the results until the end of the run.

use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::SoakError;
use super::check::{ClientCall, ClientEnd};
use super::plan::SoakPlan;
use super::plan::Work;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
/// How long a call may take: longer than any deadline of the gateway.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum number of problems before a client stops.
const MAX_TROUBLES: usize = 3;
/// Average number of calls between two listings of the tools.
const STEPS_PER_LISTING: usize = 200;

pub(super) struct SoakClient {
    number: usize,
    address: String,
    /// Session id, only for clients of the legacy era.
    session: Option<String>,
    connection: Option<SoakConnection>,
    random: Rng,
    next_id: u64,
}

impl SoakClient {
    fn new(number: usize, address: &str, seed: u64) -> Self {
        let own_seed = seed + 1 + u64::try_from(number).unwrap_or_default();
        Self {
            number,
            address: address.to_owned(),
            session: None,
            connection: None,
            random: Rng::with_seed(own_seed),
            next_id: 1,
        }
    }

    /// Creates a client. Clients with odd numbers are of the legacy era and open a session.
    pub(super) async fn open(
        plan: &SoakPlan,
        number: usize,
        address: &str,
    ) -> Result<Self, SoakError> {
        let mut client = Self::new(number, address, plan.seed);
        if !client.is_modern() {
            let name = SoakPlan::client(number);
            let params = json!({
                "protocolVersion": LEGACY, "capabilities": {},
                "clientInfo": {"name": name, "version": "1"},
            });
            let reply = client.send("initialize", params).await?;
            client.session = Some(reply.session.ok_or("no session was opened")?);
        }
        Ok(client)
    }

    /// Makes calls until `end`; returns them, and the problems outside of calls.
    pub(super) async fn run(
        mut self,
        plan: &SoakPlan,
        end: Instant,
    ) -> (Vec<ClientCall>, Vec<String>) {
        let mut seen: Vec<ClientCall> = Vec::new();
        let mut trouble: usize = 0;
        let mut beside = Vec::new();
        // Pauses are uniform between zero and this, so that their average is the planned pause.
        let twice = u64::try_from(plan.pause.as_micros() * 2).unwrap_or(u64::MAX).max(1);
        while Instant::now() < end && trouble < MAX_TROUBLES {
            tokio::time::sleep(Duration::from_micros(self.random.u64(..twice))).await;
            if self.random.usize(..STEPS_PER_LISTING) == 0
                && let Err(failure) = self.list_tools().await
            {
                self.connection = None;
                trouble += 1;
                beside.push(format!("{}: {failure}", SoakPlan::client(self.number)));
            }
            let work = Work::next(plan, self.number, seen.len(), &mut self.random);
            let began = Instant::now();
            let end = self.call(&work).await;
            if matches!(end, ClientEnd::Trouble(_)) {
                trouble += 1;
            }
            let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            let tool = work.tool.into();
            seen.push(ClientCall { server: work.server, tool, end, microseconds: took });
        }
        (seen, beside)
    }

    /// Lists the first page of tools, which is never empty: tools of a stopped server stay listed.
    async fn list_tools(&mut self) -> Result<(), SoakError> {
        let looking = self.send("tools/list", json!({}));
        let reply =
            tokio::time::timeout(CALL_TIMEOUT, looking).await.map_err(|_| "no list came")??;
        let answer: Value = serde_json::from_str(reply.messages().last().unwrap_or(&""))?;
        match answer["result"]["tools"].as_array() {
            Some(tools) if !tools.is_empty() => Ok(()),
            Some(_) | None => Err(format!("no tools are listed: {answer}").into()),
        }
    }

    async fn call(&mut self, work: &Work) -> ClientEnd {
        let name = format!("{}__{}", SoakPlan::server(work.server), work.tool);
        let mut params = json!({"name": name, "arguments": work.arguments});
        if work.reports {
            params["_meta"]["progressToken"] = json!(work.id);
        }
        let patience = work.patience.unwrap_or(CALL_TIMEOUT);
        let id = self.next_id;
        match tokio::time::timeout(patience, self.send("tools/call", params)).await {
            Ok(Ok(reply)) => classify_reply(work, &reply, id),
            Ok(Err(failure)) => {
                self.connection = None;
                ClientEnd::Trouble(failure.to_string())
            }
            Err(_) => {
                self.connection = None;
                match self.cancel(id).await {
                    _ if work.patience.is_none() => {
                        ClientEnd::Trouble("it took too long".to_owned())
                    }
                    Ok(()) => ClientEnd::GivenUp,
                    Err(failure) => ClientEnd::Trouble(failure.to_string()),
                }
            }
        }
    }

    /// Cancels a request: a modern client hangs up, a legacy client sends a notification.
    async fn cancel(&mut self, id: u64) -> Result<(), SoakError> {
        // The timeout dropped the request together with its connection, which is the cancellation.
        if self.session.is_none() {
            return Ok(());
        }
        let body = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
        });
        let headers = self.headers("", &Value::Null);
        let mut connection = SoakConnection::open(&self.address).await?;
        connection.post(&headers, &body).await?;
        Ok(())
    }

    /// Sends a request and returns the whole reply.
    async fn send(&mut self, method: &str, mut params: Value) -> Result<SoakReply, SoakError> {
        let id = self.next_id;
        self.next_id += 1;
        if self.is_modern() && method != "initialize" {
            let meta = &mut params["_meta"];
            let name = SoakPlan::client(self.number);
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": name, "version": "1"});
        }
        let headers = self.headers(method, &params);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => SoakConnection::open(&self.address).await?,
        };
        let reply = connection.post(&headers, &body).await?;
        if reply.status != 200 {
            return Err(format!("status {}: {}", reply.status, reply.body).into());
        }
        self.connection = Some(connection);
        Ok(reply)
    }

    const fn is_modern(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    fn headers(&self, method: &str, params: &Value) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match &self.session {
            Some(session) => headers.extend([
                ("mcp-protocol-version", LEGACY.to_owned()),
                ("mcp-session-id", session.clone()),
            ]),
            None if self.is_modern() => {
                headers.extend([
                    ("mcp-protocol-version", MODERN.to_owned()),
                    ("mcp-method", method.to_owned()),
                ]);
                headers.extend(params["name"].as_str().map(|name| ("mcp-name", name.to_owned())));
            }
            None => {}
        }
        headers
    }
}

/// Classifies a reply. An answer to another request is `Trouble`.
fn classify_reply(work: &Work, reply: &SoakReply, id: u64) -> ClientEnd {
    let messages: Vec<Value> = reply
        .messages()
        .iter()
        .map(|text| serde_json::from_str(text).unwrap_or_default())
        .collect();
    // A reply is one answer, preceded only by progress notifications for this call.
    let Some((answer, before)) = messages.split_last().filter(|(answer, _)| answer["id"] == id)
    else {
        return ClientEnd::Trouble(format!("no answer in {:?}", reply.body));
    };
    let is_about_it = |message: &Value| {
        message["method"] == "notifications/progress"
            && message["params"]["progressToken"] == work.id
    };
    if let Some(stray) = before.iter().find(|message| !is_about_it(message)) {
        return ClientEnd::Trouble(format!("this is not about {}: {stray}", work.id));
    }
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let outcome = &result["_meta"]["switchboard/outcome"]["outcome"];
    let is_ours = text.starts_with(&work.id) && text.len() == work.answer_bytes;
    match (outcome.as_str(), result["isError"] == true) {
        (Some(outcome), true) => ClientEnd::Outcome(outcome.into()),
        (None, true) if is_ours => ClientEnd::Outcome("tool_error".into()),
        (None, false) if is_ours => ClientEnd::Outcome("ok".into()),
        _ => {
            let shown: String = answer.to_string().chars().take(300).collect();
            ClientEnd::Trouble(format!("this is no answer to {}: {shown}", work.id))
        }
    }
}

/// Counts the listed tools, page by page.
pub(super) async fn count_tools(address: &str) -> Result<usize, SoakError> {
    let mut client = SoakClient::new(0, address, 0);
    let mut count = 0;
    let mut params = json!({});
    loop {
        let reply = client.send("tools/list", params).await?;
        let answer: Value = serde_json::from_str(&reply.body)?;
        count += answer["result"]["tools"].as_array().map_or(0, Vec::len);
        match answer["result"].get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok(count),
        }
    }
}

/// A keep-alive HTTP connection, closed when the value is dropped.
struct SoakConnection {
    requests: SendRequest<Full<Bytes>>,
}

struct SoakReply {
    status: u16,
    session: Option<String>,
    body: String,
}

impl SoakConnection {
    async fn open(address: &str) -> Result<Self, SoakError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (requests, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async {
            // A failure of the connection surfaces as the error of a request.
            _ = connection.await;
        });
        Ok(Self { requests })
    }

    /// Posts a message and waits for the whole response.
    async fn post(
        &mut self,
        headers: &[(&'static str, String)],
        body: &Value,
    ) -> Result<SoakReply, SoakError> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::from(body.to_string()))?;
        self.requests.ready().await?;
        let reply = self.requests.send_request(request).await?;
        let status = reply.status().as_u16();
        let session = reply.headers().get("mcp-session-id");
        let session = session.and_then(|session| session.to_str().ok()).map(str::to_owned);
        let body = reply.into_body().collect().await?.to_bytes();
        Ok(SoakReply { status, session, body: String::from_utf8(body.into())? })
    }
}

impl SoakReply {
    /// Returns the messages of the body, the last of which is the answer.
    fn messages(&self) -> Vec<&str> {
        if self.body.starts_with('{') {
            return vec![&self.body];
        }
        self.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
    }
}
