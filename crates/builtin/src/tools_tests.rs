//! Tests the result of each tool for valid arguments, and its message for invalid ones.

use serde_json::{Value, json};

use crate::server::Builtin;
use crate::test_folder::{TestFolder, call, clock, error_text, result_text, structured_content};

fn bare() -> Builtin {
    Builtin::new(Vec::new(), clock)
}

#[tokio::test]
async fn echo_gives_back_what_it_got() {
    for (arguments, expected) in [
        (json!({ "text": "hi" }), "hi"),
        (json!({ "text": "", "times": 1 }), ""),
        (json!({ "text": "名\u{0}", "times": 3 }), "名\u{0}\n名\u{0}\n名\u{0}"),
    ] {
        let expected =
            json!({ "content": [{ "type": "text", "text": expected }], "isError": false });
        assert_eq!(call(&bare(), "echo", arguments).await, expected);
    }
}

async fn names_the_parameter(server: &Builtin, tool: &str, arguments: Value, expected: &str) {
    let result = call(server, tool, arguments.clone()).await;
    assert_eq!(error_text(&result), expected, "{tool} {arguments}");
    assert_eq!(result.get("structuredContent"), None);
}

#[tokio::test]
async fn wrong_arguments_name_the_parameter() {
    let server = bare();
    let long = "x".repeat(10_000);
    for (tool, arguments, expected) in [
        ("echo", json!({}), "parameter `text` is required and must be a string"),
        ("echo", json!({ "text": null }), "parameter `text` is required and must be a string"),
        ("echo", json!({ "text": 5 }), "parameter `text` must be a string, not `5`"),
        (
            "echo",
            json!({ "text": "a", "times": 0 }),
            "parameter `times` must be a whole number from 1 to 100, not `0`",
        ),
        (
            "echo",
            json!({ "text": "a", "tmies": 2 }),
            "parameter `tmies` is unknown\nhint: this tool takes `text`, `times`",
        ),
        (
            "echo",
            json!({ "text": long, "times": 100 }),
            "parameter `text` repeated 100 times is longer than 262144 bytes\n\
             hint: shorten `text` or lower `times`",
        ),
        (
            "time_now",
            json!({ "timezone": ["UTC"] }),
            "parameter `timezone` must be a string, not a list",
        ),
        (
            "time_now",
            json!({ "timezone": "Europe/Berlim" }),
            "parameter `timezone` is not a known time zone: `Europe/Berlim`\n\
             hint: did you mean `Europe/Berlin`?",
        ),
        (
            "time_convert",
            json!({ "time": "12:00" }),
            "parameter `to` is required and must be a string",
        ),
        (
            "time_convert",
            json!({ "time": "noon", "to": "UTC" }),
            "parameter `time` is not understood: `noon`\n\
             hint: write `15:30`, `2026-03-01 15:30` or `2026-03-01T15:30:00+01:00`",
        ),
    ] {
        names_the_parameter(&server, tool, arguments, expected).await;
    }
}

#[tokio::test]
async fn wrong_arguments_of_the_file_tools_name_the_parameter_or_the_path() {
    let folder = TestFolder::new();
    let server = folder.server();
    for (tool, arguments, expected) in [
        (
            "files_list",
            json!({ "depth": 9 }),
            "parameter `depth` must be a whole number from 1 to 8, not `9`",
        ),
        (
            "files_list",
            json!({ "hidden": "yes" }),
            "parameter `hidden` must be true or false, not `\"yes\"`",
        ),
        (
            "files_list",
            json!({ "path": "hello.txt" }),
            "`hello.txt` is not a folder\nhint: read it with `files_read` if it is a file",
        ),
        (
            "files_read",
            json!({ "path": "sub" }),
            "`sub` is a folder\nhint: list it with `files_list`, or name a file in it",
        ),
        (
            "files_read",
            json!({ "path": "" }),
            "`` is a folder\nhint: list it with `files_list`, or name a file in it",
        ),
        (
            "files_read",
            json!({ "path": "absent" }),
            "`absent` does not exist\nhint: list the folder with `files_list`",
        ),
        (
            "files_read",
            json!({ "path": "hello.txt", "offset": 5 }),
            "parameter `offset` is past the end; the file has 3 lines",
        ),
        (
            "files_read",
            json!({ "path": "hello.txt", "limit": -1 }),
            "parameter `limit` must be a whole number from 1 to 10000, not `-1`",
        ),
        ("files_search", json!({ "pattern": "" }), "parameter `pattern` must have 1 to 1000 bytes"),
        (
            "files_search",
            json!({ "pattern": "a\nb" }),
            "parameter `pattern` contains a line break\nhint: lines are searched one by one",
        ),
        (
            "files_search",
            json!({ "pattern": "a", "glob": "{" }),
            "parameter `glob` has an unclosed `{`",
        ),
    ] {
        names_the_parameter(&server, tool, arguments, expected).await;
    }
}

