//! Changes what is offered by what a file says at that moment, as a server that changes its mind does.

use serde_json::Value;

use super::FixtureServer;
use crate::message::RpcAnswer;

/// The lists, by method: the member that holds the items, and what tells them apart.
const LISTS: [(&str, &str, &str); 3] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// The answer with what the file says laid over it: `instructions`, and items whose members replace
/// those of the item of the same name, or are added; `"gone": true` takes one out, and `reversed`
/// turns the lists around.
pub(crate) fn apply(server: &FixtureServer, method: &str, answer: RpcAnswer) -> RpcAnswer {
    let text = server.options.overlay.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let (Some(text), RpcAnswer::Result(mut result)) = (text, answer.clone()) else { return answer };
    let overlay: Value = serde_json::from_str(&text).expect("an overlay is JSON");
    if let Some(said) = overlay.get("instructions")
        && matches!(method, "initialize" | "server/discover")
    {
        result["instructions"] = said.clone();
    }
    for (_, member, name) in LISTS.into_iter().filter(|(list, ..)| *list == method) {
        let Some(items) = result[member].as_array_mut() else { continue };
        for wanted in overlay[member].as_array().into_iter().flatten() {
            lay_over(items, wanted, name);
        }
        if overlay["reversed"] == true {
            items.reverse();
        }
    }
    RpcAnswer::Result(result)
}

fn lay_over(items: &mut Vec<Value>, wanted: &Value, name: &str) {
    if wanted["gone"] == true {
        items.retain(|item| item[name] != wanted[name]);
        return;
    }
    match items.iter_mut().find(|item| item[name] == wanted[name]) {
        None => items.push(wanted.clone()),
        Some(item) => {
            for (key, value) in wanted.as_object().expect("an item is an object") {
                item[key] = value.clone();
            }
        }
    }
}
