//! The only place that spawns: every task is tracked, told to stop and awaited.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The tasks of one host.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Runs `task` until it returns; it has to watch [`Tasks::stop_token`].
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tracker.spawn(task);
    }

    /// The signal to stop.
    #[must_use]
    pub const fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Tells all tasks to stop and waits for them, within `limit`.
    pub async fn stop(&self, limit: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(limit, self.tracker.wait()).await.is_ok()
    }
}
