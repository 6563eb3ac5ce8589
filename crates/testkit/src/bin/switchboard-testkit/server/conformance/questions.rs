//! What the tools ask their clients: forms, messages of a model, roots.

use serde_json::{Value, json};

use super::schemas;

/// One question, under the name by which its answer comes back in the modern era.
#[derive(Clone, Debug)]
pub(super) struct ClientQuestion {
    pub(super) key: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl ClientQuestion {
    /// The capability that a client needs to answer it.
    pub(super) fn capability(&self) -> &'static str {
        self.method.split('/').next().unwrap_or_default()
    }
}

pub(super) fn form(key: &'static str, message: &str, schema: &Value) -> ClientQuestion {
    let params = json!({"message": message, "requestedSchema": schema});
    ClientQuestion { key, method: "elicitation/create", params }
}

pub(super) fn message(key: &'static str, text: &str, tokens: u32) -> ClientQuestion {
    let content = json!({"type": "text", "text": text});
    let params = json!({
        "messages": [{"role": "user", "content": content}],
        "maxTokens": tokens,
    });
    ClientQuestion { key, method: "sampling/createMessage", params }
}

pub(super) fn roots(key: &'static str) -> ClientQuestion {
    ClientQuestion { key, method: "roots/list", params: json!({}) }
}

/// What each tool asks, round by round; nothing for tools that ask nothing.
pub(super) fn tool_questions(name: &str, arguments: &Value) -> Option<Vec<Vec<ClientQuestion>>> {
    let said = |key: &str| arguments[key].as_str().unwrap_or("(nothing)").to_owned();
    let person = || form("user_name", "What is your name?", &schemas::text("name"));
    let confirm = || form("confirm", "Please confirm", &schemas::yes_or_no("ok"));
    Some(match name {
        "test_sampling" => vec![vec![message("sample", &said("prompt"), 100)]],
        "test_missing_capability" => vec![vec![message("sample", "Is anybody there?", 10)]],
        "test_elicitation" => {
            vec![vec![form("answer", &said("message"), &schemas::name_and_address())]]
        }
        "test_elicitation_sep1034_defaults" => {
            vec![vec![form("answer", "Please check these values.", &schemas::with_defaults())]]
        }
        "test_elicitation_sep1330_enums" => {
            vec![vec![form("answer", "Please choose.", &schemas::choices())]]
        }
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            vec![vec![person()]]
        }
        "test_input_required_result_sampling" => {
            vec![vec![message("capital_question", "What is the capital of France?", 100)]]
        }
        "test_input_required_result_list_roots" => vec![vec![roots("client_roots")]],
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => vec![vec![confirm()]],
        "test_input_required_result_multiple_inputs" => {
            vec![vec![
                person(),
                message("greeting", "Generate a greeting", 50),
                roots("client_roots"),
            ]]
        }
        "test_input_required_result_capabilities" => {
            vec![vec![person(), message("greeting", "Generate a greeting", 50)]]
        }
        "test_input_required_result_multi_round" => vec![
            vec![form("step1", "Step 1: What is your name?", &schemas::text("name"))],
            vec![form("step2", "Step 2: What is your favorite color?", &schemas::text("color"))],
        ],
        _ => return None,
    })
}
