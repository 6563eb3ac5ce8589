//! What servers offer, as far as their pins and the lock of the project know it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::lock_file::Lock;
use super::pins_file::{PinKind, Pins};
use super::resolved::Config;

/// The names of what servers offer, by server. A server of which nothing is known has no names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered(pub BTreeMap<String, Option<BTreeSet<String>>>);

impl Offered {
    /// Reads what the pins below `state` and the lock beside the project know of all servers that
    /// are configured: the names of their tools and prompts.
    #[must_use]
    pub fn load(state: &Path, project: &Path, config: &Config) -> Self {
        // Most folders have none.
        let lock = Lock::load(project).ok();
        let mut all = BTreeMap::new();
        for server in config.servers.values() {
            // Pins that cannot be read are told by others; here they are as good as none.
            let pins = Pins::load(state, &server.identity()).unwrap_or_default();
            let mut names = BTreeSet::new();
            let mut is_known = false;
            for kind in [PinKind::Tool, PinKind::Prompt] {
                for book in [&pins.approved, &pins.held] {
                    is_known |= kind == PinKind::Tool && book.contains_key(&kind);
                    names.extend(
                        book.get(&kind).into_iter().flatten().map(|(name, _)| name.clone()),
                    );
                }
            }
            let locked = lock.as_ref().and_then(|lock| lock.servers.get(server.id.as_str()));
            if let Some(locked) = locked {
                is_known |= locked.definitions.contains_key(&PinKind::Tool);
                names.extend(locked.definitions.values().flat_map(BTreeMap::keys).cloned());
            }
            all.insert(server.id.to_string(), is_known.then_some(names));
        }
        Self(all)
    }
}
