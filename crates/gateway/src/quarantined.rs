//! Names of what is held back: a client that knows one is told why it does not work.

use switchboard_core::{Target, TargetKind};
use switchboard_trust::PinKind;

use crate::gateway::Gateway;
use crate::naming::NamingScheme;
use crate::view::View;

impl Gateway {
    /// What a client means by a name that is not listed, if that is held back and the client would
    /// see it otherwise.
    pub(crate) fn find_quarantined(
        &self,
        view: &View,
        kind: TargetKind,
        name: &str,
    ) -> Option<Target> {
        let wanted = match kind {
            TargetKind::Tool => PinKind::Tool,
            TargetKind::Prompt => PinKind::Prompt,
            TargetKind::Resource => return None,
        };
        let quarantine = self.host().quarantine().load();
        let fleet = self.host().fleet().load();
        let names = self.options().names;
        for (server, held) in &quarantine.servers {
            let of_kind = held.hidden.iter().filter(|(kind, _)| *kind == wanted);
            for (_, own) in of_kind.filter(|(_, own)| view.shows(server.as_str(), own)) {
                let naming = fleet
                    .servers
                    .get(server.as_str())
                    .map(|server| NamingScheme::for_server(server, names));
                let given = naming.and_then(|naming| naming.public_name(server.as_str(), own));
                if given.as_deref().unwrap_or(own) == name {
                    return Some(Target::new(kind, server.as_str(), own));
                }
            }
        }
        None
    }
}
