//! Prefixed URIs for resources whose URI several servers use.

use serde_json::value::RawValue;
use switchboard_json::{Members, RawMembers, to_json_string};

use crate::members::push_member;

pub(crate) const URI_SCHEME: &str = "switchboard:";

pub(crate) fn uri_prefix(server: &str) -> String {
    format!("{URI_SCHEME}{server}:")
}

/// The member with the URI of a tool's UI resource, in its current and its first form.
const UI_RESOURCE_KEY: &str = "resourceUri";
const LEGACY_UI_RESOURCE_KEY: &str = "ui/resourceUri";

/// The fields of a tool definition that contain URIs.
const DEFINITION_URIS: UriFields =
    UriFields { keys: &[UI_RESOURCE_KEY, LEGACY_UI_RESOURCE_KEY], containers: &["_meta", "ui"] };
/// The fields of a result of a tool, resource or prompt that contain URIs.
const RESULT_URIS: UriFields =
    UriFields { keys: &["uri"], containers: &["content", "contents", "messages", "resource"] };

/// Replaces the URIs in a tool definition by public ones. `None` if nothing changes.
pub(crate) fn rewrite_definition(
    text: &str,
    shown: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    // Few tools have a page; the legacy key contains the current one.
    if !text.contains(UI_RESOURCE_KEY) {
        return None;
    }
    DEFINITION_URIS.rewrite(text, shown)
}

/// Replaces the URIs in a result by public ones. `None` if nothing changes.
pub(crate) fn rewrite_result(text: &str, shown: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    RESULT_URIS.rewrite(text, shown)
}

/// The fields that contain URIs; all others are left unchanged.
struct UriFields {
    keys: &'static [&'static str],
    /// Members that may contain `keys`, at any depth.
    containers: &'static [&'static str],
}

impl UriFields {
    /// Replaces the URIs in a JSON text. `None` if nothing changes.
    fn rewrite(&self, text: &str, shown: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        if let Some(members) = RawMembers::parse(text) {
            return self.rewrite_members(&members, shown);
        }
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let replaced: Vec<Option<String>> =
            items.iter().map(|item| self.rewrite(item.get(), shown)).collect();
        if replaced.iter().all(Option::is_none) {
            return None;
        }
        let texts = items.iter().zip(&replaced);
        let texts: Vec<&str> =
            texts.map(|(item, replaced)| replaced.as_deref().unwrap_or(item.get())).collect();
        Some(format!("[{}]", texts.join(",")))
    }

    fn rewrite_members(
        &self,
        Members(members): &RawMembers<'_>,
        shown: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let mut out = String::from("{");
        let mut is_other = false;
        for (name, value) in members {
            let other = if self.keys.contains(&&**name) {
                let own: Option<String> = serde_json::from_str(value.get()).ok();
                own.and_then(|own| shown(&own)).map(|other| to_json_string(&other))
            } else if self.containers.contains(&&**name) {
                self.rewrite(value.get(), shown)
            } else {
                None
            };
            push_member(&mut out, name, other.as_deref().unwrap_or(value.get()));
            is_other |= other.is_some();
        }
        out.push('}');
        is_other.then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{rewrite_definition, rewrite_result};

    fn ours(uri: &str) -> Option<String> {
        uri.starts_with("ui://").then(|| format!("ours:{uri}"))
    }

    #[test]
    fn addresses_in_results_are_replaced_and_nothing_else_is() {
        for (text, expected) in [
            (
                r#"{"content":[{"type":"resource_link","uri":"ui://a","n":1e400},{"type":"text","text":"ui://a"}],"x":{"uri":"ui://a"}}"#,
                Some(
                    r#"{"content":[{"type":"resource_link","uri":"ours:ui://a","n":1e400},{"type":"text","text":"ui://a"}],"x":{"uri":"ui://a"}}"#,
                ),
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"ui://a","text":"t"}}]}"#,
                Some(
                    r#"{"content":[{"type":"resource","resource":{"uri":"ours:ui://a","text":"t"}}]}"#,
                ),
            ),
            (
                r#"{"contents":[{"uri":"ui://a","text":"t"},{"uri":"b://","text":"ü"}]}"#,
                Some(
                    r#"{"contents":[{"uri":"ours:ui://a","text":"t"},{"uri":"b://","text":"ü"}]}"#,
                ),
            ),
            (
                r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"ui://a"}}]}"#,
                Some(
                    r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"ours:ui://a"}}]}"#,
                ),
            ),
            (r#"{"content":[{"uri":"b://"}],"structuredContent":{"uri":"ui://a"}}"#, None),
            (r#"{"content":7}"#, None),
            ("7", None),
        ] {
            assert_eq!(rewrite_result(text, &ours).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_page_of_a_tool_is_replaced_in_both_ways_to_write_it() {
        for (text, expected) in [
            (
                r#"{"name":"a","_meta":{"z":1,"ui":{"resourceUri":"ui://a","v":["app"]}}}"#,
                Some(
                    r#"{"name":"a","_meta":{"z":1,"ui":{"resourceUri":"ours:ui://a","v":["app"]}}}"#,
                ),
            ),
            (
                r#"{"name":"a","_meta":{"ui/resourceUri":"ui://b"}}"#,
                Some(r#"{"name":"a","_meta":{"ui/resourceUri":"ours:ui://b"}}"#),
            ),
            (r#"{"name":"a","resourceUri":7,"_meta":{"ui":7}}"#, None),
            (r#"{"name":"a","inputSchema":{"resourceUri":"ui://a"}}"#, None),
            (r#"{"name":"a"}"#, None),
        ] {
            assert_eq!(rewrite_definition(text, &ours).as_deref(), expected, "{text}");
        }
    }
}
