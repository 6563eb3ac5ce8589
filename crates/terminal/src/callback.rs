//! Listens on the loopback interface for the browser's redirect after a login, and shows a page.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

const CALLBACK_PATH: &str = "/callback";
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long a browser may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_VISITORS: usize = 16;

/// A listener for the browser's redirect.
pub struct CallbackListener {
    listener: TcpListener,
    port: u16,
}

/// A redirect that waits for its page.
pub struct CallbackVisit {
    pub url: String,
    stream: TcpStream,
}

/// The page that the browser shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackPage {
    /// The login continues without the browser.
    Done,
    /// The redirect does not belong to the pending login.
    Wrong,
    Failed,
}

impl CallbackListener {
    /// Listens on the `fixed` port if there is one, otherwise on the port used `before` if it is
    /// free, otherwise on any free port.
    pub async fn listen(fixed: Option<u16>, before: Option<u16>) -> std::io::Result<Self> {
        let on = |port: u16| TcpListener::bind(("127.0.0.1", port));
        let listener = match (fixed, before) {
            (Some(port), _) => on(port).await?,
            // A registration may be bound to the port, but a login with another one is worth a try.
            (None, Some(port)) => match on(port).await {
                Ok(listener) => listener,
                Err(_) => on(0).await?,
            },
            (None, None) => on(0).await?,
        };
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Returns the redirect URI.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{CALLBACK_PATH}", self.port)
    }

    /// Sends every redirect to `visits`, until the receiver is dropped.
    pub async fn run(self, visits: mpsc::Sender<CallbackVisit>) {
        let mut talks = JoinSet::new();
        loop {
            tokio::select! {
                // Beyond the limit, connections wait in the accept queue; a local program cannot
                // exhaust memory.
                accepted = self.listener.accept(), if talks.len() < MAX_VISITORS => {
                    let Ok((stream, _)) = accepted else { continue };
                    talks.spawn(receive(stream, self.port, visits.clone()));
                }
                Some(_) = talks.join_next() => {}
                () = visits.closed() => return,
            }
        }
    }
}

impl CallbackVisit {
    /// Shows a page. Ignores a browser that has disconnected.
    pub async fn show(mut self, page: CallbackPage) {
        let (status, title, text) = match page {
            CallbackPage::Done => ("200 OK", "Logged in", "You can close this page."),
            CallbackPage::Wrong => (
                "400 Bad Request",
                "Not this login",
                "This response does not belong to the pending login.",
            ),
            CallbackPage::Failed => {
                ("200 OK", "Not logged in", "The login failed; see the terminal for details.")
            }
        };
        respond(&mut self.stream, status, title, text).await;
    }
}

/// Reads one request, and answers anything but a redirect with 404.
async fn receive(mut stream: TcpStream, port: u16, visits: mpsc::Sender<CallbackVisit>) {
    let Ok(Some(head)) = timeout(REQUEST_TIMEOUT, read_head(&mut stream)).await else { return };
    let target = request_target(&head, port);
    let Some(target) = target else {
        respond(
            &mut stream,
            "404 Not Found",
            "Not found",
            "Only login redirects are accepted here.",
        )
        .await;
        return;
    };
    let url = format!("http://127.0.0.1:{port}{target}");
    // The receiver is dropped once the login is over.
    _ = visits.send(CallbackVisit { url, stream }).await;
}

/// Returns the request target if the request is for our path and names our address in `Host`.
fn request_target(head: &str, port: u16) -> Option<String> {
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let method = words.next()?;
    let target = words.next()?;
    let version = words.next()?;
    let hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let hosts: Vec<&str> = hosts.collect();
    // Other host names are rejected to prevent DNS rebinding.
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    // Reject duplicate headers: a proxy may have validated the other one.
    let ours = matches!(hosts.as_slice(), [host] if ours.iter().any(|name| name == host));
    let path = target.split('?').next()?;
    (method == "GET" && version.starts_with("HTTP/1.") && ours && path == CALLBACK_PATH)
        .then(|| target.to_owned())
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 2048];
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(chunk.get(..count)?);
        if bytes.len() > MAX_HEAD_BYTES {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Writes a page. It contains only fixed texts, nothing from the request.
async fn respond(stream: &mut TcpStream, status: &str, title: &str, text: &str) {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Switchboard</title>\
         <h1>{title}</h1><p>{text}</p></html>"
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n\
         content-length: {}\r\ncontent-security-policy: default-src 'none'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
         x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n\
         cache-control: no-store\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // A browser that has disconnected needs no page.
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        // A browser that closed the connection first has the whole page.
        _ = stream.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_get_of_our_path_by_our_address_is_an_answer() {
        let head = |line: &str, host: &str| format!("{line}\r\nHost: {host}\r\n\r\n");
        let good = "GET /callback?code=1 HTTP/1.1";
        let cases = [
            (head(good, "127.0.0.1:80"), Some("/callback?code=1")),
            (head(good, "localhost:80"), Some("/callback?code=1")),
            (head(good, "evil.example:80"), None),
            (head(good, "127.0.0.1:81"), None),
            (head("POST /callback?code=1 HTTP/1.1", "127.0.0.1:80"), None),
            (head("GET /other?code=1 HTTP/1.1", "127.0.0.1:80"), None),
            (head("GET /callback/x HTTP/1.1", "127.0.0.1:80"), None),
            (format!("{good}\r\nHost: 127.0.0.1:80\r\nhost: evil.example\r\n\r\n"), None),
            (format!("{good}\r\n\r\n"), None),
        ];
        for (head, expected) in cases {
            assert_eq!(request_target(&head, 80).as_deref(), expected, "{head}");
        }
    }
}
