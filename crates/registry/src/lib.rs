//! Finds MCP servers and plans how to run them. Never starts a server or writes configuration.
//!
//! Reading order: `server_json` is a registry's description of a server, `client` fetches it, and
//! `plan` converts one package or remote to the exact command or URL and the questions to ask
//! first. `bundle` does the same for a bundle file. `known_servers` is a short list of servers by
//! the domain of a URL. `offers` publishes an organisation's own servers through the registry API.

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
