//! An HTTP response from either client.

use std::net::IpAddr;
use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use reqwest::tls::TlsInfo;

use super::client::request_error;
use super::direct::{RemoteAddress, error_causes};
use super::direct_body::DirectBody;
use crate::error::RequestError;

/// A response whose body has not been read.
pub struct WireResponse(pub(super) ResponseSource);

pub(super) enum ResponseSource {
    Client(reqwest::Response),
    Direct(Response<DirectBody>),
}

impl From<reqwest::Response> for WireResponse {
    fn from(response: reqwest::Response) -> Self {
        Self(ResponseSource::Client(response))
    }
}

impl WireResponse {
    pub(super) fn status(&self) -> StatusCode {
        match &self.0 {
            ResponseSource::Client(response) => response.status(),
            ResponseSource::Direct(response) => response.status(),
        }
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        match &self.0 {
            ResponseSource::Client(response) => response.headers(),
            ResponseSource::Direct(response) => response.headers(),
        }
    }

    pub(super) fn content_length(&self) -> Option<u64> {
        match &self.0 {
            ResponseSource::Client(response) => response.content_length(),
            ResponseSource::Direct(response) => response.body().size_hint().exact(),
        }
    }

    pub(super) fn remote_identity(&self) -> (Option<IpAddr>, Option<&[u8]>) {
        match &self.0 {
            ResponseSource::Client(response) => {
                // A decompressed response of the direct client carries its address along.
                let here = response.extensions().get().map(|RemoteAddress(address)| *address);
                let address = response.remote_addr().map(|address| address.ip()).or(here);
                (address, response.extensions().get().and_then(TlsInfo::peer_certificate))
            }
            ResponseSource::Direct(response) => {
                (response.extensions().get().map(|RemoteAddress(address)| *address), None)
            }
        }
    }

    /// Returns the next part of the body, or `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, RequestError> {
        let response = match &mut self.0 {
            ResponseSource::Client(response) => {
                return response.chunk().await.map_err(|error| request_error(&error));
            }
            ResponseSource::Direct(response) => response,
        };
        loop {
            let body = response.body_mut();
            let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
            match frame.await {
                None => return Ok(None),
                // Trailers are ignored.
                Some(Ok(frame)) => {
                    if let Ok(chunk) = frame.into_data() {
                        return Ok(Some(chunk));
                    }
                }
                Some(Err(error)) => return Err(RequestError::Unknown(error_causes(&error))),
            }
        }
    }
}
