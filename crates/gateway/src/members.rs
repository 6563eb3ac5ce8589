//! Edits of members of a JSON object that keep the order and the bytes of the others.

use switchboard_json::{Members, RawMembers, to_json_string};

/// Replaces the member `key` by a string and keeps all other values.
///
/// Returns `None` if `object` is not a JSON object.
pub(crate) fn with_string_member(object: &str, key: &str, text: &str) -> Option<String> {
    with_raw_member(object, key, &to_json_string(text))
}

/// Like [`with_string_member`], with any JSON text as the value.
pub(crate) fn with_raw_member(object: &str, key: &str, text: &str) -> Option<String> {
    let Members(members) = RawMembers::parse(object)?;
    let mut out = String::with_capacity(object.len() + text.len());
    out.push('{');
    for (name, value) in &members {
        push_member(&mut out, name, if name == key { text } else { value.get() });
    }
    out.push('}');
    Some(out)
}

/// Appends a member, preceded by a comma unless it is the first.
pub(crate) fn push_member(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() && !out.ends_with('{') {
        out.push(',');
    }
    out.push_str(&to_json_string(name));
    out.push(':');
    out.push_str(value);
}

/// Inserts `members`, JSON text without braces, before the members of an object.
pub(crate) fn with_leading_members(members: &str, object: &str) -> Option<String> {
    let rest = object.trim_start().strip_prefix('{')?;
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{{{members}{comma}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::{with_leading_members, with_string_member};

    #[test]
    fn a_member_is_replaced_and_all_else_stays_as_it_was() {
        let object =
            r#"{"z": 1e400, "name":"a", "a\u0062":{"name" :"x"},"n":12345678901234567890}"#;
        assert_eq!(
            with_string_member(object, "name", "s__\"a").as_deref(),
            Some(r#"{"z":1e400,"name":"s__\"a","ab":{"name" :"x"},"n":12345678901234567890}"#)
        );
        assert_eq!(with_string_member("[]", "name", "x"), None);
    }

    #[test]
    fn members_are_put_in_front() {
        assert_eq!(with_leading_members(r#""a":1"#, " { }").as_deref(), Some(r#"{"a":1 }"#));
        assert_eq!(
            with_leading_members(r#""a":1"#, r#"{"b":2}"#).as_deref(),
            Some(r#"{"a":1,"b":2}"#)
        );
        assert_eq!(with_leading_members(r#""a":1"#, "7"), None);
    }
}
