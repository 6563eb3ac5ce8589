//! Help, completions and the manual page describe the same commands.

use crate::switchboard::Switchboard;

const COMMANDS: [&str; 9] =
    ["servers", "tools", "call", "resources", "prompts", "calls", "doctor", "completions", "man"];

#[test]
fn completions_know_every_command_in_every_shell() {
    let switchboard = Switchboard::new();
    for (shell, opening) in [
        ("bash", "_switchboard() {"),
        ("zsh", "#compdef switchboard"),
        ("fish", "complete -c switchboard"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = switchboard.run(&["completions", shell]).expect(0).stdout;
        assert!(script.contains(opening), "{shell}: {script}");
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} does not know `{command}`");
        }
    }
    switchboard.run(&["completions", "cmd"]).expect(2);
}

#[test]
fn the_manual_page_has_every_command_and_exit_code() {
    let switchboard = Switchboard::new();
    let page = switchboard.run(&["man"]).expect(0).stdout;
    assert!(page.contains(".TH switchboard 1") && page.contains(".SH \"EXIT STATUS\""), "{page}");
    for command in COMMANDS {
        assert!(page.contains(command), "the page does not name `{command}`");
    }
    for code in ["0", "1", "2", "3", "4", "5", "6", "7", "130"] {
        assert!(page.contains(&format!(".TP\n{code}\n")), "the page does not explain {code}");
    }
}

#[test]
fn help_and_version_are_results_and_wrong_words_are_usage() {
    let switchboard = Switchboard::new();
    let help = switchboard.run(&["--help"]).expect(0);
    for command in COMMANDS {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "no `{command}` in {help:?}");
    }
    assert!(switchboard.run(&["--version"]).expect(0).stdout.starts_with("switchboard 0."));
    for wrong in [&[][..], &["tols"], &["call"], &["tools", "--nonsense"]] {
        let ran = switchboard.run(wrong).expect(2);
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{ran:?}");
    }
}
