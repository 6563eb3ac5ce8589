//! `gateway`: one call through every gateway, compared with a proxy that only forwards bytes.

mod flat;
mod passes;
mod peers;
mod process_tree;
mod ready;
mod recipe;
mod route;
mod running_gateway;
mod section;

pub(crate) use passes::sections;
