//! What happens, told to pages that are open.

mod events;
mod feed;

pub(crate) use events::events;
pub(crate) use feed::Feed;
