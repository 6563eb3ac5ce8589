//! Attacks on the server: escapes from the shared folders, hangs and oversized output.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Builtin;
use crate::test_folder::{
    SECRET, TestFolder, ask, call, clock, error_text, result_text, structured_content,
};

/// Requests the same path through every method that takes one; returns each answer as text.
async fn through_every_door(server: &Builtin, path: &str) -> Vec<(&'static str, String)> {
    let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let tool = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let doors = [
        ("files_read", "tools/call", tool("files_read", json!({ "path": path }))),
        ("files_list", "tools/call", tool("files_list", json!({ "path": path, "depth": 8 }))),
        (
            "files_search",
            "tools/call",
            tool("files_search", json!({ "path": path, "pattern": "secret" })),
        ),
        ("resource", "resources/read", json!({ "uri": format!("file:///{encoded}") })),
        ("prompt", "prompts/get", tool("summarize_file", json!({ "path": path }))),
    ];
    let mut answers = Vec::new();
    for (door, method, params) in doors {
        let answer = tokio::time::timeout(Duration::from_secs(20), ask(server, method, params));
        let answer = match answer.await.unwrap_or_else(|_| panic!("{door} hangs on {path:?}")) {
            Ok(result) if result["isError"] == json!(true) => result_text(&result),
            Ok(result) => panic!("{door} let {path:?} through: {result}"),
            Err(error) => error.message,
        };
        answers.push((door, answer));
    }
    answers
}

async fn stays_out(server: &Builtin, path: &str, because: &str) {
    for (door, answer) in through_every_door(server, path).await {
        assert!(!answer.contains(SECRET), "{door} shows the secret for {path:?}");
        assert!(answer.contains(because), "{door} on {path:?} says: {answer}");
    }
}

const OUTSIDE: &str = "is not inside the shared folders";

#[tokio::test]
async fn no_spelling_of_a_path_leads_out() {
    let folder = TestFolder::new();
    let server = folder.server();
    let parent = folder.parent.display();
    for path in [
        "..",
        "../secret.txt",
        "../../../../../../../../../../etc/passwd",
        "sub/../../secret.txt",
        "./sub/./../../secret.txt",
        "sub/deep/../../../outside/secret.txt",
        "absent/../../secret.txt",
        "../shared/../secret.txt",
        "../absent",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "/dev/stdin",
        "/dev/zero",
        &format!("{parent}/secret.txt"),
        &format!("{parent}/shared/../secret.txt"),
        &format!("{parent}/shared_evil/secret.txt"),
        &format!("{parent}/shared/sub/../../outside/secret.txt"),
    ] {
        // File URIs are absolute, so only the tools see a relative path as written.
        stays_out(&server, path, OUTSIDE).await;
    }
}

