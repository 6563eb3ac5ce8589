//! Tests of messages and their pieces.

use serde_json::json;

use crate::parse::MessageParser;
use crate::parse::dialect::{CallDialect, ToolShape};
use crate::parse::parser_properties::parse_chunks;
use crate::parse::piece::{MessagePiece, WrittenCall, WrittenForm, WrittenTarget};

fn dialect() -> CallDialect {
    let schema = json!({"properties": {
        "days": {"type": "integer"}, "page": {"type": "string"}, "where": {"type": "object"},
    }});
    let typed = ToolShape { name: "forecast".to_owned(), schema: Some(schema) };
    CallDialect::new().with_tools([typed, ToolShape::without_schema("echo")])
}

/// Parses the message character by character, and checks that the whole message gives the same
/// pieces.
fn pieces(message: &str) -> Vec<MessagePiece> {
    let chunks: Vec<&str> = message.split_inclusive(|_: char| true).collect();
    let by_letters = parse_chunks(&chunks, dialect());
    let whole = parse_chunks(&[message], dialect());
    assert_eq!(by_letters, whole, "{message}");
    whole
}

/// Returns the pieces as one line each, without announcements.
fn summary(message: &str) -> Vec<String> {
    let line = |piece| match piece {
        MessagePiece::Text(text) => Some(format!("text {text}")),
        MessagePiece::Started { .. } => None,
        MessagePiece::Call(WrittenCall { target, arguments, repaired }) => {
            let target = match target {
                WrittenTarget::Tool { server, tool } => format!("{server}/{tool}"),
                WrittenTarget::Resource { server, uri } => format!("{server} at {uri}"),
                WrittenTarget::Named { tool } => tool,
            };
            let repaired = repaired.map(|what| format!(" ({what})")).unwrap_or_default();
            Some(format!("call {target} {arguments}{repaired}"))
        }
        MessagePiece::Refused { reason, .. } => Some(format!("refused {reason}")),
    };
    pieces(message).into_iter().filter_map(line).collect()
}

fn check(cases: &[(&str, &[&str])]) {
    for (message, expected) in cases {
        assert_eq!(summary(message), *expected, "{message}");
    }
}

fn tool(inside: &str) -> String {
    format!(
        "<use_mcp_tool><server_name>s</server_name><tool_name>t</tool_name>{inside}</use_mcp_tool>"
    )
}

#[test]
fn a_call_is_announced_and_then_complete() {
    let message = format!("Now:\n{}done", tool("<arguments>{\"a\": 1}</arguments>"));
    let expected = vec![
        MessagePiece::Text("Now:\n".to_owned()),
        MessagePiece::Started {
            form: WrittenForm::UseMcpTool,
            server: Some("s".to_owned()),
            tool: Some("t".to_owned()),
        },
        MessagePiece::Call(WrittenCall {
            target: WrittenTarget::Tool { server: "s".to_owned(), tool: "t".to_owned() },
            arguments: "{\"a\": 1}".to_owned(),
            repaired: None,
        }),
        MessagePiece::Text("done".to_owned()),
    ];
    assert_eq!(pieces(&message), expected);
}

#[test]
fn arguments_are_json_elements_or_nothing() {
    let cases = [
        ("", "{}"),
        ("<arguments></arguments>", "{}"),
        ("<arguments> \n </arguments>", "{}"),
        ("<arguments/>", "{}"),
        ("<arguments>\n{\"city\": \"旧金山\"}\n</arguments>", "{\"city\": \"旧金山\"}"),
        ("<arguments>{\"x\":\"</arguments>\"}</arguments>", "{\"x\":\"</arguments>\"}"),
        ("<arguments>{\"x\":\"\\\"</arguments>\"}</arguments>", "{\"x\":\"\\\"</arguments>\"}"),
        ("<arguments>{\"x\":\"</use_mcp_tool>\"}</arguments>", "{\"x\":\"</use_mcp_tool>\"}"),
        ("<arguments>{\"x\":\"&lt;\"}</arguments>", "{\"x\":\"&lt;\"}"),
        ("<arguments><![CDATA[{\"x\":\"</arguments>\"}]]></arguments>", "{\"x\":\"</arguments>\"}"),
        ("<arguments><a>1</a><b><item>x</item></b></arguments>", "{\"a\":\"1\",\"b\":[\"x\"]}"),
        ("<arguments><a><![CDATA[</arguments>]]></a></arguments>", "{\"a\":\"</arguments>\"}"),
    ];
    for (inside, arguments) in cases {
        assert_eq!(summary(&tool(inside)), [format!("call s/t {arguments}")], "{inside}");
    }
}

