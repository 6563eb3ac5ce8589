//! What becomes of the calls of an answer: which run when, and what the model is told of them.

use switchboard_core::OutcomeKind;
use switchboard_prompting::{AskedCall, CallResult, Message, Repeats, Repetition, Stop, Streak};

use crate::turn::effect::{Effect, Limit, TurnEnd};
use crate::turn::input::{Answer, Asked, Consent, Ended, What};
use crate::turn::limits::Several;
use crate::turn::state::{Calling, Phase, Progress, Slot, State};
use crate::turn::words;

impl State {
    pub(super) fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        if self.phase != Phase::Thinking {
            return Vec::new();
        }
        self.squeezed = false;
        self.usage.input += answer.usage.input;
        self.usage.output += answer.usage.output;
        self.usage.cached += answer.usage.cached;
        let Answer { text, asked, native, kept, stop, usage, prompt_tokens, .. } = answer;
        let silent = text.trim().is_empty() && asked.is_empty();
        if !silent {
            let calls = if native { asked.iter().map(in_history).collect() } else { Vec::new() };
            self.push(Message::Assistant { text, calls, kept });
        }
        let counted = usize::try_from(usage.input + usage.output).unwrap_or(usize::MAX);
        // The vendor's count is the truth; without one ours has to do.
        self.fill = if usage.input > 0 { counted } else { self.weight() + prompt_tokens };
        if asked.is_empty() {
            return self.end(match stop {
                Stop::Length => TurnEnd::Length,
                Stop::Refused => TurnEnd::Refused,
                Stop::End | Stop::Calls | Stop::Other(_) if silent => TurnEnd::Silent,
                Stop::End | Stop::Calls | Stop::Other(_) => TurnEnd::Done,
            });
        }
        let mut calling = Calling {
            number: self.number,
            native,
            slots: asked.into_iter().map(slot).collect(),
            cancelled: false,
            repeated: None,
        };
        let mut effects = Vec::new();
        if self.limits.calls == Several::One {
            effects = calling.leave_out_all_but(1, words::ONE_AT_A_TIME);
        }
        self.phase = Phase::Calling(calling);
        effects.extend(self.go_on_calling());
        effects
    }

    pub(super) fn ended(&mut self, place: usize, end: Ended) -> Vec<Effect> {
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        let Some(slot) = calling.slots.get_mut(place) else { return Vec::new() };
        if slot.progress != Progress::Running {
            return Vec::new();
        }
        match end.consent {
            Consent::Rule => self.unasked += 1,
            Consent::Person => self.unasked = 0,
            Consent::NotNeeded => {}
        }
        let rejected = end.outcome == OutcomeKind::Rejected;
        slot.progress = Progress::Done(end);
        let mut effects = Vec::new();
        if rejected {
            effects = calling.leave_out_all_but(0, words::AFTER_REJECTION);
        }
        effects.extend(self.go_on_calling());
        effects
    }

    pub(super) fn cancel_calls(&mut self) -> Vec<Effect> {
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        calling.cancelled = true;
        let mut effects = vec![Effect::StopAll];
        effects.extend(calling.leave_out_all_but(0, words::CANCELLED));
        effects.extend(self.go_on_calling());
        effects
    }

    /// Starts what may start, or goes on once all have ended.
    fn go_on_calling(&mut self) -> Vec<Effect> {
        let several = self.limits.calls;
        let mut room = self.limits.unasked.saturating_sub(self.unasked);
        let Phase::Calling(calling) = &mut self.phase else { return Vec::new() };
        let mut effects = Vec::new();
        room = room.saturating_sub(calling.running());
        while let Some(place) = calling.next(several) {
            if room == 0 {
                // The person is asked before the model is; see `ask_model`.
                if calling.running() == 0 {
                    effects.extend(calling.leave_out_all_but(0, words::TOO_MANY_UNASKED));
                }
                break;
            }
            room -= 1;
            effects.extend(calling.start(place, &mut self.repeats));
        }
        if !calling.slots.iter().all(|slot| matches!(slot.progress, Progress::Done(_))) {
            return effects;
        }
        effects.extend(self.all_ended());
        effects
    }

    fn all_ended(&mut self) -> Vec<Effect> {
        let Phase::Calling(calling) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            return Vec::new();
        };
        let mut ends = calling.slots.iter().filter_map(Slot::end);
        let only_mistakes = ends.all(|end| end.mistake);
        self.push(calling.results());
        if calling.cancelled {
            return self.end(TurnEnd::Cancelled);
        }
        self.push_queued();
        if let Some(times) = calling.repeated {
            self.repeats = Repeats::new();
            return self.ask_person(Limit::Repeats(times));
        }
        if !only_mistakes {
            self.mistakes.none();
        } else if self.mistakes.made() == Streak::AskPerson {
            return self.ask_person(Limit::Mistakes(self.limits.mistakes));
        }
        self.ask_model()
    }
}

