//! An authorization server and the MCP server behind it in one process: strict, or wrong on demand.

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
