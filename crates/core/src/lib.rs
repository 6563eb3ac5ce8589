//! The types of a call that all other crates share: caller, target and outcome.
//!
//! Plain types for callers, targets, outcomes, events, timelines, tasks and the content of results,
//! and the small runtime pieces that carry them ([`Published`], [`Events`], [`Tasks`]). This crate
//! never decides, connects or stores.

mod call_timeline;
mod caller;
mod content;
mod events;
mod for_person;
mod media;
mod outcome;
mod proposed;
mod random;
mod runtime;
mod sampler;
mod server_id;
mod task;
mod timeline;

pub use call_timeline::{CallTimeline, OpenQuestion};
pub use caller::{Caller, Face, Origin};
pub use content::{InvalidOutput, Item, Reply};
pub use events::{Event, EventKind, Events};
pub use for_person::for_person;
pub use media::{decoded_len, human_size};
pub use outcome::{Durability, Outcome, OutcomeKind, UnknownOutcome};
pub use proposed::{Answer, ProposedCall, Risk, Target, TargetKind};
pub use random::{long_random_token, random_bytes, random_token};
pub use runtime::{Changes, Published, Tasks};
pub use sampler::{
    ChosenModel, ModelPreferences, SampleFuture, SampleMedia, SampleMessage, SamplePart,
    SampleRequest, SampleResult, SampleRole, SampleStop, SampleTool, SampleToolChoice, Sampler,
    ToolUse,
};
pub use server_id::{ServerId, ServerIdError};
pub use task::{TaskHandle, TaskPlace, TaskState, TaskStatus, TaskUpdate};
pub use timeline::{Happened, ShownStep, Timeline, TimelineStep};
