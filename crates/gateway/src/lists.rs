//! Lists of tools, resources, templates and prompts, in pages.

use switchboard_wire::{Json, RpcError};

use crate::client_request::ClientRequest;
use crate::cursor::ListCursor;
use crate::gateway::Gateway;
use crate::reply::{CachePolicy, ClientReply, into_reply, invalid_params};

/// Maximum items per page; large items end a page earlier.
const MAX_PAGE_ITEMS: usize = 1_000;
const MAX_PAGE_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl ListKind {
    /// Returns the member of the result that contains the list.
    pub(crate) const fn member_name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

impl Gateway {
    /// Returns one page of a list.
    pub(crate) fn list(
        &self,
        asked: &ClientRequest,
        kind: ListKind,
    ) -> Result<ClientReply, RpcError> {
        let params = asked.params()?;
        let listing = self.catalog_view(&asked.client.view);
        let is_searched = kind == ListKind::Tools && self.uses_search(&listing);
        let texts = match is_searched {
            true => self.short_tool_list(&asked.client, &listing),
            false => listing.texts(kind),
        };
        let start = match params.cursor.as_deref() {
            None => 0,
            Some(cursor) => ListCursor::decode(cursor)
                .filter(|_| !is_searched)
                .and_then(|cursor| listing.place(kind, &cursor))
                .ok_or_else(|| {
                    invalid_params("invalid `cursor`; request the list from the beginning")
                })?,
        };
        let (page, end) = match is_searched {
            // The short list fits on one page, and a cursor into it would have no stable order.
            true => (texts.join(","), texts.len()),
            false => page(&texts, start),
        };
        let next = if end < texts.len() { listing.cursor(kind, end) } else { None };
        let next = next.map(|next| format!(r#","nextCursor":"{}""#, next.encode()));
        let result =
            format!(r#"{{"{}":[{page}]{}}}"#, kind.member_name(), next.unwrap_or_default());
        Ok(into_reply(Json::from_trusted(result), asked.client.era(), CachePolicy::Private))
    }
}

/// Returns the page that starts at a position, and the start of the next one.
fn page(texts: &[String], start: usize) -> (String, usize) {
    let mut out = String::new();
    let mut end = start;
    for text in texts.iter().skip(start).take(MAX_PAGE_ITEMS) {
        // The first item always fits, however large: an empty page would repeat forever.
        if end > start {
            if out.len() + text.len() > MAX_PAGE_BYTES {
                break;
            }
            out.push(',');
        }
        out.push_str(text);
        end += 1;
    }
    (out, end)
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn pages_cover_a_list_without_gaps() {
        let texts: Vec<String> = (0..2_500).map(|number| number.to_string()).collect();
        let mut seen = Vec::new();
        let mut start = 0;
        while start < texts.len() {
            let (text, end) = page(&texts, start);
            seen.extend(text.split(',').map(str::to_owned));
            assert!(end > start);
            start = end;
        }
        assert_eq!(seen, texts);
        assert_eq!(page(&texts, 2_500), (String::new(), 2_500));
        assert_eq!(page(&texts, 9_999), (String::new(), 9_999));
    }

    #[test]
    fn a_large_item_has_a_page_to_itself() {
        let texts = vec!["x".repeat(2 << 20), "y".to_owned()];
        let (text, end) = page(&texts, 0);
        assert_eq!((text.len(), end), (2 << 20, 1));
    }
}