#[tokio::test]
async fn odd_paths_are_refused_and_nothing_panics() {
    let folder = TestFolder::new();
    let server = folder.server();
    let long_name = "n".repeat(300);
    let too_long = "a/".repeat(3000);
    for (path, because) in [
        ("hello.txt\0", "parameter `path` contains a NUL character"),
        ("\0/etc/passwd", "parameter `path` contains a NUL character"),
        (too_long.as_str(), "parameter `path` is longer than 4096 bytes"),
        ("%2e%2e/secret.txt", "`%2e%2e/secret.txt`"),
        ("%2e%2e%2fsecret.txt", "`%2e%2e%2fsecret.txt` does not exist"),
        ("..\\secret.txt", "`..\\secret.txt` does not exist"),
        ("\u{2025}/secret.txt", "does not exist"),
        ("．．/secret.txt", "does not exist"),
        ("~/secret.txt", "does not exist"),
        ("file:///etc/passwd", "does not exist"),
        ("hello.txt/x", "`hello.txt/x` does not exist"),
        ("hello.txt/../../secret.txt", OUTSIDE),
        ("HELLO\n\u{1b}[31m.txt", "`HELLO\\u{a}\\u{1b}[31m.txt` does not exist"),
        (long_name.as_str(), "cannot be read"),
    ] {
        let result = call(&server, "files_read", json!({ "path": path })).await;
        let answer = error_text(&result);
        assert!(answer.contains(because), "{path:?} says: {answer}");
        assert!(!answer.contains(SECRET));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_lead_out_are_refused_without_telling_what_is_there() {
    let folder = TestFolder::new();
    folder.link("to_secret", folder.parent.join("secret.txt"));
    folder.link("to_outside", folder.parent.join("outside"));
    folder.link("relative", "../secret.txt");
    folder.link("root", "/");
    folder.link("nowhere", folder.parent.join("no_such_file"));
    folder.link("first", "second");
    folder.link("second", "../outside");
    folder.link("circle", "circle");
    folder.link("sub/inner", "../to_secret");
    let server = folder.server();
    for path in [
        "to_secret",
        "to_outside",
        "to_outside/secret.txt",
        "to_outside/no_such_file",
        "relative",
        "root/etc/passwd",
        "root/no_such_file",
        "root/proc/self/environ",
        "nowhere",
        "first/secret.txt",
        "circle",
        "sub/inner",
    ] {
        let written_out = folder.shared.join(path).display().to_string();
        stays_out(&server, &written_out, OUTSIDE).await;
    }
    // A walk does not follow the links either.
    let found = call(&server, "files_search", json!({ "pattern": SECRET })).await;
    assert_eq!(structured_content(&found)["matches"], json!([]));
    let listed = call(&server, "files_list", json!({ "depth": 8 })).await;
    assert!(!result_text(&listed).contains("secret.txt"), "{listed}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_stay_inside_are_followed() {
    let folder = TestFolder::new();
    folder.link("alias", "hello.txt");
    folder.link("absolute", folder.shared.join("sub"));
    let server = folder.server();
    for (path, expected) in
        [("alias", "one\ntwo Needle\nthree\n"), ("absolute/code.rs", "fn needle() {}\n")]
    {
        let result = call(&server, "files_read", json!({ "path": path })).await;
        assert_eq!((result_text(&result).as_str(), &result["isError"]), (expected, &json!(false)));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_root_that_is_a_link_can_be_named_either_way() {
    let folder = TestFolder::new();
    let alias = folder.parent.join("alias");
    std::os::unix::fs::symlink(&folder.shared, &alias).unwrap();
    let server = Builtin::new(vec![alias.clone()], clock);
    assert_eq!(server.roots().collect::<Vec<_>>(), [folder.shared.as_path()]);
    for path in [alias.join("hello.txt"), folder.shared.join("hello.txt")] {
        let result = call(&server, "files_read", json!({ "path": path })).await;
        assert_eq!(result_text(&result), "one\ntwo Needle\nthree\n");
    }
    // Changing the link later has no effect.
    std::fs::remove_file(&alias).unwrap();
    std::os::unix::fs::symlink(folder.parent.join("outside"), &alias).unwrap();
    let path = alias.join("secret.txt");
    let result = call(&server, "files_read", json!({ "path": path })).await;
    assert!(error_text(&result).contains("does not exist"), "{result}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_slipped_in_after_the_check_is_not_followed() {
    use std::path::PathBuf;

    use crate::beneath;
    use crate::roots::RootedPath;

    let folder = TestFolder::new();
    folder.link("to_secret", folder.parent.join("secret.txt"));
    folder.link("to_outside", folder.parent.join("outside"));
    for relative in ["to_secret", "to_outside/secret.txt", "../secret.txt"] {
        let place = RootedPath { root: folder.shared.clone(), relative: PathBuf::from(relative) };
        assert!(beneath::open_file(&place).is_err(), "{relative}");
    }
    for relative in ["to_outside", "..", "sub/.."] {
        let place = RootedPath { root: folder.shared.clone(), relative: PathBuf::from(relative) };
        assert!(beneath::read_folder(&place, 10).is_err(), "{relative}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn pipes_and_sockets_are_refused_without_waiting() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = TestFolder::new();
    let pipe = folder.shared.join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.shared.join("socket")).unwrap();
    folder.link("to_pipe", "pipe");
    let server = folder.server();
    for name in ["pipe", "socket", "to_pipe"] {
        let path = folder.shared.join(name).display().to_string();
        for (door, answer) in through_every_door(&server, &path).await {
            let expected = match door {
                "files_list" => "is not a folder",
                _ => "is a device, pipe or socket",
            };
            assert!(answer.contains(expected), "{door} on {name} says: {answer}");
        }
    }
    let walk = call(&server, "files_search", json!({ "pattern": "Needle" }));
    let found = tokio::time::timeout(Duration::from_secs(20), walk).await.unwrap();
    let expected = json!([{ "path": "hello.txt", "line": 2, "text": "two Needle" }]);
    assert_eq!(structured_content(&found)["matches"], expected);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sharing_everything_does_not_share_what_the_kernel_shows() {
    let server = Builtin::new(vec!["/".into()], clock);
    for path in ["/proc/self/environ", "proc/self/status", "/dev/zero", "/sys/kernel"] {
        let result = call(&server, "files_read", json!({ "path": path })).await;
        assert!(error_text(&result).contains(OUTSIDE), "{result}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_are_not_unicode_are_shown_and_searched() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = TestFolder::new();
    let name = OsStr::from_bytes(b"bad\xff.txt");
    std::fs::write(folder.shared.join(name), "odd one out\n").unwrap();
    folder.write("two\nlines.txt", "odd one out\n");
    let server = folder.server();
    let listed = result_text(&call(&server, "files_list", json!({})).await);
    for line in [
        "bad\u{fffd}.txt (12 bytes) (the name is not UTF-8, so it cannot be opened)",
        "two\\u{a}lines.txt (12 bytes)",
    ] {
        assert!(listed.lines().any(|listed| listed == line), "{listed}");
    }
    let found =
        structured_content(&call(&server, "files_search", json!({ "pattern": "odd one" })).await);
    let expected = json!([
        { "path": "bad\u{fffd}.txt", "line": 1, "text": "odd one out" },
        { "path": "two\nlines.txt", "line": 1, "text": "odd one out" }
    ]);
    assert_eq!(found["matches"], expected);
    let result = call(&server, "files_read", json!({ "path": "bad\u{fffd}.txt" })).await;
    assert!(error_text(&result).contains("does not exist"));
}

#[tokio::test]
async fn huge_files_are_neither_held_nor_sent_whole() {
    let folder = TestFolder::new();
    let sparse = std::fs::File::create(folder.shared.join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let line = format!("{}\n", "x".repeat(1023));
    folder.write("long.txt", line.repeat(2000));
    folder.write("one_line.txt", "é".repeat(400_000));
    let mut picture = std::fs::read(folder.shared.join("dot.png")).unwrap();
    picture.resize(1024 * 1024 + 1, 0);
    folder.write("large.png", picture);
    let server = folder.server();

    let result = call(&server, "files_read", json!({ "path": "sparse" })).await;
    let expected = "`sparse` is not plain text (binary, 1099511627776 bytes), \
        so its content is not shown.";
    assert_eq!(result_text(&result), expected);

    let result = call(&server, "files_read", json!({ "path": "long.txt" })).await;
    assert_eq!(result["content"][0]["text"].as_str().unwrap().len(), 256 * 1024);
    let note = "Lines 1 to 256; there are more. Continue with `offset` 257.";
    assert_eq!(result["content"][1]["text"], note);

    let result = call(&server, "files_read", json!({ "path": "one_line.txt" })).await;
    assert_eq!(result["content"][0]["text"], "é".repeat(128 * 1024));
    let note = result["content"][1]["text"].as_str().unwrap();
    assert!(note.starts_with("Line 1 is longer than 256 KiB and was cut."), "{note}");

    let result = call(&server, "files_read", json!({ "path": "large.png" })).await;
    assert_eq!(
        result_text(&result),
        "`large.png` is an image (image/png) of 1048577 bytes; \
        only images up to 1048576 bytes are returned."
    );

    let found = call(&server, "files_search", json!({ "pattern": "é" })).await;
    let found = structured_content(&found);
    assert_eq!(found["matches"][0]["text"], format!("{}…", "é".repeat(240)));
    assert_eq!(found["complete"], false);
    let notes = json!([
        "3 binary files were skipped",
        "1 very long lines were searched in their first 64 KiB only"
    ]);
    let mut binary = found["notes"].clone();
    binary[0] = notes[0].clone();
    assert_eq!(binary, notes);
}

#[tokio::test]
async fn a_long_first_line_is_cut_also_behind_a_byte_order_mark() {
    let folder = TestFolder::new();
    folder.write("marked.txt", format!("\u{feff}{}", "x".repeat(300_000)));
    let result = call(&folder.server(), "files_read", json!({ "path": "marked.txt" })).await;
    let note = result["content"][1]["text"].as_str().unwrap();
    assert!(note.starts_with("Line 1 is longer than 256 KiB and was cut."), "{note}");
}

#[tokio::test]
async fn answers_stay_bounded_when_names_and_lines_are_long() {
    let folder = TestFolder::new();
    let below = "d".repeat(200);
    std::fs::create_dir(folder.shared.join(&below)).unwrap();
    for number in 0..700 {
        folder.write(&format!("{below}/{number:0>200}"), "");
    }
    folder.write("wide.txt", format!("{}\n", "😀".repeat(240)).repeat(500));
    let server = folder.server();
    let listed = call(&server, "files_list", json!({ "path": below })).await;
    let size = result_text(&listed).len();
    assert!((200_000..300_000).contains(&size), "{size} bytes");
    assert_eq!(structured_content(&listed)["complete"], false);
    let arguments = json!({ "pattern": "😀", "limit": 500 });
    let found = call(&server, "files_search", arguments).await;
    let size = result_text(&found).len();
    assert!((200_000..300_000).contains(&size), "{size} bytes");
    let notes = &structured_content(&found)["notes"];
    assert_eq!(notes[0], "the result is full; narrow down the search");
}

#[tokio::test]
async fn a_folder_of_thousands_is_cut_and_says_so() {
    let folder = TestFolder::new();
    for number in 0..1200 {
        folder.write(&format!("f{number:04}"), "needle\n");
    }
    let server = folder.server();
    let listed = structured_content(&call(&server, "files_list", json!({})).await);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(listed["complete"], false);
    let arguments = json!({ "pattern": "needle", "limit": 500 });
    let found = structured_content(&call(&server, "files_search", arguments).await);
    assert_eq!(found["matches"].as_array().unwrap().len(), 500);
    assert_eq!(found["complete"], false);
    assert_eq!(found["notes"][0], "there are more matches than `limit`");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn no_path_made_of_these_parts_shows_a_secret(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "..", ".", "sub", "deep", "hello.txt", "secret.txt", "outside", "shared",
                "shared_evil", "", "to_outside", "%2e%2e", "\u{0}", "名",
            ]),
            0..8,
        ),
        absolute: bool,
    ) {
        let folder = TestFolder::new();
        #[cfg(unix)]
        folder.link("to_outside", "../outside");
        let mut path = parts.join("/");
        if absolute {
            path = format!("{}/{path}", folder.shared.display());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let server = folder.server();
            let read = call(&server, "files_read", json!({ "path": path })).await;
            let arguments = json!({ "path": path, "pattern": SECRET });
            let found = call(&server, "files_search", arguments).await;
            for answer in [read, found] {
                assert!(!answer["content"].to_string().contains(&format!("{SECRET}\"")), "{answer}");
                assert!(answer["structuredContent"]["matches"].as_array().is_none_or(Vec::is_empty));
            }
        });
    }
}
