//! What is left of a server's offers when held definitions are taken out.

use std::sync::Arc;

use switchboard_catalog::{Offers, Tool};
use switchboard_wire::list::ListedItem;

use crate::pins_file::PinKind;

/// The offers with the definitions that `keeps`; plain resources stay.
pub(crate) fn visible_offers(
    offers: &Arc<Offers>,
    keeps: impl Fn(PinKind, &str) -> bool,
) -> Arc<Offers> {
    let all = |kind, items: &[ListedItem]| items.iter().all(|item| keeps(kind, &item.key));
    let tools = offers.tools.iter().all(|tool| keeps(PinKind::Tool, tool.name()));
    if tools && all(PinKind::Prompt, &offers.prompts) && all(PinKind::Template, &offers.templates) {
        return Arc::clone(offers);
    }
    let kept = |kind, items: &[ListedItem]| -> Vec<ListedItem> {
        items.iter().filter(|item| keeps(kind, &item.key)).cloned().collect()
    };
    let is_kept = |tool: &&Tool| keeps(PinKind::Tool, tool.name());
    Arc::new(Offers::new(
        offers.tools.iter().filter(is_kept).map(|tool| tool.item.clone()).collect(),
        offers.resources.clone(),
        kept(PinKind::Template, &offers.templates),
        kept(PinKind::Prompt, &offers.prompts),
        offers.faults.clone(),
    ))
}

/// Nothing of what a server offers.
pub(crate) fn empty_offers(offers: &Arc<Offers>) -> Arc<Offers> {
    let none = Vec::new;
    Arc::new(Offers::new(none(), none(), none(), none(), offers.faults.clone()))
}
