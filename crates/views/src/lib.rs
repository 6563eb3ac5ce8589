//! View models: what the console's pages, its API and the commands show of a host.
//!
//! In goes a [`Host`](switchboard_host::Host), or data of the crates below it; out come structs
//! that are written as JSON and read back by another program. Nothing here renders, prints or
//! listens.

mod call;
mod calls;
mod catalog;
mod error;
mod overview;
mod pins;
mod policy;
mod resources;
mod reviews;
mod server;
mod servers;
mod tools;

pub use call::{CallShown, Ran, call, call_with_result, finished_call};
pub use calls::{CallQuery, CallRow, CallsShown, calls, milliseconds};
pub use catalog::{
    CatalogItem, CatalogQuery, CatalogTool, ServerQuery, catalog_prompts, catalog_resources,
    catalog_tool, catalog_tools,
};
pub use error::ViewError;
pub use overview::{MinuteShown, OverviewShown, overview};
pub use pins::{
    FoundShown, HeldServerShown, HeldShown, PinShown, can_be_approved, held_count, held_servers,
    scan_finding,
};
pub use policy::{
    DifferenceShown, ExplainedShown, LevelShown, PolicyShown, RuleShown, RulingShown, WhatIfShown,
    difference, explanation, policy,
};
pub use resources::{OfferedPrompt, OfferedResource, ResourcesShown, prompt, resources};
pub use reviews::{ReviewShown, Wanted, reviews};
pub use server::{ServerShown, server};
pub use servers::{ServerRow, servers};
pub use tools::{ToolQuery, ToolRow, ToolShown, app_uri, is_for_apps, tool, tools};
