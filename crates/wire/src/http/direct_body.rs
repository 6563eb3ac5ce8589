//! The body of a direct response: reading it drives its connection.

use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use parking_lot::Mutex;
use tower::ServiceExt as _;
use tower_http::decompression::Decompression;

use super::direct::{DirectClient, DirectConnection};
use super::reply::WireResponse;
use crate::error::RequestError;

/// A response body with its connection. Dropping it half read closes the connection.
pub(super) struct DirectBody {
    incoming: Incoming,
    /// Makes the body `Sync`; never locked, only accessed through `get_mut`.
    open: Mutex<Option<DirectConnection>>,
    back: Weak<DirectClient>,
}

impl DirectBody {
    pub(super) const fn new(
        incoming: Incoming,
        open: DirectConnection,
        back: Weak<DirectClient>,
    ) -> Self {
        Self { incoming, open: Mutex::new(Some(open)), back }
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        let open = self.open.get_mut();
        if open.as_mut().is_some_and(|open| open.poll(context)) {
            // The connection has ended; all received data is in the body.
            *open = None;
        }
    }

    fn return_connection(&mut self, context: &mut Context<'_>) {
        self.drive(context);
        let open = self.open.get_mut().take();
        if let Some((open, direct)) =
            open.filter(DirectConnection::is_ready).zip(self.back.upgrade())
        {
            direct.return_connection(open);
        }
    }
}

impl Body for DirectBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        // Poll the body first: polling the connection first would cause a spurious wake-up.
        let mut polled = Pin::new(&mut self.incoming).poll_frame(context);
        if polled.is_pending() {
            self.drive(context);
            polled = Pin::new(&mut self.incoming).poll_frame(context);
        }
        if let Poll::Ready(None) = polled {
            self.return_connection(context);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for DirectBody {
    fn drop(&mut self) {
        // Responses without a body are never polled, so return the connection here.
        if self.incoming.is_end_stream() {
            self.return_connection(&mut Context::from_waker(Waker::noop()));
        }
    }
}

pub(super) async fn decompress(
    response: Response<DirectBody>,
) -> Result<WireResponse, RequestError> {
    let mut response = Some(response);
    let given = tower::service_fn(move |_: Request<()>| {
        let response = response.take();
        async move { response.ok_or_else(|| RequestError::Unknown("it was read before".to_owned())) }
    });
    let response = Decompression::new(given).oneshot(Request::new(())).await?;
    Ok(reqwest::Response::from(response.map(reqwest::Body::wrap)).into())
}
