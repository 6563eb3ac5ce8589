//! A person's answer to a question about a call.

/// A person's answer to the question whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it, this once.
    Run,
    /// Run it with these arguments instead: the text of a JSON object.
    RunWith(String),
    /// Run it, and do not ask for this tool again for the rest of the caller's session.
    Session,
    /// Run it, and do not ask for this tool again.
    Always,
    /// Leave it out.
    Skip,
    /// Do not run it; do this instead.
    Reject(String),
}
