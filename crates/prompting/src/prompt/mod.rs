//! The prompt: the part of a catalog that a model is shown, within a token budget.
//!
//! [`xml`] serves models that write their calls as text, [`native`] serves vendors that take tool
//! definitions, [`budget`] selects the level of detail for a large catalog, and [`index_files()`]
//! renders the catalog as files that a model reads on demand. Everything here is a pure function
//! over the types in [`views`], and equal input gives equal bytes, so that vendors can cache the
//! prefix. Only [`order`] keeps state.

pub mod budget;
mod clean;
mod compact;
mod fixed_text;
mod gemini;
pub mod index_files;
mod inline;
pub mod keys;
pub mod lease_view;
pub mod mode;
pub mod native;
pub mod options;
pub mod order;
pub mod own_tools;
mod parameters;
mod sample;
mod schema;
pub mod search_tools;
pub mod tokens;
mod tool_text;
pub mod views;
pub mod xml;
mod xml_server;

pub use budget::{DetailLevel, FittedPrompt, fit, fit_native};
pub use index_files::{IndexFile, IndexPlaces, index_files, index_places};
pub use keys::RenamedKey;
pub use lease_view::with_shown_servers;
pub use mode::PromptMode;
pub use native::{Definitions, Vendor, definitions};
pub use options::{CallForm, PromptOptions};
pub use order::StableOrder;
pub use tokens::estimate_tokens;
pub use tool_text::{describe_tool, tool_line};
pub use views::{ShownArgument, ShownPrompt, ShownResource, ShownServer, ShownTemplate, ShownTool};
pub use xml::section;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod test_catalog;
