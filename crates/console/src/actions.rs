//! What a person does through the console. Every call takes the host's line, like everybody's.

use std::future::{Ready, ready};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::{ACCEPT, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_host::config;
use switchboard_host::connect::{Command, Status};
use switchboard_host::review::{Given, WaitingError};
use switchboard_host::{Caller, Face, Origin, ProposedCall};

use crate::console::{Console, Shared};
use crate::door::Signed;
use crate::pages;
use crate::reply::{self, Problem};
use crate::shown;

type Answer = Result<Response, Problem>;

/// Has a new link shown in the terminal. Whoever asks learns nothing but that.
pub(crate) fn new_link(State(console): State<Shared>, headers: HeaderMap) -> Ready<Answer> {
    ready(show_link(&console, &headers))
}

fn show_link(console: &Console, headers: &HeaderMap) -> Answer {
    // A page of ours always says where it comes from.
    if !headers.contains_key(ORIGIN) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "the `Origin` is missing"));
    }
    if console.announce_link() {
        return Ok(reply::json(&json!({"announced": true})));
    }
    let why = "too many links wait to be used";
    Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, why).with_hint("use one, or wait ten minutes"))
}

/// Signs this browser out.
pub(crate) fn sign_out(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
) -> Ready<Response> {
    ready(console.sign_out(&signed))
}

/// Starts a server afresh.
pub(crate) async fn restart(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    let fleet = console.host.fleet().load();
    let server = fleet.servers.get(name.as_str()).ok_or_else(|| missing(&name))?;
    match &server.status {
        Status::Disabled => {
            Err(Problem::unusable(format!("server `{name}` is disabled"))
                .with_hint("enable it first"))
        }
        Status::NeedsApproval => Err(Problem::unusable(format!("server `{name}` is not approved"))
            .with_hint(format!("run `switchboard servers approve {name}`"))),
        Status::NotAllowed(failure) => {
            let why = format!("server `{name}` is not allowed: {}", failure.message);
            Err(Problem::unusable(why).with_hint("run `switchboard policy show`"))
        }
        Status::Starting
        | Status::Ready
        | Status::NeedsLogin(_)
        | Status::Waiting { .. }
        | Status::Failed(_) => {
            console.host.command(Command::Restart(server.id.clone())).await;
            Ok(reply::json(&json!({"restarting": name})))
        }
    }
}

/// Switches a server on.
pub(crate) async fn enable(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    switch(&console, name, Switch::On).await
}

/// Switches a server off.
pub(crate) async fn disable(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    switch(&console, name, Switch::Off).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Changes the file that has the server; the host reads it again by itself.
async fn switch(console: &Console, name: String, to: Switch) -> Answer {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| missing(&name))?;
    let file = server.source.file.clone();
    if file.as_os_str().is_empty() {
        let why = format!("server `{name}` is in no configuration file");
        return Err(Problem::unusable(why).with_hint("the setting `builtin` switches it off"));
    }
    let id = server.id.clone();
    let writing = tokio::task::spawn_blocking(move || {
        config::set_disabled(&file, id.as_str(), to == Switch::Off)
    });
    let written = writing.await.map_err(|error| Problem::trouble(error.to_string()))?;
    written.map_err(|error| Problem::unusable(error.to_string()))?;
    Ok(reply::json(&json!({"server": name, "enabled": to == Switch::On})))
}

#[derive(Deserialize)]
struct WithArguments {
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Calls a tool.
pub(crate) async fn call_tool(
    State(console): State<Shared>,
    Path((server, tool)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let WithArguments { arguments } = read(&body)?;
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::tool(&server, &tool, (&arguments).into());
    Ok(run(&console, proposed, &headers).await)
}

/// Fetches a prompt.
pub(crate) async fn get_prompt(
    State(console): State<Shared>,
    Path((server, prompt)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let WithArguments { arguments } = read(&body)?;
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::prompt(&server, &prompt, (&arguments).into());
    Ok(run(&console, proposed, &headers).await)
}

#[derive(Deserialize)]
struct WhichResource {
    server: String,
    uri: String,
}

/// Reads a resource.
pub(crate) async fn read_resource(
    State(console): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let WhichResource { server, uri } = read(&body)?;
    Ok(run(&console, ProposedCall::resource(&server, &uri), &headers).await)
}

/// Runs a call as a person; the page's script gets the result as a piece of a page.
async fn run(console: &Console, proposed: ProposedCall, headers: &HeaderMap) -> Response {
    let caller = Caller { face: Face::Console, origin: Origin::Person, ..Caller::person() };
    let target = proposed.target.clone();
    let record = console.host.call(&console.host.lease(), proposed, &caller).await;
    let ran = shown::ran(&target, record);
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepts.is_some_and(|accepts| accepts.starts_with("text/html")) {
        reply::html(pages::ran(&ran))
    } else {
        reply::json(&ran)
    }
}

#[derive(Deserialize)]
struct AnswerGiven {
    digest: String,
    answer: String,
    words: Option<String>,
    arguments: Option<String>,
    content: Option<Map<String, Value>>,
}

/// Answers something that waits.
pub(crate) async fn answer_review(
    State(console): State<Shared>,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let AnswerGiven { digest, answer, words, arguments, content } = read(&body)?;
    let given = match answer.as_str() {
        "run" => arguments.map_or(Given::Run, Given::RunWith),
        "always" => Given::Always,
        "skip" => Given::Skip,
        "reject" => match words.filter(|words| !words.trim().is_empty()) {
            Some(words) => Given::Reject(words),
            None => Given::Skip,
        },
        "accept" => Given::Accept(content),
        "decline" => Given::Decline,
        "cancel" => Given::Cancel,
        other => return Err(Problem::unusable(format!("`{other}` is no answer"))),
    };
    let word = given.word();
    let answered = console.host.waiting().answer(&id, &digest, given, "the console").await;
    answered.map_err(|error| refused(&error))?;
    Ok(reply::json(&json!({"id": id, "answered": word})))
}

fn refused(error: &WaitingError) -> Problem {
    Problem::new(StatusCode::CONFLICT, error.to_string())
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    let body = if body.is_empty() { b"{}" } else { body.trim_ascii_start() };
    // A list would be taken for the members in their order.
    if !body.starts_with(b"{") {
        return Err(Problem::unusable("the body has to be a JSON object"));
    }
    serde_json::from_slice(body)
        .map_err(|error| Problem::unusable(format!("the body cannot be read: {error}")))
}

fn missing(name: &str) -> Problem {
    Problem::missing(format!("there is no server `{name}`"))
}
