//! Form encoding by hand, for queries and for bodies of token requests.

use std::collections::BTreeMap;

/// The names and values of a form; a name that comes twice is a complaint.
pub(crate) fn read(text: &str) -> Result<BTreeMap<String, String>, String> {
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

/// A redirect's address with these members after its own query.
pub(crate) fn extend(address: &str, members: &[(&str, String)]) -> String {
    let mut address = address.to_owned();
    for (name, value) in members {
        let mark = if address.contains('?') { '&' } else { '?' };
        address.push_str(&format!("{mark}{name}={}", encode(value)));
    }
    address
}

pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, extend, read};

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for text in ["plain", "a b&c=d", "https://x.test/?q=1#f", "ä%", "<script>"] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(decode("a+b%2Bc%"), "a b+c%");
    }

    #[test]
    fn a_name_that_comes_twice_is_refused() {
        assert_eq!(read("a=1&b=&c").unwrap().len(), 3);
        assert_eq!(read("a=1&a=2"), Err("`a` comes twice".to_owned()));
    }

    #[test]
    fn members_follow_the_query_that_is_there() {
        assert_eq!(extend("http://a/b?c=d", &[("e", "f g".to_owned())]), "http://a/b?c=d&e=f%20g");
    }
}
