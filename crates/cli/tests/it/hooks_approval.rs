//! A project's hooks are foreign programs: they run as a person approved them or not at all.

use serde_json::json;

use crate::hook_scripts::{before, echo, permitting};
use crate::running::{RunningProcess, TEST_TIMEOUT};
use crate::switchboard::Switchboard;
use crate::transcript::transcript;

/// A change to approved hooks.
type Change = (&'static str, fn(&Switchboard));

/// Returns a project with one hook that records each run.
fn project(file: &str) -> Switchboard {
    let switchboard = echo();
    script(&switchboard, "");
    switchboard.hooks(file, &before(&[json!({"command": "sh hooks/check.sh"})]));
    switchboard
}

fn script(switchboard: &Switchboard, more: &str) {
    let text = format!("echo ran >> ran\n{more}\n{}", permitting("allow"));
    switchboard.script("work/hooks/check.sh", &text);
}

fn ran(switchboard: &Switchboard) -> usize {
    switchboard.lines("work/ran").len()
}

#[test]
fn hooks_of_a_project_run_only_after_a_person_approved_them() {
    let mut seen = Vec::new();
    for file in ["work/.switchboard/hooks.json", "work/.cursor/hooks.json"] {
        let switchboard = project(file);
        let called = switchboard.run(&["call", "echo", "write", "key=a"]).expect(0);
        seen.push(transcript(&called));
        let doctor = switchboard.run(&["doctor"]).expect(0).stdout;
        assert!(doctor.contains("not approved and not run"), "{doctor}");
        let said = switchboard.json(&["hooks", "test"]);
        assert_eq!(said[0]["answer"], "not asked: it is not approved");
        assert_eq!(ran(&switchboard), 0);

        let approved = switchboard.run(&["hooks", "approve"]).expect(0);
        seen.push(transcript(&approved));
        assert_eq!(ran(&switchboard), 0, "approving ran the hook");
        let called = switchboard.run(&["call", "echo", "write", "key=a"]).expect(0);
        assert!(!called.stderr.contains("hooks"), "{called:?}");
        assert_eq!(ran(&switchboard), 1);

        switchboard.run(&["hooks", "revoke"]).expect(0);
        switchboard.write_call().expect(0);
        assert_eq!(ran(&switchboard), 1);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stdout
    wrote a
    --- stderr
    warning: the project's hooks have not been approved and do not run ([work]/.switchboard/hooks.json)
    hint: `switchboard hooks list` shows them

    exit status 0
    --- stderr
    approved [work]/.switchboard/hooks.json
      beforeMCPExecution: sh hooks/check.sh
      script: [work]/hooks/check.sh

    exit status 0
    --- stdout
    wrote a
    --- stderr
    warning: the project's hooks have not been approved and do not run ([work]/.cursor/hooks.json)
    hint: `switchboard hooks list` shows them

    exit status 0
    --- stderr
    approved [work]/.cursor/hooks.json
      beforeMCPExecution: sh hooks/check.sh
      script: [work]/hooks/check.sh
    ");
}

#[test]
fn hooks_of_the_repository_root_count_in_every_folder_of_it() {
    let mut seen = Vec::new();
    for file in ["work/.switchboard/hooks.json", "work/.cursor/hooks.json"] {
        let switchboard = echo();
        switchboard.script("work/hooks/check.sh", &permitting("deny"));
        switchboard.hooks(file, &before(&[json!({"command": "sh hooks/check.sh"})]));
        std::fs::create_dir_all(switchboard.folder().join("work/.git")).unwrap();
        let inner = switchboard.folder().join("work/a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let call = |code: i32| {
            let mut command = switchboard.command(&["call", "echo", "write", "key=a"]);
            RunningProcess::start(command.current_dir(&inner))
                .finish_within(TEST_TIMEOUT)
                .expect(code)
        };
        let told = call(0);
        seen.push(transcript(&told));
        switchboard.run(&["hooks", "approve"]).expect(0);
        let written = switchboard.trace_text();
        call(5);
        // A project's file in a deeper folder does not disable them.
        switchboard.write("a/switchboard.json", "{}");
        call(5);
        // Nor does removing the file.
        std::fs::remove_file(switchboard.folder().join(file)).unwrap();
        call(5);
        assert_eq!(switchboard.trace_text(), written, "{file}");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stdout
    wrote a
    --- stderr
    warning: the project's hooks have not been approved and do not run ([work]/.switchboard/hooks.json)
    hint: `switchboard hooks list` shows them

    exit status 0
    --- stdout
    wrote a
    --- stderr
    warning: the project's hooks have not been approved and do not run ([work]/.cursor/hooks.json)
    hint: `switchboard hooks list` shows them
    ");
}

#[test]
fn approved_hooks_that_were_changed_do_not_run_and_nothing_else_does() {
    let file = "work/.switchboard/hooks.json";
    let changes: [Change; 8] = [
        ("no folder", |switchboard| {
            std::fs::remove_dir_all(switchboard.folder().join("work/.switchboard")).unwrap();
        }),
        ("a link in place of the folder", |switchboard| {
            let folder = switchboard.folder().join("work/.switchboard");
            std::fs::rename(&folder, switchboard.folder().join("work/aside")).unwrap();
            let empty = switchboard.folder().join("work/empty");
            std::fs::create_dir(&empty).unwrap();
            std::os::unix::fs::symlink(&empty, &folder).unwrap();
        }),
        ("the file", |switchboard| {
            let hooks = before(&[json!({"command": "sh hooks/check.sh --more"})]);
            switchboard.hooks("work/.switchboard/hooks.json", &hooks);
        }),
        ("the script", |switchboard| script(switchboard, "echo more")),
        ("no file", |switchboard| {
            std::fs::remove_file(switchboard.folder().join("work/.switchboard/hooks.json"))
                .unwrap();
        }),
        ("no script", |switchboard| {
            std::fs::remove_file(switchboard.folder().join("work/hooks/check.sh")).unwrap();
        }),
        ("a link", |switchboard| {
            let script = switchboard.script("elsewhere.sh", "echo ran >> ran");
            let place = switchboard.folder().join("work/hooks/check.sh");
            std::fs::remove_file(&place).unwrap();
            std::os::unix::fs::symlink(script, place).unwrap();
        }),
        ("half a file", |switchboard| {
            std::fs::write(switchboard.folder().join("work/.switchboard/hooks.json"), "{").unwrap();
        }),
    ];
    for (what, change) in changes {
        let switchboard = project(file);
        switchboard.run(&["hooks", "approve"]).expect(0);
        change(&switchboard);
        let refused = switchboard.write_call().expect(5).json();
        assert_eq!(refused["reason"], "hook_error", "{what}: {refused}");
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.contains("`switchboard hooks revoke`"), "{what}: {hint}");
        assert_eq!((ran(&switchboard), switchboard.trace_text().as_str()), (0, ""), "{what}");
        switchboard.run(&["doctor"]).expect(4);
        switchboard.run(&["hooks", "revoke"]).expect(0);
        switchboard.write_call().expect(0);
        assert_eq!(ran(&switchboard), 0, "{what}");
    }
}

#[test]
fn an_approval_holds_for_one_project_only() {
    let mine = project("work/.switchboard/hooks.json");
    let other = project("work/.switchboard/hooks.json");
    mine.run(&["hooks", "approve"]).expect(0);
    let mut command = mine.command(&["call", "echo", "write", "key=a"]);
    command.current_dir(other.folder().join("work")).env("HOME", other.folder());
    let called = RunningProcess::start(&mut command);
    called.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!((ran(&mine), ran(&other)), (0, 0));
}

#[test]
fn nothing_is_approved_where_there_is_nothing() {
    let switchboard = echo();
    let refused = switchboard.run(&["hooks", "approve"]).expect(2);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 2
    --- stderr
    error: this project has no hooks
    hint: project hooks are in `.switchboard/hooks.json` or `.cursor/hooks.json`
    ");
    std::fs::create_dir(switchboard.path(".switchboard")).unwrap();
    std::fs::write(switchboard.path(".switchboard/hooks.json"), "{").unwrap();
    let refused = switchboard.run(&["hooks", "approve"]).expect(3);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 3
    --- stderr
    error: `[work]/.switchboard/hooks.json` cannot be approved: unterminated object ([work]/.switchboard/hooks.json:1:1)
    hint: fix the file, or run `switchboard hooks revoke` to disable it
    ");
    switchboard.write_call().expect(0);
}

#[test]
fn approvals_that_cannot_be_read_stop_a_project_with_hooks() {
    let switchboard = project("work/.cursor/hooks.json");
    switchboard.run(&["hooks", "approve"]).expect(0);
    std::fs::write(switchboard.folder().join("own/state/approvals.json"), "{").unwrap();
    let refused = switchboard.write_call().expect(5).json();
    assert_eq!(refused["reason"], "hook_error", "{refused}");
    assert_eq!(ran(&switchboard), 0);
}
