//! The part of the command line that is about rules.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 well, 1 a case of `test` is not as expected or `what-if` finds a difference, \
2 usage, 3 the rules cannot be read."
)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) command: Option<PolicyCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show the rules in effect, level by level
    #[command(visible_alias = "ls")]
    Show,
    /// Check the rules and their examples, of all levels or of a file
    Check {
        /// Only this file
        file: Option<PathBuf>,
    },
    /// Try cases out: calls, and what is expected to be said to them
    Test {
        /// The file with the cases
        cases: PathBuf,
        /// With this file in place of the user's rules
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Say what would be decided about a call, and by which rule; nothing is called
    Explain(Explain),
    /// Say what a changed policy would have decided otherwise about recorded calls
    WhatIf(WhatIf),
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// What would be called: server/tool, or server/address with `--kind resource`
    pub(crate) target: String,
    /// The arguments as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Which kind of thing it is
    #[arg(long, value_enum, default_value_t = KindChoice::Tool)]
    pub(crate) kind: KindChoice,
    /// Who would call it
    #[arg(long, value_enum, default_value_t = CallerChoice::Model)]
    pub(crate) caller: CallerChoice,
    /// As if something had come from this server before, or from server/tool (may be given several times)
    #[arg(long, value_name = "SERVER")]
    pub(crate) after: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhatIf {
    /// The changed rules
    pub(crate) file: PathBuf,
    /// The level whose rules they would replace
    #[arg(long, value_enum, default_value_t = LevelChoice::User)]
    pub(crate) level: LevelChoice,
    /// Only calls of so long ago at most: 90m, 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = ago)]
    pub(crate) since: Option<Duration>,
    /// At most so many calls, the newest ones
    #[arg(long, short = 'n', default_value_t = 1_000)]
    pub(crate) limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    /// A tool is run
    Tool,
    /// A resource is read
    Resource,
    /// A prompt is fetched
    Prompt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallerChoice {
    /// A person types it
    Person,
    /// A model writes it
    Model,
    /// A client of the gateway sends it
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// The organisation's
    Enterprise,
    /// The team's
    Team,
    /// The project's
    Project,
    /// Your own
    User,
}

/// A time as a number with a unit.
fn ago(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write it as 90m, 12h or 7d");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = match text.strip_prefix(digits) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 3_600,
        Some("d") => 86_400,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number.saturating_mul(unit)))
}
