//! The conversation as a pure machine: what happened goes in, what is to be done comes out.
//!
//! [`step`] takes a [`State`] and an [`Input`] and gives the next state and the [`Effect`]s that a
//! driver has to bring about. The inputs in order are the whole conversation: keeping them keeps
//! everything, and running them again gives the state back ([`replay`]).

mod calls;
mod effect;
mod input;
mod limits;
mod replay;
mod state;
mod step;
pub mod texts;
pub(crate) mod window;

pub use effect::{Limit, TurnEffect, TurnEnd};
pub use input::{
    CallEnd, CallKind, Consent, Failure, Interruption, LimitDecision, TurnAnswer, TurnCall,
    TurnCallKind, TurnInput,
};
pub use limits::{ParallelCalls, TurnLimits};
pub use replay::{TurnEntry, before_last_turn, replay, without_undone};
pub use state::{CallBatch, CallSlot, Phase, SlotProgress, TurnState};
pub use step::step;

#[cfg(test)]
mod step_tests;
