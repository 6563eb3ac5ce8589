//! Pages of apps that wait to be shown: each under a word of its own, once, and not for long.
//!
//! They are served under the other name of this machine than the console's page: `localhost` for
//! `127.0.0.1` and the other way round. So a frame is of another origin, and no cookie comes along.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde_json::Value;
use switchboard_core::random;
use switchboard_net::single_header;

use super::content_policy::content_policy;
use crate::console::SharedConsole;

/// As long a page waits for its frame.
const FRAME_LIFETIME: Duration = Duration::from_secs(60);
/// So many wait at once.
const MAX_PENDING_FRAMES: usize = 16;

/// Pages that wait for their frames.
#[derive(Default)]
pub(crate) struct Frames {
    waiting: Mutex<HashMap<String, PendingFrame>>,
}

struct PendingFrame {
    html: String,
    policy: HeaderValue,
    /// The one name under which it is given out.
    host: String,
    until: Instant,
}

/// Marks an answer that has rules of its own for the browser.
#[derive(Clone, Copy)]
pub(crate) struct OwnContentPolicy;

impl Frames {
    /// Keeps a page for a frame in the page at `host`; gives its address.
    pub(crate) fn insert(&self, html: String, declared: &Value, host: &str) -> Option<String> {
        let other = sibling_host(host)?;
        let policy =
            HeaderValue::from_str(&content_policy(declared, &format!("http://{host}"))).ok()?;
        let word = random::token()?;
        let address = format!("http://{other}/frame/{word}");
        let until = Instant::now() + FRAME_LIFETIME;
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, page| page.until > Instant::now());
        if waiting.len() >= MAX_PENDING_FRAMES {
            return None;
        }
        waiting.insert(word, PendingFrame { html, policy, host: other, until });
        Some(address)
    }

    fn take(&self, word: &str, host: &str) -> Option<PendingFrame> {
        let mut waiting = self.waiting.lock();
        let is_for_it = waiting.get(word).is_some_and(|page| page.host == host);
        waiting.remove(word).filter(|page| is_for_it && page.until > Instant::now())
    }
}

/// The other name of this machine with the same port.
fn sibling_host(host: &str) -> Option<String> {
    let (name, port) = host.rsplit_once(':')?;
    match name {
        "127.0.0.1" => Some(format!("localhost:{port}")),
        "localhost" => Some(format!("127.0.0.1:{port}")),
        _ => None,
    }
}

/// Gives a page to its frame.
pub(crate) fn frame(
    State(console): State<SharedConsole>,
    Path(word): Path<String>,
    headers: HeaderMap,
) -> Ready<Response> {
    let host = single_header(&headers, HOST).ok().flatten().unwrap_or_default();
    let Some(page) = console.frames.take(&word, host) else {
        return ready(StatusCode::NOT_FOUND.into_response());
    };
    let mut response = page.html.into_response();
    let given = response.headers_mut();
    given.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    given.insert(CONTENT_SECURITY_POLICY, page.policy);
    response.extensions_mut().insert(OwnContentPolicy);
    ready(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_given_once_and_only_under_the_other_name() {
        let frames = Frames::default();
        let kept = || frames.insert("<p>".to_owned(), &Value::Null, "127.0.0.1:80").unwrap();
        let word = |address: &str| address.rsplit('/').next().unwrap().to_owned();
        let address = kept();
        assert!(address.starts_with("http://localhost:80/frame/"), "{address}");
        assert!(frames.take(&word(&address), "localhost:80").is_some());
        assert!(frames.take(&word(&address), "localhost:80").is_none());
        assert!(frames.take(&word(&kept()), "127.0.0.1:80").is_none());
        assert!(frames.insert(String::new(), &Value::Null, "tools.example").is_none());
    }
}