impl Calling {
    fn running(&self) -> usize {
        self.slots.iter().filter(|slot| slot.progress == Progress::Running).count()
    }

    /// The next call that may start.
    fn next(&self, several: Several) -> Option<usize> {
        if self.running() > 0 && several != Several::Parallel {
            return None;
        }
        self.slots.iter().position(|slot| slot.progress == Progress::Waiting)
    }

    /// Starts a call, or ends it at once where it must not run.
    fn start(&mut self, place: usize, repeats: &mut Repeats) -> Option<Effect> {
        let slot = self.slots.get_mut(place)?;
        slot.progress = Progress::Running;
        let run = Some(Effect::Run { slot: place });
        let What::Call { server, target, arguments, .. } = &slot.asked.what else { return run };
        match repeats.seen(&format!("{server}/{target}"), arguments) {
            Repetition::Fine => run,
            Repetition::Warn(times) => {
                slot.warning = Some(words::repeated(times));
                run
            }
            Repetition::Stop(times) => {
                self.repeated = Some(times);
                let text = words::repeated_too_often(times);
                Some(slot.leave_out(place, OutcomeKind::Denied, text))
            }
        }
    }

    /// Ends everything that has not started, but for the first `keep` of them.
    fn leave_out_all_but(&mut self, keep: usize, text: &str) -> Vec<Effect> {
        let slots = self.slots.iter_mut().enumerate();
        slots
            .filter(|(_, slot)| slot.progress == Progress::Waiting)
            .skip(keep)
            .map(|(place, slot)| slot.leave_out(place, OutcomeKind::Cancelled, text.to_owned()))
            .collect()
    }

    /// What the model is told of them.
    fn results(&self) -> Message {
        let ended = self.slots.iter().filter_map(|slot| Some((slot, slot.end()?)));
        if self.native {
            let results = ended.map(|(slot, end)| CallResult {
                id: slot.asked.id.clone(),
                name: slot.asked.name.clone(),
                text: slot.told(end),
                images: end.images.clone(),
                failed: end.failed(),
            });
            return Message::Results { results: results.collect() };
        }
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for (slot, end) in ended {
            texts.push(words::in_text(&slot.asked, &slot.told(end)));
            images.extend(end.images.iter().cloned());
        }
        Message::User { text: texts.join("\n\n"), images }
    }
}

impl Slot {
    fn leave_out(&mut self, place: usize, outcome: OutcomeKind, text: String) -> Effect {
        self.progress = Progress::Done(Ended::not_run(outcome, text.clone()));
        Effect::LeaveOut { slot: place, outcome, text }
    }

    fn end(&self) -> Option<&Ended> {
        match &self.progress {
            Progress::Done(end) => Some(end),
            Progress::Waiting | Progress::Running => None,
        }
    }

    fn told(&self, end: &Ended) -> String {
        let text = match &end.origin {
            Some(origin) => format!("{}\n\n{}", words::data_of(origin), end.text),
            None => end.text.clone(),
        };
        match &self.warning {
            Some(warning) => format!("{text}\n\n{warning}"),
            None => text,
        }
    }
}

fn slot(asked: Asked) -> Slot {
    let progress = match &asked.what {
        What::Call { .. } | What::Own => Progress::Waiting,
        What::Mistake { message } => Progress::Done(Ended {
            mistake: true,
            ..Ended::not_run(OutcomeKind::NotSent, message.clone())
        }),
    };
    Slot { asked, progress, warning: None }
}

fn in_history(asked: &Asked) -> AskedCall {
    AskedCall { id: asked.id.clone(), name: asked.name.clone(), arguments: asked.arguments.clone() }
}
