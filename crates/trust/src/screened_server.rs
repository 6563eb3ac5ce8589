//! What was made of one server that was screened, from what, and by which settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_catalog::Offers;
use switchboard_config::{CompromiseScope, FirstUseSetting, Settings};
use switchboard_core::ServerId;
use switchboard_wire::Agreement;

use crate::first_use::FirstUseState;
use crate::pins::{ScreenedOffers, unknown_kinds};
use crate::pins_file::PinKind;
use crate::quarantine::QuarantineReason;

/// What was made of one server, and from what.
pub(crate) struct ScreenedServer {
    pub(crate) input: ScreenInput,
    /// The settings that it was sorted by; none makes the next sorting look again.
    pub(crate) settings: Option<ScreenSettings>,
    pub(crate) screened: ScreenedOffers,
    /// Whether what is held has been written down for other processes.
    pub(crate) is_noted: bool,
    /// Whether nobody has been told yet.
    pub(crate) is_fresh: bool,
}

/// The settings that decide what becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenSettings {
    pub(crate) first_use: FirstUseSetting,
    /// Whether a person at another face is about to look.
    pub(crate) is_attended: bool,
    pub(crate) compromise_scope: CompromiseScope,
}

impl ScreenSettings {
    pub(crate) fn new(settings: &Settings, newcomers: &FirstUseState, server: &ServerId) -> Self {
        // Without the scanner nobody knows what an attack is.
        let compromise_scope =
            if settings.scan { settings.compromise_scope } else { CompromiseScope::Definition };
        let first_use = newcomers.setting_for(settings, server);
        Self { first_use, is_attended: newcomers.is_attended(server), compromise_scope }
    }
}

pub(crate) struct ScreenInput {
    pub(crate) offers: Arc<Offers>,
    pub(crate) agreement: Option<Arc<Agreement>>,
    pub(crate) identity: String,
}

impl ScreenInput {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let agreements = (&self.agreement, &other.agreement);
        let same_agreement = match agreements {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_agreement
            && Arc::ptr_eq(&self.offers, &other.offers)
            && self.identity == other.identity
    }
}

impl ScreenedServer {
    /// Whether a person at another face is about to be asked about all of it.
    pub(crate) fn is_asked(&self) -> bool {
        self.settings.is_some_and(|by| by.is_attended && by.first_use == FirstUseSetting::Ask)
            && self.screened.held.whole == Some(QuarantineReason::FirstUse)
    }

    /// Of which kinds nobody knows what the server offers now; none if it was not seen.
    pub(crate) fn unlisted_kinds(&self) -> Option<BTreeSet<PinKind>> {
        self.input.agreement.is_some().then(|| unknown_kinds(&self.input.offers))
    }

    pub(crate) fn needs_write(&self) -> bool {
        !self.screened.first.is_empty() || !self.is_noted
    }
}
