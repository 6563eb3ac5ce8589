//! The gRPC server: accepts connections, and drains calls in flight when it stops.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic::transport::server::Connected;

use crate::generated::v1::host_service_server::HostServiceServer;
use crate::generated::v1::mcp_registry_service_server::McpRegistryServiceServer;
use crate::grpc_service::GrpcService;
use crate::listen::{GrpcListener, ListenSocket};

/// Retry delay after a failed accept, for example when file descriptors have run out.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Interval between checks for revoked callers.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval between keep-alive pings on idle connections.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(60);

/// Serves connections until `stop` is cancelled; then accepts no more and drains calls in flight.
pub async fn serve(
    editor: GrpcService,
    listener: GrpcListener,
    stop: CancellationToken,
) -> io::Result<()> {
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
    };
    // Both versions of reflection: tools of clients still use the older one.
    let newer = reflection().build_v1().map_err(io::Error::other)?;
    let older = reflection().build_v1alpha().map_err(io::Error::other)?;
    let limit = editor.inner.options.message_limit_bytes;
    let host = HostServiceServer::new(editor.clone()).max_decoding_message_size(limit);
    let registry = McpRegistryServiceServer::new(editor.clone());
    let ending = {
        let editor = editor.clone();
        let stop = stop.clone();
        async move {
            stop.cancelled().await;
            // Event streams would never end otherwise.
            editor.inner.stop.cancel();
        }
    };
    let router = Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE_INTERVAL))
        .add_service(host)
        .add_service(registry)
        .add_service(newer)
        .add_service(older);
    let incoming = Box::pin(stream::unfold(&listener.socket, |socket| async move {
        Some((Ok::<_, io::Error>(socket.next().await), socket))
    }));
    let watching = tokio::spawn(cancel_revoked_callers(editor.clone(), stop.clone()));
    let serving = router.serve_with_incoming_shutdown(incoming, ending);
    tokio::pin!(serving);
    let drain = editor.inner.options.drain;
    let served = tokio::select! {
        served = &mut serving => Some(served),
        () = stop.cancelled() => tokio::time::timeout(drain, &mut serving).await.ok(),
    };
    watching.abort();
    editor.inner.tasks.close();
    if served.is_some() {
        // Calls of disconnected clients get this time to record their end; then they are aborted.
        _ = tokio::time::timeout(drain, editor.inner.tasks.wait()).await;
    }
    served.unwrap_or(Ok(())).map_err(io::Error::other)
}

async fn cancel_revoked_callers(editor: GrpcService, stop: CancellationToken) {
    let door = &editor.inner.options.door;
    while stop.run_until_cancelled(tokio::time::sleep(POLL_INTERVAL)).await.is_some() {
        editor.inner.callers.cancel_revoked(|identity| door.is_valid(identity));
    }
}

impl ListenSocket {
    async fn next(&self) -> GrpcConnection {
        loop {
            let taken = match self {
                #[cfg(unix)]
                Self::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                    // Defence in depth: the mode of the socket file already excludes other users.
                    let is_let_in = is_owner(&stream) && !is_own_descendant(&stream);
                    is_let_in.then(|| GrpcConnection(Box::new(stream)))
                }),
                Self::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                    // Without it, small answers are delayed; a failure to set it is harmless.
                    _ = stream.set_nodelay(true);
                    Some(GrpcConnection(Box::new(stream)))
                }),
            };
            match taken {
                Ok(Some(connection)) => return connection,
                Ok(None) => {}
                // For example, too many open files: closing connections will free some.
                Err(_) => tokio::time::sleep(ACCEPT_RETRY_DELAY).await,
            }
        }
    }
}

#[cfg(unix)]
fn is_owner(stream: &tokio::net::UnixStream) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    // Root can read everything of this user anyway.
    stream.peer_cred().is_ok_and(|peer| peer.uid() == ours || peer.uid() == 0)
}

/// Returns whether the peer is a server that the host started, or a descendant of one. File
/// permissions do not keep a confined server from the socket, and it must not act as the owner.
#[cfg(unix)]
fn is_own_descendant(stream: &tokio::net::UnixStream) -> bool {
    let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
    peer.is_some_and(|peer| switchboard_fleet::is_descendant(peer.cast_unsigned()))
}

trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

struct GrpcConnection(Box<dyn ByteStream>);

impl Connected for GrpcConnection {
    type ConnectInfo = ();

    fn connect_info(&self) -> Self::ConnectInfo {}
}

impl AsyncRead for GrpcConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for GrpcConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// The compiled schema, as a `FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
