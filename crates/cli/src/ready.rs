//! Waits for the servers of a command, and tells what is the matter with them.

use switchboard_catalog::ServerStatus;
use switchboard_core::ServerId;
use switchboard_host::Host;
use switchboard_terminal::{CliError, StartSpinners, exit_code};
use switchboard_text::escape_line;
use switchboard_trust::{QuarantineReason, QuarantinedDefinition};

use crate::commands::first_use;
use crate::context::CommandContext;

/// What is to be said of a server that was not waited for any longer, and what to do about it.
pub(crate) const NOT_YET: &str = "it has not come up in the time it was given";
pub(crate) const MORE_TIME: &str = "give it more with `--start-timeout SECONDS`, or look at what it \
                                    wrote with `switchboard servers logs NAME`";

impl CommandContext {
    /// Waits for the servers to come up, shows that on a terminal, and tells which did not. The
    /// person who is here is asked about those that are new.
    pub(crate) async fn wait_ready(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        self.wait_up(host, only).await?;
        first_use::ask_about_new(self, host).await?;
        self.report_state(host, only);
        Ok(())
    }

    /// The same without a word about new servers.
    pub(crate) async fn wait_ready_unasked(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        self.wait_up(host, only).await?;
        self.report_state(host, only);
        Ok(())
    }

    async fn wait_up(&self, host: &Host, only: Option<&[ServerId]>) -> Result<(), CliError> {
        let starting = StartSpinners::show(&self.printer, host);
        let waited = self.interrupts.token().run_until_cancelled(host.wait_settled(only)).await;
        starting.finish();
        if waited.is_none() {
            host.stop().await;
            return Err(CliError::new(exit_code::INTERRUPTED, "interrupted"));
        }
        Ok(())
    }

    fn report_state(&self, host: &Host, only: Option<&[ServerId]>) {
        for problem in host.hooks().problems() {
            let hint = "`switchboard hooks list` shows them";
            self.printer.warn(&escape_line(&problem), Some(hint));
        }
        for server in host.fleet().load().servers.values() {
            if let ServerStatus::NeedsApproval = server.status {
                let hint = format!("look at it, then `switchboard servers approve {}`", server.id);
                self.printer
                    .warn(&format!("server `{}` has not been approved", server.id), Some(&hint));
            }
            let was_awaited = only.is_none_or(|only| only.contains(&server.id));
            if server.status == ServerStatus::Starting && was_awaited {
                let message = format!("server `{}` is not ready: {NOT_YET}", server.id);
                self.printer.warn(&message, Some(MORE_TIME));
            }
            if let Some(why) = server.missing_tools_reason() {
                let hint = format!("`switchboard doctor {}` tells more", server.id);
                self.printer.warn(&format!("server `{}`: {why}", server.id), Some(&hint));
            }
            if let Some(failure) = server.status.failure() {
                let message = format!("server `{}` is not ready: {}", server.id, failure.message);
                self.printer.warn(&message, failure.hint.as_deref());
            }
        }
        for (server, held) in &host.quarantine().load().servers {
            let whole = held.whole.as_ref().map(ToString::to_string);
            let is_gone = |one: &&QuarantinedDefinition| one.why == QuarantineReason::Gone;
            let gone = held.definitions.iter().filter(is_gone).count();
            if whole.is_none() && gone > 0 {
                let message = format!("server `{server}` has no instructions any more");
                let hint = format!("look with `switchboard pins diff {server}`");
                self.printer.warn(&escape_line(&message), Some(&hint));
            }
            let count = held.definitions.len() - if whole.is_none() { gone } else { 0 };
            if whole.is_some() || count > 0 {
                self.report_held(server.as_str(), whole.as_deref(), count);
            }
        }
    }

    /// Tells what a person has to look at before a server can be used: all of it and why, or so
    /// many definitions.
    pub(crate) fn report_held(&self, server: &str, whole: Option<&str>, count: usize) {
        let what = match (whole, count) {
            (Some(why), _) => format!("is held: {why}"),
            (None, 1) => "has a definition that is held".to_owned(),
            (None, _) => format!("has {count} definitions that are held"),
        };
        let hint = format!("look with `switchboard pins diff {server}`");
        self.printer.warn(&escape_line(&format!("server `{server}` {what}")), Some(&hint));
    }
}
