//! The git server on a repository that the test creates.

use std::process::Command;

use serde_json::json;

use crate::switchboard::{Switchboard, result_text};
use crate::testenv;

const TOOLS: [&str; 12] = [
    "git_status", "git_diff_unstaged", "git_diff_staged", "git_diff", "git_commit", "git_add",
    "git_reset", "git_log", "git_create_branch", "git_checkout", "git_show", "git_branch",
];

#[test]
fn git_tells_the_state_and_the_history_of_its_repository() {
    let switchboard = Switchboard::new();
    let repository = switchboard.path("repository");
    switchboard.write("repository/a.txt", "one\n");
    let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"];
    for words in
        [&["init", "-q", "-b", "trunk"][..], &["add", "."], &["commit", "-q", "-m", "First words"]]
    {
        let mut git = Command::new("git");
        git.current_dir(&repository).args(author).args(words);
        let git = git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().expect("git can be started").success(), "git {words:?}");
    }
    switchboard.write("repository/b.txt", "two\n");
    switchboard.configure(&json!({"git": testenv::git(&repository)}));
    assert_eq!(switchboard.status("git"), ["ready", "2026-07-28"]);
    assert_eq!(switchboard.tools("git"), TOOLS);
    switchboard.check_shown("git", "git_log", "max_count");

    let path = format!("repo_path={}", repository.display());
    let status = switchboard.run(&["call", "git", "git_status", &path]).expect(0).stdout;
    assert!(status.contains("On branch trunk") && status.contains("b.txt"), "{status}");
    let log = switchboard.call(&["git", "git_log", &path, "max_count=1"], 0);
    for part in ["Author: Ada", "Message: First words"] {
        assert!(result_text(&log).contains(part), "no `{part}` in {log}");
    }
    let outside = switchboard.run(&["call", "git", "git_log", "repo_path=/"]).expect(1);
    assert!(outside.stdout.contains("outside the allowed repository"), "{outside:?}");

    assert_eq!(
        switchboard.recorded_calls(),
        ["tool git/git_status: ok", "tool git/git_log: ok", "tool git/git_log: tool_error"]
    );
}
