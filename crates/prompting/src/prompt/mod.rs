//! Step 4: what a model is shown of a catalog, within a budget and always the same bytes.
//!
//! [`xml`] is for models that write their calls as text, [`native`] for vendors that take tool
//! definitions, [`budget`] chooses how much of a large catalog is shown, [`index_files`] is the
//! catalog as files that a model reads when it needs them. Everything here is a pure function
//! over the views in [`views`]; [`order`] is the only thing that remembers.

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
