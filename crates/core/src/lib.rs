//! The words of a call that every other crate speaks: who calls, what is called and how it ended.
//!
//! Plain types for callers, targets, outcomes, events, timelines, tasks and the content of results, and
//! the small runtime pieces that carry them ([`Published`], [`Events`], [`Tasks`]). Nothing here decides,
//! connects or stores.

mod answer;
mod caller;
mod content;
mod durability;
mod events;
mod for_person;
mod media;
mod outcome;
mod proposed;
mod published;
pub mod random;
mod risk;
mod sampler;
mod server_id;
mod task;
mod tasks;
mod timeline;
mod timelines;

pub use answer::Answer;
pub use caller::{Caller, Face, Origin};
pub use content::{InvalidOutput, Item, Reply};
pub use durability::Durability;
pub use events::{Event, Events, What};
pub use for_person::for_person;
pub use media::{decoded_len, human_size};
pub use outcome::{Outcome, OutcomeKind, UnknownOutcome};
pub use proposed::{ProposedCall, Target, TargetKind};
pub use published::{Changes, Published};
pub use risk::Risk;
pub use sampler::{
    ChosenModel, ModelWishes, SampleMedia, SampleMessage, SamplePart, SampleRequest, SampleRole,
    SampleStop, SampleTool, SampleToolChoice, Sampled, Sampler, Sampling, ToolUse,
};
pub use server_id::{ServerId, ServerIdError};
pub use task::{TaskHandle, TaskNews, TaskPlace, TaskState, TaskStatus};
pub use tasks::Tasks;
pub use timeline::{Happened, ShownStep, Timeline, TimelineStep};
pub use timelines::Timelines;
