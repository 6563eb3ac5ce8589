//! The prompt, the menu and typed-ahead lines at a pseudo-terminal with simulated typing.
//!
//! This test program starts itself in a pseudo-terminal, where it runs only `stage`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::editor::{CompleteArgs, EditorLine, PromptEditor};
use crate::keys::QuestionState;
use crate::menu::{AlwaysOption, ReviewCard, ask};
use crate::typed::TypedLines;

const PLAY: &str = "SWITCHBOARD_TEST_PLAY";
const HISTORY: &str = "SWITCHBOARD_TEST_HISTORY";

struct Commands;

impl CompleteArgs for Commands {
    fn complete(&self, line: &str, _: usize) -> (usize, Vec<String>) {
        let words = ["/help", "/history"].into_iter().filter(|word| word.starts_with(line));
        (0, words.map(str::to_owned).collect())
    }
}

/// The code under test in the pseudo-terminal; does nothing elsewhere.
#[test]
fn stage() {
    match std::env::var(PLAY).as_deref() {
        Ok("prompt") => prompt(),
        Ok(play @ ("menu" | "menu later")) => {
            if play == "menu later" {
                wait_for_keys();
            }
            let card = ReviewCard {
                title: "Run write on notes?",
                arguments: r#"{"key":"a"}"#,
                why: "nothing allows it",
                can_always: AlwaysOption::Yes,
            };
            println!("got {:?};", ask(&card, QuestionState::default()));
        }
        Ok("typed") => typed(),
        _ => {}
    }
}

/// Waits for input without consuming it.
fn wait_for_keys() {
    println!("thinking;");
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, poll};
        let input = rustix::stdio::stdin();
        poll(&mut [PollFd::new(&input, PollFlags::IN)], None).unwrap();
    }
}

fn editor() -> PromptEditor {
    PromptEditor::new(std::env::var_os(HISTORY).map(PathBuf::from), Arc::new(Commands)).unwrap()
}

fn prompt() {
    let mut editor = editor();
    loop {
        let line = editor.read("you> ").unwrap();
        println!("got {line:?};");
        if line == EditorLine::End {
            assert_eq!(editor.take_warning(), None);
            return;
        }
    }
}

fn typed() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut typed = TypedLines::watch();
    println!("watching;");
    println!("typed {:?};", runtime.block_on(typed.line()));
    typed.pause();
    println!("got {:?};", editor().read("paused> ").unwrap());
    typed.resume();
    println!("watching again;");
    println!("typed {:?};", runtime.block_on(typed.line()));
    drop(typed);
    println!("got {:?};", editor().read("dropped> ").unwrap());
}

#[cfg(target_os = "linux")]
mod plays {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use super::{HISTORY, PLAY};

    const TEST_TIMEOUT: Duration = Duration::from_secs(30);

    /// A running play, which is killed on drop.
    struct Terminal {
        child: Child,
        output: Receiver<Vec<u8>>,
        bytes: Vec<u8>,
        seen: String,
        /// How much of `seen` earlier waits have consumed.
        done: usize,
    }

