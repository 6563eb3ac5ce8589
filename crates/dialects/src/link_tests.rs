//! Parsing and generation of install links.

use super::*;
use crate::entry::{EntryHttpKind, EntryTransport};
use crate::text::VariableText;

fn example() -> ServerEntry {
    let mut entry =
        ServerEntry::program("my notes & more", "npx", &["-y", "@example/notes", "ä ü+/"]);
    if let EntryTransport::Stdio { env, .. } = &mut entry.reach {
        env.insert("TOKEN".to_owned(), VariableText::variable("TOKEN"));
    }
    entry
}

#[test]
fn a_link_that_is_made_reads_as_the_same_server() {
    for (dialect, made) in [
        (ProductDialect::Cursor, cursor_link(&example())),
        (ProductDialect::Vscode, vscode_link(&example())),
    ] {
        let (Some(link), notes) = made else { panic!("{dialect:?}") };
        assert_eq!(notes, []);
        assert!(is_link(&link), "{link}");
        assert_eq!(read_link(&link), Ok((dialect, example(), Vec::new())), "{link}");
    }
}

#[test]
fn links_in_the_wild_are_read() {
    let address =
        || ServerEntry::address("linear", "https://mcp.linear.example/mcp", EntryHttpKind::Auto);
    let typed = ServerEntry {
        reach: ServerEntry::address(
            "x",
            "https://mcp.linear.example/mcp",
            EntryHttpKind::Streamable,
        )
        .reach,
        ..address()
    };
    let base = "eyJ1cmwiOiJodHRwczovL21jcC5saW5lYXIuZXhhbXBsZS9tY3AifQ";
    let json =
        "%7B%22type%22%3A%22http%22%2C%22url%22%3A%22https%3A%2F%2Fmcp.linear.example%2Fmcp%22";
    let cases = [
        (format!("cursor://anysphere.cursor-deeplink/mcp/install?name=linear&config={base}=="), {
            address()
        }),
        (format!("https://cursor.com/link/mcp/install?config={base}%3D%3D&name=linear"), address()),
        (format!("vscode:mcp/install?{json}%2C%22name%22%3A%22linear%22%7D"), typed.clone()),
        (format!("vscode-insiders:mcp/install?{json}%2C%22name%22%3A%22linear%22%7D"), {
            typed.clone()
        }),
        (format!("https://vscode.dev/redirect/mcp/install?name=linear&config={json}%7D"), typed),
    ];
    for (link, expected) in cases {
        assert_eq!(read_link(&link).map(|(_, entry, _)| entry), Ok(expected), "{link}");
    }
}

#[test]
fn inputs_of_a_link_come_along_and_go_back() {
    let mut entry = example();
    if let EntryTransport::Stdio { env, .. } = &mut entry.reach {
        env.insert("KEY".to_owned(), VariableText::secret("api_key"));
    }
    let link = vscode_link(&entry).0.unwrap();
    let text = percent_decode(link.strip_prefix(VSCODE).unwrap()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["inputs"][0]["id"], "api_key");
    assert_eq!(value["env"]["KEY"], "${input:api_key}");
    assert_eq!(read_link(&link).unwrap().1, entry);
}

#[test]
fn what_is_no_link_is_refused_with_a_reason() {
    let start = "cursor://anysphere.cursor-deeplink/mcp/install?";
    let cases = [
        ("https://example.com/".to_owned(), LinkError::Unknown),
        (format!("{start}config=e30"), LinkError::Missing("name")),
        (format!("{start}name=a"), LinkError::Missing("config")),
        (format!("{start}name=a&config=%%%"), LinkError::Garbled("config")),
        (format!("{start}name=a&config=W10"), LinkError::Garbled("config")),
        (format!("{start}name=a&config=e30"), {
            LinkError::NoServer("has neither a command nor a URL".to_owned())
        }),
        ("vscode:mcp/install?%7B%7D".to_owned(), LinkError::Missing("name")),
        (format!("{start}{}", "a".repeat(70_000)), LinkError::TooLong),
    ];
    for (link, expected) in cases {
        assert_eq!(read_link(&link), Err(expected), "{}", link.get(..40.min(link.len())).unwrap());
    }
}
