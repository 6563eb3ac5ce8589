//! `Published`, a value that one task writes and others read, and `Tasks`, which spawns tasks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The latest version of a value, for any number of readers.
#[derive(Debug)]
pub struct Published<T> {
    sender: Arc<watch::Sender<Arc<T>>>,
}

impl<T> Clone for Published<T> {
    fn clone(&self) -> Self {
        Self { sender: Arc::clone(&self.sender) }
    }
}

impl<T> Published<T> {
    /// Creates the publisher with an initial value.
    pub fn new(value: T) -> Self {
        Self { sender: Arc::new(watch::Sender::new(Arc::new(value))) }
    }

    /// Returns the latest value.
    pub fn load(&self) -> Arc<T> {
        // `borrow` holds a lock that blocks the writer, so only the `Arc` is cloned under it.
        Arc::clone(&self.sender.borrow())
    }

    /// Replaces the value and wakes the receivers of changes.
    pub fn publish(&self, value: T) {
        // `send` would discard the value while there is no receiver.
        self.sender.send_replace(Arc::new(value));
    }

    /// Returns a receiver of changes from now on.
    #[must_use]
    pub fn changes(&self) -> Changes<T> {
        Changes { receiver: self.sender.subscribe() }
    }
}

/// A receiver of changes of a published value.
#[derive(Debug)]
pub struct Changes<T> {
    receiver: watch::Receiver<Arc<T>>,
}

impl<T> Changes<T> {
    /// Returns the latest value and marks it as seen.
    pub fn load(&mut self) -> Arc<T> {
        Arc::clone(&self.receiver.borrow_and_update())
    }

    /// Waits for an unseen value; pends forever once all publishers are dropped.
    pub async fn changed(&mut self) -> Arc<T> {
        match self.receiver.changed().await {
            Ok(()) => self.load(),
            // Callers wait in a `select!` loop, which would spin on an error that returns at once.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The tasks of one host, which end together.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Spawns `task`, which must watch [`Tasks::stop_token`].
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tracker.spawn(task);
    }

    /// Returns the token that is cancelled when the tasks should stop.
    pub const fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Stops all tasks and waits for them up to `limit`; returns whether all have ended.
    pub async fn stop(&self, limit: Duration) -> bool {
        self.stop.cancel();
        // `wait` returns only if the tracker is closed, even without tasks.
        self.tracker.close();
        tokio::time::timeout(limit, self.tracker.wait()).await.is_ok()
    }
}
