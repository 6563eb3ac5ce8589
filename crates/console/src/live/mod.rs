//! What happens, told to pages that are open.

mod events;
mod feed;
mod stream_notice;

pub(crate) use events::events;
pub(crate) use feed::LiveFeed;
pub(crate) use stream_notice::{Aside, event_schema, session_event_schema};
