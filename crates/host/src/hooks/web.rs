//! Posts the input of a hook to its URL: HTTPS or loopback only, no redirects, bounded response.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Url, redirect};
use switchboard_net::is_loopback;

use crate::hooks::program::{HookExit, HookOutput, MAX_OUTPUT_BYTES};

/// Checks the URL of a hook: it receives the arguments of calls.
pub(super) fn check_url(text: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("`url` {what}"));
    let Ok(url) = Url::parse(text) else { return wrong("is not a URL") };
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("contains a user name or a password");
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        "http" => wrong("must use HTTPS or a loopback address"),
        _ => wrong("is neither `https` nor `http`"),
    }
}

pub(super) fn build_client() -> Result<Client, reqwest::Error> {
    switchboard_wire::prepare_tls();
    Client::builder()
        // A redirect could lead to a URL that `check_url` rejects.
        .redirect(redirect::Policy::none())
        // Loopback URLs must not be requested through a proxy.
        .no_proxy()
        .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Posts `input` to a URL and waits for the response, at most for `limit`.
pub(super) async fn post_input(
    client: &Client,
    url: &str,
    input: String,
    limit: Duration,
) -> HookOutput {
    let request = client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .timeout(limit)
        .body(input);
    let broke = |error: reqwest::Error| {
        if error.is_timeout() {
            HookOutput::from_failure(format!("did not answer within {} s", limit.as_secs_f64()))
        } else {
            HookOutput::from_failure(format!("cannot be reached: {}", error.without_url()))
        }
    };
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => return broke(error),
    };
    let end = match response.status() {
        status if status.is_success() => HookExit::Exited(0),
        // The body is still read: a denial counts with any status.
        status => HookExit::Broke(format!("answered with status {}", status.as_u16())),
    };
    let mut output = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => output.extend_from_slice(&chunk),
            Ok(None) => return HookOutput { end, output, errors: Vec::new() },
            // The status has decided already; what arrived may still hold a denial.
            Err(_) if matches!(end, HookExit::Broke(_)) => {
                return HookOutput { end, output, errors: Vec::new() };
            }
            Err(error) => return broke(error),
        }
        if output.len() > MAX_OUTPUT_BYTES {
            let end = HookExit::OutputTooLong;
            return HookOutput { end, output: Vec::new(), errors: Vec::new() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check_url;

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        for (url, expected) in [
            ("https://hooks.example.com/mcp?key=1", None),
            ("http://127.0.0.1:9/x", None),
            ("http://localhost/x", None),
            ("http://[::1]:9/x", None),
            ("http://hooks.example.com/", Some("`url` must use HTTPS or a loopback address")),
            ("http://127.0.0.1.evil.example/", Some("`url` must use HTTPS or a loopback address")),
            ("http://localhost.evil.example/", Some("`url` must use HTTPS or a loopback address")),
            ("http://10.0.0.1/", Some("`url` must use HTTPS or a loopback address")),
            ("https://user@hooks.example.com/", Some("`url` contains a user name or a password")),
            ("file:///etc/passwd", Some("`url` is neither `https` nor `http`")),
            ("hooks", Some("`url` is not a URL")),
        ] {
            assert_eq!(check_url(url).err().as_deref(), expected, "{url}");
        }
    }
}
