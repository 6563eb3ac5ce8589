//! The part of the command line that is about what waits for a person.

use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// The longest that anything waits.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

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

/// How long something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as the settings say.
    Usual,
    /// So long.
    For(Duration),
}

impl FromStr for Patience {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "usual" {
            return Ok(Self::Usual);
        }
        let wrong = || format!("`{text}` is no time: write it as 90s, 10m or 2h");
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let unit = match text.strip_prefix(digits) {
            Some("" | "s") => 1,
            Some("m") => 60,
            Some("h") => 3_600,
            Some("d") => 86_400,
            _ => return Err(wrong()),
        };
        let time = Duration::from_secs(number.saturating_mul(unit));
        if time.is_zero() || time > LONGEST {
            return Err("it is between a second and a week".to_owned());
        }
        Ok(Self::For(time))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        let seconds = |seconds| Ok(Patience::For(Duration::from_secs(seconds)));
        for (text, expected) in [
            ("usual", Ok(Patience::Usual)),
            ("90", seconds(90)),
            ("90s", seconds(90)),
            ("10m", seconds(600)),
            ("2h", seconds(7_200)),
            ("7d", seconds(604_800)),
            ("8d", Err(())),
            ("0", Err(())),
            ("", Err(())),
            ("m", Err(())),
            ("1w", Err(())),
            ("1m30", Err(())),
            ("-1", Err(())),
        ] {
            assert_eq!(text.parse::<Patience>().map_err(drop), expected, "{text}");
        }
    }
}
