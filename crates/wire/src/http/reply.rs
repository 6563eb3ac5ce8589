//! A response, whichever way it came.

use std::net::IpAddr;
use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use reqwest::tls::TlsInfo;

use super::client::failure;
use super::direct::{Answerer, causes};
use super::direct_body::Answering;
use crate::error::RequestError;

/// A response whose body is still to be read.
pub struct Reply(pub(super) Way);

pub(super) enum Way {
    /// From the client that all servers share.
    Client(reqwest::Response),
    /// From a connection of its own.
    Direct(Response<Answering>),
}

impl From<reqwest::Response> for Reply {
    fn from(response: reqwest::Response) -> Self {
        Self(Way::Client(response))
    }
}

impl Reply {
    pub(super) fn status(&self) -> StatusCode {
        match &self.0 {
            Way::Client(response) => response.status(),
            Way::Direct(response) => response.status(),
        }
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        match &self.0 {
            Way::Client(response) => response.headers(),
            Way::Direct(response) => response.headers(),
        }
    }

    /// How many bytes the body has, if that is known.
    pub(super) fn content_length(&self) -> Option<u64> {
        match &self.0 {
            Way::Client(response) => response.content_length(),
            Way::Direct(response) => response.body().size_hint().exact(),
        }
    }

    /// Who answered, by address and by certificate.
    pub(super) fn answerer(&self) -> (Option<IpAddr>, Option<&[u8]>) {
        match &self.0 {
            Way::Client(response) => {
                let here = response.extensions().get().map(|Answerer(address)| *address);
                let address = response.remote_addr().map(|address| address.ip()).or(here);
                (address, response.extensions().get().and_then(TlsInfo::peer_certificate))
            }
            Way::Direct(response) => {
                (response.extensions().get().map(|Answerer(address)| *address), None)
            }
        }
    }

    /// The next part of the body; nothing at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, RequestError> {
        let response = match &mut self.0 {
            Way::Client(response) => {
                return response.chunk().await.map_err(|error| failure(&error));
            }
            Way::Direct(response) => response,
        };
        loop {
            let body = response.body_mut();
            let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
            match frame.await {
                None => return Ok(None),
                // What comes after the body is nothing that we look at.
                Some(Ok(frame)) => {
                    if let Ok(chunk) = frame.into_data() {
                        return Ok(Some(chunk));
                    }
                }
                Some(Err(error)) => return Err(RequestError::Unknown(causes(&error))),
            }
        }
    }
}
