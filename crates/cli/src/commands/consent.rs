//! Shows the findings about a server entry and asks the user for consent.

use std::io::IsTerminal as _;

use switchboard_config::{ServerConfig, Transport};
use switchboard_terminal::{CliError, ask_line, exit_code, finding_line, is_yes};
use switchboard_text::{escape_line, redact_text};
use switchboard_vetting::EntryFinding;

use crate::context::CommandContext;

/// Consent in advance, with `--yes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriorConsent {
    Given,
    Wanted,
}

impl From<bool> for PriorConsent {
    fn from(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Wanted }
    }
}

pub(crate) fn tell(context: &CommandContext, findings: &[EntryFinding]) {
    for finding in findings {
        context.printer.say(&format!("  {}", finding_line(finding)));
    }
}

pub(crate) fn tell_dangers(context: &CommandContext, server: &ServerConfig) {
    for finding in server.findings.iter().filter(|finding| finding.is_danger()) {
        let name = escape_line(server.id.as_str());
        context.printer.say(&format!("`{name}`: {}", finding_line(finding)));
    }
}

/// Succeeds if nothing is dangerous or if the user consents.
pub(crate) async fn agree(
    name: &str,
    findings: &[EntryFinding],
    consent: PriorConsent,
) -> Result<(), CliError> {
    if consent == PriorConsent::Given || !findings.iter().any(EntryFinding::is_danger) {
        return Ok(());
    }
    let refused = |message: &str| {
        let message = format!("`{name}` is dangerous: {message}");
        CliError::new(exit_code::NOT_ALLOWED, message)
    };
    if !std::io::stdin().is_terminal() {
        return Err(refused("approval needed, but there is no terminal to ask on")
            .with_hint("review what it runs, then pass `--yes`"));
    }
    let question = format!("Run `{}` anyway? [y/N] ", escape_line(name));
    // Only an explicit yes counts; end of input and an empty line refuse.
    match ask_line(&question).await {
        Some(said) if is_yes(said.trim()) => Ok(()),
        _ => Err(refused("you did not approve it")),
    }
}

/// Returns the command line or the URLs of a server in one line, with secrets redacted.
pub(crate) fn launch_text(config: Option<&ServerConfig>) -> String {
    match config.map(|config| &config.transport) {
        None => String::new(),
        Some(Transport::Builtin) => "built in".to_owned(),
        Some(Transport::Stdio { command, args, .. }) => {
            // Quoting shows where an argument ends: `a b` and `'a b'` are different commands.
            let words = std::iter::once(command).chain(args).map(|word| quote_word(word));
            redact_text(&words.collect::<Vec<_>>().join(" ")).into_owned()
        }
        Some(Transport::Http { urls, .. }) => {
            // Queries are dropped, because some services expect an API key in them.
            let plain = urls.iter().map(|url| url.split('?').next().unwrap_or(url));
            redact_text(&plain.collect::<Vec<_>>().join(" ")).into_owned()
        }
    }
}

/// Quotes a word if it is empty or contains whitespace, quotes, backslashes or control characters.
pub(crate) fn quote_word(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"'\"\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
