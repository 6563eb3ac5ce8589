//! The pages, made on the server out of what is shown. Every text is text: maud escapes it.

mod calls;
mod chart;
mod fields;
mod layout;
mod one_call;
mod overview;
mod parts;
mod picture;
mod pretty;
mod prompt;
mod resources;
mod result;
mod reviews;
mod server;
mod servers;
mod sessions;
pub(crate) mod sign_in;
mod tool;
mod tools;
mod when;

pub(crate) use calls::calls;
pub(crate) use one_call::call;
pub(crate) use overview::overview;
pub(crate) use prompt::prompt;
pub(crate) use resources::resources;
pub(crate) use result::ran;
pub(crate) use reviews::reviews;
pub(crate) use server::server;
pub(crate) use servers::servers;
pub(crate) use sessions::{session, sessions};
pub(crate) use tool::tool;
pub(crate) use tools::tools;
