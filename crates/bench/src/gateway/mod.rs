//! `gateway`: one call through every gateway, beside a proxy that only forwards bytes.

mod contestant;
mod flat;
mod passes;
mod peers;
mod ready;
mod recipe;
mod route;
mod run;
mod running;
mod section;
mod summary;
mod targets;
mod tree;

pub(crate) use run::{Wish, sections};
