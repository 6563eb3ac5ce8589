//! What happens, told to pages that are open.

mod aside;
mod events;
mod feed;

pub(crate) use aside::{Aside, in_session, told};
pub(crate) use events::events;
pub(crate) use feed::Feed;
