//! A loopback server on a thread of this process, stopped when the value is dropped.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(crate) struct BackgroundServer {
    pub(crate) address: SocketAddr,
    over: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundServer {
    pub(crate) fn start<F>(serve: impl FnOnce(TcpListener) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()>,
    {
        // Bound before the thread starts, so that the address is known and early connections queue.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        listener.set_nonblocking(true).expect("a socket can be told not to block");
        let address = listener.local_addr().expect("a listener has an address");
        let over = CancellationToken::new();
        let cancelled = over.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be built").block_on(async {
                let listener =
                    TcpListener::from_std(listener).expect("a listener can be taken over");
                cancelled.run_until_cancelled(serve(listener)).await;
            });
        });
        Self { address, over, thread: Some(thread) }
    }
}

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        self.over.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread shows in the test's connections; `drop` must not add one.
            _ = thread.join();
        }
    }
}
