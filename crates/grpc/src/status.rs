//! The status of a call in the words of an editor.

use switchboard_core::OutcomeKind;

/// The four ways in which a call ends for an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditorStatus {
    /// There is a result; it may report an error of the tool.
    Success,
    /// There is no result.
    Error,
    /// A person rejected the call.
    Rejected,
    /// A rule denied the call.
    PermissionDenied,
}

impl From<OutcomeKind> for EditorStatus {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            // A tool that reports a failure did run, and its report is the result.
            OutcomeKind::Ok | OutcomeKind::ToolError => Self::Success,
            OutcomeKind::Rejected => Self::Rejected,
            OutcomeKind::Denied => Self::PermissionDenied,
            OutcomeKind::NotSent
            | OutcomeKind::Refused
            | OutcomeKind::Failed
            | OutcomeKind::Unknown
            | OutcomeKind::Cancelled
            | OutcomeKind::InvalidOutput => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EditorStatus::{Error, PermissionDenied, Rejected, Success};
    use super::*;

    #[test]
    fn an_editor_sees_four_states() {
        let seen = OutcomeKind::ALL.map(EditorStatus::from);
        assert_eq!(
            seen,
            [
                Success,
                Success,
                PermissionDenied,
                Rejected,
                Error,
                Error,
                Error,
                Error,
                Error,
                Error
            ]
        );
    }
}
