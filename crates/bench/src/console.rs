//! `console`: pages and the API over a record of a million calls, and how many events a page gets.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::json;
use switchboard_host::host::ledger_file;
use switchboard_host::record::{Durability, Intent, Ledger, NewCall, VerdictWord};
use switchboard_host::{Outcome, TargetKind};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use crate::failure::Result;
use crate::report::{Section, Table, Target, number};
use crate::statistics::median;

/// How many write at once.
const WRITERS: usize = 64;
/// How many call at once while events are counted.
const CALLERS: usize = 16;
const COUNTING: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked of the API, and what it is called.
const LISTS: [(&str, &str); 8] = [
    ("the newest", "/api/v1/calls"),
    ("of one server", "/api/v1/calls?server=server7"),
    ("what failed", "/api/v1/calls?outcome=failed"),
    ("of one server, what failed", "/api/v1/calls?server=server7&outcome=failed"),
    ("of one tool", "/api/v1/calls?tool=tool_123"),
    ("of one caller", "/api/v1/calls?caller=client-3"),
    ("with a text", "/api/v1/calls?text=tool_77"),
    ("with a text that is nowhere", "/api/v1/calls?text=nowhere-at-all"),
];

/// Makes a record of so many calls, looks at it through the console, and reports.
pub(crate) async fn section(calls: usize, passes: usize) -> Result<Section> {
    let home = TempDir::new()?;
    let own = home.path().join("own");
    std::fs::create_dir_all(&own)?;
    eprintln!("console: writing {calls} calls");
    let wrote = write(&own.join("state"), calls).await?;
    let served = Served::start(&own).await?;
    let mut rows = Vec::new();
    let mut targets = Vec::new();
    let mut measured = serde_json::Map::new();
    for (what, path) in LISTS {
        let found = served.timed(path, passes.max(3) * 3).await?;
        rows.push(vec![what.to_owned(), number(found.milliseconds), found.bytes.to_string()]);
        targets.push(Target::at_most(what, 200.0, found.milliseconds, " ms"));
        measured.insert(what.to_owned(), json!(found.milliseconds));
    }
    for (what, path) in [("the first page", "/"), ("the page of calls", "/calls")] {
        let found = served.timed(path, passes.max(3) * 3).await?;
        rows.push(vec![what.to_owned(), number(found.milliseconds), found.bytes.to_string()]);
        measured.insert(what.to_owned(), json!([found.milliseconds, found.bytes]));
        if path == "/" {
            let all = found.bytes + served.bytes_of_assets().await?;
            targets.push(Target::at_most("the first page", 100.0, found.milliseconds, " ms"));
            targets.push(Target::at_most(
                "the first page with all it needs",
                100.0,
                all as f64 / 1e3,
                " KB",
            ));
        }
    }
    let events = served.events().await?;
    rows.push(vec!["events a second to one page".to_owned(), number(events), String::new()]);
    targets.push(Target::at_least("events a second", 1_000.0, events, ""));
    served.stop().await;
    measured.insert("events".to_owned(), json!(events));
    measured.insert("written_per_second".to_owned(), json!(wrote));
    Ok(Section {
        title: format!("console over {calls} calls"),
        note: format!(
            "Medians, over HTTP on this machine; {} calls a second were written. A tool, a caller \
             and a text are looked for in 50,000 calls at a time.",
            number(wrote)
        ),
        table: Table { head: vec!["what", "milliseconds", "bytes"], rows },
        targets,
        measured: json!(measured),
    })
}

/// Writes calls of all kinds; gives how many a second.
async fn write(state: &Path, calls: usize) -> Result<f64> {
    let file = ledger_file(state);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let ledger = Ledger::open(&file, Durability::Process)?;
    let begun = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let ledger = ledger.clone();
        writers.spawn(async move {
            for number in (writer..calls).step_by(WRITERS) {
                one(&ledger, number).await?;
            }
            Ok::<(), crate::failure::Failure>(())
        });
    }
    while let Some(written) = writers.join_next().await {
        written??;
    }
    ledger.stop().await;
    Ok(calls as f64 / begun.elapsed().as_secs_f64())
}

