//! The exit codes of all commands, as listed in the manual.

use switchboard_core::OutcomeKind;

/// The command was successful.
pub const OK: u8 = 0;
/// The tool ran and reported an error.
pub const TOOL_ERROR: u8 = 1;
/// Invalid command line: an unknown name or an invalid argument.
pub const USAGE: u8 = 2;
/// The configuration is invalid.
pub const CONFIG: u8 = 3;
/// The server could not be reached or refused the call; nothing ran.
pub const NOT_RUN: u8 = 4;
/// The call is not allowed, or a person rejected it.
pub const NOT_ALLOWED: u8 = 5;
/// The call failed or its outcome is unknown; it may have run.
pub const FAILED: u8 = 6;
/// An internal error: Switchboard cannot record, write or print.
pub const TROUBLE: u8 = 7;
/// A conversation reached a limit and was not continued.
pub const LIMIT: u8 = 8;
/// Interrupted by the user.
pub const INTERRUPTED: u8 = 130;

/// All codes with their descriptions, for the manual.
pub const ALL: [(u8, &str); 10] = [
    (OK, "success"),
    (TOOL_ERROR, "the tool ran and reported an error"),
    (USAGE, "usage error: an unknown name or an invalid argument"),
    (CONFIG, "configuration error"),
    (NOT_RUN, "the server could not be reached or refused the call; nothing ran"),
    (NOT_ALLOWED, "the call is not allowed, or a person rejected it"),
    (FAILED, "the call failed or its outcome is unknown; it may have run"),
    (TROUBLE, "internal error: switchboard cannot record, write or print"),
    (LIMIT, "a conversation reached a limit and was not continued"),
    (INTERRUPTED, "interrupted"),
];

/// Returns the exit code for the outcome of a call.
pub fn for_outcome(kind: OutcomeKind, reason: Option<&str>) -> u8 {
    match kind {
        OutcomeKind::Ok => OK,
        OutcomeKind::ToolError => TOOL_ERROR,
        OutcomeKind::Denied | OutcomeKind::Rejected => NOT_ALLOWED,
        // The server got no request; the reason tells whether the user can correct that.
        OutcomeKind::NotSent => match reason {
            Some("unknown_server" | "not_listed" | "bad_arguments") => USAGE,
            Some("disabled" | "not_approved" | "not_allowed") => NOT_ALLOWED,
            Some("record_unavailable" | "ledger") => TROUBLE,
            _ => NOT_RUN,
        },
        OutcomeKind::Refused => NOT_RUN,
        OutcomeKind::Failed | OutcomeKind::Unknown | OutcomeKind::InvalidOutput => FAILED,
        OutcomeKind::Cancelled => INTERRUPTED,
    }
}
