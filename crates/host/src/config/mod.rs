//! Step 1 of the line: files and environment -> `Config`.
//!
//! Reading order: `environment` and `places` say where to look, `file` reads one file into a
//! `document`, `server`, `transport` and `settings` check it through a `reader`, `load` puts the
//! layers on top of each other, `resolved` is what comes out. `edit` writes, `watch` waits.

mod approvals;
mod change;
mod chat;
mod document;
mod dotenv;
mod edit;
mod environment;
mod error;
mod file;
mod follow;
mod gateway;
mod gateway_views;
mod load;
mod log_level;
mod models;
mod names;
mod oauth;
mod places;
mod reader;
mod resolved;
mod sampling;
mod server;
mod settings;
mod similar;
mod transport;
mod variables;
mod watch;
mod web_address;

pub use approvals::Approvals;
pub use chat::{CallsPerMessage, ChatSettings, McpMode};
pub use edit::{Replace, add_auto_approve, add_server, remove_server, set_disabled};
pub use environment::Environment;
pub use error::{ConfigError, Severity};
pub use follow::Reading;
pub use gateway::{GatewayNames, GatewayOauth, GatewayReview, GatewaySettings, GatewayTools};
pub use gateway_views::ViewOf;
pub use load::load;
pub use log_level::LogLevel;
pub use models::{CallStyle, ModelProfile, Provider};
pub(crate) use oauth::is_scope;
pub use oauth::{Grant, OauthSettings};
pub use places::{Level, Places};
pub use resolved::{
    BUILTIN, Config, Durability, EraSetting, HttpKind, Layer, ServerConfig, Settings, Source,
    ToolSettings, Transport,
};
pub use sampling::{SamplingReview, SamplingSettings};
pub use watch::{Watch, watch};