#[tokio::test]
async fn folders_are_listed_as_deep_as_asked() {
    let folder = TestFolder::new();
    let server = folder.server();
    for (arguments, expected) in [
        (
            json!({}),
            &[
                "%2e%2e (18 bytes)",
                "data.bin (13 bytes)",
                "dot.png (12 bytes)",
                "empty.txt (0 bytes)",
                "hello.txt (21 bytes)",
                "naïve 名.txt (15 bytes)",
                "node_modules/",
                "sub/",
                "target/",
            ][..],
        ),
        (json!({ "path": "sub" }), &["sub/code.rs (15 bytes)", "sub/deep/"]),
        (
            json!({ "path": "./sub/../sub/", "depth": 2 }),
            &["sub/code.rs (15 bytes)", "sub/deep/", "sub/deep/note.md (21 bytes)"],
        ),
        (json!({ "path": "target" }), &["target/out.txt (14 bytes)"]),
        (json!({ "path": ".git", "depth": 8 }), &[".git/config (11 bytes)"]),
    ] {
        let result = call(&server, "files_list", arguments.clone()).await;
        assert_eq!(result_text(&result).lines().collect::<Vec<_>>(), expected, "{arguments}");
    }
    let result = call(&server, "files_list", json!({ "path": "sub" })).await;
    let expected = json!({ "complete": true, "entries": [
        { "path": "sub/code.rs", "kind": "file", "size": 15 },
        { "path": "sub/deep", "kind": "folder" }
    ] });
    assert_eq!(structured_content(&result), expected);
    let deep = call(&server, "files_list", json!({ "depth": 8, "hidden": true })).await;
    let lines = result_text(&deep);
    assert!(lines.contains("\n.hidden (14 bytes)\n") && lines.contains(".git/"), "{lines}");
    assert!(!lines.contains(".git/config") && !lines.contains("target/out.txt"), "{lines}");
}

#[tokio::test]
async fn several_roots_are_told_apart_by_full_paths() {
    let folder = TestFolder::new();
    let outside = folder.parent.join("outside");
    let absent = folder.parent.join("absent");
    let roots = vec![folder.shared.clone(), absent, outside.clone(), folder.shared.clone()];
    let server = Builtin::new(roots, clock);
    assert_eq!(server.roots().collect::<Vec<_>>(), [&folder.shared, &outside]);
    let listed = result_text(&call(&server, "files_list", json!({})).await);
    let expected = format!("{} (18 bytes)", outside.join("secret.txt").display());
    assert!(listed.lines().any(|line| line == expected), "{listed}");
    // A relative path is resolved in each root.
    for path in ["secret.txt", "hello.txt"] {
        let result = call(&server, "files_read", json!({ "path": path })).await;
        assert_eq!(result["isError"], json!(false), "{path}");
    }
}

#[tokio::test]
async fn without_folders_the_file_tools_say_so() {
    for (tool, arguments) in [
        ("files_list", json!({})),
        ("files_read", json!({ "path": "/etc/passwd" })),
        ("files_read", json!({ "path": "Cargo.toml" })),
        ("files_search", json!({ "pattern": "root" })),
    ] {
        let result = call(&bare(), tool, arguments).await;
        assert!(error_text(&result).contains("no folder is shared"), "{tool}");
    }
}

