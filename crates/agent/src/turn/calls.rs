//! The calls of an answer: when each runs, and how its result is reported to the model.

use switchboard_core::OutcomeKind;
use switchboard_prompting::{
    CallResult, ChatMessage, MistakeAction, RepeatDetector, Repetition, RequestedCall, StopReason,
};

use crate::turn::effect::{Limit, TurnEffect, TurnEnd};
use crate::turn::input::{CallEnd, Consent, TurnAnswer, TurnCall, TurnCallKind};
use crate::turn::state::{CallBatch, CallSlot, ParallelCalls, Phase, SlotProgress, TurnState};
use crate::turn::texts;

impl TurnState {
    pub(super) fn on_answer(&mut self, answer: TurnAnswer) -> Vec<TurnEffect> {
        // A late answer to a request that was cancelled.
        if self.phase != Phase::Thinking {
            return Vec::new();
        }
        self.squeezed = false;
        self.usage.input += answer.usage.input;
        self.usage.output += answer.usage.output;
        self.usage.cached += answer.usage.cached;
        let TurnAnswer { text, asked, native, kept, stop, usage, prompt_tokens, .. } = answer;
        let silent = text.trim().is_empty() && asked.is_empty();
        // Vendors reject a later request with an empty message in it.
        if !silent {
            let calls =
                if native { asked.iter().map(to_history_call).collect() } else { Vec::new() };
            self.push(ChatMessage::Assistant { text, calls, kept });
        }
        let counted = usize::try_from(usage.input + usage.output).unwrap_or(usize::MAX);
        // The vendor's count is exact; not every vendor sends one.
        self.fill = if usage.input > 0 { counted } else { self.total_tokens() + prompt_tokens };
        if asked.is_empty() {
            return self.end(match stop {
                StopReason::Length => TurnEnd::Length,
                StopReason::Refused => TurnEnd::Refused,
                StopReason::End | StopReason::Calls | StopReason::Other(_) if silent => {
                    TurnEnd::Silent
                }
                StopReason::End | StopReason::Calls | StopReason::Other(_) => TurnEnd::Done,
            });
        }
        let mut calling = CallBatch {
            number: self.number,
            native,
            slots: asked.into_iter().map(slot).collect(),
            cancelled: false,
            repeated: None,
        };
        let mut effects = Vec::new();
        if self.limits.calls == ParallelCalls::One {
            effects = calling.leave_out_all_but(1, texts::ONE_AT_A_TIME);
        }
        self.phase = Phase::Calling(calling);
        effects.extend(self.advance_calls());
        effects
    }

    pub(super) fn on_call_end(&mut self, place: usize, end: CallEnd) -> Vec<TurnEffect> {
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        let Some(slot) = calling.slots.get_mut(place) else { return Vec::new() };
        if slot.progress != SlotProgress::Running {
            return Vec::new();
        }
        match end.consent {
            Consent::Rule => self.unasked += 1,
            Consent::Person => self.unasked = 0,
            Consent::NotNeeded => {}
        }
        let rejected = end.outcome == OutcomeKind::Rejected;
        slot.progress = SlotProgress::Done(end);
        let mut effects = Vec::new();
        // The remaining calls may depend on the rejected one, and the user may want another plan.
        if rejected {
            effects = calling.leave_out_all_but(0, texts::AFTER_REJECTION);
        }
        effects.extend(self.advance_calls());
        effects
    }

    pub(super) fn cancel_calls(&mut self) -> Vec<TurnEffect> {
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        calling.cancelled = true;
        let mut effects = vec![TurnEffect::StopAll];
        effects.extend(calling.leave_out_all_but(0, texts::CANCELLED));
        effects.extend(self.advance_calls());
        effects
    }

    /// Starts the calls that may start, or continues once all have ended.
    fn advance_calls(&mut self) -> Vec<TurnEffect> {
        let several = self.limits.calls;
        let mut room = self.limits.unasked.saturating_sub(self.unasked);
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        let mut effects = Vec::new();
        // A running call may turn out to need no approval, so it counts towards the limit already.
        room = room.saturating_sub(calling.running());
        while let Some(place) = calling.next(several) {
            if room == 0 {
                // `ask_model` asks the user before the next request.
                if calling.running() == 0 {
                    effects.extend(calling.leave_out_all_but(0, texts::TOO_MANY_UNASKED));
                }
                break;
            }
            room -= 1;
            effects.extend(calling.start(place, &mut self.repeats));
        }
        if !calling.slots.iter().all(|slot| matches!(slot.progress, SlotProgress::Done(_))) {
            return effects;
        }
        effects.extend(self.finish_calls());
        effects
    }

