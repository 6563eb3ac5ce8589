//! A listener that nobody has a reason to reach, and that counts who does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

#[derive(Clone, Debug)]
pub(crate) struct SinkServer {
    pub(crate) origin: String,
    connections: Arc<AtomicUsize>,
}

impl SinkServer {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                // Whoever comes shall not wait; that it came is what counts.
                let _ = stream.write_all(b"HTTP/1.1 404 Sink\r\ncontent-length: 0\r\n\r\n").await;
            }
        });
        Self { origin: format!("http://{address}"), connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}