#[tokio::test]
async fn files_are_read_by_lines() {
    let folder = TestFolder::new();
    folder.write("mark.txt", "\u{feff}first\r\nsecond");
    folder.write("latin.txt", b"caf\xe9\n");
    let text = |text: &str| json!({ "type": "text", "text": text });
    let server = folder.server();
    for (arguments, expected) in [
        (json!({ "path": "hello.txt" }), vec![text("one\ntwo Needle\nthree\n")]),
        (json!({ "path": "hello.txt", "limit": 3 }), vec![text("one\ntwo Needle\nthree\n")]),
        (
            json!({ "path": "hello.txt", "limit": 1 }),
            vec![text("one\n"), text("Lines 1 to 1; there are more. Continue with `offset` 2.")],
        ),
        (
            json!({ "path": "hello.txt", "offset": 2, "limit": 1 }),
            vec![
                text("two Needle\n"),
                text("Lines 2 to 2; there are more. Continue with `offset` 3."),
            ],
        ),
        (
            json!({ "path": "hello.txt", "offset": 3 }),
            vec![text("three\n"), text("Lines 3 to 3; the file ends here.")],
        ),
        (json!({ "path": "empty.txt" }), vec![text(""), text("The file is empty.")]),
        (json!({ "path": "mark.txt" }), vec![text("first\r\nsecond")]),
        (json!({ "path": "latin.txt" }), vec![text("caf\u{fffd}\n")]),
        (json!({ "path": folder.shared.join("naïve 名.txt") }), vec![text("unicode needle\n")]),
        (
            json!({ "path": "data.bin" }),
            vec![text(
                "`data.bin` is not plain text (binary, 13 bytes), so its content is not shown.",
            )],
        ),
        (
            json!({ "path": "dot.png" }),
            vec![
                json!({ "type": "image", "data": "iVBORw0KGgpyZXN0", "mimeType": "image/png" }),
                text("`dot.png`: image/png, 12 bytes"),
            ],
        ),
    ] {
        let expected = json!({ "content": expected, "isError": false });
        assert_eq!(call(&server, "files_read", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn following_the_notes_reads_the_whole_file() {
    let folder = TestFolder::new();
    let whole: String = (0..40_000).map(|number| format!("line {number}\n")).collect();
    folder.write("long.txt", &whole);
    let server = folder.server();
    let mut together = String::new();
    let mut offset = Some(1_u64);
    for _ in 0..100 {
        let Some(from) = offset else { break };
        let arguments = json!({ "path": "long.txt", "offset": from, "limit": 10_000 });
        let result = call(&server, "files_read", arguments).await;
        together.push_str(result["content"][0]["text"].as_str().unwrap());
        let note = result["content"][1]["text"].as_str().unwrap().to_owned();
        offset = note
            .split_once("`offset` ")
            .map(|(_, next)| next.trim_end_matches('.').parse().unwrap());
    }
    assert_eq!((together == whole, offset), (true, None));
}

#[tokio::test]
async fn lines_are_found_where_they_are() {
    let folder = TestFolder::new();
    folder.write("Grüße.txt", "ÄPFEL und Birnen\n");
    folder.write("wide.txt", format!("{}needle{}", "<".repeat(500), ">".repeat(500)));
    let server = folder.server();
    let hit =
        |path: &str, line: u64, text: &str| json!({ "path": path, "line": line, "text": text });
    for (arguments, expected) in [
        (json!({ "pattern": "Needle" }), vec![hit("hello.txt", 2, "two Needle")]),
        (
            json!({ "pattern": "needle", "path": "sub" }),
            vec![
                hit("sub/code.rs", 1, "fn needle() {}"),
                hit("sub/deep/note.md", 2, "a needle here"),
            ],
        ),
        (
            json!({ "pattern": "NEEDLE", "path": "sub", "ignore_case": true, "glob": "*.md" }),
            vec![hit("sub/deep/note.md", 2, "a needle here")],
        ),
        (
            json!({ "pattern": "needle", "glob": "sub/**/*.{md,rs}", "limit": 1 }),
            vec![hit("sub/code.rs", 1, "fn needle() {}")],
        ),
        (
            json!({ "pattern": "needle", "path": "sub", "glob": "deep/*" }),
            vec![hit("sub/deep/note.md", 2, "a needle here")],
        ),
        (
            json!({ "pattern": "äpfel", "ignore_case": true }),
            vec![hit("Grüße.txt", 1, "ÄPFEL und Birnen")],
        ),
        (
            json!({ "pattern": "needle", "path": "hello.txt", "ignore_case": true }),
            vec![hit("hello.txt", 2, "two Needle")],
        ),
        (
            json!({ "pattern": "needle", "path": "target" }),
            vec![hit("target/out.txt", 1, "target needle")],
        ),
        (
            json!({ "pattern": "needle", "path": "wide.txt" }),
            vec![hit("wide.txt", 1, &format!("…{}needle{}…", "<".repeat(80), ">".repeat(154)))],
        ),
        (json!({ "pattern": ".*" }), vec![]),
        (json!({ "pattern": "needle", "path": "data.bin" }), vec![]),
    ] {
        let found = structured_content(&call(&server, "files_search", arguments.clone()).await);
        assert_eq!(found["matches"], Value::Array(expected), "{arguments}");
    }
}

#[tokio::test]
async fn a_search_of_everything_says_what_it_passed_over() {
    let folder = TestFolder::new();
    let server = folder.server();
    let result = call(&server, "files_search", json!({ "pattern": "needle" })).await;
    let expected = ".hidden:1: hidden needle\n\
        naïve 名.txt:1: unicode needle\n\
        sub/code.rs:1: fn needle() {}\n\
        sub/deep/note.md:2: a needle here\n\
        note: 2 binary files were skipped";
    assert_eq!(result_text(&result), expected);
    let found = structured_content(&result);
    assert_eq!((&found["complete"], &found["files"]), (&json!(true), &json!(7)));
}
