//! Messages of any size, of the kinds that models write and of those that nobody should.

use switchboard_prompting::{CallDialect, ToolShape};

pub(super) struct SampleKind {
    pub(super) title: &'static str,
    /// Whether a model would write it in good faith.
    pub(super) is_ordinary: bool,
    /// Makes a message of about so many bytes.
    pub(super) message: fn(usize) -> String,
}

pub(super) const SAMPLES: [SampleKind; 12] = [
    ordinary("plain prose", |bytes| repeat_to_size(bytes, prose)),
    ordinary("Markdown with code and stray `<`", |bytes| repeat_to_size(bytes, markdown)),
    ordinary("one call, large JSON arguments", |bytes| call(&json_object(bytes))),
    ordinary("many small calls", |bytes| repeat_to_size(bytes, small_call)),
    ordinary("one call, arguments as elements", |bytes| call(&repeat_to_size(bytes, record))),
    ordinary("many calls by the tool's own element", |bytes| repeat_to_size(bytes, named_call)),
    hostile("hostile: `<` only", |bytes| "<".repeat(bytes)),
    hostile("hostile: half tags", |bytes| {
        repeat_to_size(bytes, |_| "<use_mcp_too </use_mcp_tool <serv".to_owned())
    }),
    hostile("hostile: calls that are never closed", |bytes| {
        repeat_to_size(bytes, |_| "<use_mcp_tool><server_name>s".to_owned())
    }),
    hostile("hostile: one parameter again and again", |bytes| {
        let names = repeat_to_size(bytes, |_| "<server_name>s</server_name>".to_owned());
        format!("<use_mcp_tool>{names}</use_mcp_tool>")
    }),
    hostile("hostile: backticks that close nothing", |bytes| {
        repeat_to_size(bytes, |number| format!("{} <", "`".repeat(number % 9)))
    }),
    hostile("hostile: elements nested deeply", |bytes| call(&repeat_to_size(bytes, deep))),
];

const fn ordinary(title: &'static str, message: fn(usize) -> String) -> SampleKind {
    SampleKind { title, is_ordinary: true, message }
}

const fn hostile(title: &'static str, message: fn(usize) -> String) -> SampleKind {
    SampleKind { title, is_ordinary: false, message }
}

/// The elements that the messages use.
pub(super) fn dialect() -> CallDialect {
    let schema = serde_json::json!({"properties": {
        "number": {"type": "integer"}, "labels": {"type": "array"},
    }});
    let named = ToolShape { name: "tracker__update_issue".to_owned(), schema: Some(schema) };
    let others = (0..200)
        .map(|number| ToolShape::without_schema(&format!("server{}__tool{number}", number % 20)));
    CallDialect::new().with_tools(others.chain([named]))
}

/// A JSON object of about `bytes`: rows of a table and one long text.
pub(super) fn json_object(bytes: usize) -> String {
    let rows = repeat_to_size(bytes / 2, |number| {
        let comma = if number == 0 { "" } else { "," };
        format!(
            "{comma}\n  {{\"id\": {number}, \"name\": \"row {number}\", \"score\": {number}.25, \
             \"open\": true, \"tags\": [\"a\", \"b <c>\", null], \"note\": \"caf\u{e9} &amp; more\"}}"
        )
    });
    let text = repeat_to_size(bytes / 2, |number| {
        format!("fn line_{number}() -> Vec<String> {{\\n    say(\\\"hello\\\", {number});\\n}}\\n")
    });
    format!("{{\"rows\": [{rows}\n], \"content\": \"{text}\"}}")
}

fn repeat_to_size(bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut message = String::with_capacity(bytes + 1_024);
    let mut number = 0;
    while message.len() < bytes {
        message.push_str(&part(number));
        number += 1;
    }
    message
}

fn prose(number: usize) -> String {
    let end = if number % 5 == 4 { "\n\n" } else { " " };
    format!(
        "The build of step {number} failed because a file was missing, so I looked at what the \
         caf\u{e9}'s server had said about it and found that nobody had asked for the file at \
         all.{end}"
    )
}

fn markdown(number: usize) -> String {
    format!(
        "## Step {number}\n\n- Look at `Vec<String>` and at **bold** words; if a < b, then `c` \
         wins.\n- A list goes on with <b>marks</b> of its own.\n\n```rust\nfn step_{number}(items: \
         &[Item]) -> Option<&Item> {{\n    items.iter().find(|item| item.size << 1 < {number})\n}}\n\
         ```\n\nThat is all, 3 <= 4 and ~approximately~ so.\n\n"
    )
}

fn call(arguments: &str) -> String {
    format!(
        "Here it is.\n\n<use_mcp_tool>\n<server_name>tables</server_name>\n\
         <tool_name>write_rows</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>\n"
    )
}

fn small_call(number: usize) -> String {
    format!(
        "Then number {number}:\n<use_mcp_tool>\n<server_name>tracker</server_name>\n\
         <tool_name>update_issue</tool_name>\n<arguments>\n{{\n  \"number\": {number},\n  \
         \"state\": \"closed\",\n  \"comment\": \"Fixed in release {number}.\"\n}}\n</arguments>\n\
         </use_mcp_tool>\n"
    )
}

fn named_call(number: usize) -> String {
    format!(
        "Then number {number}:\n<tracker__update_issue>\n<number>{number}</number>\n\
         <state>closed</state>\n<labels><item>bug</item><item>a &amp; b</item></labels>\n\
         <comment><![CDATA[Fixed in <b>release</b> {number}.]]></comment>\n\
         </tracker__update_issue>\n"
    )
}

fn record(number: usize) -> String {
    format!(
        "<row>\n  <id>{number}</id>\n  <name>row {number} &amp; more</name>\n  <open>true</open>\n  \
         <place>\n    <city>Oslo</city>\n    <lines><item>first</item><item>second</item></lines>\n  \
         </place>\n  <note><![CDATA[a < b]]></note>\n</row>\n"
    )
}

fn deep(_: usize) -> String {
    format!("{}x{}", "<a>".repeat(40), "</a>".repeat(40))
}

#[cfg(test)]
mod tests {
    use switchboard_prompting::{MessageParser, MessagePiece};

    use super::{SAMPLES, dialect};

    #[test]
    fn messages_have_their_size_and_good_ones_only_calls_that_can_be_made() {
        for kind in SAMPLES {
            let title = kind.title;
            let message = (kind.message)(20_000);
            assert!((20_000..22_000).contains(&message.len()), "{title}: {}", message.len());
            let mut parser = MessageParser::new(dialect());
            let mut pieces: Vec<MessagePiece> = parser.push(&message).collect();
            pieces.extend(parser.finish());
            let calls = pieces.iter().any(|piece| matches!(piece, MessagePiece::Call(_)));
            let refused = pieces.iter().any(|piece| matches!(piece, MessagePiece::Refused { .. }));
            let expected = title.contains(" call") && kind.is_ordinary || title.contains("nested");
            assert_eq!((calls, refused && kind.is_ordinary), (expected, false), "{title}");
        }
    }
}
