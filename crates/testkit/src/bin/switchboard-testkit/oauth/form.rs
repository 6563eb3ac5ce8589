//! Form encoding, for queries and for bodies of token requests.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

pub(crate) type FormFields = BTreeMap<String, String>;

const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Parses a form; rejects duplicate names.
pub(crate) fn read(text: &str) -> Result<FormFields, String> {
    let mut form = BTreeMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name);
        if form.insert(name.clone(), decode(value)).is_some() {
            return Err(format!("`{name}` comes twice"));
        }
    }
    Ok(form)
}

/// Returns a redirect's address with these members appended to its query.
pub(crate) fn extend(address: &str, members: &[(&str, String)]) -> String {
    let mut address = address.to_owned();
    for (name, value) in members {
        let mark = if address.contains('?') { '&' } else { '?' };
        address.push_str(&format!("{mark}{name}={}", utf8_percent_encode(value, RESERVED)));
    }
    address
}

pub(crate) fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{decode, extend, read};

    #[test]
    fn a_name_that_comes_twice_is_refused() {
        assert_eq!(read("a=1&b=&c").unwrap().len(), 3);
        assert_eq!(read("a=1&a=2"), Err("`a` comes twice".to_owned()));
        assert_eq!(decode("a+b%2Bc%"), "a b+c%");
    }

    #[test]
    fn members_follow_the_query_that_is_there() {
        assert_eq!(extend("http://a/b?c=d", &[("e", "f g".to_owned())]), "http://a/b?c=d&e=f%20g");
    }
}
