//! How the tools and prompts of one server are named.

use switchboard_catalog::{Server, model_name};

/// How tools and prompts are named where a server's entry has no `prefix`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameMode {
    /// `server__tool`.
    #[default]
    Prefixed,
    /// As the server names them; where two servers use one name, the first keeps it.
    Plain,
}

/// How those of one server are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamingScheme<'a> {
    /// After the server itself.
    Server,
    /// After what its entry says.
    Prefix(&'a str),
    /// As the server names them.
    Plain,
}

impl<'a> NamingScheme<'a> {
    /// What its entry says, or else what holds for all.
    pub(crate) fn for_server(server: &'a Server, mode: NameMode) -> Self {
        let prefix = server.config.as_ref().and_then(|config| config.prefix.as_deref());
        match (prefix, mode) {
            (Some(""), _) | (None, NameMode::Plain) => Self::Plain,
            (Some(prefix), _) => Self::Prefix(prefix),
            (None, NameMode::Prefixed) => Self::Server,
        }
    }

    /// The name that is given out, where it is another than the server's.
    pub(crate) fn public_name(self, server: &str, own: &str) -> Option<Box<str>> {
        match self {
            Self::Server => Some(model_name(server, own).into()),
            Self::Prefix(prefix) => Some(model_name(prefix, own).into()),
            Self::Plain => None,
        }
    }
}
