//! Parallel listing of a server's offers. A list that fails keeps its previous items.

use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::Offers;
use switchboard_wire::{
    Agreement, ItemKind, ListBounds, ListResult, ListedItem, Peer, RequestError, fetch_list,
};
use tokio_util::sync::CancellationToken;

/// How long the other lists may take once the tools are listed.
const OTHER_LISTS_GRACE: Duration = Duration::from_secs(2);

/// The kinds to list, in the order of [`ItemKind::ALL`].
pub(crate) type KindSet = [bool; 4];

pub(crate) const ALL_KINDS: KindSet = [true; 4];

pub(crate) struct ListedOffers {
    pub(crate) offers: Offers,
    pub(crate) failed: KindSet,
    /// The HTTP error of the tools list.
    pub(crate) tools_error: Option<RequestError>,
    pub(crate) ttls: [Option<Duration>; 4],
}

impl ListedOffers {
    /// Returns `before` if the offers are identical, so that they are not screened again.
    pub(crate) fn into_offers(self, before: &Arc<Offers>) -> Arc<Offers> {
        match before.is_identical_to(&self.offers) {
            true => Arc::clone(before),
            false => Arc::new(self.offers),
        }
    }
}

/// Lists `kinds` again; the others keep their previous items.
pub(crate) async fn list_offers(
    peer: &Peer,
    agreement: &Agreement,
    timeout: Duration,
    kinds: KindSet,
    before: Arc<Offers>,
) -> ListedOffers {
    let declared = agreement.capabilities.as_str();
    // A value that is not an object declares nothing either.
    let declares_nothing =
        !declared.starts_with('{') || declared.trim_matches(['{', '}', ' ']).is_empty();
    // Most callers wait for the tools; once they are listed, the other lists get little time.
    let tools_listed = CancellationToken::new();
    let hurried = kinds.first() == Some(&true);
    let one = |kind: ItemKind, wanted: bool| {
        let tools_listed = tools_listed.clone();
        async move {
            let listing = fetch_declared_list(peer, agreement, kind, timeout, declares_nothing);
            match (wanted, kind) {
                (false, _) => None,
                (true, ItemKind::Tools) => {
                    let listed = listing.await;
                    tools_listed.cancel();
                    Some(listed)
                }
                (true, _) if !hurried => Some(listing.await),
                (true, _) => tokio::select! {
                    listed = listing => Some(listed),
                    () = sleep_after(&tools_listed, OTHER_LISTS_GRACE) => Some(Err(RequestError::TimedOut(OTHER_LISTS_GRACE))),
                },
            }
        }
    };
    let [tools, resources, templates, prompts] = ItemKind::ALL;
    let [do_tools, do_resources, do_templates, do_prompts] = kinds;
    let (tools, resources, templates, prompts) = tokio::join!(
        one(tools, do_tools),
        one(resources, do_resources),
        one(templates, do_templates),
        one(prompts, do_prompts),
    );
    let failed = |outcome: &Option<Result<ListResult, RequestError>>| {
        !declares_nothing && matches!(outcome, Some(Err(_)))
    };
    let again = [failed(&tools), failed(&resources), failed(&templates), failed(&prompts)];
    let refused = match &tools {
        Some(Err(error @ RequestError::Http { .. })) => Some(error.clone()),
        _ => None,
    };
    let has_failed = |(kind, outcome): (ItemKind, &Option<Result<ListResult, RequestError>>)| {
        let failed =
            outcome.as_ref().map_or_else(|| before.unlisted.contains(&kind), Result::is_err);
        failed.then_some(kind)
    };
    let outcomes = [&tools, &resources, &templates, &prompts];
    let lasts = outcomes.map(|outcome| outcome.as_ref()?.as_ref().ok()?.ttl);
    let unlisted = ItemKind::ALL.into_iter().zip(outcomes).filter_map(has_failed).collect();
    let mut faults = Vec::new();
    let quiet = declares_nothing;
    let old_tools: Vec<ListedItem> = before.tools.iter().map(|tool| tool.item.clone()).collect();
    let tools = items_or_previous("tools", tools, &old_tools, &mut faults, quiet);
    let resources =
        items_or_previous("resources", resources, &before.resources, &mut faults, quiet);
    let templates =
        items_or_previous("resource templates", templates, &before.templates, &mut faults, quiet);
    let prompts = items_or_previous("prompts", prompts, &before.prompts, &mut faults, quiet);
    let mut offers = Offers::new(tools, resources, templates, prompts, faults);
    offers.unlisted = unlisted;
    ListedOffers { offers, failed: again, tools_error: refused, ttls: lasts }
}

async fn fetch_declared_list(
    peer: &Peer,
    agreement: &Agreement,
    kind: ItemKind,
    timeout: Duration,
    declares_nothing: bool,
) -> Result<ListResult, RequestError> {
    // A server that declares nothing at all is asked anyway, since some servers forget to declare.
    if !declares_nothing && !agreement.has_capability(kind.capability()) {
        return Ok(ListResult::default());
    }
    fetch_list(peer, kind, timeout, ListBounds::default()).await
}

async fn sleep_after(event: &CancellationToken, wait: Duration) {
    event.cancelled().await;
    tokio::time::sleep(wait).await;
}

fn items_or_previous(
    what: &str,
    outcome: Option<Result<ListResult, RequestError>>,
    before: &[ListedItem],
    faults: &mut Vec<String>,
    quiet: bool,
) -> Vec<ListedItem> {
    match outcome {
        None => before.to_vec(),
        Some(Ok(listing)) => {
            faults.extend(listing.faults.into_iter().map(|fault| format!("{what}: {fault}")));
            listing.items
        }
        Some(Err(error)) => {
            // Failures are expected from a server that declared nothing.
            if !quiet {
                faults.push(format!("{what}: listing failed: {error}"));
            }
            before.to_vec()
        }
    }
}
