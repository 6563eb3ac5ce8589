//! List cursors. A cursor names the next item, so it remains valid while servers come and go.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// The sort key of an item in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListPosition {
    /// Items of servers that are not named by their own id come last.
    pub(crate) late: bool,
    pub(crate) server: String,
    pub(crate) place: usize,
}

/// The next item of a list, and its last known position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListCursor {
    /// The list that the cursor belongs to; a position in one list means nothing in another.
    pub(crate) list: String,
    pub(crate) position: ListPosition,
    /// The item's name: its position within its server may have changed.
    pub(crate) key: String,
}

impl ListCursor {
    pub(crate) fn encode(&self) -> String {
        let ListPosition { late, server, place } = &self.position;
        let list = &self.list;
        let late = u8::from(*late);
        BASE64_URL_SAFE_NO_PAD.encode(format!("{list}\n{late}\n{server}\n{place}\n{}", self.key))
    }

    /// Decodes a cursor that a client sent; `None` if it is malformed.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        // The key comes last and takes the rest, because it may contain line breaks itself.
        let mut parts = text.splitn(5, '\n');
        let list = parts.next()?.to_owned();
        let late = match parts.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        let server = parts.next()?.to_owned();
        let place = parts.next()?.parse().ok()?;
        let key = parts.next()?.to_owned();
        Some(Self { list, position: ListPosition { late, server, place }, key })
    }

    /// Returns where a list continues that may have changed since the cursor was issued: at the
    /// same item if it still exists, otherwise at the first item after its old position.
    pub(crate) fn find<'a>(
        &self,
        list: impl Iterator<Item = (ListPosition, &'a str)> + Clone,
    ) -> usize {
        let same = list
            .clone()
            .position(|(position, key)| position.server == self.position.server && key == self.key);
        same.or_else(|| list.clone().position(|(position, _)| position >= self.position))
            .unwrap_or_else(|| list.count())
    }
}

#[cfg(test)]
mod tests {
    use super::{ListCursor, ListPosition};

    fn position_at(server: &str, place: usize) -> ListPosition {
        ListPosition { late: server.starts_with('z'), server: server.to_owned(), place }
    }

    fn list(keys: &[(&'static str, &'static str)]) -> Vec<(ListPosition, &'static str)> {
        let mut places = std::collections::HashMap::new();
        let of = |(server, key): &(&'static str, &'static str)| {
            let place = places.entry(*server).or_insert(0);
            *place += 1;
            (position_at(server, *place - 1), *key)
        };
        keys.iter().map(of).collect()
    }

    #[test]
    fn a_list_goes_on_where_it_was_whatever_came_or_went_before() {
        // The previous page ended before `b/y`.
        let cursor = ListCursor {
            list: "tools".to_owned(),
            position: position_at("b", 1),
            key: "y".to_owned(),
        };
        for (keys, expected) in [
            (&[("a", "1"), ("b", "x"), ("b", "y"), ("c", "2")][..], 2),
            // A server before it was removed or added.
            (&[("b", "x"), ("b", "y"), ("c", "2")], 1),
            (&[("a", "1"), ("aa", "7"), ("aa", "8"), ("b", "x"), ("b", "y")], 4),
            // The item moved within its server.
            (&[("a", "1"), ("b", "y"), ("b", "x")], 1),
            // The item is gone, then its server, then everything after it.
            (&[("a", "1"), ("b", "x"), ("b", "z"), ("c", "2")], 2),
            (&[("a", "1"), ("b", "x"), ("c", "2")], 2),
            (&[("a", "1"), ("c", "2")], 1),
            (&[("a", "1"), ("zz", "3")], 1),
            (&[("a", "1")], 1),
            (&[], 0),
        ] {
            assert_eq!(cursor.find(list(keys).into_iter()), expected, "{keys:?}");
        }
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_and_what_is_none_is_refused() {
        for (server, place, key) in [("a", 0, "x"), ("zoë", 999, "a\nb"), ("z", 7, "")] {
            let list = "tools".to_owned();
            let key = key.to_owned();
            let cursor = ListCursor { list, position: position_at(server, place), key };
            assert_eq!(ListCursor::decode(&cursor.encode()), Some(cursor));
        }
        for text in ["", "elsewhere", "3.abc", "MA", "Mgphcwow", "dG9vbHMKMgphCjAKeA", "!"] {
            assert_eq!(ListCursor::decode(text), None, "{text}");
        }
    }
}
