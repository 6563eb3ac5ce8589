//! `switchboard demo`: the loop without any configuration.

use crate::switchboard::Switchboard;
use crate::transcript::transcript;

const END: &str = "Still to do in the garden:";
const NOT_LOOKED: &str = "I was not allowed to look";
const NOT_READ: &str = "I was not allowed to read it";

#[test]
fn the_demo_runs_to_its_end_without_a_terminal() {
    let switchboard = Switchboard::new();
    let ran = switchboard.run(&["demo", "--yes"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @r#"
    exit status 0
    --- stdout
    I look at what is there first.
    There is a list in `garden.md`. I read it.
    This folder holds two notes:

    | file | what it is |
    |---|---|
    | `garden.md` | a list of things to do |
    | `readme.txt` | a note about this demo |

    Still to do in the garden:

    1. **dig the bed**
    2. **water the beans**

    Buying seeds is done.
    --- stderr
    A scripted model, the built-in server and your approval: no configuration, and nothing leaves this machine.

    > What is in this folder, and what is left to do?

    → builtin/files_list {"path":"."}
    ✓ builtin/files_list ([duration], 42 bytes, call 1)
      │ garden.md (66 bytes)
      │ readme.txt (35 bytes)
    → builtin/files_read {"path":"garden.md"}
    ✓ builtin/files_read ([duration], 66 bytes, call 2)
      │ # Garden
      │ - [x] buy seeds
      │ - [ ] dig the bed
      │ - [ ] water the beans

    That was the loop: the model proposed a call, you decided, the server ran it, the result went back.
    hint: `switchboard chat --model ollama:qwen3` talks to a real model
    "#);
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    // It leaves nothing behind: no call in the record, no conversation.
    assert_eq!(switchboard.recorded_calls(), Vec::<String>::new());
    assert_eq!(switchboard.json(&["sessions"]), serde_json::json!([]));
}

#[test]
fn without_a_person_the_demo_model_is_refused_and_says_so() {
    let switchboard = Switchboard::new();
    let ran = switchboard.run(&["demo"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @r#"
    exit status 0
    --- stdout
    I look at what is there first.
    I was not allowed to look, so I cannot say what is in this folder.
    --- stderr
    A scripted model, the built-in server and your approval: no configuration, and nothing leaves this machine.

    > What is in this folder, and what is left to do?

    → builtin/files_list {"path":"."}
    ✗ builtin/files_list: denied ([duration], call 1)
      │ Not run, because it is not allowed: `builtin/files_list` needs approval, but there is no terminal to ask on.

    There was no terminal to ask on, so nothing ran.
    hint: try it at a terminal, or with --yes
    "#);
    assert!(!ran.stdout.contains(END), "{ran:?}");
}

#[test]
fn the_demo_does_not_care_for_a_broken_configuration() {
    let switchboard = Switchboard::new();
    switchboard.write_config("{ this is no JSON");
    let ran = switchboard.run(&["demo", "--yes"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @r#"
    exit status 0
    --- stdout
    I look at what is there first.
    There is a list in `garden.md`. I read it.
    This folder holds two notes:

    | file | what it is |
    |---|---|
    | `garden.md` | a list of things to do |
    | `readme.txt` | a note about this demo |

    Still to do in the garden:

    1. **dig the bed**
    2. **water the beans**

    Buying seeds is done.
    --- stderr
    A scripted model, the built-in server and your approval: no configuration, and nothing leaves this machine.

    > What is in this folder, and what is left to do?

    → builtin/files_list {"path":"."}
    ✓ builtin/files_list ([duration], 42 bytes, call 1)
      │ garden.md (66 bytes)
      │ readme.txt (35 bytes)
    → builtin/files_read {"path":"garden.md"}
    ✓ builtin/files_read ([duration], 66 bytes, call 2)
      │ # Garden
      │ - [x] buy seeds
      │ - [ ] dig the bed
      │ - [ ] water the beans

    That was the loop: the model proposed a call, you decided, the server ran it, the result went back.
    hint: `switchboard chat --model ollama:qwen3` talks to a real model
    "#);
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use std::process::Command;
    use std::time::Duration;

    use super::{END, NOT_LOOKED, NOT_READ};
    use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
    use crate::switchboard::Switchboard;

    /// Answers the questions about these tools with these keys.
    fn run_with_answers(answers: &[(&str, &str)]) -> Ran {
        let switchboard = Switchboard::new();
        let mut terminal = switchboard.in_terminal(&["demo"]);
        for (question, key) in answers {
            terminal.wait_for_after(question, "[e] edit the arguments");
            terminal.say(key);
        }
        terminal.finish_within(TEST_TIMEOUT)
    }

    const LIST: &str = "Run files_list on builtin?";
    const READ: &str = "Run files_read on builtin?";

    #[test]
    fn the_answers_of_a_person_decide_what_the_model_says() {
        for (answers, said) in [
            (&[(LIST, "r"), (READ, "r")][..], END),
            (&[(LIST, "s")], NOT_LOOKED),
            (&[(LIST, "r"), (READ, "s")], NOT_READ),
        ] {
            let ran = run_with_answers(answers).expect(0);
            // Lines are wrapped to the width of the terminal, so words may be apart.
            let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(said), "{answers:?}: {ran:?}");
        }
    }

    #[test]
    fn ctrl_c_ends_the_demo() {
        let switchboard = Switchboard::new();
        let mut terminal = switchboard.in_terminal(&["demo"]);
        terminal.wait_for("[e] edit the arguments");
        terminal.say("\u{3}");
        let ran = terminal.finish_within(Duration::from_secs(8)).expect(130);
        assert!(!ran.stdout.contains("That was the loop"), "it was not: {ran:?}");
    }

    /// Returns the process id of the program itself, below the one that gives it a terminal.
    fn program(terminal: &RunningProcess) -> u32 {
        let mut open = vec![terminal.pid()];
        while let Some(pid) = open.pop() {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            if name.trim() == "switchboard" {
                return pid;
            }
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            let children = children.unwrap_or_default();
            open.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        panic!("the program does not run");
    }

    #[test]
    fn a_request_to_end_is_heard_while_a_question_is_open() {
        for signal in ["-TERM", "-INT"] {
            let switchboard = Switchboard::new();
            let terminal = switchboard.in_terminal(&["demo"]);
            terminal.wait_for("[e] edit the arguments");
            let pid = program(&terminal);
            let sent = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
            assert!(sent.success(), "{signal}");
            terminal.finish_within(Duration::from_secs(8)).expect(130);
        }
    }
}
