//! The exit codes of all commands, as listed in the manual.

use switchboard_core::OutcomeKind;

/// Success.
pub const OK: u8 = 0;
/// The tool ran and reported an error.
pub const TOOL_ERROR: u8 = 1;
/// Invalid command line: an unknown name or an invalid argument.
pub const USAGE: u8 = 2;
/// Invalid configuration.
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
    (OK, "everything went well"),
    (TOOL_ERROR, "the tool ran and reports a failure"),
    (USAGE, "the command line is wrong: an unknown name, an argument that does not fit"),
    (CONFIG, "the configuration is wrong"),
    (NOT_RUN, "the server could not be reached or turned the call down; nothing ran"),
    (NOT_ALLOWED, "the call is not allowed, or a person said no"),
    (FAILED, "the call failed or its end is not known; it may have run"),
    (TROUBLE, "switchboard itself is in trouble: it cannot record, write or print"),
    (LIMIT, "a conversation reached a limit, and nobody said that it should go on"),
    (INTERRUPTED, "interrupted"),
];

/// Returns the exit code for the outcome of a call.
pub fn for_outcome(kind: OutcomeKind, reason: Option<&str>) -> u8 {
    match kind {
        OutcomeKind::Ok => OK,
        OutcomeKind::ToolError => TOOL_ERROR,
        OutcomeKind::Denied | OutcomeKind::Rejected => NOT_ALLOWED,
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