    impl Terminal {
        fn open(play: &str, variables: &[(&str, &str)]) -> Self {
            let program = std::env::current_exe().unwrap();
            let stage = "--exact at_terminal_tests::stage --nocapture";
            let mut command = Command::new("script");
            command
                .args(["-qec", &format!("'{}' {stage}", program.display()), "/dev/null"])
                .env("SHELL", "/bin/sh")
                .env("TERM", "xterm")
                .env(PLAY, play)
                .env_remove("VISUAL")
                .env_remove("EDITOR")
                .envs(variables.iter().copied())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut out = child.stdout.take().unwrap();
            let (sender, output) = channel();
            std::thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(length @ 1..) = out.read(&mut chunk) {
                    if sender.send(chunk[..length].to_vec()).is_err() {
                        return;
                    }
                }
            });
            Self { child, output, bytes: Vec::new(), seen: String::new(), done: 0 }
        }

        /// Waits until this text appears after the previously awaited one.
        #[track_caller]
        fn wait_for(&mut self, text: &str) {
            let deadline = Instant::now() + TEST_TIMEOUT;
            loop {
                if let Some(at) = self.seen.get(self.done..).and_then(|new| new.find(text)) {
                    self.done += at + text.len();
                    return;
                }
                let left = deadline.saturating_duration_since(Instant::now());
                let Ok(chunk) = self.output.recv_timeout(left) else {
                    panic!("`{text}` did not come: {:?}", self.seen);
                };
                self.bytes.extend(chunk);
                self.seen = String::from_utf8_lossy(&self.bytes).into_owned();
            }
        }

        fn say(&mut self, text: &str) {
            let input = self.child.stdin.as_mut().unwrap();
            input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
        }
    }

    impl Drop for Terminal {
        fn drop(&mut self) {
            // Killing fails only if it has already exited.
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }

    #[test]
    fn the_prompt_takes_lines_and_what_belongs_together() {
        let mut terminal = Terminal::open("prompt", &[]);
        for (typed, expected) in [
            ("hello\n", r#"Text("hello")"#),
            ("a\u{1b}\rb\r", r#"Text("a\nb")"#),
            ("a\\\rb\r", r#"Text("a\nb")"#),
            ("\\\\\r\u{1b}[Da\r", r#"Text("\\a\n")"#),
            ("\u{1b}[200~x \\\ny\u{1b}[201~\r", r#"Text("x \\\ny")"#),
            ("/he\t\r", r#"Text("/help")"#),
            ("/h\tis\t\r", r#"Text("/history")"#),
            ("\u{1b}[A\u{1b}[A\r", r#"Text("/help")"#),
            ("one\rtwo\r", r#"Text("one")"#),
            ("", r#"Text("two")"#),
            ("half\u{3}", "Interrupted"),
            ("\u{4}", "End"),
        ] {
            terminal.wait_for("you> ");
            terminal.say(typed);
            terminal.wait_for(&format!("got {expected};"));
        }
    }

    #[test]
    fn a_terminal_that_can_do_nothing_gives_lines() {
        let mut terminal = Terminal::open("prompt", &[("TERM", "dumb")]);
        for (typed, expected) in
            [("a\\\nb\n", r#"Text("a\nb")"#), ("\n", r#"Text("")"#), ("\u{4}", "End")]
        {
            terminal.wait_for("you> ");
            terminal.say(typed);
            terminal.wait_for(&format!("got {expected};"));
        }
    }

    #[test]
    fn the_history_is_there_in_the_next_run_without_secrets() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("history");
        let variables = [(HISTORY, file.to_str().unwrap())];
        let mut terminal = Terminal::open("prompt", &variables);
        terminal.wait_for("you> ");
        terminal.say("remember\r secret\r");
        terminal.wait_for(r#"got Text(" secret");"#);
        let mut terminal = Terminal::open("prompt", &variables);
        terminal.wait_for("you> ");
        terminal.say("\u{1b}[A\r");
        terminal.wait_for(r#"got Text("remember");"#);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn one_key_answers_the_menu() {
        for (keys, expected) in [
            ("r", "Some(Run)"),
            ("o", "Some(Session)"),
            ("a", "Some(Always)"),
            ("s", "Some(Skip)"),
            ("\r", "Some(Skip)"),
            ("\u{1b}[D\r", "Some(Always)"),
            ("xq\u{1b}[C\u{1b}[C\u{1b}[C\r", "Some(Run)"),
            ("\u{1b}", "None"),
            ("\u{3}", "None"),
        ] {
            let mut terminal = Terminal::open("menu", &[]);
            terminal.wait_for("\"key\": \"a\"");
            terminal.wait_for("[e] edit the arguments");
            terminal.say(keys);
            terminal.wait_for(&format!("got {expected};"));
        }
    }

    #[test]
    fn keys_pressed_before_the_menu_is_shown_are_no_answer() {
        let mut terminal = Terminal::open("menu later", &[]);
        terminal.wait_for("thinking;");
        terminal.say("r\n");
        terminal.wait_for("[e] edit the arguments");
        terminal.say("s");
        terminal.wait_for("got Some(Skip);");
    }

    #[test]
    fn the_menu_takes_words_for_the_model() {
        let mut terminal = Terminal::open("menu", &[]);
        terminal.wait_for("[e] edit");
        terminal.say("t");
        terminal.wait_for("instead? ");
        terminal.say("read it first\r");
        terminal.wait_for(r#"got Some(Tell("read it first"));"#);
    }

    #[test]
    fn the_menu_lets_the_arguments_be_edited() {
        let home = tempfile::tempdir().unwrap();
        let script = home.path().join("editor.sh");
        std::fs::write(&script, "sed -i 's/\"a\"/\"b\"/' \"$1\"\n").unwrap();
        let editor = format!("sh {}", script.display());
        let mut terminal = Terminal::open("menu", &[("EDITOR", &editor)]);
        terminal.wait_for("[e] edit the arguments");
        terminal.say("e");
        terminal.wait_for("\"key\": \"b\"");
        terminal.wait_for("[e] edit the arguments");
        terminal.say("r");
        terminal.wait_for(r#"got Some(Edit("{\n  \"key\": \"b\"\n}"));"#);
        let mut terminal = Terminal::open("menu", &[]);
        terminal.wait_for("[e] edit the arguments");
        terminal.say("e");
        terminal.wait_for(r#"one line: "#);
        terminal.wait_for(r#"{"key":"a"}"#);
        terminal.say("\u{7f}\u{7f}c\"}\r");
        terminal.wait_for("\"key\": \"ac\"");
        terminal.wait_for("[e] edit the arguments");
        terminal.say("r");
        terminal.wait_for(r#"got Some(Edit("{\"key\":\"ac\"}"));"#);
    }

    #[test]
    fn a_simple_terminal_answers_the_menu_with_lines() {
        let mut terminal = Terminal::open("menu", &[("TERM", "dumb")]);
        terminal.wait_for("[r] run  [o] only this session  [a] always allow  [s] skip  [t] tell what to do instead  [e] edit the arguments");
        terminal.wait_for("> ");
        terminal.say("what\n");
        terminal.wait_for("Please answer r, o, a, s, t, e.");
        terminal.say("run\n");
        terminal.wait_for("got Some(Run);");
    }

    #[test]
    fn lines_typed_meanwhile_come_and_the_prompt_keeps_its_own() {
        let mut terminal = Terminal::open("typed", &[]);
        terminal.wait_for("watching;");
        terminal.say("stop that\n");
        terminal.wait_for(r#"typed Some("stop that");"#);
        terminal.wait_for("paused> ");
        terminal.say("for the prompt\r");
        terminal.wait_for(r#"got Text("for the prompt");"#);
        terminal.wait_for("watching again;");
        terminal.say("more\n");
        terminal.wait_for(r#"typed Some("more");"#);
        terminal.wait_for("dropped> ");
        terminal.say("later\r");
        terminal.wait_for(r#"got Text("later");"#);
    }
}