#[test]
fn near_json_is_repaired_and_says_so() {
    let cases = [
        ("{'a': 'it's',}", r#"{"a":"it's"} (single quotes, a trailing comma)"#),
        ("{\"a\": [1", r#"{"a":[1]} (a missing closing brace)"#),
        ("{\"a\": \"b\"", r#"{"a":"b"} (a missing closing brace)"#),
        ("```json\n{\"a\":1}\n```", r#"{"a":1} (a code fence)"#),
        ("{\"a\": 1 // don't\n}", r#"{"a":1} (comments)"#),
    ];
    for (inside, expected) in cases {
        let message = tool(&format!("<arguments>{inside}</arguments>"));
        assert_eq!(summary(&message), [format!("call s/t {expected}")], "{inside}");
    }
}

#[test]
fn tags_may_have_spaces_attributes_and_entities_in_their_values() {
    check(&[
        (
            "<use_mcp_tool id=\"1>\" >\r\n<server_name >a&amp;b</server_name >\r\n\
             <tool_name x='y'><![CDATA[t]]></tool_name></use_mcp_tool\n>",
            &["call a&b/t {}"],
        ),
        (
            "<access_mcp_resource><server_name> s </server_name><uri>file:///a?b=1&c=2</uri>\
             </access_mcp_resource>",
            &["call s at file:///a?b=1&c=2 {}"],
        ),
    ]);
}

#[test]
fn a_registered_tool_is_called_by_its_own_element() {
    check(&[
        (
            "<forecast>\n<city>Oslo</city>\n<days>3</days>\n</forecast>",
            &["call forecast {\"city\":\"Oslo\",\"days\":3}"],
        ),
        ("<forecast><page><b>x</b></page></forecast>", &["call forecast {\"page\":\"<b>x</b>\"}"]),
        (
            "<forecast><where>{\"a\":\"</where>\"}</where></forecast>",
            &["call forecast {\"where\":{\"a\":\"</where>\"}}"],
        ),
        (
            "<forecast><where>{a: 1}</where></forecast>",
            &["call forecast {\"where\":{\"a\":1}} (unquoted keys)"],
        ),
        (
            "<forecast><where>{1}</where></forecast>",
            &["refused the arguments are not valid JSON: a key is missing at line 1, column 2, \
               near `{1}`"],
        ),
        ("<echo></echo><echo/>", &["call echo {}", "call echo {}"]),
        ("<echo><text>a</echo></text></echo>", &["call echo {\"text\":\"a</echo>\"}"]),
        ("<echo>words</echo>", &["text <echo>words</echo>"]),
        ("an <echo> here", &["text an <echo> here"]),
        ("an <echo>", &["text an <echo>"]),
        ("<other><a>1</a></other>", &["text <other><a>1</a></other>"]),
        (
            "<echo><text>a",
            &[
                "text <echo><text>a",
                "refused `echo` was not closed: `</text>` and then `</echo>` is missing",
            ],
        ),
    ]);
}

#[test]
fn what_is_missing_is_named() {
    let unclosed = "<use_mcp_tool><server_name>s</server_name> and more";
    check(&[
        (
            "<use_mcp_tool><tool_name>t</tool_name></use_mcp_tool>",
            &["refused `use_mcp_tool` has no value for its required parameter `server_name`"],
        ),
        (
            "<use_mcp_tool><server_name>s</server_name><tool_name> </tool_name></use_mcp_tool>",
            &["refused `use_mcp_tool` has no value for its required parameter `tool_name`"],
        ),
        (
            "<access_mcp_resource><server_name>s</server_name></access_mcp_resource>",
            &["refused `access_mcp_resource` has no value for its required parameter `uri`"],
        ),
        (
            "<use_mcp_tool/>",
            &["refused `use_mcp_tool` has no value for its required parameter `server_name`"],
        ),
        (
            unclosed,
            &[
                &format!("text {unclosed}"),
                "refused `use_mcp_tool` was not closed: `</use_mcp_tool>` is missing",
            ],
        ),
        (
            "a <use_mcp_tool><server_name>s</server_name><arguments>{\"a\": \"b",
            &[
                "text a <use_mcp_tool><server_name>s</server_name><arguments>{\"a\": \"b",
                "refused `use_mcp_tool` was not closed: `</arguments>` and then \
                 `</use_mcp_tool>` is missing",
            ],
        ),
        (
            &tool("<arguments>[1]</arguments>"),
            &["refused the arguments must be a JSON object, not an array"],
        ),
        (
            &tool("<arguments>{\"a\": \"b\" \"c\"}</arguments>"),
            &["refused the arguments are not valid JSON: a quote inside of a string has no \
               backslash, or a comma is missing at line 1, column 9, near `{\"a\": \"b\" \"c\"}`"],
        ),
        (
            &tool("<arguments>go</arguments>"),
            &["refused the arguments are not valid JSON: a value is missing or has no quotes at \
               line 1, column 1, near `go`"],
        ),
    ]);
}

#[test]
fn calls_keep_their_order_and_one_that_is_broken_does_not_swallow_the_next() {
    let good = tool("<arguments>{\"a\": \"b\"}</arguments>");
    let stray = tool("<arguments>{\"a\": \"he said \"hi\", then\"}</arguments>");
    let broken = "refused the arguments are not valid JSON: a quote inside of a string has no \
                  backslash, or a comma is missing at line 1, column 16, near \
                  `{\"a\": \"he said \"hi\", then\"}`";
    check(&[
        (
            &format!("1{good}2<echo/>3"),
            &["text 1", "call s/t {\"a\": \"b\"}", "text 2", "call echo {}", "text 3"],
        ),
        (
            &format!("{stray}between{good}after"),
            &[broken, "text between", "call s/t {\"a\": \"b\"}", "text after"],
        ),
        (&format!("{stray} tail"), &[broken, "text  tail"]),
        (
            &format!("<use_mcp_tool><server_name>x</server_name>{good}"),
            &[
                "text <use_mcp_tool><server_name>x</server_name>",
                "refused `use_mcp_tool` was not closed: `</use_mcp_tool>` is missing",
                "call s/t {\"a\": \"b\"}",
            ],
        ),
        (
            &format!("The <use_mcp_tool> element: {good}"),
            &["text The <use_mcp_tool> element: ", "call s/t {\"a\": \"b\"}"],
        ),
    ]);
}

#[test]
fn a_name_whose_closing_tag_is_missing_or_wrong_is_still_read() {
    check(&[
        (
            "<use_mcp_tool><server_name>s<tool_name>t</tool_name></use_mcp_tool> tail",
            &["call s/t {} (`server_name` was not closed)", "text  tail"],
        ),
        (
            &format!("<use_mcp_tool><server_name>x {}", tool("")),
            &[
                "text <use_mcp_tool><server_name>x ",
                "refused `use_mcp_tool` was not closed: `</use_mcp_tool>` is missing",
                "call s/t {}",
            ],
        ),
        (
            "<use_mcp_tool><server_name>s</server><tool_name>t</use_mcp_tool>",
            &["call s/t {} (`server_name` was not closed, `tool_name` was not closed)"],
        ),
        (
            "<use_mcp_tool><server_name>s</server_name><tool_name>t</tool_name>\
             <arguments>{\"a\": \"b\"}\n</use_mcp_tool> tail",
            &["call s/t {\"a\": \"b\"} (`arguments` was not closed)", "text  tail"],
        ),
        (
            &tool("<tool_name>u</tool_name>"),
            &["call s/u {} (`tool_name` was given more than once and the last one counts)"],
        ),
    ]);
}

#[test]
fn half_a_tag_waits_and_is_text_only_if_the_message_ends() {
    let mut parser = MessageParser::new(CallDialect::new());
    let first: Vec<MessagePiece> = parser.push("text <use_mcp_to").collect();
    assert_eq!(first, [MessagePiece::Text("text ".to_owned())]);
    assert_eq!(parser.finish(), [MessagePiece::Text("<use_mcp_to".to_owned())]);
    let mut parser = MessageParser::new(CallDialect::new());
    let first: Vec<MessagePiece> = parser.push("text <use_mcp_total> ").collect();
    assert_eq!(first, [MessagePiece::Text("text <use_mcp_total> ".to_owned())]);
}

#[test]
fn every_beginning_of_a_tag_waits_wherever_the_chunk_ends() {
    for tag in ["<use_mcp_tool>", "<access_mcp_resource >", "<forecast>", "<echo/>"] {
        for length in 1..tag.len() {
            let (half, rest) = tag.split_at(length);
            let mut parser = MessageParser::new(dialect());
            let first: Vec<MessagePiece> = parser.push(&format!("a {half}")).collect();
            assert_eq!(first, [MessagePiece::Text("a ".to_owned())], "{half}");
            let second: Vec<MessagePiece> = parser.push(rest).collect();
            assert!(!second.iter().any(|piece| matches!(piece, MessagePiece::Text(_))), "{tag}");
        }
    }
}

#[test]
fn a_parameter_that_comes_again_counts_last_in_a_wrapper_and_makes_a_list_in_a_tool() {
    check(&[
        (
            "<use_mcp_tool><server_name>a<tool_name>t</tool_name><server_name>b</server_name>\
             <server_name>c</server_name></use_mcp_tool>",
            &["call c/t {} (`server_name` was not closed, \
               `server_name` was given more than once and the last one counts)"],
        ),
        (
            &tool("<arguments>{\"a\": 1}</arguments><arguments>{\"b\": 2}</arguments>"),
            &["call s/t {\"b\": 2} (`arguments` was given more than once and the last one counts)"],
        ),
        (
            "<echo><uri>a</uri><uri>b</uri><arguments>{}</arguments></echo>",
            &["call echo {\"arguments\":\"{}\",\"uri\":[\"a\",\"b\"]}"],
        ),
    ]);
}
