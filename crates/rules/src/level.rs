//! `PolicyLevel`: the authors of rules and hooks, in their order of precedence.

/// The author of rules or hooks, the strongest first: each may only narrow what those before it
/// allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyLevel {
    /// The organisation, for this machine.
    Enterprise,
    /// A team, by a path or an address in the settings.
    Team,
    /// The project.
    Project,
    /// The user.
    User,
}

impl PolicyLevel {
    /// All levels, the strongest first.
    pub const ALL: [Self; 4] = [Self::Enterprise, Self::Team, Self::Project, Self::User];

    /// The level in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Team => "team",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}
