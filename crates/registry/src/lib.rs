//! Finds MCP servers and says what adding one would run; starts nothing and writes no configuration.
//!
//! Reading order: `server_json` is a registry's description of a server, `client` fetches it from a
//! registry, `plan` turns one package or remote into the exact command or address and the questions
//! to ask first. `bundle` does the same for a file. `known_servers` is the short list of servers by
//! the domain of a web address. `offers` is the other side: an organisation's servers as a registry.

mod bundle;
mod client;
mod known_servers;
mod offers;
mod plan;
mod server_json;

mod error;

pub use bundle::{
    ArchiveLimits, Bundle, BundleContext, BundleError, InstalledBundle, Manifest, UserConfig,
    bundle_folder, fetch_bundle, installed_bundle_at,
};
pub use client::{
    FetchLimits, OFFICIAL_REGISTRY, Registry, RegistryAddress, RegistryReach, WithAge,
};
pub use error::RegistryError;
pub use known_servers::{KnownError, KnownServer, KnownServers};
pub use offers::{OfferTransport, RegistryOffer, answer_registry_request};
pub use plan::{
    AnswerFormat, InstallAnswers, InstallChoice, InstallPlan, InstallRecipe, PlanBody, PlanError,
    PlanItem, RecipeText, RegistryQuestion, Template, install_choices,
};
pub use server_json::{
    Icon, KeyValue, ListedServer, ListingPage, ListingStatus, PackageArgument, PackageTransport,
    RegistryPackage, RegistryRemote, Repository, ServerDetail, ValueInput, is_registry_name,
    short_name,
};
