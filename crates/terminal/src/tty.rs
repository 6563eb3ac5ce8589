//! State and capabilities of the terminal device.

use std::io::{self, IsTerminal as _};

/// Terminals that cannot move the cursor.
const SIMPLE_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

pub(crate) fn is_capable() -> bool {
    io::stdin().is_terminal() && !is_simple(std::env::var("TERM").ok().as_deref())
}

fn is_simple(name: Option<&str>) -> bool {
    name.is_some_and(|name| SIMPLE_TERMINALS.iter().any(|simple| simple.eq_ignore_ascii_case(name)))
}

#[cfg(unix)]
static INITIAL_STATE: std::sync::OnceLock<Option<rustix::termios::Termios>> =
    std::sync::OnceLock::new();

/// Saves the terminal mode.
pub fn remember_mode() {
    #[cfg(unix)]
    INITIAL_STATE.get_or_init(|| rustix::termios::tcgetattr(io::stdin()).ok());
}

/// Restores the saved terminal mode, which an open question may have changed.
pub fn restore_mode() {
    #[cfg(unix)]
    if let Some(Some(before)) = INITIAL_STATE.get() {
        use rustix::termios::{OptionalActions, tcsetattr};
        // This fails only if the terminal has been closed.
        _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
    }
}

/// Returns whether the terminal was closed.
pub fn is_terminal_gone() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let input = rustix::stdio::stdin();
        let mut inputs = [PollFd::new(&input, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let over = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        poll(&mut inputs, Some(&at_once))
            .is_ok_and(|_| inputs.iter().any(|input| input.revents().intersects(over)))
    }
    #[cfg(not(unix))]
    false
}

/// Returns whether a person can be asked: standard input and standard error are terminals.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Discards keys that were pressed before a question was shown, because they cannot answer it.
pub(crate) fn discard_keys() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // This fails only for input that is not a terminal, which has no keys typed ahead.
        _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Prompts for a line without echo, and returns it without its line ending.
pub async fn ask_secret_line(question: &str) -> io::Result<String> {
    let question = question.to_owned();
    tokio::task::spawn_blocking(move || read_secret(&question)).await.map_err(io::Error::other)?
}

#[cfg(unix)]
fn read_secret(question: &str) -> io::Result<String> {
    use std::io::Write as _;

    // Before the question is shown, so that no key is echoed or lost.
    let dark = EchoOff::begin()?;
    let mut out = io::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    drop(dark);
    // The line break was not echoed either.
    writeln!(out)?;
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

#[cfg(unix)]
struct EchoOff(rustix::termios::Termios);

#[cfg(unix)]
impl EchoOff {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut dark = before.clone();
        dark.local_modes -= LocalModes::ECHO;
        // Discards keys that were pressed before the question.
        tcsetattr(io::stdin(), OptionalActions::Flush, &dark)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for EchoOff {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // A terminal that was closed has no echo to turn on again.
        _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(not(unix))]
fn read_secret(question: &str) -> io::Result<String> {
    let terminal = console::Term::stderr();
    terminal.write_str(question)?;
    terminal.read_secure_line()
}

#[cfg(test)]
mod tests {
    use super::is_simple;

    #[test]
    fn simple_terminals_are_known_by_name() {
        for (name, simple) in [
            (None, false),
            (Some("xterm-256color"), false),
            (Some("dumb"), true),
            (Some("Emacs"), true),
        ] {
            assert_eq!(is_simple(name), simple, "{name:?}");
        }
    }
}
