//! Cuts the conversation when the model's context window fills up.

use switchboard_prompting::ChatMessage;

use crate::turn::effect::TurnEffect;
use crate::turn::state::{Phase, TurnState, message_tokens};
use crate::turn::texts;

impl TurnState {
    /// Returns the number of messages to cut before the next request; `None` if there is room.
    pub(super) fn messages_to_cut(&self) -> Option<usize> {
        // Four fifths: the estimate is rough, and the answer needs room as well.
        if self.fill <= self.limits.window / 10 * 8 {
            return None;
        }
        // A cut invalidates the vendor's prompt cache, so cut rarely and much at once.
        self.messages_to_cut_for(self.limits.window / 10 * 3)
    }

    /// Returns the number of messages to cut after the vendor rejected the request as too long.
    pub(super) fn messages_to_cut_hard(&self) -> Option<usize> {
        // The vendor's window may be smaller than configured, so cut at least half.
        self.messages_to_cut_for((self.limits.window / 10).min(self.total_tokens() / 2))
    }

    /// Returns the number of messages to cut so that about `room` tokens of the newest remain.
    fn messages_to_cut_for(&self, room: usize) -> Option<usize> {
        let mut kept = 0;
        let mut upto = self.messages.len().saturating_sub(1);
        for (place, message) in self.messages.iter().enumerate().rev() {
            kept += message_tokens(message);
            if kept > room {
                break;
            }
            upto = place;
        }
        // Vendors reject results without their calls, so the two stay together.
        while matches!(self.messages.get(upto), Some(ChatMessage::Results { .. })) {
            upto = upto.checked_sub(1)?;
        }
        // Summarizing a single message would not shorten it.
        (upto >= 2).then_some(upto)
    }

    pub(super) fn on_compaction(
        &mut self,
        upto: usize,
        summary: &str,
        handle: Option<&str>,
    ) -> Vec<TurnEffect> {
        // A late summary of a compaction that was cancelled.
        if self.phase != (Phase::Compacting { upto }) || upto > self.messages.len() {
            return Vec::new();
        }
        self.cuts += 1;
        let text = texts::summary(summary, handle);
        let rest = self.messages.split_off(upto);
        self.messages = vec![ChatMessage::User { text, images: Vec::new() }];
        self.messages.extend(rest);
        // The vendor's last count includes the messages that are gone.
        self.fill = self.total_tokens();
        self.push_queued();
        self.phase = Phase::Thinking;
        vec![TurnEffect::AskModel]
    }

    pub(super) fn total_tokens(&self) -> usize {
        self.messages.iter().map(message_tokens).sum()
    }
}

/// Returns the handle under which the cut messages can be read.
pub(crate) fn history_handle(cut: usize) -> String {
    format!("h{cut}")
}
