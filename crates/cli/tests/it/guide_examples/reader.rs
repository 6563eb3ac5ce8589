//! A reader at a terminal: an empty home, a copy of the examples, and the commands of one page.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_testkit::Home;

use super::compare::{made_up, matches};
use super::markdown;
use super::screen::Screen;
use crate::remote_server::free_port;
use crate::running::poll;
use crate::terminal::signal;
use crate::testenv::{NODE, installed_path};

const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a program that was interrupted may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(8);

/// Line of an example that says that the reader presses Ctrl-C.
const INTERRUPT: &str = "^C";

/// Last line of `serve` when it is ready: it continues while the reader types in another terminal.
const SERVING: &str = "stop          Ctrl-C";

/// Port of the gateway in the guides. The pages run at the same time, each with another port.
const PORT: &str = "8808";

/// The reader of a page.
pub(super) struct Reader {
    home: Home,
    port: u16,
    /// Names on the page, such as the id of a review, with the ones that they are here.
    names: Vec<(String, String)>,
    /// `serve`, until the page starts another one.
    serving: Option<Running>,
    /// Commands in other terminals.
    waiting: Vec<Running>,
}

impl Reader {
    pub(super) fn new() -> Self {
        let reader = Self {
            home: Home::new(),
            port: free_port(),
            names: Vec::new(),
            serving: None,
            waiting: Vec::new(),
        };
        let folder = reader.home.path();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        copy(&examples, &folder.join("switchboard/examples"));
        std::fs::write(reader.place(), folder.join("switchboard").to_str().unwrap()).unwrap();
        reader.add_programs();
        reader
    }

