//! The quarantine step of the call pipeline: stops calls of unapproved definitions.

use switchboard_catalog::{ResolvedCall, ServerStatus, Tool};
use switchboard_core::{Origin, Outcome, Published, Target, TargetKind};
use switchboard_trust::{Quarantine, pin_digest};

use crate::call::pipeline::CallPipeline;
use crate::host::Host;

impl Host {
    /// Returns the servers and definitions that wait for approval.
    pub fn quarantine(&self) -> &Published<Quarantine> {
        self.pins().quarantine()
    }
}

impl CallPipeline<'_> {
    /// Returns the denial of a call to a target, if the target is in quarantine.
    pub(crate) fn target_quarantine(&self, target: &Target) -> Option<Outcome> {
        let quarantine = self.host.quarantine().load();
        let held = quarantine.find(target)?;
        let mut message = held.sentence(target);
        // Only people see an unapproved definition: its text may be a prompt injection.
        if let Some(definition) = held.definition.filter(|_| self.caller.origin == Origin::Person) {
            message = format!("{message}\n{}", definition.diff());
        }
        Some(Outcome::denied("needs_approval", message).with_hint(held.hint(target)))
    }

    /// Rejects a call whose target is in quarantine or has changed since the caller listed it.
    pub(crate) fn reject_if_quarantined(&self, call: &ResolvedCall) -> Result<(), Outcome> {
        self.call_quarantine(call).map_or(Ok(()), Err)
    }

    fn call_quarantine(&self, call: &ResolvedCall) -> Option<Outcome> {
        let target = call.target();
        // A listed resource does not depend on a template, so a quarantined template that matches
        // its URI does not matter.
        if target.kind != TargetKind::Resource
            && let Some(outcome) = self.target_quarantine(target)
        {
            return Some(outcome);
        }
        let quarantine = self.host.quarantine().load();
        if quarantine.holds_server(&target.server) {
            return self.target_quarantine(target);
        }
        let pinning = self.host.pins();
        let is_on = pinning.is_enabled(&self.host.config().load().settings);
        if target.kind != TargetKind::Tool || !is_on {
            return None;
        }
        // The raw fleet is ahead of the quarantine, which is computed from it a moment later.
        let fleet = pinning.raw().load();
        let server = fleet.servers.get(target.server.as_str())?;
        let now: &Tool =
            server.offers.tool(&target.name).filter(|_| server.status == ServerStatus::Ready)?;
        if now.digest() == call.definition_digest() {
            return None;
        }
        let shown = call.server().offers.tool(&target.name)?;
        // Of the canonical text: a difference in formatting alone needs no approval.
        let digest = |tool: &Tool| pin_digest(tool.item.raw.get());
        (digest(now) != digest(shown)).then(|| {
            let message = format!("`{target}` needs approval: its definition has changed");
            Outcome::denied("needs_approval", message)
                .with_hint(format!("`switchboard pins diff {}` shows it", target.server))
        })
    }
}
