//! The part of the command line that is about what waits for a person.

use clap::{Args, Subcommand, ValueEnum};
use switchboard_terminal::Patience;

/// How long a command waits for an answer from elsewhere.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct WaitForReview {
    /// Where nobody can be asked, wait for an answer by `switchboard review`: as long as the
    /// settings say, or so long: 90s, 10m, 2h
    #[arg(
        long = "wait-for-review",
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "usual"
    )]
    pub(crate) patience: Option<Patience>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "At a terminal, without a command, it puts what waits one after another. \
Exit codes of `answer`: 0 answered, 2 there is no such entry or that is no answer to it, 4 it does not wait any more.")]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) command: Option<ReviewCommand>,
    /// Go on and show every change
    #[arg(long, short)]
    pub(crate) watch: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List what waits
    #[command(visible_alias = "ls")]
    List {
        /// Go on and show every change
        #[arg(long, short)]
        watch: bool,
    },
    /// Show everything about an entry
    Show {
        /// Its id
        id: String,
    },
    /// Answer an entry; the first answer counts
    Answer(AnswerIt),
    /// List the tools that are always allowed by an answer
    Remembered,
    /// Take such an answer back: the tool is asked about again
    Forget {
        /// The server
        server: String,
        /// The tool
        tool: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AnswerIt {
    /// Its id
    pub(crate) id: String,
    /// What to say
    #[arg(value_enum)]
    pub(crate) word: AnswerWord,
    /// With `reject`: what to do instead
    #[arg(long, value_name = "TEXT")]
    pub(crate) tell: Option<String>,
    /// With `run`: run it with these arguments instead
    #[arg(long, value_name = "JSON")]
    pub(crate) json_args: Option<String>,
    /// With `accept`: fill in a field, as name=value (may be given several times)
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,
    /// Only if what waits has this digest, or one that begins so
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Run the call, this once
    Run,
    /// Run it, and do not ask for this tool again in the same session
    Session,
    /// Run it, and do not ask for this tool again
    Always,
    /// Leave it out
    Skip,
    /// Do not run it, and say what to do instead
    Reject,
    /// Yes to the server, with what `--field` fills in
    Accept,
    /// No to the server
    Decline,
    /// Neither yes nor no
    Cancel,
    /// Open the address in a browser, and accept
    Open,
}
