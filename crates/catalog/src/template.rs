//! Matches URIs against resource templates.

// A server writes the template. Matching takes time in proportion to the parts.
const MAX_PARTS: usize = 32;

/// Returns whether `uri` matches `template`.
///
/// A plain variable matches one or more characters up to the next `/`. With `+` or `*` it may
/// contain slashes. With `?`, `&`, `#`, `;`, `/` or `.` it may contain slashes or be absent.
#[must_use]
pub fn fits_template(template: &str, uri: &str) -> bool {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        let Some((variable, after)) = after.split_once('}') else { return false };
        parts.push(TemplatePart::Text(text));
        parts.push(TemplatePart::Variable(variable));
        rest = after;
    }
    parts.push(TemplatePart::Text(rest));
    parts.len() <= MAX_PARTS && parts.len() > 1 && matches(&parts, uri)
}

enum TemplatePart<'a> {
    Text(&'a str),
    Variable(&'a str),
}

fn matches(parts: &[TemplatePart<'_>], uri: &str) -> bool {
    // All positions that the parts so far can reach. Backtracking would take exponential time for
    // many variables, and templates are written by servers.
    let mut places = vec![false; uri.len() + 1];
    if let Some(start) = places.first_mut() {
        *start = true;
    }
    for part in parts {
        places = match part {
            TemplatePart::Text("") => continue,
            TemplatePart::Text(text) => after_text(text, &places, uri),
            TemplatePart::Variable(variable) => after_variable(variable, &places, uri),
        };
    }
    places.last() == Some(&true)
}

fn after_text(text: &str, places: &[bool], uri: &str) -> Vec<bool> {
    let mut ends = vec![false; places.len()];
    for (at, is_place) in places.iter().enumerate() {
        if *is_place
            && uri.get(at..).is_some_and(|rest| rest.starts_with(text))
            && let Some(end) = ends.get_mut(at + text.len())
        {
            *end = true;
        }
    }
    ends
}

/// Returns the positions at which a variable can end, starting from any of `places`.
fn after_variable(variable: &str, places: &[bool], uri: &str) -> Vec<bool> {
    let optional = variable.starts_with(['?', '&', '#', ';', '/', '.']);
    let across = optional || variable.starts_with('+') || variable.ends_with('*');
    let mut ends = if optional { places.to_vec() } else { vec![false; places.len()] };
    let mut is_open = false;
    for (at, character) in uri.char_indices() {
        is_open = (is_open || places.get(at) == Some(&true)) && (across || character != '/');
        if is_open && let Some(end) = ends.get_mut(at + character.len_utf8()) {
            *end = true;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::fits_template;

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
            ("a://{x}/{y}", "a://1//2", false),
            ("a://{x}/{y}", "a://1/ü", true),
            ("a://{x}{y}", "a://ü", false),
            ("a://{/x}b{y}", "a://bc", true),
            ("a{x}aa{y}", "aaaaa", true),
            ("a{x}aa{y}", "aaaa", false),
            ("demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/text/1", true),
        ] {
            assert_eq!(fits_template(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn many_variables_in_a_row_take_no_longer_than_one() {
        let template = format!("x://{}Z", "{a}".repeat(15));
        let uri = |end: &str| format!("x://{}{end}", "a".repeat(2_000));
        assert_eq!(
            (fits_template(&template, &uri("")), fits_template(&template, &uri("Z"))),
            (false, true)
        );
        // Each variable matches at least one character.
        assert!(!fits_template(&template, "x://abcZ"));
    }
}
