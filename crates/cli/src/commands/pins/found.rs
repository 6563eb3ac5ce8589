//! What the scanner found in definitions that are shown or approved, and a person's yes in spite of it.

use std::io::IsTerminal as _;

use switchboard_catalog::{Acceptance, DefinitionVersion, Flagged};
use switchboard_config::ServerConfig;
use switchboard_scan::{DefinitionKind, Severity};
use switchboard_store::AuditNote;
use switchboard_terminal::{CliError, ask_line, exit_code, is_yes};
use switchboard_text::escape_line;
use switchboard_trust::{PinKind, QuarantinedDefinition, add_accepted, new_acceptance};

use crate::args::ServerArg;
use crate::commands::{audit, held, tools};
use crate::context::CommandContext;

/// Everything in which something was found, also in what nobody has approved. Servers are started
/// for that, all of them: what a definition says of another server's tools is found only then.
pub(crate) async fn examine(context: &CommandContext) -> Result<Vec<Flagged>, CliError> {
    let host = tools::start_unasked(context, &ServerArg::default()).await?;
    let examined = host.all_flagged();
    host.stop().await;
    Ok(examined)
}

/// What a person has to agree to before these definitions are used.
pub(crate) fn needing_agreement(flagged: &[Flagged]) -> Vec<&Flagged> {
    flagged.iter().filter(|one| one.is_held()).collect()
}

/// Goes on only if the person has agreed to what was found, or does so at the terminal.
pub(crate) async fn agree(
    context: &CommandContext,
    which: &str,
    flagged: &[&Flagged],
    has_agreed: PriorAgreement,
) -> Result<(), CliError> {
    for one in flagged {
        context.printer.say(held::description(one).trim_end());
    }
    if flagged.is_empty() || has_agreed == PriorAgreement::Already {
        return Ok(());
    }
    let name = escape_line(which);
    let refused = |why: &str| {
        let message = format!("the scanner found an attack in `{name}`, and {why}");
        CliError::new(exit_code::NOT_ALLOWED, message)
    };
    if !std::io::stdin().is_terminal() {
        let hint = format!("if it is none, `switchboard pins approve {name} --despite-findings`");
        return Err(refused("nobody is here to agree to it").with_hint(hint));
    }
    let question = format!("Use `{name}` in spite of that, exactly as it is? [y/N] ");
    match ask_line(&question).await {
        Some(said) if is_yes(said.trim()) => Ok(()),
        _ => Err(refused("you did not agree to it")),
    }
}

/// Whether the person has agreed beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriorAgreement {
    Already,
    NotYet,
}

/// Keeps that a person stands by these definitions in spite of what was found.
pub(crate) fn accept(
    context: &CommandContext,
    server: &ServerConfig,
    flagged: &[&Flagged],
) -> Result<(), CliError> {
    let new = flagged.iter().filter(|one| one.severity >= Severity::Ask).map(|one| {
        let rules = one.findings.iter().map(|finding| finding.rule);
        let definition =
            DefinitionVersion { kind: one.kind.as_str(), name: &one.name, digest: &one.pin };
        new_acceptance(definition, rules)
    });
    let new: Vec<Acceptance> = new.collect();
    if new.is_empty() {
        return Ok(());
    }
    let notes: Vec<AuditNote> = new
        .iter()
        .map(|one| AuditNote {
            event: AuditNote::APPROVED,
            server: server.id.to_string(),
            kind: one.kind.clone(),
            name: one.name.clone(),
            digest: one.digest.clone(),
            detail: format!(
                "despite {}",
                Vec::from_iter(one.rules.iter().map(String::as_str)).join(", ")
            ),
        })
        .collect();
    // Written down first: what cannot be recorded is not approved.
    audit::note(context, &notes)?;
    Ok(add_accepted(&context.places.state, &server.identity(), new)?)
}

/// Notes that definitions are approved or no longer approved.
pub(crate) fn note<'a>(
    context: &CommandContext,
    event: &'static str,
    server: &ServerConfig,
    definitions: impl Iterator<Item = (PinKind, &'a str, &'a str)>,
) -> Result<(), CliError> {
    let note = |(kind, name, digest): (PinKind, &str, &str)| AuditNote {
        event,
        server: server.id.to_string(),
        kind: kind.as_str().to_owned(),
        name: name.to_owned(),
        digest: digest.to_owned(),
        detail: String::new(),
    };
    audit::note(context, &definitions.map(note).collect::<Vec<_>>())
}

/// Whether what is held would be held by the scanner as well, as far as that is seen in it alone.
pub(crate) fn is_suspicious(definition: &QuarantinedDefinition) -> bool {
    use switchboard_scan::{overall_severity, scan_definition, scan_text};
    let text = &definition.now;
    let findings = match definition.kind {
        PinKind::Instructions => {
            scan_text("", &serde_json::from_str::<String>(text).unwrap_or_default())
        }
        PinKind::Tool => scan_definition(DefinitionKind::Tool, text),
        PinKind::Prompt => scan_definition(DefinitionKind::Prompt, text),
        PinKind::Template => scan_definition(DefinitionKind::Template, text),
    };
    overall_severity(&findings) == Some(Severity::Block)
}
