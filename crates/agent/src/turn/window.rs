//! What is cut when the model's window fills up.

use switchboard_prompting::Message;

use crate::turn::effect::Effect;
use crate::turn::state::{Phase, State, weight};
use crate::turn::words;

impl State {
    /// How many messages to cut before the model is asked again; none while there is room.
    pub(super) fn cut(&self) -> Option<usize> {
        let full = self.limits.window / 10 * 8;
        if self.fill <= full {
            return None;
        }
        self.cut_to(self.limits.window / 10 * 3)
    }

    /// How many messages to cut when the vendor says that it is too much.
    pub(super) fn cut_hard(&self) -> Option<usize> {
        // The vendor knows better how much it can hold, so half of what there is has to go.
        self.cut_to((self.limits.window / 10).min(self.weight() / 2))
    }

    /// How many messages to cut so that about `room` tokens of the newest stay.
    fn cut_to(&self, room: usize) -> Option<usize> {
        let mut kept = 0;
        let mut upto = self.messages.len().saturating_sub(1);
        for (place, message) in self.messages.iter().enumerate().rev() {
            kept += weight(message);
            if kept > room {
                break;
            }
            upto = place;
        }
        // Results stay with the calls that they belong to.
        while matches!(self.messages.get(upto), Some(Message::Results { .. })) {
            upto = upto.checked_sub(1)?;
        }
        // One message alone is not made shorter by a summary.
        (upto >= 2).then_some(upto)
    }

    pub(super) fn compacted(
        &mut self,
        upto: usize,
        summary: &str,
        handle: Option<&str>,
    ) -> Vec<Effect> {
        if self.phase != (Phase::Compacting { upto }) || upto > self.messages.len() {
            return Vec::new();
        }
        self.cuts += 1;
        let text = words::summary(summary, handle);
        let rest = self.messages.split_off(upto);
        self.messages = vec![Message::User { text, images: Vec::new() }];
        self.messages.extend(rest);
        self.fill = self.weight();
        self.push_queued();
        self.phase = Phase::Thinking;
        vec![Effect::AskModel]
    }

    /// About how many tokens all messages have.
    pub(super) fn weight(&self) -> usize {
        self.messages.iter().map(weight).sum()
    }
}

/// The name under which a cut beginning can be read.
#[must_use]
pub(crate) fn history_handle(cut: usize) -> String {
    format!("h{cut}")
}
