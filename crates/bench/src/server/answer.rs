//! Answers of the server: one scan of the request, its payload copied once and never decoded.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::offer;

const WELCOME: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
    r#""serverInfo":{"name":"raw","version":"1"}}"#
);

/// The answers of the server, with the tool list serialized in advance.
pub(super) struct RawAnswers {
    tools: String,
}

#[derive(Deserialize)]
struct RequestFrame<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<RequestParams<'a>>,
}

#[derive(Deserialize)]
struct RequestParams<'a> {
    #[serde(borrow)]
    arguments: Option<EchoArguments<'a>>,
}

#[derive(Deserialize)]
struct EchoArguments<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl RawAnswers {
    pub(super) fn new(tools: usize) -> Self {
        let listed: Vec<String> =
            offer::definitions(tools, 0).into_iter().map(|made| made.definition).collect();
        Self { tools: format!(r#"{{"tools":[{}]}}"#, listed.join(",")) }
    }

    /// Appends the answer to `out` and returns whether there is one.
    pub(super) fn write(&self, message: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(RequestFrame { id: Some(id), method, params }) = serde_json::from_slice(message)
        else {
            return false;
        };
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.get().as_bytes());
        match method.as_deref() {
            Some("tools/call") => {
                let text = params.and_then(|params| params.arguments?.text);
                let text = text.map_or(r#""""#, RawValue::get);
                out.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"}]}}");
            }
            Some("initialize") => result(out, WELCOME),
            Some("tools/list") => result(out, &self.tools),
            Some("ping") => result(out, "{}"),
            _ => {
                let error = r#","error":{"code":-32601,"message":"method not found"}}"#;
                out.extend_from_slice(error.as_bytes());
            }
        }
        true
    }
}

fn result(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#","result":"#);
    out.extend_from_slice(text.as_bytes());
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::RawAnswers;

    #[test]
    fn requests_are_answered_and_notifications_are_not() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"text":"x\n"}}}"#,
                r#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"x\n"}]}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"server/discover"}"#,
                r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"method not found"}}"#,
            ),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, ""),
        ];
        let answers = RawAnswers::new(1);
        for (request, expected) in cases {
            let mut out = Vec::new();
            answers.write(request.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn the_list_is_json_with_as_many_tools_as_wanted() {
        let mut out = Vec::new();
        RawAnswers::new(20).write(br#"{"id":1,"method":"tools/list"}"#, &mut out);
        let list: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!((tools.len(), tools[0]["name"].as_str()), (20, Some("echo")));
    }
}
