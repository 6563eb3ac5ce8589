//! Whether an address fits a resource template.

/// As many parts of a template are looked at.
const PARTS: usize = 32;

/// Whether `uri` is one of the addresses that `template` stands for.
///
/// A plain variable stands for one or more characters up to the next `/`; one with `+`, `#`, `/` or
/// `*` may hold slashes; a query or parameter list may be absent.
pub(super) fn fits(template: &str, uri: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        let Some((variable, after)) = after.split_once('}') else { return false };
        parts.push(Part::Text(text));
        parts.push(Part::Variable(variable));
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts.len() <= PARTS && parts.len() > 1 && matches(&parts, uri)
}

enum Part<'a> {
    Text(&'a str),
    Variable(&'a str),
}

fn matches(parts: &[Part<'_>], uri: &str) -> bool {
    match parts {
        [] => uri.is_empty(),
        [Part::Text(text), others @ ..] => {
            uri.strip_prefix(text).is_some_and(|rest| matches(others, rest))
        }
        [Part::Variable(variable), others @ ..] => {
            let optional = variable.starts_with(['?', '&', '#', ';', '/', '.']);
            let across = optional || variable.starts_with('+') || variable.ends_with('*');
            if optional && matches(others, uri) {
                return true;
            }
            uri.char_indices()
                .take_while(|(_, character)| across || *character != '/')
                .map(|(at, character)| at + character.len_utf8())
                .any(|end| uri.get(end..).is_some_and(|rest| matches(others, rest)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn an_address_fits_or_not() {
        for (template, uri, expected) in [
            ("test://{id}/data", "test://7/data", true),
            ("test://{id}/data", "test:///data", false),
            ("test://{id}/data", "test://7/8/data", false),
            ("file:///{+path}", "file:///a/b", true),
            ("file:///{path*}", "file:///a/b", true),
            ("a://{x}{?q}", "a://1", true),
            ("a://{x}{?q}", "a://1?q=2", true),
            ("a://plain", "a://plain", false),
            ("a://{x", "a://1", false),
            ("demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/text/1", true),
        ] {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }
}
