//! The part of the line that stops what nobody approved.

use switchboard_catalog::{ResolvedCall, Status, Tool};
use switchboard_core::{Origin, Outcome, Published, Target, TargetKind};
use switchboard_trust::{Quarantine, pin_digest};

use crate::call::pipeline::Passage;
use crate::host::Host;

impl Host {
    /// What is held back until a person has looked at it, as it is and as it changes.
    #[must_use]
    pub fn held(&self) -> &Published<Quarantine> {
        self.guard().pinning().held()
    }
}

impl Passage<'_> {
    /// Why a target must not be used, if it is held back.
    pub(crate) fn held_back(&self, target: &Target) -> Option<Outcome> {
        let quarantine = self.host.held().load();
        let held = quarantine.of(target)?;
        let mut message = held.sentence(target);
        // Models and clients get no word of a definition that nobody approved.
        if let Some(definition) = held.definition.filter(|_| self.caller.origin == Origin::Person) {
            message = format!("{message}\n{}", definition.diff());
        }
        Some(Outcome::denied("needs_approval", message).with_hint(held.hint(target)))
    }

    /// The same for a call that was looked up: also if the server says something else by now than
    /// what the caller was shown.
    pub(crate) fn drifted(&self, call: &ResolvedCall) -> Option<Outcome> {
        let target = call.target();
        // A resource is looked up where it is listed; a held template beside it does not matter.
        if target.kind != TargetKind::Resource
            && let Some(outcome) = self.held_back(target)
        {
            return Some(outcome);
        }
        let quarantine = self.host.held().load();
        if quarantine.is_whole(&target.server) {
            return self.held_back(target);
        }
        let pinning = self.host.guard().pinning();
        let is_on = pinning.is_on(&self.host.config().load().settings);
        if target.kind != TargetKind::Tool || !is_on {
            return None;
        }
        let fleet = pinning.raw().load();
        let server = fleet.servers.get(target.server.as_str())?;
        let now: &Tool =
            server.offers.tool(&target.name).filter(|_| server.status == Status::Ready)?;
        if now.digest() == call.definition_digest() {
            return None;
        }
        let shown = call.server().offers.tool(&target.name)?;
        let digest = |tool: &Tool| pin_digest(tool.item.raw.get());
        (digest(now) != digest(shown)).then(|| {
            let message = format!("`{target}` needs approval: its definition has changed");
            Outcome::denied("needs_approval", message)
                .with_hint(format!("`switchboard pins diff {}` shows it", target.server))
        })
    }
}
