//! View models that the console's pages, its API and the `--json` output of commands share.
//!
//! Functions take a [`Host`](switchboard_host::Host), or data of the crates below it, and return
//! structs that serialize to JSON. [`RunningInstance`] reads the same structs from the API of a
//! running `switchboard serve`. This crate never renders, prints or listens.

mod call;
mod call_event;
mod call_request;
mod call_stream;
mod calls;
mod catalog;
mod client;
mod error;
mod overview;
mod pins;
mod policy;
mod resources;
mod reviews;
mod server;
mod servers;
mod tools;

pub use call::{CallShown, CompletedCall, call, call_with_result, finished_call};
pub use call_event::{CallEnded, CallUpdate};
pub use call_request::{
    PersonAnswer, Proposer, QuestionAnswered, TaskWanted, ToComplete, WantedCall, Whom,
};
pub use call_stream::{CallStream, StreamLost};
pub use calls::{CallQuery, CallRow, CallsShown, call_state, calls, milliseconds};
pub use catalog::{
    CatalogItem, CatalogQuery, CatalogTool, ItemList, ServerQuery, catalog_items, catalog_tool,
    catalog_tools,
};
pub use client::{InstanceFile, RunningInstance};
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
pub use reviews::{ReviewShown, ReviewSubject, reviews};
pub use server::{ServerShown, server};
pub use servers::{ServerRow, servers};
pub use tools::{ToolQuery, ToolRow, ToolShown, app_uri, is_for_apps, tool, tools};
