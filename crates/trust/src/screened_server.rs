//! The cached screening result of one server, with its input and settings.

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

pub(crate) struct ScreenedServer {
    pub(crate) input: ScreenInput,
    /// Settings used for the result; `None` forces a new screening.
    pub(crate) settings: Option<ScreenSettings>,
    pub(crate) screened: ScreenedOffers,
    /// Whether the held definitions are recorded for other processes.
    pub(crate) is_noted: bool,
    /// Whether the result has not been published yet.
    pub(crate) is_fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScreenSettings {
    pub(crate) first_use: FirstUseSetting,
    /// Whether a person is asked about the server if it is new.
    pub(crate) asks_person: bool,
    pub(crate) compromise_scope: CompromiseScope,
}

impl ScreenSettings {
    pub(crate) fn new(settings: &Settings, state: &FirstUseState, server: &ServerId) -> Self {
        // A compromise is a finding of the scanner, so it needs the scanner to be on.
        let compromise_scope =
            if settings.scan { settings.compromise_scope } else { CompromiseScope::Definition };
        let first_use = state.setting_for(settings, server);
        Self { first_use, asks_person: state.asks_person(server), compromise_scope }
    }
}

pub(crate) struct ScreenInput {
    pub(crate) offers: Arc<Offers>,
    pub(crate) agreement: Option<Arc<Agreement>>,
    pub(crate) identity: String,
}

impl ScreenInput {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // Compared by pointer: a new handshake or listing has its own `Arc`.
        let same_agreement = match (&self.agreement, &other.agreement) {
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
    /// Returns whether a person is about to be asked about the whole server.
    pub(crate) fn is_asked(&self) -> bool {
        self.settings.is_some_and(|by| by.asks_person && by.first_use == FirstUseSetting::Ask)
            && self.screened.held.whole == Some(QuarantineReason::FirstUse)
    }

    /// Returns the kinds that could not be listed; `None` if the server is not connected.
    pub(crate) fn unlisted_kinds(&self) -> Option<BTreeSet<PinKind>> {
        self.input.agreement.is_some().then(|| unknown_kinds(&self.input.offers))
    }

    pub(crate) fn needs_write(&self) -> bool {
        !self.screened.first.is_empty() || !self.is_noted
    }
}
