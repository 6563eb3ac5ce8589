//! Edits change the requested entry and no other byte of the file.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::json;

use super::*;

struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn scratch(text: Option<&str>) -> Scratch {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    Scratch { _folder: folder, path }
}

impl Scratch {
    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }
}

const COMMENTED: &str = r#"{
  // my servers
  "mcpServers": {
    "a": { "command": "a" }, // about a
    /* about b */
    "b": {
      "command": "b", // why b
      "vendor": [1,2]
    },

    // about c
    "c": { "url": "http://c" }
  },
  "other": { "x" : 1 }
}
"#;

#[test]
fn a_server_is_added_at_the_end() {
    let file = scratch(Some(COMMENTED));
    let entry = json!({"args": ["-y"], "command": "d", "env": {"B": "1", "A": "${B}"}});
    add_server(&file.path, "d", &entry, Replace::Refuse).unwrap();
    let expected = COMMENTED.replace(
        "\"c\": { \"url\": \"http://c\" }\n",
        r#""c": { "url": "http://c" },
    "d": {
      "command": "d",
      "args": ["-y"],
      "env": {
        "A": "${B}",
        "B": "1"
      }
    }
"#,
    );
    assert_eq!(file.text(), expected);
}

#[test]
fn the_file_is_made_when_missing_or_empty() {
    let expected =
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}\n";
    for text in [None, Some("")] {
        let file = scratch(text);
        add_server(&file.path, "a", &json!({"command": "a"}), Replace::Refuse).unwrap();
        assert_eq!(file.text(), expected);
    }
}

#[test]
fn a_server_is_replaced_only_when_asked() {
    let file = scratch(Some(COMMENTED));
    let entry = json!({"url": "http://new"});
    let error = add_server(&file.path, "c", &entry, Replace::Refuse).unwrap_err();
    assert_eq!(&*error.message, "a server with this name already exists");
    assert_eq!(file.text(), COMMENTED);
    add_server(&file.path, "c", &entry, Replace::Allow).unwrap();
    let expected =
        COMMENTED.replace("{ \"url\": \"http://c\" }", "{\n      \"url\": \"http://new\"\n    }");
    assert_eq!(file.text(), expected);
}

#[test]
fn a_server_is_removed_with_the_comment_on_its_line() {
    let file = scratch(Some(COMMENTED));
    remove_server(&file.path, "a").unwrap();
    let without_a = COMMENTED.replace("    \"a\": { \"command\": \"a\" }, // about a\n", "");
    assert_eq!(file.text(), without_a);
    let error = remove_server(&file.path, "a").unwrap_err();
    assert_eq!(&*error.message, "no server named `a`");
    assert_eq!(file.text(), without_a);
}

#[test]
fn a_server_is_disabled_and_enabled_in_place() {
    let file = scratch(Some(COMMENTED));
    enable_server(&file.path, "b").unwrap();
    assert_eq!(file.text(), COMMENTED);
    disable_server(&file.path, "b").unwrap();
    let disabled =
        COMMENTED.replace("\"vendor\": [1,2]\n", "\"vendor\": [1,2],\n      \"disabled\": true\n");
    assert_eq!(file.text(), disabled);
    enable_server(&file.path, "b").unwrap();
    assert_eq!(file.text(), disabled.replace("\"disabled\": true", "\"disabled\": false"));
}

