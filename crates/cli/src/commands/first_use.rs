//! First use of a server: asks the user about it, or reports that it was pinned without a review.

use std::sync::Arc;

use switchboard_config::FirstUseSetting;
use switchboard_host::{FirstAnswer, Host, NewServer};
use switchboard_terminal::{
    CliError, NewServerAnswer, Printer, exit_code, is_terminal_gone, present_new_server,
};
use switchboard_text::escape_line;
use switchboard_trust::{FirstUseClaim, Pins};
use tokio_util::sync::CancellationToken;

use crate::context::CommandContext;

pub(crate) async fn ask_about_new(context: &CommandContext, host: &Host) -> Result<(), CliError> {
    if !context.can_show_new_servers() {
        return Ok(());
    }
    for new in host.first_use().new_servers() {
        if is_asked_first(context, &new) {
            ask(context, host, new).await?;
        }
    }
    Ok(())
}

fn is_asked_first(context: &CommandContext, new: &NewServer) -> bool {
    // A new version is a new question: the user has not seen its definitions.
    let mut asked = context.asked_about.lock();
    asked.insert(format!("{} {}", new.server, new.version))
}

pub(crate) fn is_asked_about(context: &CommandContext) -> bool {
    let settings = context.silent_config().settings;
    // With `--locked`, the lock file decides what a server may offer, not the user.
    let is_wanted = settings.pins && settings.first_use != FirstUseSetting::Trust;
    is_wanted && !context.shared.locked && context.can_show_new_servers()
}

/// Keeps other processes from using a server that the user is about to be asked about, until the
/// result is dropped. Call this before the entry of the server takes effect.
pub(crate) fn claim(
    context: &CommandContext,
    name: &str,
) -> Result<Option<FirstUseClaim>, CliError> {
    if !is_asked_about(context) {
        return Ok(None);
    }
    // Fail closed: without the claim, a running `serve` would use the server before the answer.
    FirstUseClaim::new(&context.places.state, name).map(Some).map_err(|why| {
        CliError::new(exit_code::TROUBLE, format!("cannot reserve the server for review: {why}"))
    })
}

/// Starts a server that was just added or approved, and asks about what it offers.
pub(crate) async fn preview_server(context: &CommandContext, name: &str) -> Result<(), CliError> {
    let config = context.silent_config();
    let Some(server) = config.servers.get(name).filter(|_| is_asked_about(context)) else {
        return Ok(());
    };
    let pins = Pins::load(&context.places.state, &server.identity())?;
    // A server with approved definitions is not new; `pins diff` shows what changed.
    if server.disabled || server.barred.is_some() || !pins.approved.is_empty() {
        return Ok(());
    }
    let shown = escape_line(name);
    context.printer.say(&format!("starting `{shown}` once to list what it offers"));
    let only = [server.id.clone()];
    let host = context.start(Some(only.to_vec()))?;
    context.wait_ready(&host, Some(&only)).await?;
    host.stop().await;
    Ok(())
}

/// Reports servers that were pinned unseen because no one could be asked, the last ones on `stop`.
pub(crate) async fn report_unseen(printer: Printer, host: Host, stop: CancellationToken) {
    let mut changes = host.first_use().pinned_unseen().changes();
    let mut told = 0;
    let mut unseen = changes.load();
    loop {
        // The list is bounded and drops its oldest entries; report at least the newest one.
        for one in unseen.iter().skip(told.min(unseen.len().saturating_sub(1))) {
            printer.say(&escape_line(&one.sentence()));
        }
        told = unseen.len();
        unseen = match stop.run_until_cancelled(changes.changed()).await {
            Some(unseen) => unseen,
            None => match changes.load() {
                last if Arc::ptr_eq(&last, &unseen) => return,
                last => last,
            },
        };
    }
}

async fn ask(context: &CommandContext, host: &Host, new: NewServer) -> Result<(), CliError> {
    let shown = new.clone();
    let said = tokio::select! {
        // An answer from another face wins over one that is still being typed here.
        biased;
        () = wait_answered(host, &new) => return Ok(()),
        () = context.interrupts.token().cancelled() => NewServerAnswer::Left,
        said = present_new_server(shown, context.printer.width()) => said,
    };
    let answer = if said == NewServerAnswer::Use { FirstAnswer::Use } else { FirstAnswer::NotNow };
    // Closing the terminal is not an answer.
    if said != NewServerAnswer::Left || !is_terminal_gone() {
        let name = escape_line(new.server.as_str());
        match host.first_use().answer(&new, answer).await {
            Ok(true) => context.printer.say(&format!(
                "approved `{name}` exactly as shown; later changes need your approval"
            )),
            Ok(false) if answer == FirstAnswer::NotNow => {
                context.printer.say(&format!("`{name}` stays quarantined until you approve it"));
            }
            Ok(false) => {
                let hint = format!("review it with `switchboard pins diff {name}`");
                let message = format!("`{name}` has changed meanwhile and stays quarantined");
                context.printer.warn(&message, Some(&hint));
            }
            Err(why) => context.printer.warn(&format!("cannot save the answer: {why}"), None),
        }
    }
    if said == NewServerAnswer::Left {
        host.stop().await;
        return Err(CliError::new(exit_code::INTERRUPTED, "interrupted"));
    }
    Ok(())
}

/// Waits until the question is obsolete: the server was answered elsewhere, or it changed.
async fn wait_answered(host: &Host, new: &NewServer) {
    let mut changes = host.quarantine().changes();
    let is_new = || host.first_use().new_servers().iter().any(|one| one.version == new.version);
    while is_new() {
        changes.changed().await;
    }
}
