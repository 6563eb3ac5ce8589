//! Step 1 of the line: files and environment -> `Config`.
//!
//! Reading order: `environment` and `places` say where to look, `file` reads one file into a
//! `document`, `server`, `transport` and `settings` check it through a `reader`, `load` puts the
//! layers on top of each other, `resolved` is what comes out. `edit` writes, `watch` waits.
//! Rules are files of their own: `policies` finds them, `policy_read` reads one into a `policy_file`.

mod accepted;
mod allowed_servers;
mod annotations;
mod approvals;
mod authorities;
mod bad_packages;
mod change;
mod chat;
mod condition_calls;
mod condition_check;
mod condition_shapes;
mod containers;
mod danger;
mod discovery;
mod document;
mod dotenv;
mod edit;
mod environment;
mod error;
mod evaluates;
mod expression;
mod fetch;
mod file;
mod follow;
mod gateway;
mod gateway_views;
mod glob;
mod identity;
mod inside_text;
mod json_text;
mod letters;
mod load;
mod lock_file;
mod locked_package;
mod log_level;
mod lookalike;
mod models;
mod names;
mod near_miss;
mod node_kinds;
mod oauth;
mod offered;
mod package_cache;
mod package_installed;
mod package_lookup;
mod package_memory;
mod package_sources;
mod packages;
mod pasted;
mod path_parts;
mod pattern;
mod pins_file;
mod places;
mod policies;
mod policy_cases;
mod policy_file;
mod policy_lines;
mod policy_nodes;
mod policy_read;
mod reader;
mod remembered;
mod resolved;
mod sampling;
mod sandbox;
mod server;
mod settings;
mod shown_entry;
mod similar;
mod starters;
mod team;
mod team_fetch;
mod text_pattern;
mod transport;
mod turned;
mod variables;
mod watch;
mod web_address;
mod web_parts;

pub use accepted::{accepted_file, add_accepted, load_accepted, new_acceptance, remove_accepted};
pub use allowed_servers::{AllowedServer, AllowedServers, UrlPattern};
pub use annotations::Annotations;
pub use approvals::Approvals;
pub use authorities::AuthoritiesFile;
pub use chat::{CallsPerMessage, ChatSettings, McpMode};
pub(crate) use condition_shapes::SESSION_WITH_RESULTS;
pub use danger::{Finding, Weight};
pub use discovery::{Discovery, KnownList};
pub use edit::{
    Replace, add_auto_approve, add_server, disable_server, enable_server, findings_of,
    remove_auto_approve, remove_server, set_sandbox,
};
pub use environment::Environment;
pub use error::{ConfigError, Severity};
pub use expression::Expression;
pub(crate) use file::read_text;
pub use follow::Reading;
pub use gateway::{GatewayNames, GatewayOauth, GatewayReview, GatewaySettings, GatewayTools};
pub use gateway_views::ViewOf;
pub use glob::BadPattern;
pub(crate) use json_text::json_value;
pub(crate) use letters::Letters;
pub use load::load;
pub use lock_file::{Lock, LockedServer};
pub use locked_package::{Evidence, LockedPackage, PackageSpec, packages_of};
pub use log_level::LogLevel;
pub use models::{CallStyle, ModelProfile, Provider};
pub(crate) use near_miss::{is_near, traces};
pub(crate) use oauth::is_scope;
pub use oauth::{Grant, OauthSettings};
pub use offered::offered_names;
pub use package_lookup::Registries;
pub use package_memory::ConfirmedPackages;
pub use pasted::{PastedEntry, entry_of, pasted_entries};
pub(crate) use path_parts::path_in;
pub use pattern::Pattern;
pub(crate) use pins_file::Noting;
pub use pins_file::{Book, PinKind, Pinned, Pins};
pub use places::{Level, Places};
pub use policies::{policy_from_text, read_policy};
pub use policy_cases::{PolicyCase, read_policy_cases};
pub use policy_file::{Effect, Example, Policies, PolicyFile, RuleEntry};
pub use policy_lines::PolicyLine;
pub use remembered::{Bound, Remembered};
pub use resolved::{
    BUILTIN, Config, Durability, EraSetting, FirstUse, HttpKind, Layer, ServerConfig, Settings,
    Source, ToolSettings, Transport,
};
pub use sampling::{SamplingReview, SamplingSettings};
pub use sandbox::{Confinement, Network, Sandbox};
pub use shown_entry::difference;
pub(crate) use similar::suggestion;
pub use team::{Team, TeamFile, TeamPlace, keep_team_file, team_file};
pub use team_fetch::fetch_team_files;
pub(crate) use text_pattern::compile_at_call;
pub use turned::Turned;
pub use watch::{Watch, watch};
pub use web_parts::{WebParts, check_host_pattern, host_fits};
