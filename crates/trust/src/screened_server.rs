//! What was made of one server that was screened, from what, and by which settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchboard_catalog::Offers;
use switchboard_config::{FirstUse, Settings, Turned};
use switchboard_core::ServerId;
use switchboard_wire::handshake::Agreement;

use crate::first_use::Newcomers;
use crate::pins::{Screened, unlisted};
use crate::pins_file::PinKind;
use crate::quarantine::Why;

/// What was made of one server, and from what.
pub(crate) struct Sorted {
    pub(crate) from: From,
    /// The settings that it was sorted by; none makes the next sorting look again.
    pub(crate) by: Option<By>,
    pub(crate) screened: Screened,
    /// Whether what is held has been written down for other processes.
    pub(crate) is_noted: bool,
    /// Whether nobody has been told yet.
    pub(crate) is_fresh: bool,
}

/// The settings that decide what becomes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) first_use: FirstUse,
    /// Whether a person at another face is about to look.
    pub(crate) is_attended: bool,
    pub(crate) turned: Turned,
}

impl By {
    pub(crate) fn of(settings: &Settings, newcomers: &Newcomers, server: &ServerId) -> Self {
        // Without the scanner nobody knows what an attack is.
        let turned = if settings.scan { settings.turned } else { Turned::Definition };
        let first_use = newcomers.first_use(settings, server);
        Self { first_use, is_attended: newcomers.attends(server), turned }
    }
}

pub(crate) struct From {
    pub(crate) offers: Arc<Offers>,
    pub(crate) agreement: Option<Arc<Agreement>>,
    pub(crate) identity: String,
}

impl From {
    pub(crate) fn is(&self, other: &Self) -> bool {
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

impl Sorted {
    /// Whether a person at another face is about to be asked about all of it.
    pub(crate) fn is_asked(&self) -> bool {
        self.by.is_some_and(|by| by.is_attended && by.first_use == FirstUse::Ask)
            && self.screened.held.whole == Some(Why::FirstUse)
    }

    /// Of which kinds nobody knows what the server offers now; none if it was not seen.
    pub(crate) fn unlisted(&self) -> Option<BTreeSet<PinKind>> {
        self.from.agreement.is_some().then(|| unlisted(&self.from.offers))
    }

    pub(crate) fn is_due(&self) -> bool {
        !self.screened.first.is_empty() || !self.is_noted
    }
}
