//! The body of an answer that came the short way: reading it drives its connection.

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

/// A body, and the connection that it comes from; dropped half read, it closes the connection.
pub(super) struct DirectBody {
    incoming: Incoming,
    /// Never locked: only whoever has all of it reads from it.
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
            // What it has brought is in the body.
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
        // First the body: asking for more would otherwise wake us for nothing.
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
        // An answer without a body is not read.
        if self.incoming.is_end_stream() {
            self.return_connection(&mut Context::from_waker(Waker::noop()));
        }
    }
}

/// The same response with a body that is not packed.
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
