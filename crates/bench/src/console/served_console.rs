//! `switchboard serve` over that record, and a client that requests pages and lists.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::header::{COOKIE, ORIGIN, SET_COOKIE};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::Result;
use crate::meter::median;

/// Number of concurrent callers while events are counted.
const CALLERS: usize = 16;
const COUNT_WINDOW: Duration = Duration::from_secs(3);
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// `switchboard serve` with a signed-in client.
pub(super) struct ServedConsole {
    child: Child,
    /// The sign-in links that it prints.
    links: mpsc::Receiver<String>,
    base: String,
    cookie: String,
    token: String,
    client: reqwest::Client,
}

pub(super) struct TimedAnswer {
    pub(super) milliseconds: f64,
    pub(super) bytes: usize,
}

impl ServedConsole {
    pub(super) async fn start(own: &Path) -> Result<Self> {
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
        let said = child.stderr.take().ok_or("its standard error is not piped")?;
        let mut lines = BufReader::new(said).lines();
        let (shown, mut links) = mpsc::channel(4);
        // Reads all output, because a full pipe would block the process.
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(link) = line.strip_prefix("console: ") {
                    // Fails once `ServedConsole` is gone; the output is still read to its end.
                    _ = shown.send(link.to_owned()).await;
                }
            }
        });
        let link = next(&mut links).await?;
        switchboard_wire::prepare_tls();
        let client = reqwest::Client::new();
        let welcome = client.get(&link).send().await?;
        let cookie = welcome.headers().get(SET_COOKIE).ok_or("no session cookie")?.to_str()?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let base = link.split("/?").next().unwrap_or_default().to_owned();
        let page = client.get(&base).header(COOKIE, &cookie).send().await?.text().await?;
        let token = page.split(r#"name="token" content=""#).nth(1).ok_or("no token")?;
        let token = token.split('"').next().unwrap_or_default().to_owned();
        Ok(Self { child, links, base, cookie, token, client })
    }

    /// Requests a link that signs in another browser.
    pub(super) async fn next_link(&mut self) -> Result<String> {
        let address = format!("{}/sign-in/link", self.base);
        let asked = self.client.post(address).header(ORIGIN, &self.base).json(&json!({}));
        asked.send().await?.error_for_status()?;
        next(&mut self.links).await
    }

    /// Returns the median time until an answer is complete, and its size.
    pub(super) async fn time_request(&self, path: &str, passes: usize) -> Result<TimedAnswer> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for _ in 0..passes {
            let begun = Instant::now();
            let asked = self.client.get(format!("{}{path}", self.base));
            let answer = asked.header(COOKIE, &self.cookie).send().await?.error_for_status()?;
            bytes = answer.bytes().await?.len();
            taken.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(TimedAnswer { milliseconds: median(taken.into_iter()), bytes })
    }

    async fn json(&self, path: &str) -> Result<Value> {
        let asked = self.client.get(format!("{}{path}", self.base)).header(COOKIE, &self.cookie);
        Ok(asked.send().await?.error_for_status()?.json().await?)
    }

    /// Follows the pages and returns the last call of the last one.
    pub(super) async fn last_of_pages(&self, pages: usize) -> Result<String> {
        let mut path = "/api/v1/calls".to_owned();
        let mut last = String::new();
        for _ in 0..pages {
            let page = self.json(&path).await?;
            last = page
                .get("next")
                .and_then(Value::as_str)
                .ok_or("the record has too few pages")?
                .to_owned();
            path = format!("/api/v1/calls?before={last}");
        }
        Ok(last)
    }

    /// Searches the whole record for a text that does not occur. Returns the number of parts and
    /// the seconds.
    pub(super) async fn whole_search(&self, text: &str) -> Result<(usize, f64)> {
        let begun = Instant::now();
        let first = format!("/api/v1/calls?text={text}");
        let mut path = first.clone();
        let mut parts = 0;
        loop {
            let page = self.json(&path).await?;
            parts += 1;
            let Some(until) = page.get("looked_back_to").and_then(Value::as_str) else {
                return Ok((parts, begun.elapsed().as_secs_f64()));
            };
            path = format!("{first}&until={until}");
        }
    }

    pub(super) async fn asset_bytes(&self) -> Result<usize> {
        let mut all = 0;
        for name in
            ["style.css", "script.js", "live.js", "haste.js", "talk.js", "apps.js", "icon.svg"]
        {
            let address = format!("{}/assets/{name}", self.base);
            all += self.client.get(address).send().await?.bytes().await?.len();
        }
        Ok(all)
    }

    /// Returns how many events per second a page receives while callers call as fast as they can.
    pub(super) async fn events(&self) -> Result<f64> {
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
        let begun = Instant::now();
        let mut count = 0_usize;
        while let Ok(Ok(Some(piece))) =
            tokio::time::timeout(COUNT_WINDOW.saturating_sub(begun.elapsed()), stream.chunk()).await
        {
            count += memchr::memmem::find_iter(&piece, b"\ndata:").count();
        }
        callers.abort_all();
        Ok(count as f64 / begun.elapsed().as_secs_f64())
    }

    pub(super) async fn stop(mut self) {
        // Fails if the child has exited already; the benchmark needs nothing from it.
        _ = self.child.kill().await;
    }
}

async fn next(links: &mut mpsc::Receiver<String>) -> Result<String> {
    let link = tokio::time::timeout(READY_TIMEOUT, links.recv()).await?;
    Ok(link.ok_or("`serve` exited before it printed its link")?)
}

/// Calls per second. Each causes two events: its start and its end.
const CALLS_A_SECOND: &str = "750";
/// Number of calls per page. The two pages are in the foreground one after the other.
const CALLS: &str = "3000";
const FLOOD_TIMEOUT: Duration = Duration::from_secs(180);

const STORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/clients/console_flood.mjs");

/// Opens the pages in a browser while calls run, and returns its measurements.
pub(super) async fn flood(served: &mut ServedConsole, testenv: &Path) -> Result<Value> {
    let link = served.next_link().await?;
    let browsing = Command::new(testenv.join("npm/node_modules/node/bin/node"))
        .arg(STORY)
        .arg(testenv.join("browser/node_modules"))
        .args([&link, "raw__echo", CALLS_A_SECOND, CALLS])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output();
    let told = tokio::time::timeout(FLOOD_TIMEOUT, browsing).await??;
    let seen: Value = serde_json::from_slice(&told.stdout)?;
    match seen.get("failed").and_then(Value::as_str) {
        Some(why) => Err(format!("the browser failed: {why}").into()),
        None => Ok(seen),
    }
}
