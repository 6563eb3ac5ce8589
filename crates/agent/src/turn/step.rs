//! The machine: one input, the next state, and what is to be done.

use switchboard_prompting::{Image, Message, Mistakes, Repeats, Trouble};

use crate::turn::effect::{Effect, Limit, TurnEnd};
use crate::turn::input::{Decision, Failure, Input, Interruption};
use crate::turn::limits::Limits;
use crate::turn::state::{Phase, State};
use crate::turn::words;

/// Takes one input. An input that does not fit the state changes nothing but the count.
#[must_use]
pub fn step(mut state: State, input: Input) -> (State, Vec<Effect>) {
    state.number += 1;
    let effects = match input {
        Input::Began { limits } => state.began(limits),
        Input::Said { text, images } => state.said(text, images),
        Input::Answered(answer) => state.answered(*answer),
        Input::NoAnswer(failure) => state.no_answer(failure),
        Input::Ended { slot, end } => state.ended(slot, *end),
        Input::Decided { decision } => state.decided(decision),
        Input::Cancelled(interruption) => state.cancelled(interruption),
        Input::Compacted { upto, summary, handle } => {
            state.compacted(upto, &summary, handle.as_deref())
        }
        Input::Retried => state.retried(),
        // Whoever runs the inputs again leaves out what was undone.
        Input::Undone { .. } => Vec::new(),
    };
    (state, effects)
}

impl State {
    fn began(&mut self, limits: Limits) -> Vec<Effect> {
        self.mistakes = Mistakes::with_limit(limits.mistakes);
        self.limits = limits;
        Vec::new()
    }

    fn said(&mut self, text: String, images: Vec<Image>) -> Vec<Effect> {
        match self.phase {
            // What is said while something runs waits for the next question to the model.
            Phase::Thinking | Phase::Calling(_) | Phase::Compacting { .. } => {
                self.queued.push((text, images));
                Vec::new()
            }
            Phase::Idle | Phase::Asking(_) => {
                self.begin_turn();
                self.push(Message::User { text, images });
                self.ask_model()
            }
        }
    }

    fn begin_turn(&mut self) {
        self.steps = 0;
        self.unasked = 0;
        self.squeezed = false;
        self.mistakes.none();
        self.repeats = Repeats::new();
    }

    fn no_answer(&mut self, failure: Failure) -> Vec<Effect> {
        if self.phase != Phase::Thinking {
            return Vec::new();
        }
        if failure.trouble == Trouble::TooLong
            && !self.squeezed
            && let Some(upto) = self.cut_hard()
        {
            self.squeezed = true;
            self.phase = Phase::Compacting { upto };
            return vec![Effect::Compact { upto }];
        }
        self.end(TurnEnd::Failed(failure))
    }

    fn retried(&mut self) -> Vec<Effect> {
        match (&self.phase, self.messages.last()) {
            (Phase::Idle, Some(Message::User { .. } | Message::Results { .. })) => {
                self.begin_turn();
                self.ask_model()
            }
            _ => Vec::new(),
        }
    }

    fn decided(&mut self, decision: Decision) -> Vec<Effect> {
        let Phase::Asking(limit) = self.phase else { return Vec::new() };
        match decision {
            Decision::Stop => self.end(TurnEnd::Stopped(limit)),
            Decision::GoOn => {
                self.begin_turn();
                self.ask_model()
            }
        }
    }

    fn cancelled(&mut self, interruption: Interruption) -> Vec<Effect> {
        match &mut self.phase {
            Phase::Idle => Vec::new(),
            Phase::Asking(_) => self.end(TurnEnd::Cancelled),
            Phase::Compacting { .. } => {
                let mut effects = vec![Effect::StopAll];
                effects.extend(self.end(TurnEnd::Cancelled));
                effects
            }
            Phase::Thinking => {
                if !interruption.heard.trim().is_empty() {
                    let text = format!("{}{}", interruption.heard, words::INTERRUPTED);
                    self.push(Message::Assistant { text, calls: Vec::new(), kept: None });
                }
                let mut effects = vec![Effect::StopAll];
                effects.extend(self.end(TurnEnd::Cancelled));
                effects
            }
            Phase::Calling(_) => self.cancel_calls(),
        }
    }

    /// Asks the model, unless a limit or the window is in the way.
    pub(super) fn ask_model(&mut self) -> Vec<Effect> {
        if self.steps >= self.limits.steps {
            return self.ask_person(Limit::Steps(self.steps));
        }
        if self.unasked >= self.limits.unasked {
            return self.ask_person(Limit::Unasked(self.unasked));
        }
        self.steps += 1;
        if let Some(upto) = self.cut() {
            self.phase = Phase::Compacting { upto };
            return vec![Effect::Compact { upto }];
        }
        self.phase = Phase::Thinking;
        vec![Effect::AskModel]
    }

    pub(super) fn ask_person(&mut self, limit: Limit) -> Vec<Effect> {
        self.phase = Phase::Asking(limit);
        vec![Effect::AskPerson(limit)]
    }

    /// Ends the turn. What was said meanwhile begins the next one, unless the person wanted an end.
    pub(super) fn end(&mut self, end: TurnEnd) -> Vec<Effect> {
        self.phase = Phase::Idle;
        if self.queued.is_empty() {
            return vec![Effect::End(end)];
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
                vec![Effect::End(end)]
            }
        }
    }

    pub(super) fn push_queued(&mut self) {
        if !self.queued.is_empty() {
            let (texts, images): (Vec<String>, Vec<Vec<Image>>) =
                std::mem::take(&mut self.queued).into_iter().unzip();
            self.push(Message::User { text: texts.join("\n\n"), images: images.concat() });
        }
    }
}
