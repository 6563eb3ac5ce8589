//! What a server offers, listed in parallel; a list that fails keeps the one before.

use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::handshake::Agreement;
use switchboard_wire::list::{Bounds, Item, Kind, Listing, fetch};
use switchboard_wire::{Peer, RequestError};

use crate::connect::fleet::Offers;

/// Which kinds are to be listed.
pub(super) type Kinds = [bool; 4];

/// All of them.
pub(super) const EVERYTHING: Kinds = [true; 4];

/// Lists `kinds` again; the others stay as they were.
pub(super) async fn list(
    peer: &Peer,
    agreement: &Agreement,
    timeout: Duration,
    kinds: Kinds,
    before: &Arc<Offers>,
) -> Offers {
    let declares_nothing = agreement.capabilities.as_str().trim_matches(['{', '}', ' ']).is_empty();
    let one = |kind: Kind, wanted: bool| async move {
        if !wanted {
            return None;
        }
        // Who declares nothing at all is asked anyway: some servers forget to.
        if !declares_nothing && !agreement.can(kind.capability()) {
            return Some(Ok(Listing::default()));
        }
        Some(fetch(peer, kind, timeout, Bounds::default()).await)
    };
    let [tools, resources, templates, prompts] = Kind::ALL;
    let [do_tools, do_resources, do_templates, do_prompts] = kinds;
    let (tools, resources, templates, prompts) = tokio::join!(
        one(tools, do_tools),
        one(resources, do_resources),
        one(templates, do_templates),
        one(prompts, do_prompts),
    );
    let mut faults = Vec::new();
    let quiet = declares_nothing;
    let old_tools: Vec<Item> = before.tools.iter().map(|tool| tool.item.clone()).collect();
    let tools = settle("tools", tools, &old_tools, &mut faults, quiet);
    let resources = settle("resources", resources, &before.resources, &mut faults, quiet);
    let templates = settle("resource templates", templates, &before.templates, &mut faults, quiet);
    let prompts = settle("prompts", prompts, &before.prompts, &mut faults, quiet);
    Offers::new(tools, resources, templates, prompts, faults)
}

fn settle(
    what: &str,
    outcome: Option<Result<Listing, RequestError>>,
    before: &[Item],
    faults: &mut Vec<String>,
    quiet: bool,
) -> Vec<Item> {
    match outcome {
        None => before.to_vec(),
        Some(Ok(listing)) => {
            faults.extend(listing.faults.into_iter().map(|fault| format!("{what}: {fault}")));
            listing.items
        }
        Some(Err(error)) => {
            // A server that promised nothing has broken no promise.
            if !quiet {
                faults.push(format!("{what}: the list could not be had: {error}"));
            }
            before.to_vec()
        }
    }
}
