//! The `Authorization` of requests, and retries after a 401 or 403.

use std::pin::Pin;

use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

use super::client::HttpEndpoint;
use super::reply::WireResponse;
use crate::error::RequestError;

/// Maximum retries of a refused request: with a refreshed token, then with a wider scope.
const MAX_RETRIES: u32 = 2;

/// The future returned by the methods of [`Authorize`].
pub type AuthorizeFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Provides the `Authorization` of requests.
pub trait Authorize: Send + Sync {
    /// Returns the header value for the next request, if it is known without waiting.
    fn current(&self) -> CurrentAuthorization;

    /// Obtains the header value; `None` sends the request without it.
    fn obtain(&self) -> AuthorizeFuture<'_, Result<Option<HeaderValue>, RequestError>>;

    /// Handles a refused request; returns whether to retry it.
    fn on_refusal<'a>(&'a self, refusal: AuthorizationRefusal<'a>) -> AuthorizeFuture<'a, bool>;
}

/// The currently known `Authorization`.
#[derive(Clone, Debug)]
pub enum CurrentAuthorization {
    Value(HeaderValue),
    Nothing,
    /// It must be obtained first.
    Unknown,
}

/// A request that the server refused with 401 or 403.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRefusal<'a> {
    pub status: u16,
    /// All values of `WWW-Authenticate`.
    pub challenge: Option<&'a str>,
    /// The `Authorization` that the request was sent with.
    pub used: Option<&'a HeaderValue>,
    /// How many times the same request was refused before.
    pub before: u32,
}

impl HttpEndpoint {
    /// Sends a request with its `Authorization`, and retries a 401 or 403 if that can help.
    pub(super) async fn send<Attempt>(
        &self,
        attempt: impl Fn(Option<HeaderValue>) -> Attempt,
    ) -> Result<WireResponse, RequestError>
    where
        Attempt: Future<Output = Result<WireResponse, RequestError>>,
    {
        let Some(authorize) = &self.authorization else { return attempt(None).await };
        let mut before = 0;
        loop {
            let value = match authorize.current() {
                CurrentAuthorization::Value(value) => Some(value),
                CurrentAuthorization::Nothing => None,
                CurrentAuthorization::Unknown => authorize.obtain().await?,
            };
            let response = attempt(value.clone()).await?;
            let status = response.status().as_u16();
            if !matches!(status, 401 | 403) || before == MAX_RETRIES {
                return Ok(response);
            }
            let challenge = challenges(response.headers());
            let challenge = challenge.as_deref();
            let used = value.as_ref();
            if !authorize.on_refusal(AuthorizationRefusal { status, challenge, used, before }).await
            {
                return Ok(response);
            }
            before += 1;
        }
    }
}

/// Joins all challenges of a response into one line.
#[must_use]
pub fn challenges(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    // Lossy, so that a value that is not UTF-8 does not hide the other challenges.
    let all: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    if all.is_empty() { None } else { Some(all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::super::link::attempt_with_client;
    use super::*;
    use crate::limits::WireLimits;

    /// Provides a new token for every attempt and always retries.
    #[derive(Default)]
    struct Hopeful(AtomicU32);

    impl Authorize for Hopeful {
        fn current(&self) -> CurrentAuthorization {
            let number = self.0.load(Ordering::SeqCst);
            CurrentAuthorization::Value(HeaderValue::from_str(&format!("Bearer {number}")).unwrap())
        }

        fn obtain(&self) -> AuthorizeFuture<'_, Result<Option<HeaderValue>, RequestError>> {
            Box::pin(async { Ok(None) })
        }

        fn on_refusal<'a>(
            &'a self,
            refusal: AuthorizationRefusal<'a>,
        ) -> AuthorizeFuture<'a, bool> {
            assert_eq!(refusal.challenge, Some("Bearer error=\"invalid_token\", Basic"));
            assert_eq!(refusal.before, self.0.fetch_add(1, Ordering::SeqCst));
            Box::pin(async { true })
        }
    }

    /// A server that accepts one token; reports the `Authorization` of each request.
    async fn picky(taken: &'static str) -> (String, tokio::sync::mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (seen, requests) = tokio::sync::mpsc::channel(16);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 4096];
                let count = stream.read(&mut bytes).await.unwrap();
                let head = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let used = head.lines().find_map(|line| line.strip_prefix("authorization: "));
                let used = used.unwrap_or("none").to_owned();
                let answer = if used == taken {
                    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                } else {
                    "HTTP/1.1 401 No\r\nwww-authenticate: Bearer error=\"invalid_token\"\r\n\
                     www-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                };
                seen.send(used).await.unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        (url, requests)
    }

    async fn attempts(taken: &'static str, own: &[(String, String)]) -> (u16, Vec<String>) {
        let (url, mut requests) = picky(taken).await;
        let client = super::super::new_http_client(&WireLimits::default()).unwrap();
        let own = own.iter().map(|(name, value)| (name, value));
        let endpoint = HttpEndpoint::new(&url, own).unwrap();
        let endpoint = endpoint.with_authorization(Arc::new(Hopeful::default()));
        let headers = endpoint.headers.clone();
        let builder = || client.get(endpoint.url.clone()).headers(headers.clone());
        let status = endpoint.send(attempt_with_client(builder)).await.unwrap().status().as_u16();
        let mut seen = Vec::new();
        while let Ok(used) = requests.try_recv() {
            seen.push(used);
        }
        (status, seen)
    }

    #[tokio::test]
    async fn a_request_that_was_turned_down_is_sent_again_with_what_is_new_but_not_for_ever() {
        let tokens = |count: u32| (0..count).map(|number| format!("Bearer {number}")).collect();
        assert_eq!(attempts("Bearer 0", &[]).await, (200, tokens(1)));
        assert_eq!(attempts("Bearer 1", &[]).await, (200, tokens(2)));
        assert_eq!(attempts("Bearer 9", &[]).await, (401, tokens(3)));
    }

    #[tokio::test]
    async fn a_configured_header_is_what_is_sent() {
        let own = [("Authorization".to_owned(), "Bearer mine".to_owned())];
        assert_eq!(attempts("Bearer 0", &own).await, (401, vec!["Bearer mine".to_owned()]));
    }
}
