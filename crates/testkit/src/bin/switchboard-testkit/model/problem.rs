//! Why a request is refused, before a vendor's words are put around it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VendorProblem {
    pub(crate) kind: VendorProblemKind,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VendorProblemKind {
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

impl VendorProblem {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { kind: VendorProblemKind::Request, message: message.into() }
    }

    pub(crate) fn new(kind: VendorProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Goes on when the rule holds.
pub(crate) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), VendorProblem> {
    if holds { Ok(()) } else { Err(VendorProblem::request(message())) }
}
