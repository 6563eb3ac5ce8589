//! What is cut when the model's window fills up.

use switchboard_prompting::ChatMessage;

use crate::turn::effect::TurnEffect;
use crate::turn::state::{Phase, TurnState, message_tokens};
use crate::turn::texts;

impl TurnState {
    /// How many messages to cut before the model is asked again; none while there is room.
    pub(super) fn messages_to_cut(&self) -> Option<usize> {
        let full = self.limits.window / 10 * 8;
        if self.fill <= full {
            return None;
        }
        self.messages_to_cut_for(self.limits.window / 10 * 3)
    }

    /// How many messages to cut when the vendor says that it is too much.
    pub(super) fn messages_to_cut_hard(&self) -> Option<usize> {
        // The vendor knows better how much it can hold, so half of what there is has to go.
        self.messages_to_cut_for((self.limits.window / 10).min(self.total_tokens() / 2))
    }

    /// How many messages to cut so that about `room` tokens of the newest stay.
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
        // Results stay with the calls that they belong to.
        while matches!(self.messages.get(upto), Some(ChatMessage::Results { .. })) {
            upto = upto.checked_sub(1)?;
        }
        // One message alone is not made shorter by a summary.
        (upto >= 2).then_some(upto)
    }

    pub(super) fn on_compaction(
        &mut self,
        upto: usize,
        summary: &str,
        handle: Option<&str>,
    ) -> Vec<TurnEffect> {
        if self.phase != (Phase::Compacting { upto }) || upto > self.messages.len() {
            return Vec::new();
        }
        self.cuts += 1;
        let text = texts::summary(summary, handle);
        let rest = self.messages.split_off(upto);
        self.messages = vec![ChatMessage::User { text, images: Vec::new() }];
        self.messages.extend(rest);
        self.fill = self.total_tokens();
        self.push_queued();
        self.phase = Phase::Thinking;
        vec![TurnEffect::AskModel]
    }

    /// About how many tokens all messages have.
    pub(super) fn total_tokens(&self) -> usize {
        self.messages.iter().map(message_tokens).sum()
    }
}

/// The name under which a cut beginning can be read.
#[must_use]
pub(crate) fn history_handle(cut: usize) -> String {
    format!("h{cut}")
}
