//! What a person does through the console. Every call takes the host's line, like everybody's.

mod apps;
mod body;
mod calls;
mod complete;
mod elsewhere;
mod entries;
mod logins;
mod pins;
mod policy;
mod registry;
mod reviews;
mod servers;
mod signing;
mod talks;

pub(crate) use apps::{call_for_app, open_app, read_for_app};
pub(crate) use calls::{call_again, call_tool, get_prompt, read_resource};
pub(crate) use complete::complete;
pub(crate) use elsewhere::{look, look_around, take};
pub(crate) use entries::{add, approve, edit, remove};
pub(crate) use logins::{PendingLogins, log_in, log_out, logged_in};
pub(crate) use pins::{approve_pins, can_be_approved, revoke_pin};
pub(crate) use policy::{explain, what_if};
pub(crate) use registry::{add_from_registry, look_at_registry, search_registry, show_registry};
pub(crate) use reviews::answer_review;
pub(crate) use servers::{disable, enable, restart};
pub(crate) use signing::{new_link, sign_out};
pub(crate) use talks::{begin_session, direct, hear, say};
