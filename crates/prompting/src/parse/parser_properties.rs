//! Property tests over arbitrary messages and chunks.

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{prop_assert_eq, prop_assert_ne};

use crate::parse::cline;
use crate::parse::dialect::{CallDialect, ToolShape};
use crate::parse::parser::MessageParser;
use crate::parse::piece::{MessagePiece, WrittenCall, WrittenTarget};

/// Parses the chunks, and merges adjacent text.
pub(super) fn parse_chunks(chunks: &[&str], dialect: CallDialect) -> Vec<MessagePiece> {
    let mut parser = MessageParser::new(dialect);
    let mut all = Vec::new();
    for chunk in chunks {
        all.extend(parser.push(chunk));
    }
    all.extend(parser.finish());
    let mut merged: Vec<MessagePiece> = Vec::new();
    for piece in all {
        match (merged.last_mut(), piece) {
            (Some(MessagePiece::Text(before)), MessagePiece::Text(text)) => before.push_str(&text),
            (_, piece) => merged.push(piece),
        }
    }
    merged
}

fn dialect() -> CallDialect {
    let schema = serde_json::json!({"properties": {"list": {"type": "array"}}});
    let shape = ToolShape { name: "echo".to_owned(), schema: Some(schema) };
    CallDialect::new().with_tools([shape])
}

// Fragments of messages with calls, partial calls and code.
const PARTS: [&str; 42] = [
    "<use_mcp_tool>", "</use_mcp_tool>", "<use_mcp_tool ", "<use_mcp_tool/>", "<server_name>",
    "</server_name>", "<tool_name>", "<arguments>", "</arguments>", "<access_mcp_resource>",
    "</access_mcp_resource>", "<uri>u</uri>", "<echo>", "</echo>", "<list>", "</list>", "<echo/>",
    "<item>1</item>", "{\"a\": \"b\"}", "{\"a\": ", "{", "}", "\"", "'", "\\", "//", "/*", "*/",
    "<![CDATA[", "]]>", "`", "```", "````", "~~~", "\n", " ", "word", "旧", "<", ">", ",", "&amp;",
];

fn message() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(PARTS.as_slice()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => Just("<server_name>s</server_name>".to_owned()),
        1 => Just("<tool_name>t</tool_name>".to_owned()),
        1 => Just("<use_mcp_tool><server_name>s</server_name><tool_name>t</tool_name><arguments>"
            .to_owned()),
    ];
    proptest::collection::vec(word, 0..24).prop_map(|parts| parts.concat())
}

