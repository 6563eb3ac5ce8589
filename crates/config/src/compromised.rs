//! What is held when a definition turns into an attack after it was approved.

/// How much of a server is held when one of its definitions turns into an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CompromiseScope {
    /// That definition.
    Definition,
    /// All of it: who turns is not trusted in the rest.
    #[default]
    Server,
}
