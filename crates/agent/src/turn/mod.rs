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
pub(crate) mod window;
pub mod words;

pub use effect::{Effect, Limit, TurnEnd};
pub use input::{
    Answer, Asked, Consent, Decision, Ended, Failure, Input, Interruption, WantedKind, What,
};
pub use limits::{Limits, Several};
pub use replay::{Entry, before_last_turn, replay, replayed};
pub use state::{Calling, Phase, Progress, Slot, State};
pub use step::step;

#[cfg(test)]
mod step_tests;
