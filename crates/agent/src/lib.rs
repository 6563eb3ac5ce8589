//! Conversations in which a model uses tools and a person stays in control.
//!
//! The module `turn` is a pure state machine, tested without a model. [`Conversation`] drives it:
//! it shows the catalog to the model, parses the answer ([`switchboard_prompting`]), runs every
//! call through the host's pipeline, and stores each step before it has any effect. A crash loses
//! nothing, and no call runs twice.

mod answer_sources;
mod call_report;
mod call_runner;
mod compact;
mod conversation;
mod driver;
mod event;
mod export;
mod journal;
mod notices;
mod own_tools;
mod request;
mod stream;
mod system;
mod tool_offer;
mod turn;

pub use conversation::{
    Conversation, ConversationParts, ConversationStart, OpenError, fork, load_inputs, load_state,
};
pub use event::Event;
pub use export::{as_json, as_markdown};
pub use journal::UnreadableStep;
pub use turn::{
    CallBatch, CallEnd, CallKind, CallSlot, Consent, Failure, Interruption, Limit, LimitDecision,
    ParallelCalls, Phase, SlotProgress, TurnAnswer, TurnCall, TurnCallKind, TurnEffect, TurnEnd,
    TurnEntry, TurnInput, TurnLimits, TurnState, before_last_turn, replay, step, without_undone,
};
