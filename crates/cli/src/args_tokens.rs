//! The arguments of `tokens`.

use std::time::Duration;

use clap::{Args, Subcommand};
use switchboard_host::policy::Pattern;

#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    pub(crate) command: Option<TokensCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Make a token; it is shown this once
    Add(AddToken),
    /// List tokens
    #[command(visible_alias = "ls")]
    List,
    /// Take a token back; a running `serve` notices within a second
    #[command(visible_alias = "rm")]
    Revoke {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddToken {
    /// A name for whoever uses it; the record names it as the caller
    pub(crate) name: String,
    /// A server that the caller sees, with all that it offers (may be given several times)
    #[arg(long, short, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// Tools that the caller sees, as SERVER/TOOL with `*` for anything (may be given several times)
    #[arg(long, short, value_name = "SERVER/TOOL", value_parser = tool_pattern)]
    pub(crate) tool: Vec<String>,
    /// How long it counts: 90s, 45m, 12h or 30d; for ever by default
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) expires: Option<Duration>,
}

fn tool_pattern(text: &str) -> Result<String, String> {
    // A server's name may hold slashes itself, so only the ends tell.
    if text.contains('/') && !text.starts_with('/') && !text.ends_with('/') {
        let read = Pattern::parse(text).map(|_| text.to_owned());
        return read.map_err(|bad| format!("it {bad}; {}", bad.hint));
    }
    Err("write it as SERVER/TOOL, for example `files/read_*` or `*/search`".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write it as 90s, 45m, 12h or 30d".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).filter(|seconds| *seconds > 0);
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_have_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("45m", Some(2_700)),
            ("12h", Some(43_200)),
            ("30d", Some(2_592_000)),
            ("0s", None),
            ("", None),
            ("5", None),
            ("d", None),
            ("-1d", None),
            ("1dd", None),
            ("99999999999999999999d", None),
        ] {
            let seconds = duration(text).ok().map(|duration| duration.as_secs());
            assert_eq!(seconds, expected, "{text}");
        }
    }
}
