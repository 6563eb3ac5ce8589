//! What is shown, gathered once for the pages and for the API.

mod call;
mod calls;
mod catalog;
mod entries;
mod export;
mod order;
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

pub(crate) use call::{CallShown, Ran, call, ran};
pub(crate) use calls::{CallQuery, CallRow, CallsShown, calls};
pub(crate) use catalog::{
    CatalogItem, CatalogQuery, CatalogTool, ServerQuery, catalog_prompts, catalog_resources,
    catalog_tool, catalog_tools,
};
pub(crate) use entries::{
    EntryShown, Proposal, ProposedServer, digest_of, entry, found_installed, installed, proposed,
};
pub(crate) use export::{export, exported};
pub(crate) use overview::{MinuteShown, OverviewShown, overview};
pub(crate) use part::{call_part, call_result};
pub(crate) use pins::{FoundShown, HeldServerShown, HeldShown, found_one, held, held_count};
pub(crate) use policy::{
    DifferenceShown, ExplainedShown, LevelShown, PolicyShown, WhatIfShown, difference, explained,
    own_rules, policy,
};
pub(crate) use resources::{OfferedPrompt, OfferedResource, ResourcesShown, prompt, resources};
pub(crate) use reviews::{ReviewShown, Wanted, reviews};
pub(crate) use server::{ServerShown, server};
pub(crate) use servers::{ServerRow, servers};
pub(crate) use sessions::{SessionRow, SessionShown, Turn, models, session, sessions};
pub(crate) use tools::{ToolQuery, ToolRow, ToolShown, tool, tools};
