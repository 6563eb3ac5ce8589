//! Streams the deltas of an answer to a listener that may be slow or gone.

use std::time::Duration;

use switchboard_prompting::ModelDelta;
use tokio::sync::mpsc;

// A user interface reads within milliseconds. After a second, it is stuck, and the answer must
// not wait for it.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);

/// The receiver of an answer's deltas. A slow receiver delays the answer, but never loses it.
pub(crate) struct DeltaListener<'a> {
    heard: Option<&'a mpsc::Sender<ModelDelta>>,
    has_heard: bool,
}

impl<'a> DeltaListener<'a> {
    pub(crate) fn new(heard: &'a mpsc::Sender<ModelDelta>) -> Self {
        Self { heard: Some(heard), has_heard: false }
    }

    /// Returns whether deltas were sent that a retry of the request would invalidate.
    pub(crate) fn has_partial_answer(&self) -> bool {
        self.has_heard
    }

    pub(crate) async fn send(&mut self, delta: ModelDelta) {
        self.has_heard = match delta {
            ModelDelta::Text(_) | ModelDelta::Thinking(_) | ModelDelta::Call { .. } => true,
            ModelDelta::Restarted { .. } => false,
            ModelDelta::Waiting { .. } => self.has_heard,
        };
        let Some(heard) = self.heard else { return };
        let told = tokio::time::timeout(SEND_TIMEOUT, heard.send(delta)).await;
        if !matches!(told, Ok(Ok(()))) {
            // With a gap, the remaining deltas would be misleading, so the listener is detached.
            self.heard = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_that_missed_something_is_told_nothing_more() {
        let (heard, mut told) = mpsc::channel(1);
        let mut listener = DeltaListener::new(&heard);
        for text in ["a", "b"] {
            listener.send(ModelDelta::Text(text.to_owned())).await;
        }
        assert_eq!(told.recv().await, Some(ModelDelta::Text("a".to_owned())));
        listener.send(ModelDelta::Text("c".to_owned())).await;
        assert_eq!(told.try_recv(), Err(mpsc::error::TryRecvError::Empty));
    }

    #[tokio::test]
    async fn what_was_heard_no_longer_counts_once_it_is_asked_again() {
        let (heard, _told) = mpsc::channel(10);
        let mut listener = DeltaListener::new(&heard);
        let why = || "cut".to_owned();
        let waiting = ModelDelta::Waiting { delay: SEND_TIMEOUT, why: why() };
        let mut states = Vec::new();
        for delta in [
            waiting.clone(),
            ModelDelta::Text("a".to_owned()),
            waiting,
            ModelDelta::Restarted { why: why() },
            ModelDelta::Call { name: "look".to_owned() },
        ] {
            listener.send(delta).await;
            states.push(listener.has_partial_answer());
        }
        assert_eq!(states, [false, true, true, false, true]);
    }
}
