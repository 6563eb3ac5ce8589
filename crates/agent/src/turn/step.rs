//! The transition function: from an input to the next state and its effects.

use switchboard_prompting::{ChatMessage, Image, MistakeCounter, ModelErrorKind, RepeatDetector};

use crate::turn::effect::{Limit, TurnEffect, TurnEnd};
use crate::turn::input::{Failure, Interruption, LimitDecision, TurnInput};
use crate::turn::state::{Phase, TurnLimits, TurnState};
use crate::turn::texts;

/// Applies one input. An input that does not fit the state only increments the step number.
#[must_use]
pub fn step(mut state: TurnState, input: TurnInput) -> (TurnState, Vec<TurnEffect>) {
    state.number += 1;
    let effects = match input {
        TurnInput::Began { limits } => state.on_begin(limits),
        TurnInput::Said { text, images } => state.on_user_message(text, images),
        TurnInput::Answered(answer) => state.on_answer(*answer),
        TurnInput::NoAnswer(failure) => state.on_model_failure(failure),
        TurnInput::Ended { slot, end } => state.on_call_end(slot, *end),
        TurnInput::Decided { decision } => state.on_decision(decision),
        TurnInput::Cancelled(interruption) => state.on_cancel(interruption),
        TurnInput::Compacted { upto, summary, handle } => {
            state.on_compaction(upto, &summary, handle.as_deref())
        }
        TurnInput::Retried => state.on_retry(),
        // `replay` filters undone inputs before it steps.
        TurnInput::Undone { .. } => Vec::new(),
    };
    (state, effects)
}

impl TurnState {
    fn on_begin(&mut self, limits: TurnLimits) -> Vec<TurnEffect> {
        self.mistakes = MistakeCounter::with_limit(limits.mistakes);
        self.limits = limits;
        Vec::new()
    }

    fn on_user_message(&mut self, text: String, images: Vec<Image>) -> Vec<TurnEffect> {
        match self.phase {
            // Messages sent while a step is running are queued for the next request to the model.
            Phase::Thinking | Phase::Calling(_) | Phase::Compacting { .. } => {
                self.queued.push((text, images));
                Vec::new()
            }
            // A message also answers the question about a limit: the user wants to continue.
            Phase::Idle | Phase::Asking(_) => {
                self.begin_turn();
                self.push(ChatMessage::User { text, images });
                self.ask_model()
            }
        }
    }

    fn begin_turn(&mut self) {
        self.steps = 0;
        self.unasked = 0;
        self.squeezed = false;
        self.mistakes.reset();
        self.repeats = RepeatDetector::new();
    }

    fn on_model_failure(&mut self, failure: Failure) -> Vec<TurnEffect> {
        if self.phase != Phase::Thinking {
            return Vec::new();
        }
        // Only once per request, or a vendor that keeps rejecting it would cause an endless loop.
        if failure.trouble == ModelErrorKind::TooLong
            && !self.squeezed
            && let Some(upto) = self.messages_to_cut_hard()
        {
            self.squeezed = true;
            self.phase = Phase::Compacting { upto };
            return vec![TurnEffect::Compact { upto }];
        }
        self.end(TurnEnd::Failed(failure))
    }

    fn on_retry(&mut self) -> Vec<TurnEffect> {
        // Only a conversation whose last message is not the model's lacks an answer.
        match (&self.phase, self.messages.last()) {
            (Phase::Idle, Some(ChatMessage::User { .. } | ChatMessage::Results { .. })) => {
                self.begin_turn();
                self.ask_model()
            }
            _ => Vec::new(),
        }
    }

    fn on_decision(&mut self, decision: LimitDecision) -> Vec<TurnEffect> {
        let Phase::Asking(limit) = self.phase else { return Vec::new() };
        match decision {
            LimitDecision::Stop => self.end(TurnEnd::Stopped(limit)),
            LimitDecision::GoOn => {
                self.begin_turn();
                self.ask_model()
            }
        }
    }

    fn on_cancel(&mut self, interruption: Interruption) -> Vec<TurnEffect> {
        if self.phase == Phase::Thinking && !interruption.heard.trim().is_empty() {
            // The user has read this part and may refer to it.
            let text = format!("{}{}", interruption.heard, texts::INTERRUPTED);
            self.push(ChatMessage::Assistant { text, calls: Vec::new(), kept: None });
        }
        match self.phase {
            Phase::Idle => Vec::new(),
            Phase::Asking(_) => self.end(TurnEnd::Cancelled),
            Phase::Thinking | Phase::Compacting { .. } => {
                let mut effects = vec![TurnEffect::StopAll];
                effects.extend(self.end(TurnEnd::Cancelled));
                effects
            }
            Phase::Calling(_) => self.cancel_calls(),
        }
    }

    /// Requests an answer from the model, unless a limit is reached or the context window is full.
    pub(super) fn ask_model(&mut self) -> Vec<TurnEffect> {
        if self.steps >= self.limits.steps {
            return self.ask_person(Limit::Steps(self.steps));
        }
        if self.unasked >= self.limits.unasked {
            return self.ask_person(Limit::Unasked(self.unasked));
        }
        // Counted before a compaction, which continues with the model and not through here.
        self.steps += 1;
        if let Some(upto) = self.messages_to_cut() {
            self.phase = Phase::Compacting { upto };
            return vec![TurnEffect::Compact { upto }];
        }
        self.phase = Phase::Thinking;
        vec![TurnEffect::AskModel]
    }

    pub(super) fn ask_person(&mut self, limit: Limit) -> Vec<TurnEffect> {
        self.phase = Phase::Asking(limit);
        vec![TurnEffect::AskPerson(limit)]
    }

    /// Ends the turn. Queued messages start the next one, unless the user or a failure ended it.
    pub(super) fn end(&mut self, end: TurnEnd) -> Vec<TurnEffect> {
        self.phase = Phase::Idle;
        if self.queued.is_empty() {
            return vec![TurnEffect::End(end)];
        }
        self.begin_turn();
        self.push_queued();
        match end {
            TurnEnd::Done | TurnEnd::Length | TurnEnd::Silent | TurnEnd::Refused => {
                self.ask_model()
            }
            TurnEnd::Cancelled
            | TurnEnd::Stopped(_)
            | TurnEnd::Failed(_)
            | TurnEnd::NotKept { .. } => {
                // The messages stay in the conversation and are sent with the next request.
                vec![TurnEffect::End(end)]
            }
        }
    }

    pub(super) fn push_queued(&mut self) {
        if !self.queued.is_empty() {
            let (texts, images): (Vec<String>, Vec<Vec<Image>>) =
                std::mem::take(&mut self.queued).into_iter().unzip();
            self.push(ChatMessage::User { text: texts.join("\n\n"), images: images.concat() });
        }
    }
}
