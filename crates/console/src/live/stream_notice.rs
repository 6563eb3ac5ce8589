//! What streams of events tell beside what happens: that somebody is heard, that something was missed.

use axum::response::sse::Event;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Number;
use switchboard_core::EventKind;

/// What a stream tells beside what happens.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Aside {
    /// Whoever listens is heard.
    Hello,
    /// Something was missed that is not kept: everything may be different.
    Missed {
        /// How many events, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
    },
    /// What waits for a person is not the same any more.
    Reviews {
        /// How much waits.
        waiting: usize,
    },
    /// How far a call is that somebody watches.
    Progress {
        /// The word that was given with the call.
        watch: String,
        /// How far it is.
        progress: Option<Number>,
        /// Of how much, if that is known.
        total: Option<Number>,
        /// In words.
        message: Option<String>,
    },
}

impl Aside {
    /// It as an event without a number.
    pub(crate) fn to_event(&self) -> Event {
        Event::default().data(serde_json::to_string(self).unwrap_or_default())
    }
}

/// What the data of an event looks like.
pub(crate) fn event_schema(generator: &mut SchemaGenerator) -> Schema {
    let what = generator.subschema_for::<EventKind>();
    let aside = generator.subschema_for::<Aside>();
    json_schema!({"oneOf": [what, aside]})
}

/// What the data of an event in a conversation looks like.
pub(crate) fn session_event_schema(generator: &mut SchemaGenerator) -> Schema {
    let said = generator.subschema_for::<switchboard_agent::Event>();
    json_schema!({"oneOf": [said, generator.subschema_for::<Aside>()]})
}
