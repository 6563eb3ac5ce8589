//! What is shown, gathered once for the pages and for the API.

mod call;
mod calls;
mod catalog;
mod entries;
mod export;
mod overview;
mod part;
mod pins;
mod policy;
pub(crate) mod registry;
mod resources;
mod reviews;
mod server;
mod servers;
mod sessions;
mod tools;

pub(crate) use call::{CallShown, Ran, call, finished_call};
pub(crate) use calls::{CallQuery, CallRow, CallsShown, calls};
pub(crate) use catalog::{
    CatalogItem, CatalogQuery, CatalogTool, ServerQuery, catalog_prompts, catalog_resources,
    catalog_tool, catalog_tools,
};
pub(crate) use entries::{
    EntryShown, Proposal, ProposedServer, discover_installed, entry, entry_digest,
    propose_installed, propose_typed,
};
pub(crate) use export::{export, export_schema};
pub(crate) use overview::{MinuteShown, OverviewShown, overview};
pub(crate) use part::{call_part, call_result};
pub(crate) use pins::{
    FoundShown, HeldServerShown, HeldShown, held_count, held_servers, scan_finding,
};
pub(crate) use policy::{
    DifferenceShown, ExplainedShown, LevelShown, PolicyShown, WhatIfShown, difference, explanation,
    own_rules, policy,
};
pub(crate) use resources::{OfferedPrompt, OfferedResource, ResourcesShown, prompt, resources};
pub(crate) use reviews::{ReviewShown, Wanted, reviews};
pub(crate) use server::{ServerShown, server};
pub(crate) use servers::{ServerRow, servers};
pub(crate) use sessions::{SessionRow, SessionShown, Turn, models, session, sessions};
pub(crate) use tools::{ToolQuery, ToolRow, ToolShown, tool, tools};
