//! What a tool says about its app, in its definition.

use serde_json::Value;

/// The address of the app's page, if the tool has one.
pub(crate) fn app_uri(definition: &str) -> Option<String> {
    let meta = ui_meta(definition)?;
    let named = meta.pointer("/ui/resourceUri").or_else(|| meta.get("ui/resourceUri"))?.as_str()?;
    named.starts_with("ui://").then(|| named.to_owned())
}

/// Whether an app may call the tool: unless it says who may, everybody may.
pub(crate) fn is_for_apps(definition: &str) -> bool {
    let visible =
        ui_meta(definition).and_then(|meta| meta.pointer("/ui/visibility")?.as_array().cloned());
    visible.is_none_or(|visible| visible.iter().any(|who| who == "app"))
}

fn ui_meta(definition: &str) -> Option<Value> {
    let definition: Value = serde_json::from_str(definition).ok()?;
    definition.get("_meta").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_says_where_its_app_is_and_who_may_call_it() {
        for (definition, app, for_apps) in [
            (r#"{"name":"a"}"#, None, true),
            (r#"{"_meta":{"ui":{"resourceUri":"ui://a"}}}"#, Some("ui://a"), true),
            (r#"{"_meta":{"ui/resourceUri":"ui://b"}}"#, Some("ui://b"), true),
            (r#"{"_meta":{"ui":{"resourceUri":"https://a.example"}}}"#, None, true),
            (r#"{"_meta":{"ui":{"visibility":["model"]}}}"#, None, false),
            (r#"{"_meta":{"ui":{"visibility":["app"]}}}"#, None, true),
            ("odd", None, true),
        ] {
            assert_eq!(app_uri(definition).as_deref(), app, "{definition}");
            assert_eq!(is_for_apps(definition), for_apps, "{definition}");
        }
    }
}
