//! Collects the reasoning of compatible servers, to send it back.

use serde_json::{Map, Value, json};

const FRAGMENT_MEMBERS: [&str; 2] = ["text", "summary"];

/// The reasoning of an answer, in the formats that servers expect back.
#[derive(Debug, Default)]
pub(super) struct ReasoningTrace {
    content: String,
    details: Vec<Map<String, Value>>,
}

impl ReasoningTrace {
    /// Collects the reasoning of one delta, and returns its text.
    pub(super) fn take(&mut self, delta: &Value) -> String {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        let content = text("reasoning_content");
        self.content.push_str(content);
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        let mut shown = String::new();
        for detail in details.into_iter().flatten().filter_map(Value::as_object) {
            let fragments = FRAGMENT_MEMBERS.iter().filter_map(|name| detail.get(*name)?.as_str());
            shown.extend(fragments);
            self.detail(detail);
        }
        // Servers that send several of these members repeat the same text in each.
        let plain = if content.is_empty() { text("reasoning") } else { content };
        if plain.is_empty() { shown } else { plain.to_owned() }
    }

    fn detail(&mut self, detail: &Map<String, Value>) {
        let same = |old: &Map<String, Value>, name: &str| old.get(name) == detail.get(name);
        let is_fragment = FRAGMENT_MEMBERS.iter().any(|name| detail.contains_key(*name))
            || detail.contains_key("signature");
        let newest = self.details.last_mut();
        match newest.filter(|old| is_fragment && same(old, "type") && same(old, "index")) {
            Some(old) => extend(old, detail),
            None => self.details.push(detail.clone()),
        }
    }

    /// Adds the collected reasoning to a message, and returns whether there was any.
    pub(super) fn add_to(self, message: &mut Value) -> bool {
        let has_calls = message.get("tool_calls").is_some();
        let Some(members) = message.as_object_mut() else { return false };
        let before = members.len();
        if !self.details.is_empty() {
            members.insert("reasoning_details".to_owned(), json!(self.details));
        }
        // Reasoning must be sent back between a call and its result; after a finished answer, some
        // servers reject it.
        if !self.content.is_empty() && has_calls {
            members.insert("reasoning_content".to_owned(), json!(self.content));
        }
        members.len() > before
    }
}

fn extend(old: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more.iter().filter(|(_, value)| !value.is_null()) {
        match (old.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(fragment))
                if FRAGMENT_MEMBERS.contains(&name.as_str()) =>
            {
                text.push_str(fragment);
            }
            _ => {
                old.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_details_are_put_together_and_the_rest_is_kept_apart() {
        let mut reasoning = ReasoningTrace::default();
        let detail = |value: Value| json!({"reasoning": "x", "reasoning_details": [value]});
        let mut heard = Vec::new();
        for value in [
            json!({"type": "reasoning.text", "text": "I ", "index": 0, "signature": null}),
            json!({"type": "reasoning.text", "text": "see", "index": 0}),
            json!({"type": "reasoning.text", "signature": "s1", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "e1", "index": 1}),
            json!({"type": "reasoning.encrypted", "data": "e2", "index": 1}),
        ] {
            heard.push(reasoning.take(&detail(value)));
        }
        assert_eq!(heard, ["x"; 5]);
        let mut message = json!({"role": "assistant"});
        assert!(reasoning.add_to(&mut message));
        assert_eq!(
            message,
            json!({"role": "assistant", "reasoning_details": [
                {"type": "reasoning.text", "text": "I see", "index": 0, "signature": "s1"},
                {"type": "reasoning.encrypted", "data": "e1", "index": 1},
                {"type": "reasoning.encrypted", "data": "e2", "index": 1},
            ]})
        );
    }

    #[test]
    fn plain_thoughts_go_back_only_beside_calls() {
        for (mut message, expected) in
            [(json!({"content": "a"}), false), (json!({"tool_calls": []}), true)]
        {
            let mut reasoning = ReasoningTrace::default();
            assert_eq!(reasoning.take(&json!({"reasoning_content": "hm"})), "hm");
            assert_eq!(reasoning.add_to(&mut message), expected);
            assert_eq!(message.get("reasoning_content").is_some(), expected);
        }
    }
}
