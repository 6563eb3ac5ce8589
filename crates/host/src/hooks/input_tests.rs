//! Tests of the input of hooks, byte for byte.

use super::*;

fn occasion(kind: TargetKind, name: &str, reached: ServerLocation) -> HookInput {
    HookInput {
        conversation: "c1".to_owned(),
        call: "418".to_owned(),
        model: "m".to_owned(),
        roots: vec!["/p".into()],
        target: Target::new(kind, "files", name),
        arguments: r#"{"path": "a"}"#.to_owned(),
        location: reached,
    }
}

fn local(kind: TargetKind, name: &str) -> HookInput {
    occasion(kind, name, ServerLocation::Command("npx files".to_owned()))
}

const COMMON: &str = concat!(
    r#"{"conversation_id":"c1","generation_id":"418","model":"m","hook_event_name":"EVENT","cursor_version":""#,
    env!("CARGO_PKG_VERSION"),
    r#"","workspace_roots":["/p"],"user_email":null,"transcript_path":null,"#,
);

fn common(event: &str) -> String {
    COMMON.replace("EVENT", event)
}

#[test]
fn the_input_before_a_call_has_every_field_of_the_protocol() {
    let expected = r#""tool_name":"write","tool_input":"{\"path\": \"a\"}","command":"npx files","mcp_server_name":"files"}"#;
    let before = local(TargetKind::Tool, "write").before_json(HookRules::Current);
    assert_eq!(before, common("beforeMCPExecution") + expected);
    let url = ServerLocation::Url("https://h/mcp".to_owned());
    let expected = r#""tool_name":"write","tool_input":"{\"path\": \"a\"}","url":"https://h/mcp","mcp_server_name":"files","mcp_server_url":"https://h/mcp"}"#;
    let before = occasion(TargetKind::Tool, "write", url).before_json(HookRules::Current);
    assert_eq!(before, common("beforeMCPExecution") + expected);
}

#[test]
fn the_input_after_a_call_has_its_result_and_the_time_in_milliseconds() {
    let expected = r#""tool_name":"write","tool_input":"{\"path\": \"a\"}","command":"npx files","mcp_server_name":"files","result_json":"{\"content\":[]}","duration":1500}"#;
    let took = Duration::from_micros(1_500_900);
    let after =
        local(TargetKind::Tool, "write").after_json(HookRules::Current, r#"{"content":[]}"#, took);
    assert_eq!(after, common("afterMCPExecution") + expected);
}

#[test]
fn version_2_3_41_knows_no_server_names_and_counts_seconds() {
    let call = local(TargetKind::Tool, "write");
    let tool = r#""tool_name":"write","tool_input":"{\"path\": \"a\"}","command":"npx files""#;
    assert_eq!(call.before_json(HookRules::Cursor2341), common("beforeMCPExecution") + tool + "}");
    let after = call.after_json(HookRules::Cursor2341, "{}", Duration::from_millis(1_500));
    let expected = r#","result_json":"{}","duration":1.5}"#;
    assert_eq!(after, common("afterMCPExecution") + tool + expected);
}

#[test]
fn what_is_read_goes_by_the_name_of_its_request() {
    let resource = local(TargetKind::Resource, "file:///a").before_json(HookRules::Current);
    let expected = r#""tool_name":"resources/read","tool_input":"{\"uri\":\"file:///a\"}","command":"npx files","mcp_server_name":"files","mcp_kind":"resource"}"#;
    assert_eq!(resource, common("beforeMCPExecution") + expected);
    let prompt = local(TargetKind::Prompt, "p").before_json(HookRules::Current);
    let expected = r#""tool_name":"prompts/get","tool_input":"{\"name\":\"p\",\"arguments\":{\"path\": \"a\"}}","command":"npx files","mcp_server_name":"files","mcp_kind":"prompt"}"#;
    assert_eq!(prompt, common("beforeMCPExecution") + expected);
}