#[test]
fn a_tool_is_listed_once_whatever_the_list_is_called() {
    let file = scratch(Some(r#"{"mcpServers": {"a": {"command": "a", "alwaysAllow": ["x"]}}}"#));
    add_auto_approve(&file.path, "a", "x").unwrap();
    for _ in 0..2 {
        add_auto_approve(&file.path, "a", "y").unwrap();
        add_auto_approve(&file.path, "a", "${z}").unwrap();
    }
    let text: serde_json::Value = serde_json::from_str(&file.text()).unwrap();
    let entry = json!({"command": "a", "alwaysAllow": ["x"], "autoApprove": ["y", "$${z}"]});
    assert_eq!(text, json!({"mcpServers": {"a": entry}}));
}

#[test]
fn the_builtin_server_gets_an_entry_when_it_is_changed() {
    let file = scratch(None);
    disable_server(&file.path, "builtin").unwrap();
    add_auto_approve(&file.path, "builtin", "read").unwrap();
    let text: serde_json::Value = serde_json::from_str(&file.text()).unwrap();
    let entry = json!({"disabled": true, "autoApprove": ["read"]});
    assert_eq!(text, json!({"mcpServers": {"builtin": entry}}));
}

#[test]
fn what_would_be_wrong_is_not_written() {
    let cases = [
        ("", json!({"command": "a"}), "a server name cannot be empty"),
        (
            "x",
            json!({"command": "a", "timeout": 0}),
            "`timeout` must be a number from 1 to 3600 seconds, not 0",
        ),
        (
            "x",
            json!({"command": "a", "timeout": "60"}),
            "`timeout` must be a number from 1 to 3600 seconds, not a string",
        ),
        (
            "x",
            json!({"command": "a", "tools": {"t": {"timeout": 4000}}}),
            "`tools.t.timeout` must be a number from 1 to 3600 seconds, not 4000",
        ),
        ("x", json!({"command": "a", "url": "http://b"}), "has both `command` and `url`"),
        ("x", json!({}), "has neither `command` nor `url`"),
        ("x", json!({"url": "nonsense"}), "`url` has no `http://` or `https://`"),
        ("x", json!([]), "the entry must be an object, not a list"),
    ];
    for (name, entry, message) in cases {
        let file = scratch(None);
        let error = add_server(&file.path, name, &entry, Replace::Allow).unwrap_err();
        assert_eq!(&*error.message, message);
        assert!(!file.path.exists());
    }
}

#[test]
fn variables_that_are_not_set_here_can_be_written() {
    let file = scratch(None);
    let entries = [
        json!({"url": "${BASE}/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}),
        json!({"command": "${workspaceFolder}/run", "envFile": "not-there.env"}),
    ];
    for entry in entries {
        add_server(&file.path, "x", &entry, Replace::Allow).unwrap();
        let text: serde_json::Value = serde_json::from_str(&file.text()).unwrap();
        assert_eq!(text, json!({"mcpServers": {"x": entry}}));
    }
}

#[test]
fn a_broken_file_is_left_alone() {
    let cases = [
        ("{\"mcpServers\": {", "unterminated object"),
        ("[]", "the file must be an object, not a list"),
        (r#"{"mcpServers": {"a": {}, "a": {}}}"#, "the file has two servers of this name"),
        (r#"{"mcpServers": []}"#, "`mcpServers` must be an object, not a list"),
        (r#"{"mcpServers": {"a": 3}}"#, "the entry must be an object"),
    ];
    for (text, message) in cases {
        let file = scratch(Some(text));
        let error = disable_server(&file.path, "a").unwrap_err();
        assert_eq!((&*error.message, file.text().as_str()), (message, text));
    }
}

#[derive(Debug, Clone)]
enum Edit {
    Add(String, Replace),
    Remove(String),
    Disable(String, bool),
    Approve(String, String),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let name =
        || proptest::sample::select(vec!["t1", "t2", "t3", "n1", "n2"]).prop_map(str::to_owned);
    let replace = prop_oneof![Just(Replace::Refuse), Just(Replace::Allow)];
    let edit = prop_oneof![
        (name(), replace).prop_map(|(name, replace)| Edit::Add(name, replace)),
        name().prop_map(Edit::Remove),
        (name(), any::<bool>()).prop_map(|(name, disabled)| Edit::Disable(name, disabled)),
        (name(), "[a-c]").prop_map(|(name, tool)| Edit::Approve(name, tool)),
    ];
    proptest::collection::vec(edit, 1..12)
}

fn run<'e>(path: &Path, edit: &'e Edit) -> (Result<(), ConfigError>, &'e str) {
    match edit {
        Edit::Add(name, replace) => {
            (add_server(path, name, &json!({"command": "new"}), *replace), name)
        }
        Edit::Remove(name) => (remove_server(path, name), name),
        Edit::Disable(name, true) => (disable_server(path, name), name),
        Edit::Disable(name, false) => (enable_server(path, name), name),
        Edit::Approve(name, tool) => (add_auto_approve(path, name, tool), name),
    }
}

/// Generates a part of a file that no edit may touch: comments, then an entry in any layout.
fn untouched_piece() -> impl Strategy<Value = String> {
    let entry = proptest::sample::select(vec![
        r#"{}"#,
        r#"{"command":"x","odd" :[ 1,2 , ],}"#,
        "{ // inside\n\n  \"command\" : \"x\", /* why */\n\t\"env\": {\n\"A\": \"\\u0041\"}\n}",
        "{\r\n\"url\": \"http://x\"\r\n// end\r\n}",
        "3",
        "[ ]",
    ]);
    let comment = proptest::sample::select(vec!["", "// one\n", "/* two */\n", "// a\n\n  // b\n"]);
    (comment, entry).prop_map(|(comment, entry)| format!("{comment}KEY: {entry}"))
}

/// Generates a file with entries to edit (`t1`...) between entries to keep (`k0`...).
fn files() -> impl Strategy<Value = (String, Vec<String>)> {
    let layout = (
        any::<bool>(),
        any::<bool>(),
        proptest::sample::select(vec!["\n", "\n    ", " \n\n ", " "]),
    );
    (proptest::collection::vec(untouched_piece(), 0..4), layout).prop_map(|(kept, (trailing, one_line, gap))| {
        let kept: Vec<String> = kept
            .iter()
            .enumerate()
            .map(|(index, piece)| piece.replace("KEY", &format!("\"k{index}\"")))
            .collect();
        let mut members = Vec::new();
        for (index, piece) in kept.iter().enumerate() {
            // A comment on the same line as an entry belongs to that entry, so these comments start
            // a line.
            let line = if piece.starts_with('/') && !gap.contains('\n') { "\n" } else { "" };
            members.push(format!("{line}{piece}"));
            let entry = if one_line { r#"{"command": "t"}"# } else { "{\n\"command\": \"t\"\n}" };
            members.push(format!("\"t{}\": {entry}", index + 1));
        }
        let end = if trailing && !members.is_empty() { "," } else { "" };
        let members = members.join(&format!(",{gap}"));
        let text = format!(
            "// top\n{{{gap}\"mcpServers\": {{{gap}{members}{end}\n// last\n}},\"more\" : [ 1 ]\n}}\n// end\n"
        );
        (text, kept)
    })
}

/// Serializes a value with white space or a numbered comment between all of its tokens.
struct GapWriter {
    gaps: Vec<&'static str>,
    next: usize,
    comments: usize,
}

impl GapWriter {
    fn gap(&mut self) -> String {
        let gap = self.gaps[self.next % self.gaps.len()];
        self.next += 1;
        if gap.contains('#') {
            self.comments += 1;
        }
        gap.replace('#', &format!("<{}>", self.comments))
    }

    fn text(&mut self, value: &serde_json::Value) -> String {
        let (open, parts, close) = match value {
            serde_json::Value::Array(values) => {
                ('[', values.iter().map(|value| self.text(value)).collect::<Vec<_>>(), ']')
            }
            serde_json::Value::Object(map) => {
                let member = |(name, value): (&String, &serde_json::Value)| {
                    format!("{}{}:{}", json!(name), self.gap(), self.text(value))
                };
                ('{', map.iter().map(member).collect(), '}')
            }
            plain => return format!("{}{plain}{}", self.gap(), self.gap()),
        };
        let comma = if self.next.is_multiple_of(2) && !parts.is_empty() { "," } else { "" };
        let parts: Vec<_> =
            parts.into_iter().map(|part| format!("{}{part}{}", self.gap(), self.gap())).collect();
        let end = self.gap();
        format!("{}{open}{}{comma}{end}{close}{}", self.gap(), parts.join(","), self.gap())
    }
}

/// Generates unusual but valid files, with the number of comments in them.
fn odd_files() -> impl Strategy<Value = (String, usize)> {
    let entries = [
        json!({}),
        json!({"command": "x", "autoApprove": ["a"], "disabled": false}),
        json!({"url": "http://x", "autoApprove": [], "o": {"p": [[], {}]}}),
        json!(null),
    ];
    let entry = proptest::sample::select(entries.to_vec());
    let gaps =
        vec!["", " ", "\n", "\r\n", "\t", "/*#*/", "//#\n", "\n\n  ", "/*#\n*/", " //#\r\n "];
    let gaps = proptest::collection::vec(proptest::sample::select(gaps), 1..12);
    let servers = proptest::collection::btree_map("t[1-4]", entry, 0..4);
    (servers, gaps, 0..3).prop_map(|(servers, gaps, top)| {
        let value = match top {
            0 => json!({"mcpServers": servers, "z": 1}),
            1 => json!({"a": [], "mcpServers": servers}),
            _ => json!({"a": {}}),
        };
        let mut writer = GapWriter { gaps, next: 0, comments: 0 };
        (writer.text(&value), writer.comments)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_edited_everything_else_stays_byte_for_byte((text, kept) in files(), edits in edits()) {
        let file = scratch(Some(&text));
        for edit in &edits {
            let before = file.text();
            let (result, name) = run(&file.path, edit);
            let after = file.text();
            match result {
                Err(error) => {
                    let expected = ["no server named", "a server with"];
                    prop_assert!(expected.iter().any(|e| error.message.starts_with(e)), "{error}\n{before}");
                    prop_assert_eq!(&before, &after);
                }
                Ok(()) => prop_assert_eq!(other_content(&before, name), other_content(&after, name)),
            }
            for piece in kept.iter().map(String::as_str).chain(["// top\n", "\"more\" : [ 1 ]", "// last\n", "\n// end\n"]) {
                prop_assert!(after.contains(piece), "{edit:?} lost {piece:?}:\n{before}\n---\n{after}");
            }
        }
    }

    #[test]
    fn odd_files_are_edited_or_left_alone((text, comments) in odd_files(), edits in edits()) {
        let file = scratch(Some(&text));
        let mut removed = false;
        for edit in &edits {
            let before = file.text();
            removed |= matches!(edit, Edit::Remove(_) | Edit::Add(_, Replace::Allow));
            let (result, name) = run(&file.path, edit);
            let after = file.text();
            match result {
                Err(error) => {
                    let expected = ["no server named", "a server with", "the entry must be"];
                    prop_assert!(expected.iter().any(|e| error.message.starts_with(e)), "{edit:?} {error}\n{before}");
                    prop_assert_eq!(&before, &after);
                }
                Ok(()) => prop_assert_eq!(other_content(&before, name), other_content(&after, name)),
            }
            if !removed {
                for number in 1..=comments {
                    prop_assert!(after.contains(&format!("<{number}>")), "{edit:?} lost {number}:\n{before}\n---\n{after}");
                }
            }
        }
    }
}
