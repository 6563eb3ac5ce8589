//! Tells what comes of an answer, as long as somebody listens.

use std::time::Duration;

use switchboard_prompting::Delta;
use tokio::sync::mpsc;

/// A listener that takes nothing for so long is no longer told anything.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whoever wants to hear an answer as it comes.
///
/// An answer is given whole at the end, so a listener that went away or fell asleep costs at most
/// a moment and never the answer.
pub(crate) struct Listener<'a> {
    heard: Option<&'a mpsc::Sender<Delta>>,
    has_heard: bool,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(heard: &'a mpsc::Sender<Delta>) -> Self {
        Self { heard: Some(heard), has_heard: false }
    }

    /// Whether something of an answer was told that does not count if the question is asked again.
    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// Tells one thing.
    pub(crate) async fn tell(&mut self, delta: Delta) {
        self.has_heard = match delta {
            Delta::Text(_) | Delta::Thinking(_) | Delta::Call { .. } => true,
            Delta::Again { .. } => false,
            Delta::Waiting { .. } => self.has_heard,
        };
        let Some(heard) = self.heard else { return };
        let told = tokio::time::timeout(PATIENCE, heard.send(delta)).await;
        if !matches!(told, Ok(Ok(()))) {
            // With a gap in it the rest would mislead, so nothing more is told.
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
        let mut listener = Listener::new(&heard);
        for text in ["a", "b"] {
            listener.tell(Delta::Text(text.to_owned())).await;
        }
        assert_eq!(told.recv().await, Some(Delta::Text("a".to_owned())));
        listener.tell(Delta::Text("c".to_owned())).await;
        assert_eq!(told.try_recv(), Err(mpsc::error::TryRecvError::Empty));
    }

    #[tokio::test]
    async fn what_was_heard_no_longer_counts_once_it_is_asked_again() {
        let (heard, _told) = mpsc::channel(10);
        let mut listener = Listener::new(&heard);
        let why = || "cut".to_owned();
        let waiting = Delta::Waiting { delay: PATIENCE, why: why() };
        let mut states = Vec::new();
        for delta in [
            waiting.clone(),
            Delta::Text("a".to_owned()),
            waiting,
            Delta::Again { why: why() },
            Delta::Call { name: "look".to_owned() },
        ] {
            listener.tell(delta).await;
            states.push(listener.has_heard());
        }
        assert_eq!(states, [false, true, true, false, true]);
    }
}
