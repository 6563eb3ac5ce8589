//! The names that servers offer, according to their pins and the lock of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use switchboard_config::Config;

use crate::lock_file::LockFile;
use crate::pins_file::{PinKind, Pins};

/// Returns the names of the tools and prompts of all configured servers, from the pins below `state`
/// and the lock next to the project. A server about which nothing is known has no names.
#[must_use]
pub fn offered_names(
    state: &Path,
    project: &Path,
    config: &Config,
) -> BTreeMap<String, Option<BTreeSet<String>>> {
    // Most folders have no lock.
    let lock = LockFile::load(project).ok();
    let mut all = BTreeMap::new();
    for server in config.servers.values() {
        // Unreadable pins are reported elsewhere; here they count as none.
        let pins = Pins::load(state, &server.identity()).unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut is_known = false;
        for kind in [PinKind::Tool, PinKind::Prompt] {
            for book in [&pins.approved, &pins.held] {
                is_known |= kind == PinKind::Tool && book.contains_key(&kind);
                names.extend(book.get(&kind).into_iter().flatten().map(|(name, _)| name.clone()));
            }
        }
        let locked = lock.as_ref().and_then(|lock| lock.servers.get(server.id.as_str()));
        if let Some(locked) = locked {
            is_known |= locked.definitions.contains_key(&PinKind::Tool);
            names.extend(locked.definitions.values().flat_map(BTreeMap::keys).cloned());
        }
        all.insert(server.id.to_string(), is_known.then_some(names));
    }
    all
}
