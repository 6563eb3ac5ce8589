//! Live updates for open pages.

mod events;
mod feed;

pub(crate) use events::{Aside, event_schema, events, session_event_schema};
pub(crate) use feed::LiveFeed;
