//! A value that one task writes and everyone reads; readers keep what they loaded.

use std::sync::Arc;

use tokio::sync::watch;

/// The latest value of something, for any number of readers.
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
    /// Publishes a first value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { sender: Arc::new(watch::Sender::new(Arc::new(value))) }
    }

    /// The latest value.
    #[must_use]
    pub fn load(&self) -> Arc<T> {
        Arc::clone(&self.sender.borrow())
    }

    /// Replaces the value.
    pub fn publish(&self, value: T) {
        self.sender.send_replace(Arc::new(value));
    }

    /// Tells of every change from here on.
    #[must_use]
    pub fn changes(&self) -> Changes<T> {
        Changes { receiver: self.sender.subscribe() }
    }
}

/// Waits for a published value to change.
#[derive(Debug)]
pub struct Changes<T> {
    receiver: watch::Receiver<Arc<T>>,
}

impl<T> Changes<T> {
    /// The latest value, seen.
    pub fn load(&mut self) -> Arc<T> {
        Arc::clone(&self.receiver.borrow_and_update())
    }

    /// Waits for a value that was not seen yet; never returns once nobody can publish.
    pub async fn changed(&mut self) -> Arc<T> {
        match self.receiver.changed().await {
            Ok(()) => self.load(),
            Err(_) => std::future::pending().await,
        }
    }
}
