//! The filesystem server: files are written and read, but none outside its folder.

use serde_json::json;

use crate::switchboard::{Switchboard, result_text};
use crate::testenv;
use crate::transcript::transcript;

const TOOLS: [&str; 14] = [
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "write_file",
    "edit_file",
    "create_directory",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "move_file",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
];

#[test]
fn filesystem_writes_and_reads_files_of_its_folder_only() {
    let switchboard = Switchboard::new();
    let folder = switchboard.path("files");
    std::fs::create_dir(&folder).unwrap();
    switchboard.configure(&json!({"files": testenv::filesystem(&folder)}));
    assert_eq!(switchboard.status("files"), ["ready", "2025-11-25"]);
    assert_eq!(switchboard.tools("files"), TOOLS);
    switchboard.check_shown("files", "write_file", "content");

    let path = format!("path={}", switchboard.text_path("files/note.txt"));
    let written = switchboard.call(&["files", "write_file", &path, "content=two\nlines"], 0);
    assert!(result_text(&written).starts_with("Successfully wrote to "), "{written}");
    assert_eq!(std::fs::read_to_string(folder.join("note.txt")).unwrap(), "two\nlines");
    let read = switchboard.call(&["files", "read_text_file", &path], 0);
    assert_eq!(read["result"]["structuredContent"], json!({"content": "two\nlines"}));

    let outside = switchboard.write("secret.txt", "secret");
    let outside = format!("path={}", outside.display());
    let refused = switchboard.run(&["call", "files", "read_text_file", &outside]).expect(1);
    assert!(refused.stdout.starts_with("Access denied - path outside allowed"), "{refused:?}");

    let missing = switchboard.run(&["call", "files", "write_file", &path]).expect(2);
    insta::assert_snapshot!(transcript(&missing), @"
    exit status 2
    --- stderr
    error: the arguments for `files/write_file` do not fit: `/content` is required but missing
    hint: `switchboard tools show files write_file` shows its arguments
    ");
    let unknown = switchboard.run(&["call", "files", "write_fil", &path]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: server `files` lists no tool `write_fil`
    hint: did you mean `write_file`?
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool files/write_file: ok",
            "tool files/read_text_file: ok",
            "tool files/read_text_file: tool_error",
            "tool files/write_file: not_sent (bad_arguments)",
            "tool files/write_fil: not_sent (not_listed)",
        ]
    );
}
