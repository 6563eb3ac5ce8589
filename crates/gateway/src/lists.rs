//! What is offered, page by page.

use std::fmt::Write as _;

use switchboard_wire::{Json, RpcError};

use crate::answer::{Cache, Reply, dressed};
use crate::asked::Asked;
use crate::gateway::Gateway;
use crate::listing::Kind;

/// As many items make a page, or fewer that are large.
const PAGE_ITEMS: usize = 1_000;
const PAGE_BYTES: usize = 1 << 20;

impl Gateway {
    /// One page of a list.
    pub(crate) fn list(&self, asked: &Asked, kind: Kind) -> Result<Reply, RpcError> {
        let params = asked.params()?;
        let listing = self.listing(&asked.client.view);
        let texts = match kind {
            Kind::Tools => self.shown_tools(&listing),
            _ => listing.texts(kind),
        };
        let start = match params.cursor.as_deref() {
            None => 0,
            Some(cursor) => place(cursor, &texts).ok_or_else(|| {
                let why = "the `cursor` leads nowhere: ask for the list from its beginning";
                RpcError::new(RpcError::INVALID_PARAMS, why)
            })?,
        };
        let (page, next) = page(&texts, start);
        let key = match kind {
            Kind::Tools => "tools",
            Kind::Resources => "resources",
            Kind::Templates => "resourceTemplates",
            Kind::Prompts => "prompts",
        };
        let next = next.map(|cursor| format!(r#","nextCursor":"{cursor}""#)).unwrap_or_default();
        let result = format!(r#"{{"{key}":[{page}]{next}}}"#);
        let cache = if asked.client.view.is_whole() { Cache::Public } else { Cache::Private };
        Ok(dressed(Json::trusted(result), asked.client.era(), cache))
    }
}

/// One page from a place on, and the cursor of the next one.
fn page(texts: &[String], start: usize) -> (String, Option<String>) {
    let mut out = String::new();
    let mut end = start;
    for text in texts.iter().skip(start).take(PAGE_ITEMS) {
        if end > start && out.len() + text.len() > PAGE_BYTES {
            break;
        }
        if end > start {
            out.push(',');
        }
        out.push_str(text);
        end += 1;
    }
    let next = (end < texts.len()).then(|| cursor(texts, end));
    (out, next)
}

/// A place in a list, with a mark of what the list was: another one has other places.
fn cursor(texts: &[String], place: usize) -> String {
    let mut text = format!("{place}.");
    // Writing to a `String` cannot fail.
    _ = write!(text, "{:.16}", mark(texts));
    text
}

fn place(cursor: &str, texts: &[String]) -> Option<usize> {
    let (place, of) = cursor.split_once('.')?;
    let place: usize = place.parse().ok()?;
    (place < texts.len() && of == format!("{:.16}", mark(texts))).then_some(place)
}

fn mark(texts: &[String]) -> String {
    switchboard_host::digest::of(texts.iter().map(String::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::{page, place};

    #[test]
    fn pages_cover_a_list_without_gaps_and_a_foreign_cursor_leads_nowhere() {
        let texts: Vec<String> = (0..2_500).map(|number| number.to_string()).collect();
        let (mut seen, mut start) = (Vec::new(), 0);
        for _ in 0..10 {
            let (text, next) = page(&texts, start);
            seen.extend(text.split(',').map(str::to_owned));
            let Some(next) = next else { break };
            assert_eq!(place(&next, texts.get(1..).unwrap()), None);
            start = place(&next, &texts).unwrap();
        }
        assert_eq!(seen, texts);
        for cursor in ["", "x", "3", "3.", "99999999999999999999.0", "2500.x"] {
            assert_eq!(place(cursor, &texts), None, "{cursor}");
        }
    }

    #[test]
    fn a_large_item_has_a_page_to_itself() {
        let texts = vec!["x".repeat(2 << 20), "y".to_owned()];
        let (text, next) = page(&texts, 0);
        assert_eq!((text.len(), next.is_some()), (2 << 20, true));
    }
}
