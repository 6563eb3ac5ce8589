//! The conversation as a pure state machine: inputs go in, effects come out.
//!
//! [`step()`] takes a [`TurnState`] and a [`TurnInput`] and returns the next state and the
//! [`TurnEffect`]s that a driver has to perform. The inputs in order are the whole conversation:
//! storing them stores everything, and running them again restores the state ([`replay()`]).

mod calls;
mod effect;
mod input;
mod replay;
mod state;
mod step;
pub(crate) mod texts;
pub(crate) mod window;

pub use effect::{Limit, TurnEffect, TurnEnd};
pub use input::{
    CallEnd, CallKind, Consent, Failure, Interruption, LimitDecision, TurnAnswer, TurnCall,
    TurnCallKind, TurnInput,
};
pub use replay::{TurnEntry, before_last_turn, replay, without_undone};
pub use state::{CallBatch, CallSlot, ParallelCalls, Phase, SlotProgress, TurnLimits, TurnState};
pub use step::step;

#[cfg(test)]
mod step_tests;
