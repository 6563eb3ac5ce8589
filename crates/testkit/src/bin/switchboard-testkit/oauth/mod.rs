//! An authorization server and its MCP server in one process: strict, or faulty on demand.

mod authorize;
mod clients;
mod form;
mod grants;
mod metadata;
mod resource;
mod settings;
mod site;
mod token;

pub(crate) use settings::OauthSiteSettings;
pub(crate) use site::serve;
