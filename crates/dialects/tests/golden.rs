//! Every dialect reads and writes a typical file of its product; `golden/DIALECT` has the file
//! before, the entries read from it, and the file with four servers written into it.
#![expect(
    clippy::unwrap_used,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use switchboard_dialects::{
    FileSection, Location, Note, OperatingSystem, ProductDialect, ServerEntry, UserFolders,
};

fn folder(dialect: ProductDialect) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(dialect.id())
}

fn ending(dialect: ProductDialect) -> &'static str {
    match dialect {
        ProductDialect::Codex => "toml",
        ProductDialect::Goose => "yaml",
        _ => "json",
    }
}

fn before(dialect: ProductDialect) -> String {
    std::fs::read_to_string(folder(dialect).join(format!("before.{}", ending(dialect)))).unwrap()
}

/// Compares with a file of the repository; `UPDATE_GOLDEN=1` rewrites it for review.
fn check(dialect: ProductDialect, name: &str, text: &str) {
    let path = folder(dialect).join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{} is not\n{text}", path.display());
}

fn lines(notes: &[Note]) -> Value {
    let line = |note: &Note| json!(format!("{:?}: {note}", note.weight));
    Value::Array(notes.iter().map(line).collect())
}

/// Returns servers that cover most features of an entry.
fn four() -> Vec<ServerEntry> {
    let ours = [
        (
            "files",
            json!({
                "command": "npx",
                "args": ["-y", "server-files", "${userHome}/notes"],
                "env": {"LEVEL": "3", "TOKEN": "${keyring:TOKEN}", "ZONE": "${ZONE}"},
                "cwd": "/srv",
                "timeout": 90,
                "autoApprove": ["list", "read"],
                "foreign": {"deniedTools": ["write"], "startupTimeout": 2.5}
            }),
        ),
        (
            "issues",
            json!({
                "type": "http",
                "url": "https://issues.example.com/mcp",
                "headers": {"Authorization": "Bearer ${ISSUES_TOKEN}", "X-Team": "blue"},
                "oauth": {"clientId": "us", "scopes": ["read", "write"]}
            }),
        ),
        ("old one", json!({"type": "sse", "url": "https://old.example.com/${env:PART}/sse"})),
        ("off", json!({"command": "off", "disabled": true})),
    ];
    ours.iter().map(|(name, value)| ServerEntry::from_ours(name, value).unwrap().0).collect()
}

#[test]
fn what_is_in_a_file_is_read_and_the_bad_does_not_hide_the_good() {
    for dialect in ProductDialect::ALL {
        let read = dialect.read(&before(dialect), &FileSection::Top).unwrap();
        let mut servers = Map::new();
        let mut notes = read.notes;
        for entry in &read.entries {
            let (name, value, more) = entry.to_ours();
            servers.insert(name, value);
            notes.extend(more);
        }
        let names: Vec<&str> = read.entries.iter().map(|entry| entry.name.as_str()).collect();
        let shown = json!({"order": names, "servers": servers, "notes": lines(&notes)});
        check(dialect, "read.json", &format!("{shown:#}\n"));
    }
}

#[test]
fn what_was_read_is_written_back_without_a_difference() {
    for dialect in ProductDialect::ALL {
        let text = before(dialect);
        let mut entries = dialect.read(&text, &FileSection::Top).unwrap().entries;
        // Entries that the product cannot express are in its file by mistake, and would be left
        // out.
        entries.retain(|entry| dialect.expressible(entry).0.as_ref() == Some(entry));
        assert!(!entries.is_empty(), "{dialect:?}");
        let written = dialect.write(&text, &FileSection::Top, &entries).unwrap();
        assert_eq!(written.text, text, "{dialect:?}");
    }
}

#[test]
fn servers_are_added_and_the_rest_of_the_file_stays() {
    for dialect in ProductDialect::ALL {
        let written = dialect.write(&before(dialect), &FileSection::Top, &four()).unwrap();
        check(dialect, &format!("after.{}", ending(dialect)), &written.text);
        check(dialect, "after.notes.json", &format!("{:#}\n", lines(&written.notes)));
    }
}

#[test]
fn a_file_that_is_not_there_yet_is_made() {
    for dialect in ProductDialect::ALL {
        let written = dialect.write("", &FileSection::Top, &four()).unwrap();
        check(dialect, &format!("new.{}", ending(dialect)), &written.text);
        let again = dialect.write(&written.text, &FileSection::Top, &four()).unwrap();
        assert_eq!(again.text, written.text, "{dialect:?} writes the same twice");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_not_written() {
    for dialect in ProductDialect::ALL {
        for text in ["{\"a\": ", "[1, 2]", "\u{0}"] {
            assert!(dialect.read(text, &FileSection::Top).is_err(), "{dialect:?} {text:?}");
            assert!(
                dialect.write(text, &FileSection::Top, &four()).is_err(),
                "{dialect:?} {text:?}"
            );
        }
    }
}

#[test]
fn claude_code_keeps_servers_for_single_folders() {
    let text = r#"{"numStartups": 3, "projects": {"/code/app": {"allowedTools": [],
        "mcpServers": {"near": {"type": "stdio", "command": "near"}}}}}"#;
    let section = FileSection::Folder("/code/app".to_owned());
    let read = ProductDialect::ClaudeCode.read(text, &section).unwrap();
    assert_eq!(read.entries, [ServerEntry::program("near", "near", &[])]);
    assert_eq!(ProductDialect::ClaudeCode.read(text, &FileSection::Top).unwrap().entries, []);
    let far = [ServerEntry::program("far", "far", &[])];
    let written = ProductDialect::ClaudeCode.write(text, &section, &far).unwrap();
    let value: Value = serde_json::from_str(&written.text).unwrap();
    assert_eq!(value["numStartups"], 3);
    assert_eq!(
        value["projects"]["/code/app"]["mcpServers"],
        json!({"near": {"type": "stdio", "command": "near"}, "far": {"type": "stdio", "command": "far"}})
    );
}

#[test]
fn every_product_has_its_places_on_every_system() {
    let mut lines = String::new();
    for system in [OperatingSystem::Linux, OperatingSystem::MacOs, OperatingSystem::Windows] {
        let surroundings = UserFolders {
            system,
            home: "/users/ada".into(),
            config: None,
            roaming: Some("/users/ada/Roaming".into()),
            project: Some("/code/app".into()),
            cline_settings: None,
            codex_home: None,
        };
        for dialect in ProductDialect::ALL {
            for Location { scope, file, section } in dialect.locations(&surroundings) {
                let file = file.display().to_string().replace('\\', "/");
                let section = match section {
                    FileSection::Top => String::new(),
                    FileSection::Folder(folder) => format!(" (for {folder})"),
                };
                let line = format!("{system:?} {} {scope:?} {file}{section}\n", dialect.id());
                lines.push_str(&line);
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/places.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    assert_eq!(lines, std::fs::read_to_string(path).unwrap_or_default());
}
