//! The `_meta` of a request: the members that the gateway reads, and those for the server.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess};
use serde_json::value::RawValue;
use switchboard_json::{FromMembers, deserialize_members};

use crate::members::push_member;

/// A parsed `_meta`. A member of the wrong type is an error, not treated as absent.
#[derive(Default)]
pub(crate) struct RawMeta<'a> {
    pub(crate) progress_token: Option<&'a RawValue>,
    pub(crate) protocol_version: Option<String>,
    pub(crate) client_capabilities: Option<&'a RawValue>,
    pub(crate) client_info: Option<&'a RawValue>,
    pub(crate) log_level: Option<String>,
    /// Members to forward unchanged, as JSON text without braces.
    pub(crate) others: String,
}

impl<'de: 'a, 'a> Deserialize<'de> for RawMeta<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from)
    }
}

impl<'de: 'a, 'a> FromMembers<'de> for RawMeta<'a> {
    fn read_member<A: MapAccess<'de>>(
        &mut self,
        name: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match &*name {
            "progressToken" => {
                set_once(&mut self.progress_token, map)?;
                if self.progress_token.is_some_and(|token| !is_progress_token(token.get())) {
                    return Err(A::Error::custom(
                        "`progressToken` is neither a string nor a number",
                    ));
                }
            }
            "io.modelcontextprotocol/protocolVersion" => set_once(&mut self.protocol_version, map)?,
            "io.modelcontextprotocol/clientCapabilities" => {
                set_once(&mut self.client_capabilities, map)?;
            }
            "io.modelcontextprotocol/clientInfo" => set_once(&mut self.client_info, map)?,
            "io.modelcontextprotocol/logLevel" => set_once(&mut self.log_level, map)?,
            // Must be consumed, or the next member could not be read.
            name if is_reserved(name) => {
                map.next_value::<IgnoredAny>()?;
            }
            name => push_member(&mut self.others, name, map.next_value::<&RawValue>()?.get()),
        }
        Ok(())
    }
}

fn is_progress_token(text: &str) -> bool {
    text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

fn set_once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    member: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    if member.is_some() {
        return Err(A::Error::custom("a member of `_meta` appears twice"));
    }
    *member = map.next_value()?;
    Ok(())
}

/// Returns whether the protocol reserves this name. Reserved members apply to one hop: the gateway
/// sends its own to the server.
fn is_reserved(name: &str) -> bool {
    let Some((prefix, _)) = name.split_once('/') else { return false };
    let ours = |label: &str| matches!(label, "modelcontextprotocol" | "mcp");
    // Revisions differ on which of the first two labels is the protocol's: `mcp.dev/`, `dev.mcp/`.
    prefix.split('.').take(2).any(ours)
}

#[cfg(test)]
mod tests {
    use super::RawMeta;

    #[test]
    fn what_is_not_ours_stays_as_it_is_and_what_is_reserved_stays_here() {
        for (text, others) in [
            ("{}", ""),
            (r#"{"progressToken":1,"io.modelcontextprotocol/logLevel":"info"}"#, ""),
            (
                r#"{"traceparent":"00-a","progressToken":7,"a.example/x":{"n": 1e400,"z":1.10}}"#,
                r#""traceparent":"00-a","a.example/x":{"n": 1e400,"z":1.10}"#,
            ),
            (r#"{"a\u0022b":null,"a":1,"a":2}"#, r#""a\"b":null,"a":1,"a":2"#),
            (
                r#"{"io.modelcontextprotocol/new":1,"dev.mcp/x":1,"mcp.io/x":1,"mcp":2}"#,
                r#""mcp":2"#,
            ),
        ] {
            let read: RawMeta<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(read.others, others, "{text}");
        }
    }

    #[test]
    fn what_is_ours_has_its_type_and_comes_once() {
        for odd in [
            "[]",
            r#"{"io.modelcontextprotocol/logLevel":7}"#,
            r#"{"progressToken":1,"progressToken":2}"#,
            r#"{"progressToken":{}}"#,
            r#"{"progressToken":[1]}"#,
            r#"{"progressToken":true}"#,
        ] {
            assert!(serde_json::from_str::<RawMeta<'_>>(odd).is_err(), "{odd}");
        }
        for token in ["7", "-1", "1.5", "123456789012345678901234567890", r#""a""#, r#""""#] {
            let text = format!(r#"{{"progressToken":{token}}}"#);
            let read: RawMeta<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(read.progress_token.map(serde_json::value::RawValue::get), Some(token));
        }
        let none = r#"{"progressToken":null,"io.modelcontextprotocol/clientInfo":null}"#;
        let read: RawMeta<'_> = serde_json::from_str(none).unwrap();
        assert!(read.progress_token.is_none() && read.client_info.is_none());
    }
}
