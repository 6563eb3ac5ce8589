//! The definitions of the tools.

use serde_json::{Value, json};

use super::content::tool;
use super::message_era::MessageEra;
use super::{FixtureServer, asker, examples, journaled, tasks};
use crate::options::ServerKind;

/// Returns the current tools for `tools/list`, in a fixed order.
pub(crate) fn definitions(server: &FixtureServer, spoken: &MessageEra) -> Vec<Value> {
    if let Some((_, tools)) = examples::offer(server.options.kind) {
        return tools;
    }
    if server.options.kind == ServerKind::Journal {
        return journaled::definitions(server.options.tools);
    }
    if server.options.kind == ServerKind::Asker {
        return asker::definitions();
    }
    let text = |name: &str| json!({name: {"type": "string"}});
    let number = |name: &str| json!({name: {"type": "integer"}});
    let mut tools = vec![
        tool("echo", "Answers with the text.", &text("text"), &["text"]),
        add(spoken),
        tool("fail", "Fails with the message.", &text("message"), &["message"]),
        tool(
            "slow",
            "Answers after a while and reports progress on the way.",
            &json!({"ms": {"type": "integer"}, "steps": {"type": "integer"}}),
            &["ms"],
        ),
        tool("content", "Answers with every kind of content.", &json!({}), &[]),
        tool("big", "Answers with much text.", &number("bytes"), &["bytes"]),
        tool("environment", "Answers with the environment.", &json!({}), &[]),
        tool("write", "Leaves a trace.", &text("key"), &["key"]),
        tool("pid", "Answers with the process and its group.", &json!({}), &[]),
        tool("grow", "Adds a tool.", &json!({}), &[]),
        tool(
            "ask",
            "Asks the person a question and answers with the answer.",
            &text("question"),
            &["question"],
        ),
    ];
    if server.options.tasks {
        tools.extend(tasks::definitions(spoken));
        tools.push(tasks::visit_definition());
    }
    if spoken.has("2025-03-26") {
        for tool in &mut tools {
            let writes = tool["name"] == "write" || tool["name"] == "grow";
            tool["annotations"] = json!({"readOnlyHint": !writes, "destructiveHint": false});
        }
    }
    let numbered = (1..=server.options.tools).map(|number| format!("tool_{number:04}"));
    let grown = (1..=server.grown()).map(|number| format!("grown_{number}"));
    tools.extend(numbered.chain(grown).map(|name| generated_tool(&name)));
    tools
}

fn add(spoken: &MessageEra) -> Value {
    let numbers = json!({"a": {"type": "number"}, "b": {"type": "number"}});
    let mut add = tool("add", "Adds two numbers.", &numbers, &["a", "b"]);
    if spoken.has("2025-06-18") {
        add["title"] = json!("Add");
        add["outputSchema"] = json!({
            "type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"],
        });
    }
    add
}

fn generated_tool(name: &str) -> Value {
    let properties = json!({
        "query": {"type": "string", "description": "What is looked for.", "maxLength": 200},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "order": {"enum": ["newest", "oldest"]},
    });
    tool(name, &format!("One of many tools, called {name}."), &properties, &["query"])
}
