//! The prompt: the part of a catalog that a model is shown, within a token budget.
//!
//! [`xml`] serves models that write their calls as text, [`native`] serves vendors that take tool
//! definitions, [`budget`] selects the level of detail for a large catalog, and [`index_files()`]
//! renders the catalog as files that a model reads on demand. Everything here is a pure function
//! over the types in [`views`], and equal input gives equal bytes, so that vendors can cache the
//! prefix. Only [`order`] keeps state.

mod budget;
mod clean;
mod compact;
mod fixed_text;
mod gemini;
mod index_files;
mod inline;
mod keys;
mod lease_view;
mod native;
mod options;
mod order;
mod own_tools;
mod parameters;
mod sample;
mod schema;
mod tokens;
mod views;
mod xml;
mod xml_server;

pub use budget::{DetailLevel, FittedPrompt, fit, fit_native};
pub use index_files::{IndexFile, IndexPlaces, index_files, index_places};
pub use keys::RenamedKey;
pub use lease_view::with_shown_servers;
pub use native::{Definitions, Vendor, definitions};
pub use options::{CallForm, PromptMode, PromptOptions};
pub use order::StableOrder;
pub use own_tools::{
    ACCESS_RESOURCE, CALL_TOOL, DESCRIBE_TOOL, FIND_TOOLS, READ_RESULT, conversation_tools,
    search_tools,
};
pub use tokens::estimate_tokens;
pub use views::{ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool};
pub use xml::{describe_tool, section, tool_line};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod test_catalog;
