//! Static types of the variables of conditions and of their members.

use switchboard_text::suggestion;

/// The static type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CelShape {
    Any,
    Bool,
    Int,
    UInt,
    Double,
    Text,
    /// A string with one of these values.
    Word(&'static [&'static str]),
    Bytes,
    Null,
    Type,
    List(&'static Self),
    /// An object whose keys are not known in advance.
    Map(&'static Self),
    /// An object with exactly these members.
    Members(CelMembers),
    /// An object with these members and possibly others.
    Open(CelMembers),
}

pub(crate) type CelMembers = &'static [(&'static str, CelShape)];

const KINDS: &[&str] = &["tool", "resource", "prompt"];
const TRANSPORTS: &[&str] = &["stdio", "http", "builtin", "unknown"];
const FACES: &[&str] = &["library", "cli", "chat", "gateway", "console", "editor"];
const ORIGINS: &[&str] = &["person", "model", "client"];

/// The tool annotations of the protocol, to which servers may add others.
const ANNOTATIONS: CelMembers = &[
    ("title", CelShape::Text),
    ("readOnlyHint", CelShape::Bool),
    ("destructiveHint", CelShape::Bool),
    ("idempotentHint", CelShape::Bool),
    ("openWorldHint", CelShape::Bool),
];
const TOOL: CelMembers = &[
    ("name", CelShape::Text),
    ("kind", CelShape::Word(KINDS)),
    ("readOnly", CelShape::Bool),
    ("annotations", CelShape::Open(ANNOTATIONS)),
];
const SERVER: CelMembers = &[
    ("name", CelShape::Text),
    ("transport", CelShape::Word(TRANSPORTS)),
    ("trusted", CelShape::Bool),
];
const CALLER: CelMembers = &[
    ("face", CelShape::Word(FACES)),
    ("origin", CelShape::Word(ORIGINS)),
    ("name", CelShape::Text),
];
const SESSION: CelMembers = &[
    ("reads", CelShape::List(&CelShape::Text)),
    ("calls", CelShape::Int),
    ("times", CelShape::Map(&CelShape::Int)),
    ("tainted", CelShape::Bool),
    ("results", CelShape::Map(&CelShape::Int)),
];

/// The variable of a condition that uses the results of a session.
// They may be numerous, so they are provided only to conditions that use them.
pub const SESSION_WITH_RESULTS: &str = "session.results";
const RISK: CelMembers = &[("score", CelShape::Int), ("reasons", CelShape::List(&CelShape::Text))];

pub(crate) const VARIABLES: CelMembers = &[
    ("args", CelShape::Map(&CelShape::Any)),
    ("tool", CelShape::Members(TOOL)),
    ("server", CelShape::Members(SERVER)),
    ("caller", CelShape::Members(CALLER)),
    ("session", CelShape::Members(SESSION)),
    ("risk", CelShape::Members(RISK)),
];

/// The names of types, as in `type(args.n) == int`.
pub(crate) const TYPES: &[&str] =
    &["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"];

impl CelShape {
    /// Describes the shape for error messages.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Any => "something",
            Self::Bool => "true or false",
            Self::Int | Self::UInt | Self::Double => "a number",
            Self::Text | Self::Word(_) => "a text",
            Self::Bytes => "bytes",
            Self::Null => "null",
            Self::Type => "a type",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Members(_) | Self::Open(_) => "an object",
        }
    }

    pub(crate) const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::UInt | Self::Double)
    }

    /// Returns whether two values can be equal. Numbers of different types are compared by value.
    pub(crate) fn can_equal(self, other: Self) -> bool {
        let same_kind = self.describe() == other.describe();
        self == Self::Any || other == Self::Any || same_kind
    }

    /// Returns whether the value can be of one of these kinds; an unknown value can be of any.
    pub(crate) fn can_be(self, wanted: &[&'static str]) -> bool {
        self == Self::Any || wanted.contains(&self.describe())
    }

    pub(crate) const fn element(self) -> Self {
        match self {
            Self::List(part) => *part,
            // Loops over objects iterate over their keys.
            Self::Map(_) | Self::Members(_) | Self::Open(_) => Self::Text,
            _ => Self::Any,
        }
    }
}

/// Suggests a similar name, or lists the known ones.
pub(crate) fn name_hint(name: &str, known: &[&'static str]) -> String {
    match suggestion(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of `{}`", known.join("`, `")),
    }
}

pub(crate) fn names(members: CelMembers) -> Vec<&'static str> {
    members.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_core::{Face, Origin, TargetKind};

    use super::*;

    #[test]
    fn every_word_that_a_call_can_have_is_known() {
        use {Face as F, Origin as O, TargetKind as K};
        for face in [F::Library, F::Cli, F::Chat, F::Gateway, F::Console, F::Editor] {
            assert!(FACES.contains(&face.to_string().as_str()), "{face}");
        }
        for origin in [O::Person, O::Model, O::Client] {
            assert!(ORIGINS.contains(&origin.to_string().as_str()), "{origin}");
        }
        for kind in [K::Tool, K::Resource, K::Prompt] {
            assert!(KINDS.contains(&kind.as_str()), "{kind}");
        }
    }
}
