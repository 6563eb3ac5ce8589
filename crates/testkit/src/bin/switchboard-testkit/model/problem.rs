//! Why a request is refused, before a vendor's words are put around it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// The request breaks a rule of the vendor or of the script.
    Request,
    NoKey,
    WrongKey,
    /// The model does not exist.
    Model,
    /// There is nothing at this path.
    Route,
    /// A status that the script asks for, with the seconds after which to come back.
    Scripted(u16, Option<u64>),
}

impl Problem {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { kind: ProblemKind::Request, message: message.into() }
    }

    pub(crate) fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Goes on when the rule holds.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(Problem::request(message())) }
}
