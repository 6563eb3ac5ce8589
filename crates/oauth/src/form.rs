//! Encoding of pairs as `application/x-www-form-urlencoded`.

use reqwest::Url;

/// Encodes pairs as the body of a form.
pub(crate) fn encode(pairs: &[(&str, &str)]) -> String {
    let Ok(mut url) = Url::parse("https://form.invalid/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

pub(crate) fn encode_value(value: &str) -> String {
    encode(&[("", value)]).trim_start_matches('=').to_owned()
}

pub(crate) fn with_query(mut url: Url, pairs: &[(&str, &str)]) -> Url {
    url.query_pairs_mut().extend_pairs(pairs);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelt_so_that_they_cannot_end_early() {
        assert_eq!(encode(&[("a", "x y&z=1"), ("b", "é")]), "a=x+y%26z%3D1&b=%C3%A9");
        assert_eq!(encode_value("a:b=c"), "a%3Ab%3Dc");
    }

    #[test]
    fn a_query_that_is_there_stays() {
        let url = Url::parse("https://a.example/authorize?tenant=1").unwrap();
        assert_eq!(
            with_query(url, &[("x", "2")]).as_str(),
            "https://a.example/authorize?tenant=1&x=2"
        );
    }
}