async fn one(ledger: &Ledger, number: usize) -> Result<()> {
    let text = |text: String| -> Arc<str> { text.into() };
    let call = ledger
        .open_call(NewCall {
            face: text("gateway".to_owned()),
            caller: text(format!("client:client-{}", number % 40)),
            server: text(format!("server{}", number % 20)),
            kind: TargetKind::Tool,
            target: text(format!("tool_{}", number * 7 % 500)),
            arguments: format!(r#"{{"path":"/data/{number}.txt"}}"#).into(),
            reference: None,
        })
        .await?;
    call.decided(VerdictWord::Allow, "`allow` of the user policy");
    call.intent(Intent { attempt: 1, ..Intent::default() }).await?;
    let result = format!(r#"{{"content":[{{"type":"text","text":"number {number}"}}]}}"#);
    let outcome = match number % 5_000 {
        0 => Outcome::failed("timeout", format!("no answer to {number}")),
        1..100 => Outcome::tool_error(result.into()),
        _ => Outcome::ok(result.into()),
    };
    let record = call.close(outcome).await;
    if record.recorded { Ok(()) } else { Err("a call was not recorded".into()) }
}

/// `switchboard serve` with somebody signed in.
struct Served {
    child: Child,
    base: String,
    cookie: String,
    token: String,
    client: reqwest::Client,
}

struct Found {
    milliseconds: f64,
    bytes: usize,
}

impl Served {
    async fn start(own: &Path) -> Result<Self> {
        let program = std::env::current_exe()?;
        let server = json!({
            "command": program, "args": ["raw-server", "stdio"],
        });
        let config = json!({"mcpServers": {"raw": server}, "settings": {"builtin": false}});
        std::fs::write(own.join("config.json"), config.to_string())?;
        let mut child = Command::new(program.with_file_name("switchboard"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("SWITCHBOARD_HOME", own)
            .current_dir(own)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let said = child.stderr.take().ok_or("nothing can be heard of it")?;
        let mut lines = BufReader::new(said).lines();
        let link = loop {
            let line = tokio::time::timeout(PATIENCE, lines.next_line()).await??;
            let line = line.ok_or("it ended before it said where it is")?;
            if let Some(link) = line.strip_prefix("console: ") {
                break link.to_owned();
            }
        };
        // What it says further is read, so that it never waits for us.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = reqwest::Client::new();
        let welcome = client.get(&link).send().await?;
        let cookie = welcome.headers().get(SET_COOKIE).ok_or("nobody was signed in")?.to_str()?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let base = link.split("/?").next().unwrap_or_default().to_owned();
        let page = client.get(&base).header(COOKIE, &cookie).send().await?.text().await?;
        let token = page.split(r#"name="token" content=""#).nth(1).ok_or("no token")?;
        let token = token.split('"').next().unwrap_or_default().to_owned();
        Ok(Self { child, base, cookie, token, client })
    }

    /// How long an answer takes, and how large it is.
    async fn timed(&self, path: &str, passes: usize) -> Result<Found> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for _ in 0..passes {
            let begun = Instant::now();
            let asked = self.client.get(format!("{}{path}", self.base));
            let answer = asked.header(COOKIE, &self.cookie).send().await?.error_for_status()?;
            bytes = answer.bytes().await?.len();
            taken.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(Found { milliseconds: median(taken.into_iter()), bytes })
    }

    async fn bytes_of_assets(&self) -> Result<usize> {
        let mut all = 0;
        for name in ["style.css", "script.js", "live.js", "icon.svg"] {
            let address = format!("{}/assets/{name}", self.base);
            all += self.client.get(address).send().await?.bytes().await?.len();
        }
        Ok(all)
    }

    /// How many events a second one page is told of while others call as fast as they can.
    async fn events(&self) -> Result<f64> {
        let address = format!("{}/api/v1/events", self.base);
        let asked = self.client.get(address).header(COOKIE, &self.cookie);
        let mut stream = asked.header("x-switchboard-token", &self.token).send().await?;
        let mut callers = JoinSet::new();
        for _ in 0..CALLERS {
            let address = format!("{}/api/v1/tools/raw/echo/call", self.base);
            let request = self
                .client
                .post(address)
                .header(COOKIE, &self.cookie)
                .header("x-switchboard-token", &self.token)
                .header("content-type", "application/json")
                .body(r#"{"arguments":{"text":"x"}}"#);
            callers.spawn(async move {
                while let Some(again) = request.try_clone() {
                    if again.send().await.is_err() {
                        return;
                    }
                }
            });
        }
        let (begun, mut count) = (Instant::now(), 0_usize);
        while let Ok(Ok(Some(piece))) =
            tokio::time::timeout(COUNTING.saturating_sub(begun.elapsed()), stream.chunk()).await
        {
            count += memchr::memmem::find_iter(&piece, b"\ndata:").count();
        }
        callers.abort_all();
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    }

    async fn stop(mut self) {
        // It is ours, and nothing is lost with it.
        self.child.kill().await.ok();
    }
}
