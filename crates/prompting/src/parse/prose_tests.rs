//! Which calls are code and which are calls.

use crate::parse::dialect::{Dialect, ToolShape};
use crate::parse::parser_properties::pieces_of;
use crate::parse::piece::{Piece, WrittenCall, WrittenTarget};

const CALL: &str = "<t></t>";

/// The pieces of the message, pushed letter by letter; the whole message must give the same.
fn pieces(message: &str) -> Vec<Piece> {
    let dialect = Dialect::new().with_tools([ToolShape::named("t")]);
    let letters: Vec<&str> = message.split_inclusive(|_: char| true).collect();
    let whole = pieces_of(&[message], dialect.clone());
    assert_eq!(pieces_of(&letters, dialect), whole, "{message}");
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
        assert_eq!(pieces(&message), [Piece::Text(message.clone())], "{message}");
    }
}

#[test]
fn a_call_after_code_or_beside_a_lone_backtick_is_a_call() {
    let call = CALL;
    for before in [
        "```\ncode\n```\n",
        "```\ncode\n``` \r\n",
        "~~~ a`b\n```\n~~~\n",
        "a `code` b ",
        "one ` only\n",
        "one ` only ",
        "``` `a` \n",
        "mid ``` line\n",
        "~~ a ~~ ",
    ] {
        let message = format!("{before}{call}\n");
        let target = WrittenTarget::Named { tool: "t".to_owned() };
        let arguments = "{}".to_owned();
        let expected = [
            Piece::Text(before.to_owned()),
            Piece::Call(WrittenCall { target, arguments, repaired: None }),
            Piece::Text("\n".to_owned()),
        ];
        assert_eq!(pieces(&message), expected, "{message}");
    }
}
