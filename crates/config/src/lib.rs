//! Reads the configuration: from files and environment to a checked [`Config`].
//!
//! The files of the user and the project are merged, variables are expanded, and every entry is
//! checked separately: an invalid entry becomes a broken server with a reason, and its siblings
//! stay. Below the faces, this is the only crate that reads the process environment. It never
//! starts a server or asks the user; approvals are passed in through [`Consents`].

mod bad_packages;
mod chat;
mod dotenv;
mod edit;
mod entry_text;
mod env_case;
mod environment;
mod file;
mod gateway;
mod gateway_views;
mod load;
mod log_level;
mod lookalike;
mod models;
mod oauth;
mod paste;
mod places;
mod policies;
mod reader;
mod resolved;
mod sampling;
mod sandbox;
mod secret_reference;
mod server;
mod settings;
mod team_files;
mod transport;
mod variables;

pub use chat::{CallsPerMessage, ChatSettings, McpMode};
pub use edit::{
    Replace, add_auto_approve, add_server, disable_server, enable_server, entry_findings,
    remove_auto_approve, remove_server, set_sandbox,
};
pub use entry_text::diff_lines;
pub use env_case::EnvCase;
pub use environment::Environment;
pub use gateway::{GatewayNames, GatewayOauth, GatewayReview, GatewaySettings, GatewayTools};
pub use gateway_views::ViewKey;
pub use load::{Consents, NoConsents, load};
pub use log_level::LogLevel;
pub use models::{CallStyle, ModelProfile, Provider};
pub use oauth::{GrantType, OauthSettings, is_scope};
pub use paste::{PastedEntry, pasted_entries, read_entry};
pub use places::Places;
pub use policies::{read_policy, read_policy_cases};
pub use resolved::{
    BUILTIN, CompromiseScope, Config, ConfigLayer, EntrySource, EraSetting, FirstUseSetting,
    HttpKind, ServerConfig, Settings, Transport,
};
pub use sampling::{SamplingReview, SamplingSettings};
pub use sandbox::{Confinement, NetworkAccess};
pub use secret_reference::{contains_reference, fill_references, secret_names};
pub use server::default_server;
pub use settings::KnownServersSource;
pub use team_files::{cache_team_file, missing_team_files, team_file};
pub use transport::AuthoritiesFile;
