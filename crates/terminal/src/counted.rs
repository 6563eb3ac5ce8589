//! So many of something, in words.

/// `1 server`, `2 servers`.
pub fn pluralize(count: usize, one: &str) -> String {
    match (count, one.strip_suffix('y')) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::pluralize;

    #[test]
    fn one_is_not_many() {
        let said = [0, 1, 2].map(|count| pluralize(count, "server"));
        assert_eq!(said, ["0 servers", "1 server", "2 servers"]);
        assert_eq!([1, 2].map(|count| pluralize(count, "entry")), ["1 entry", "2 entries"]);
    }
}