    /// Saves a file that the page shows.
    pub(super) fn save(&self, name: &str, text: &str) {
        let path = match name.strip_prefix("~/") {
            Some(name) => self.home.path().join(name),
            None => self.current_folder().join(name),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a command as the page shows it. One that `waits` stays open in a terminal of its own.
    pub(super) fn run(&mut self, command: &markdown::Command, waits: bool) -> Result<(), String> {
        let mut shown = command.shown.clone();
        let is_interrupted = shown.last().is_some_and(|line| line == INTERRUPT);
        if is_interrupted {
            shown.pop();
        }
        let serves = shown.last().is_some_and(|line| line == SERVING);
        if serves {
            self.serving = None;
        }
        let continues = serves || is_interrupted || waits;
        let mut running = self.start(&command.typed, continues);
        let fail = |running: &Running, problem: &str| {
            let lines = self.lines(running).join("\n");
            format!("line {}: $ {}\n{problem}; it shows:\n{lines}\n", command.line, command.typed)
        };
        let home = self.home.path().to_str().unwrap();
        for (index, line) in shown.iter().enumerate() {
            let line = &line.replace("~/", &format!("{home}/"));
            let Some(input) = Input::of(line, &command.typed) else { continue };
            if !running.answer(&input) {
                return Err(fail(&running, &format!("no question for line {}", index + 1)));
            }
        }
        if continues {
            let is_there = || self.is_as_shown(&shown, &running).then_some(());
            if poll(COMMAND_TIMEOUT, is_there).is_none() {
                return Err(fail(&running, "not the lines of the page"));
            }
            let found = made_up(&shown, &self.lines(&running));
            self.names.extend(found);
            match (is_interrupted, serves) {
                (true, _) => {}
                (false, true) => self.serving = Some(running),
                (false, false) => self.waiting.push(running),
            }
            return Ok(());
        }
        let Some(code) = running.wait() else { return Err(fail(&running, "does not end")) };
        if !shown.is_empty() && !self.is_as_shown(&shown, &running) {
            return Err(fail(&running, "not the lines of the page"));
        }
        let prints_code = command.typed.contains("echo $?");
        let fails = !prints_code && shown.iter().any(|line| line.contains("error: "));
        if (code == 0) == fails {
            return Err(fail(&running, &format!("exit code {code}")));
        }
        let found = made_up(&shown, &self.lines(&running));
        self.names.extend(found);
        Ok(())
    }

    /// What is shown, with the names that the page uses.
    fn lines(&self, running: &Running) -> Vec<String> {
        let home = self.home.path().to_str().unwrap();
        let port = self.port.to_string();
        let name = |line: &String| {
            let line = line.replace(home, "~").replace(&port, PORT);
            self.names.iter().fold(line, |line, (page, here)| line.replace(here, page))
        };
        running.screen().lines().iter().map(name).collect()
    }

    /// Whether a program shows these lines, whatever its made-up names.
    fn is_as_shown(&self, shown: &[String], running: &Running) -> bool {
        let mut came = self.lines(running);
        for (page, here) in made_up(shown, &came) {
            came = came.iter().map(|line| line.replace(&here, &page)).collect();
        }
        matches(shown, &came)
    }

    fn start(&self, typed: &str, continues: bool) -> Running {
        let folder = self.home.path();
        let typed = typed.replace(PORT, &self.port.to_string());
        let typed = self.names.iter().fold(typed, |typed, (page, here)| typed.replace(page, here));
        let variables = folder.join("variables");
        let [place, pid] = [self.place(), folder.join("pid")].map(|path| quoted(&path));
        let variables = quoted(&variables);
        // A file that a running program leaves behind would be mistaken for the next one's.
        _ = std::fs::remove_file(folder.join("pid"));
        let line = if continues {
            format!("exec {typed}")
        } else {
            format!("{typed}\ncode=$?; pwd > {place}; export -p > {variables}; exit $code")
        };
        let line = format!(
            "stty cols 160 rows 60; cd \"$(cat {place})\"; test -e {variables} && . {variables}\n\
             echo $$ > {pid}; {line}"
        );
        let programs = folder.join("programs");
        let mut command = Command::new("script");
        command
            .args(["-qec", &line, "/dev/null"])
            .env_clear()
            .env("HOME", folder)
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("LANG", "C.UTF-8")
            .env("SWITCHBOARD_SYSTEM", folder.join("system"))
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Running::start(&mut command, folder.join("pid"))
    }

    /// `switchboard` with the port of this page, and Node with the packages that are installed.
    fn add_programs(&self) {
        let programs = self.home.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        let node = installed_path(NODE);
        let modules = installed_path("npm/node_modules");
        symlink(&node, programs.join("node")).unwrap();
        let switchboard = env!("CARGO_BIN_EXE_switchboard");
        let port = self.port;
        for (name, script) in [
            (
                "npx",
                format!(
                    "[ \"$1\" = -y ] && shift\npackage=\"${{1%@[0-9]*}}\"; shift\n\
                     exec '{node}' '{modules}'/\"$package\"/dist/index.js \"$@\"\n"
                ),
            ),
            (
                "switchboard",
                format!(
                    "case \" $* \" in *' --listen '* | *' --stdio '* | *' --grpc '*) ;; *' serve '*)\n\
                     set -- \"$@\" --listen 127.0.0.1:{port} ;; esac\n\
                     exec '{switchboard}' \"$@\"\n"
                ),
            ),
        ] {
            let path = programs.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
    }

    /// File with the reader's current folder.
    fn place(&self) -> PathBuf {
        self.home.path().join("place")
    }

    fn current_folder(&self) -> PathBuf {
        PathBuf::from(std::fs::read_to_string(self.place()).unwrap().trim())
    }
}

/// Something that the reader types, and the question before it.
struct Input {
    question: Question,
    keys: String,
}

enum Question {
    /// The cursor is behind this text.
    Prompt(String),
    /// A menu with this last choice is open.
    Menu(&'static str),
}

impl Input {
    /// `question  > text` or, in a conversation, `> text` and `[k] the choice that was made`.
    fn of(line: &str, command: &str) -> Option<Self> {
        if let Some((before, typed)) = line.split_once("[y/N] ") {
            let question = Question::Prompt(format!("{before}[y/N]"));
            return Some(Self { question, keys: format!("{typed}\r") });
        }
        let is_chat = command.starts_with("switchboard chat");
        if let Some((before, typed)) = line.split_once("> ")
            && (before.ends_with("  ") || is_chat && before.is_empty())
        {
            let question = Question::Prompt(format!("{before}>"));
            return Some(Self { question, keys: format!("{typed}\r") });
        }
        let (key, choice) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        let is_one = key.chars().count() == 1 && !choice.contains('[');
        let question = Question::Menu("[e] edit the arguments");
        is_one.then(|| Self { question, keys: key.to_owned() })
    }
}

/// A command that was started; it is ended with the value.
struct Running {
    child: Child,
    output: Arc<Mutex<Vec<u8>>>,
    pid_file: PathBuf,
    pid: Option<u32>,
    /// Row of the last answer.
    answered: Option<usize>,
}

impl Running {
    fn start(command: &mut Command, pid_file: PathBuf) -> Self {
        let mut child = command.spawn().expect("`script` is installed");
        let mut pipe = child.stdout.take().unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                sink.lock().unwrap().extend_from_slice(&chunk[..length]);
            }
        });
        let read = || std::fs::read_to_string(&pid_file).ok()?.trim().parse().ok();
        let pid = poll(COMMAND_TIMEOUT, read);
        Self { child, output, pid_file, pid, answered: None }
    }

    fn screen(&self) -> Screen {
        Screen::after(&self.output.lock().unwrap())
    }

    /// Types an answer as soon as its question is there.
    fn answer(&mut self, input: &Input) -> bool {
        let is_asked = || {
            let screen = self.screen();
            let (row, line) = screen.cursor_line();
            let is_new = self.answered.is_none_or(|answered| row > answered);
            let is_it = match &input.question {
                Question::Prompt(text) => line == *text,
                Question::Menu(choice) => {
                    screen.lines().iter().rev().take(3).any(|line| line.contains(choice))
                }
            };
            (is_new && is_it).then_some(row)
        };
        self.answered = poll(COMMAND_TIMEOUT, is_asked);
        let stdin = self.child.stdin.as_mut().unwrap();
        // A program that has ended is noticed by what it shows.
        _ = stdin.write_all(input.keys.as_bytes()).and_then(|()| stdin.flush());
        self.answered.is_some()
    }

    /// Exit code; nothing if the program does not end.
    fn wait(&mut self) -> Option<i32> {
        let status = poll(COMMAND_TIMEOUT, || self.child.try_wait().unwrap())?;
        // The last output arrives before the end of the pipe is noticed.
        poll(END_TIMEOUT, || (Arc::strong_count(&self.output) == 1).then_some(()));
        Some(status.code().unwrap_or(-1))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(pid) = self.pid.filter(|_| matches!(self.child.try_wait(), Ok(None))) {
            signal(pid, "INT");
            if poll(END_TIMEOUT, || self.child.try_wait().ok().flatten()).is_none() {
                signal(pid, "KILL");
            }
        }
        // Failing to kill means that it has ended.
        _ = self.child.kill();
        _ = self.child.wait();
        _ = std::fs::remove_file(&self.pid_file);
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
