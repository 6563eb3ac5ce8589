//! Tests of a modern server without change notifications: it is re-listed when its lists expire.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::switchboard::Switchboard;
use crate::told_server;

/// How often any client listed the tools.
static LISTED: AtomicUsize = AtomicUsize::new(0);

fn says(method: &str, _params: &Value) -> Result<Value, String> {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    match method {
        "tools/list" => {
            let first = LISTED.fetch_add(1, Ordering::Relaxed) == 0;
            let names = if first { vec!["early"] } else { vec!["early", "late"] };
            let tools: Vec<Value> = names.into_iter().map(tool).collect();
            Ok(json!({"tools": tools, "ttlMs": 1, "cacheScope": "public"}))
        }
        "resources/list" => Ok(json!({"resources": []})),
        _ => Err("nothing".to_owned()),
    }
}

#[test]
fn a_list_that_says_how_long_it_lasts_is_had_again_and_what_is_new_is_there() {
    let url = told_server::start_whole(says);
    let switchboard = Switchboard::new();
    // With pins, new definitions would be held until a person approves them.
    let config = json!({"mcpServers": {"told": {"url": url}}, "settings": {"pins": "off"}});
    switchboard.write_config(&config.to_string());
    let gateway = Gateway::with_tool(&switchboard, &[], "told__early");
    assert_eq!(
        gateway.modern().names("tools").iter().filter(|name| *name == "told__late").count(),
        0
    );
    gateway.wait_for_tool("told__late");
    assert_eq!(LISTED.load(Ordering::Relaxed), 2, "not sooner than five seconds, and once");
}