    fn finish_calls(&mut self) -> Vec<TurnEffect> {
        let Phase::Calling(calling) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            return Vec::new();
        };
        let mut ends = calling.slots.iter().filter_map(CallSlot::end);
        let only_mistakes = ends.all(|end| end.mistake);
        // Even if cancelled: vendors reject a history with calls that lack results.
        self.push(calling.results());
        if calling.cancelled {
            return self.end(TurnEnd::Cancelled);
        }
        self.push_queued();
        if let Some(times) = calling.repeated {
            // The user may want the same call again; without a reset it would stop at once.
            self.repeats = RepeatDetector::new();
            return self.ask_person(Limit::Repeats(times));
        }
        // One valid call shows that the model is not stuck.
        if !only_mistakes {
            self.mistakes.reset();
        } else if self.mistakes.record() == MistakeAction::AskPerson {
            return self.ask_person(Limit::Mistakes(self.limits.mistakes));
        }
        self.ask_model()
    }
}

impl CallBatch {
    fn running(&self) -> usize {
        self.slots.iter().filter(|slot| slot.progress == SlotProgress::Running).count()
    }

    /// Returns the index of the next call that may start.
    fn next(&self, several: ParallelCalls) -> Option<usize> {
        if self.running() > 0 && several != ParallelCalls::Parallel {
            return None;
        }
        self.slots.iter().position(|slot| slot.progress == SlotProgress::Waiting)
    }

    /// Starts a call, or ends it immediately if it must not run.
    fn start(&mut self, place: usize, repeats: &mut RepeatDetector) -> Option<TurnEffect> {
        let slot = self.slots.get_mut(place)?;
        slot.progress = SlotProgress::Running;
        let run = Some(TurnEffect::Run { slot: place });
        let TurnCallKind::Call { server, target, arguments, .. } = &slot.asked.what else {
            return run;
        };
        match repeats.record(&format!("{server}/{target}"), arguments) {
            Repetition::Fine => run,
            Repetition::Warn(times) => {
                slot.warning = Some(texts::repeat_note(times));
                run
            }
            Repetition::Stop(times) => {
                self.repeated = Some(times);
                let text = texts::repeat_limit_note(times);
                Some(slot.leave_out(place, OutcomeKind::Denied, text))
            }
        }
    }

    /// Ends all waiting calls except the first `keep`.
    fn leave_out_all_but(&mut self, keep: usize, text: &str) -> Vec<TurnEffect> {
        self.slots
            .iter_mut()
            .enumerate()
            .filter(|(_, slot)| slot.progress == SlotProgress::Waiting)
            .skip(keep)
            .map(|(place, slot)| slot.leave_out(place, OutcomeKind::Cancelled, text.to_owned()))
            .collect()
    }

    /// Builds the message with the results for the model.
    fn results(&self) -> ChatMessage {
        let ended = self.slots.iter().filter_map(|slot| Some((slot, slot.end()?)));
        if self.native {
            let results = ended.map(|(slot, end)| CallResult {
                id: slot.asked.id.clone(),
                name: slot.asked.name.clone(),
                text: slot.result_text(end),
                images: end.images.clone(),
                failed: end.is_failure(),
            });
            return ChatMessage::Results { results: results.collect() };
        }
        let mut texts = Vec::new();
        let mut images = Vec::new();
        for (slot, end) in ended {
            texts.push(texts::labelled_result(&slot.asked, &slot.result_text(end)));
            images.extend(end.images.iter().cloned());
        }
        ChatMessage::User { text: texts.join("\n\n"), images }
    }
}

impl CallSlot {
    fn leave_out(&mut self, place: usize, outcome: OutcomeKind, text: String) -> TurnEffect {
        self.progress = SlotProgress::Done(CallEnd::not_run(outcome, text.clone()));
        TurnEffect::LeaveOut { slot: place, outcome, text }
    }

    fn end(&self) -> Option<&CallEnd> {
        if let SlotProgress::Done(end) = &self.progress { Some(end) } else { None }
    }

    fn result_text(&self, end: &CallEnd) -> String {
        let text = match &end.origin {
            Some(origin) => format!("{}\n\n{}", texts::origin_note(origin), end.text),
            None => end.text.clone(),
        };
        match &self.warning {
            Some(warning) => format!("{text}\n\n{warning}"),
            None => text,
        }
    }
}

fn slot(asked: TurnCall) -> CallSlot {
    let progress = match &asked.what {
        TurnCallKind::Call { .. } | TurnCallKind::Own => SlotProgress::Waiting,
        TurnCallKind::Mistake { message } => SlotProgress::Done(CallEnd {
            mistake: true,
            ..CallEnd::not_run(OutcomeKind::NotSent, message.clone())
        }),
    };
    CallSlot { asked, progress, warning: None }
}

fn to_history_call(asked: &TurnCall) -> RequestedCall {
    RequestedCall {
        id: asked.id.clone(),
        name: asked.name.clone(),
        arguments: asked.arguments.clone(),
    }
}
