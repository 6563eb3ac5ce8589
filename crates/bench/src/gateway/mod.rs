//! `gateway`: one call through every gateway, beside a proxy that only forwards bytes.

mod contestant;
mod flat;
mod passes;
mod peers;
mod process_tree;
mod ready;
mod recipe;
mod route;
mod run;
mod running_gateway;
mod section;
mod summary;
mod targets;

pub(crate) use run::{PeerOptions, sections};
