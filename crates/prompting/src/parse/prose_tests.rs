//! Tests that calls in code are text, and other calls are not.

use crate::parse::dialect::{CallDialect, ToolShape};
use crate::parse::parser_properties::parse_chunks;
use crate::parse::piece::{MessagePiece, WrittenCall, WrittenTarget};

const CALL: &str = "<t></t>";

/// Parses the message character by character, and checks that the whole message gives the same
/// pieces.
fn pieces(message: &str) -> Vec<MessagePiece> {
    let dialect = CallDialect::new().with_tools([ToolShape::without_schema("t")]);
    let letters: Vec<&str> = message.split_inclusive(|_: char| true).collect();
    let whole = parse_chunks(&[message], dialect.clone());
    assert_eq!(parse_chunks(&letters, dialect), whole, "{message}");
    whole
}

#[test]
fn code_is_not_a_call() {
    let call = CALL;
    for (before, after) in [
        ("```xml\n", "\n```\n"),
        ("````\n```\n", "\n```\n````"),
        ("~~~\n", "\n~~~"),
        ("  ```\n", ""),
        ("- ```xml\n  ", "\n  ```\n"),
        ("Use `", "` so."),
        ("Use `` ` ", " `` so."),
        ("```", "``` so."),
    ] {
        let message = format!("{before}{call}{after}");
        assert_eq!(pieces(&message), [MessagePiece::Text(message.clone())], "{message}");
    }
}

#[test]
fn a_call_after_code_or_beside_a_lone_backtick_is_a_call() {
    let call = CALL;
    for before in [
        "```\ncode\n```\n", "```\ncode\n``` \r\n", "~~~ a`b\n```\n~~~\n", "a `code` b ",
        "one ` only\n", "one ` only ", "``` `a` \n", "mid ``` line\n", "~~ a ~~ ",
    ] {
        let message = format!("{before}{call}\n");
        let target = WrittenTarget::Named { tool: "t".to_owned() };
        let arguments = "{}".to_owned();
        let expected = [
            MessagePiece::Text(before.to_owned()),
            MessagePiece::Call(WrittenCall { target, arguments, repaired: None }),
            MessagePiece::Text("\n".to_owned()),
        ];
        assert_eq!(pieces(&message), expected, "{message}");
    }
}