fn cut<'a>(message: &'a str, places: &[usize]) -> Vec<&'a str> {
    let mut rest = message;
    let mut chunks = Vec::new();
    for place in places {
        let mut place = place % (rest.len() + 1);
        while !rest.is_char_boundary(place) {
            place -= 1;
        }
        let (chunk, after) = rest.split_at(place);
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

/// Complete parts of a message, each with the call that it is.
const WHOLE: [(&str, Option<(&str, &str)>); 12] = [
    (
        "<use_mcp_tool><server_name>s</server_name><tool_name>one</tool_name>\
         <arguments>{\"a\": \"</arguments></use_mcp_tool>\\\"\"}</arguments></use_mcp_tool>",
        Some(("one", "{\"a\": \"</arguments></use_mcp_tool>\\\"\"}")),
    ),
    (
        "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name><![CDATA[two]]></tool_name>\n\
         <arguments><![CDATA[{\"a\": \"</arguments>\"}]]></arguments>\n</use_mcp_tool >",
        Some(("two", "{\"a\": \"</arguments>\"}")),
    ),
    (
        "<use_mcp_tool><server_name>s</server_name><tool_name>three</tool_name><arguments>\
         <a>1 &lt; 2 &amp; 3</a><b><![CDATA[</b>]]></b></arguments></use_mcp_tool>",
        Some(("three", "{\"a\":\"1 < 2 & 3\",\"b\":\"</b>\"}")),
    ),
    (
        "<access_mcp_resource><server_name>s</server_name><uri>file:///a?b=1&amp;c=旧</uri>\
         </access_mcp_resource>",
        Some(("file:///a?b=1&c=旧", "{}")),
    ),
    (
        "<echo><list><item>1</item></list><text>a &#65; </echo></text></echo>",
        Some(("echo", "{\"list\":[\"1\"],\"text\":\"a A </echo>\"}")),
    ),
    ("<echo/>", Some(("echo", "{}"))),
    ("```xml\n<echo/>\n```\n", None),
    ("~~~\n<use_mcp_tool>\n~~~\n", None),
    ("Use `<echo/>` so. ", None),
    ("if a < b </echo> <b>x</b> &amp; ", None),
    ("旧金山 ", None),
    ("\n", None),
];

fn written_calls(pieces: &[MessagePiece]) -> Vec<(String, String)> {
    let call = |piece: &MessagePiece| match piece {
        MessagePiece::Call(WrittenCall { target, arguments, .. }) => {
            let name = match target {
                WrittenTarget::Tool { tool, .. } | WrittenTarget::Named { tool } => tool,
                WrittenTarget::Resource { uri, .. } => uri,
            };
            Some((name.clone(), arguments.clone()))
        }
        MessagePiece::Text(_) | MessagePiece::Started { .. } | MessagePiece::Refused { .. } => None,
    };
    pieces.iter().filter_map(call).collect()
}

proptest! {
    #[test]
    fn calls_in_every_form_come_in_order_and_code_stays_code_whatever_the_cut(
        parts in proptest::collection::vec(proptest::sample::select(WHOLE.as_slice()), 0..8),
        places in proptest::collection::vec(0_usize..30, 0..60),
    ) {
        // A fence starts on its own line, and so does its end.
        let message: String = parts.iter().flat_map(|(text, _)| ["\n", text]).collect();
        let expected: Vec<(String, String)> = parts
            .iter()
            .filter_map(|(_, call)| call.map(|(name, json)| (name.to_owned(), json.to_owned())))
            .collect();
        let whole = parse_chunks(&[&message], dialect());
        prop_assert_eq!(written_calls(&whole), expected);
        let refused = whole.iter().any(|piece| matches!(piece, MessagePiece::Refused { .. }));
        prop_assert_eq!(refused, false);
        prop_assert_eq!(&parse_chunks(&cut(&message, &places), dialect()), &whole);
    }

    #[test]
    fn any_cut_gives_the_same_pieces(
        message in message(),
        places in proptest::collection::vec(0_usize..12, 0..40),
    ) {
        let whole = parse_chunks(&[&message], dialect());
        let letters: Vec<&str> = message.split_inclusive(|_: char| true).collect();
        prop_assert_eq!(&parse_chunks(&cut(&message, &places), dialect()), &whole);
        prop_assert_eq!(&parse_chunks(&letters, dialect()), &whole);
    }

    #[test]
    fn a_message_without_calls_is_its_text(message in "[^<]{0,80}|[a-z<>/`~\n ]{0,80}") {
        let expected = if message.is_empty() { vec![] } else { vec![MessagePiece::Text(message.clone())] };
        prop_assert_eq!(parse_chunks(&[&message], CallDialect::new()), expected);
    }

    #[test]
    fn arguments_are_always_the_text_of_an_object(message in message()) {
        for piece in parse_chunks(&[&message], dialect()) {
            if let MessagePiece::Call(call) = piece {
                let value: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
                prop_assert_eq!(value.is_object(), true);
            }
        }
    }

    #[test]
    fn text_never_comes_in_empty_pieces_and_nothing_panics(message in any::<String>()) {
        for piece in parse_chunks(&[&message], dialect()) {
            prop_assert_ne!(piece, MessagePiece::Text(String::new()));
        }
        let _ = cline::blocks(&message);
        let _ = crate::parse::arguments::read_arguments(&message);
    }

    #[test]
    fn good_json_passes_unchanged_whatever_its_strings_hold(text in any::<String>(), key in "[a-z<\"']*") {
        let arguments = serde_json::json!({ key: [text] }).to_string();
        let message = format!(
            "<use_mcp_tool><server_name>s</server_name><tool_name>t</tool_name>\
             <arguments>{arguments}</arguments></use_mcp_tool>"
        );
        let pieces = parse_chunks(&[&message], CallDialect::new());
        let Some(MessagePiece::Call(call)) = pieces.last() else { panic!("no call in {pieces:?}") };
        prop_assert_eq!(&call.arguments, &arguments);
    }
}
